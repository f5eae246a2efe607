"""What guests may use: bytes that are kept, jobs that are unfinished, seconds spoken in an hour.

Each is counted for everybody together, and for the network a guest comes from, under a mark that does not tell which.
A job takes its place, and room for what it may become, when it is begun. It gives back what it did not need when it
ends, however that may be. An audio has its room until its file is deleted, or for three days after its record at most.
"""

from __future__ import annotations

import datetime as dt
import math
from uuid import UUID

from penstock.auth.caller import network_of, read_address
from penstock.domains.speech.model import SpeechJob, TempAudio
from penstock.domains.speech.options import SpeechOptions
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.kernel.change import Change
from penstock.kernel.quota import EVERYBODY, Quota, Share
from penstock.kernel.quota_movements import check
from penstock.kernel.store import Store
from penstock.media.speech.errors import SpeechTooLong
from penstock.media.speech.script import script_of
from penstock.media.speech.sound import BYTES_A_SECOND

_FILE = dt.timedelta(days=3)
"So long after its record a file is deleted at the latest, also where only the bucket's own rule does it."
_HEADER = 100
"Bytes of a file that are no sound."

JOBS = Quota("speech.jobs", "unfinished jobs", longest=dt.timedelta(days=2))
SECONDS = Quota("speech.seconds", "seconds of speech an hour", per=dt.timedelta(hours=1))
BYTES = Quota("speech.bytes", "bytes of speech", longest=dt.timedelta(days=5), retry=dt.timedelta(hours=1))

UNLIMITED = SpeechOptions(jobs=0, jobs_each=0, seconds=0, seconds_each=0, bytes=0, bytes_each=0)
"For what is counted though no guest asks for it."


def check_length(text: str, *, most: int, further: str = "") -> None:
    """SpeechTooLong for a text that would surely take longer than so many seconds."""
    least = math.ceil(script_of(text).length.least)
    if least > most:
        raise SpeechTooLong(
            f"spoken, the text takes at least {least:,} seconds, and at most {most:,} are allowed{further}"
        )


def check_room(studio: SpeechStudio, text: str, *, ip_address: str) -> None:
    """QuotaExceeded where there is surely no room for what a text becomes."""
    seconds = math.ceil(script_of(text).length.least)
    check(studio.store, *_spoken(studio.store, studio.options, ip_address, seconds, _bytes(seconds, text)))


def take_room(change: Change, audio: TempAudio, options: SpeechOptions) -> None:
    """Count an audio that was spoken at once, with the commit of its record."""
    store, address, seconds = change.store, audio.ip_address, math.ceil(audio.duration)
    change.quotas.spend(*_shares(store, SECONDS, address, seconds, options.seconds_each, options.seconds))
    shares = _shares(store, BYTES, address, _kept(audio), options.bytes_each, options.bytes)
    change.quotas.reserve(audio_hold(audio.audio_id), *shares, until=_gone(audio))


def count_failure(change: Change, failed: TempAudio, *, seconds: int) -> None:
    """Count a text that could not be spoken: what is kept of it, and what was spoken in vain. Nobody is refused."""
    if seconds:
        change.quotas.spend(*_shares(change.store, SECONDS, failed.ip_address, seconds, 0, 0))
    shares = _shares(change.store, BYTES, failed.ip_address, _kept(failed), 0, 0)
    change.quotas.reserve(audio_hold(failed.audio_id), *shares, until=_ended(failed))


def take_job(change: Change, job: SpeechJob, options: SpeechOptions) -> None:
    """Count a job, and what it may become, with the commit that begins it."""
    text = job.text or ""
    seconds = script_of(text).length.within(options.seconds_a_job)
    place = _shares(change.store, JOBS, job.ip_address, 1, options.jobs_each, options.jobs)
    room = _spoken(change.store, options, job.ip_address, seconds, _bytes(seconds, text))
    change.quotas.reserve(job_hold(job.job_id), *place, *room, until=_forgotten(job))


def take_job_again(change: Change, job: SpeechJob) -> None:
    """Count a job that failed and is begun anew. Whoever asks for that is no guest, and is not refused."""
    change.quotas.settle(job_hold(job.job_id))
    take_job(change, job, UNLIMITED)


def finish_job(change: Change, job: SpeechJob, audio: TempAudio, options: SpeechOptions) -> None:
    """Count what a job has become, in place of what it might have."""
    change.quotas.settle(job_hold(job.job_id), spent={SECONDS.name: math.ceil(audio.duration)})
    shares = _shares(change.store, BYTES, audio.ip_address, _kept(audio), options.bytes_each, options.bytes)
    change.quotas.reserve(audio_hold(audio.audio_id), *shares, until=_gone(audio))


def fail_job(change: Change, job: SpeechJob, *, spoken: bool) -> None:
    """Give back what a job had, but for its text, which is kept for another try, and for the time if it was used."""
    change.quotas.settle(job_hold(job.job_id), spent=None if spoken else {})
    text = _bytes(0, job.text or "")
    shares = _shares(change.store, BYTES, job.ip_address, text, 0, 0)
    change.quotas.reserve(job_hold(job.job_id), *shares, until=_forgotten(job))


def audio_hold(audio_id: UUID | str) -> str:
    """Under which name the room of an audio is taken."""
    return f"speech.audio:{audio_id}"


def job_hold(job_id: UUID) -> str:
    """Under which name a job has its place and its room."""
    return f"speech.job:{job_id}"


def guest_mark(store: Store, ip_address: str) -> str:
    """Whose counter is meant: all addresses of a network have one, and it tells none of them."""
    return store.mark("speech", network_of(read_address(ip_address)))


def _spoken(store: Store, options: SpeechOptions, ip_address: str, seconds: int, size: int) -> list[Share]:
    return [
        *_shares(store, SECONDS, ip_address, seconds, options.seconds_each, options.seconds),
        *_shares(store, BYTES, ip_address, size, options.bytes_each, options.bytes),
    ]


def _shares(store: Store, quota: Quota, ip_address: str, amount: int, each: int, together: int) -> list[Share]:
    return [
        Share(quota, guest_mark(store, ip_address), amount, each or None, "for one address"),
        Share(quota, EVERYBODY, amount, together or None, "for all guests together", discreet=True),
    ]


def _bytes(seconds: int, text: str) -> int:
    """What is kept of a text that takes so long: its file, and the text itself."""
    return seconds * BYTES_A_SECOND + _HEADER + len(text.encode())


def _kept(audio: TempAudio) -> int:
    return audio.file_size_bytes + len(audio.text.encode())


def _ended(audio: TempAudio) -> dt.datetime:
    return dt.datetime.fromtimestamp(audio.ttl, dt.UTC)


def _gone(audio: TempAudio) -> dt.datetime:
    return _ended(audio) + _FILE


def _forgotten(job: SpeechJob) -> dt.datetime:
    return dt.datetime.fromtimestamp(job.ttl, dt.UTC)
