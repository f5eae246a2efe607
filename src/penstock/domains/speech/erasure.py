"""Erasure: what is kept of a guest, gone before its time.

Texts and addresses are in the records of audios and jobs, and nowhere else: not in tasks, messages, audit lines or
logs. They end by themselves a day after the audio was made; the files, which say the text aloud, with the next cleanup.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

from penstock.auth.caller import read_address
from penstock.domains.speech.cleanup import delete_s3_file, expire, query_temp_audio_by_date
from penstock.domains.speech.model import SpeechJob, TempAudio
from penstock.domains.speech.quotas import audio_hold, job_hold
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.errors import InvalidValue

_A_DAY = dt.timedelta(days=1)
_DAYS = 3
"A job of two days ago may have ended yesterday, and its audio still live."


@dataclass(frozen=True, slots=True)
class Erased:
    """What was there, and is not any more."""

    audios: int
    jobs: int


def erase_audio(studio: SpeechStudio, date: dt.date, audio_id: UUID, *, by: str) -> None:
    """Remove an audio, its text and its address, also where its job has them; NotFound when there is none."""
    audio = studio.store.get(TempAudio.at(date=date, audio_id=audio_id))
    # The job first: only the audio leads to it. It was begun on the day of its audio, or on the day before.
    for job in _jobs(studio, [date, date - _A_DAY]):
        if job.audio_id == audio_id:
            _erase_job(studio, job, by)
    _erase(studio, audio, by)


def erase_address(studio: SpeechStudio, ip_address: str, *, by: str) -> Erased:
    """Remove everything that was made for an address, however it is written; InvalidValue for what is none."""
    address = read_address(ip_address)
    if address is None:
        raise InvalidValue(f"'{ip_address}' is no IP address; give one such as 203.0.113.7 or 2001:db8::1")
    today = studio.store.clock.now().date()
    days = [today - _A_DAY * age for age in range(_DAYS)]
    # Jobs first: one that is being spoken makes no audio once its record is gone.
    jobs = [job for job in _jobs(studio, days) if read_address(job.ip_address) == address]
    for job in jobs:
        _erase_job(studio, job, by)
    made = (audio for day in days for audio in query_temp_audio_by_date(studio.store, day))
    audios = [audio for audio in made if read_address(audio.ip_address) == address]
    for audio in audios:
        _erase(studio, audio, by)
    return Erased(len(audios), len(jobs))


def _jobs(studio: SpeechStudio, days: Iterable[dt.date]) -> Iterator[SpeechJob]:
    return (job for day in days for job in studio.store.find(SpeechJob.of_date(date=day)))


def _erase(studio: SpeechStudio, audio: TempAudio, by: str) -> None:
    """The file first: if that fails, the record still tells where it is, and that it is not to be heard any more."""
    if audio.s3_key is not None:
        expire(studio.store, audio, "erased", by=by)
        delete_s3_file(studio.objects, audio.s3_key)
    with studio.store.change(by=by) as change:
        change.delete(audio.ref)
        change.quotas.settle(audio_hold(audio.audio_id))


def _erase_job(studio: SpeechStudio, job: SpeechJob, by: str) -> None:
    with studio.store.change(by=by) as change:
        change.delete(job.ref)
        change.quotas.settle(job_hold(job.job_id))
