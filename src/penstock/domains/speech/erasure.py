"""Erasure: what is kept of a guest, gone before its time.

Texts and addresses are in the records of audios and jobs, and nowhere else: not in tasks, messages, audit lines or
logs. They end by themselves a day after the audio was made; the files, which say the text aloud, with the next cleanup.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from uuid import UUID

from penstock.domains.speech.cleanup import delete_s3_file, query_temp_audio_by_date
from penstock.domains.speech.model import SpeechJob, TempAudio
from penstock.domains.speech.studio import Studio

_DAYS = 3
"A job of two days ago may have ended yesterday, and its audio still live."


@dataclass(frozen=True, slots=True)
class Erased:
    """What was there, and is not any more."""

    audios: int
    jobs: int


def erase_audio(studio: Studio, date: dt.date, audio_id: UUID) -> None:
    """Remove an audio, its text and its address; NotFound when there is none."""
    _erase(studio, studio.store.get(TempAudio.at(date=date, audio_id=audio_id)))


def erase_address(studio: Studio, ip_address: str) -> Erased:
    """Remove everything that was made for an address."""
    today = studio.store.clock.now().date()
    days = [today - dt.timedelta(days=age) for age in range(_DAYS)]
    # Jobs first: one that is being spoken makes no audio once its record is gone.
    jobs = [j for day in days for j in studio.store.find(SpeechJob.of_date(date=day)) if j.ip_address == ip_address]
    for job in jobs:
        studio.store.delete(job.ref)
    audios = [a for day in days for a in query_temp_audio_by_date(studio.store, day) if a.ip_address == ip_address]
    for audio in audios:
        _erase(studio, audio)
    return Erased(len(audios), len(jobs))


def _erase(studio: Studio, audio: TempAudio) -> None:
    """The file first: if that fails, the record still tells where it is."""
    delete_s3_file(studio.objects, audio.s3_key)
    studio.store.delete(audio.ref)
