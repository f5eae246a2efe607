"""Long texts: spoken by workers, piece by piece, into one file.

A task knows only which job it is for. Tasks are remembered for weeks, and texts and addresses must not be.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from pydantic import UUID4, BaseModel

from penstock.domains.speech.actions import (
    AS_JOB,
    GUEST,
    Spoken,
    audio_of,
    checked_text,
    chosen_voice,
    new_audio,
    stored_file,
)
from penstock.domains.speech.model import SpeechJob, SpeechJobStatus
from penstock.domains.speech.quotas import check_length, fail_job, finish_job, take_job, take_job_again
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.errors import NotFound
from penstock.kernel.change import Change
from penstock.kernel.idempotency import Claim
from penstock.kernel.quota import QuotaExceeded
from penstock.media.speech.errors import SpeechTooLong, Unspeakable, VoiceNotFound
from penstock.media.speech.sound import Sound, merged, stopped
from penstock.media.speech.speaking import Speaker, Utterance, steps_of
from penstock.media.speech.ssml import Pause
from penstock.work import Outcome, TaskContext, Tasks
from penstock.work.task import Progress

TASKS = Tasks("speech")

_TOLD = (Unspeakable, VoiceNotFound, SpeechTooLong, QuotaExceeded)
"Our own errors, which are for guests to read."


class ToSpeak(BaseModel):
    """Which job."""

    date: dt.date
    job_id: UUID4


@dataclass(frozen=True, slots=True)
class JobSeen:
    """A job, how far it has come, and what it made."""

    job: SpeechJob
    progress: float
    spoken: Spoken | None


def request_job(
    studio: SpeechStudio,
    text: str | None,
    voice_id: str | None = None,
    *,
    ip_address: str,
    by: str = GUEST,
    once: Claim | None = None,
) -> SpeechJob:
    """Have a long text spoken by a worker."""
    wanted = checked_text(text, most=AS_JOB)
    check_length(wanted, most=studio.options.seconds_a_job)
    job = SpeechJob.begun(
        uuid4(),
        at=studio.store.clock.now(),
        text=wanted,
        voice_id=chosen_voice(studio.voices, wanted, voice_id),
        ip_address=ip_address,
    )
    with studio.store.change(by=by, once=once) as change:
        job.task_id = speak_text.enqueue(change, ToSpeak(date=job.date, job_id=job.job_id), about=job.ref)
        change.create(job)
        take_job(change, job, studio.options)
        change.result = job.model_dump(mode="json", include={"date", "job_id", "status", "voice_id"})
    return job


def job_of(studio: SpeechStudio, date: dt.date, job_id: UUID) -> JobSeen:
    """A job as it stands, with a new URL if it can be heard; NotFound once it is forgotten."""
    job = studio.store.get(SpeechJob.at(date=date, job_id=job_id))
    if job.status is SpeechJobStatus.COMPLETED:
        assert job.audio_date is not None
        assert job.audio_id is not None
        return JobSeen(job, 1.0, audio_of(studio, job.audio_date, job.audio_id))
    progress = studio.store.lookup(Progress.at(task_id=job.task_id)) if job.task_id else None
    return JobSeen(job, progress.fraction if progress is not None else 0.0, None)


@TASKS.task(
    "speak_text",
    limit=dt.timedelta(minutes=30),
    # Another attempt would fail for the same reason.
    classes=dict.fromkeys(_TOLD, Outcome.TERMINAL),
)
def speak_text(work: TaskContext, input: ToSpeak) -> dict[str, Any] | None:
    """Speak the text of a job."""
    studio = SpeechStudio.within(work.domain)
    job = work.store.lookup(_ref(input))
    if job is None or job.text is None or job.status is SpeechJobStatus.COMPLETED:
        return None  # it was erased, or its day is over
    with work.change() as change:
        change.save(change.track(job).start())
    voice = studio.voices.get(job.voice_id)
    pieces = _spoken(work, Speaker(voice), steps_of(job.text))
    with merged(stopped(pieces, most=studio.options.seconds_a_job)) as wav:
        audio = new_audio(studio, wav, voice, text=job.text, voice_id=job.voice_id, ip_address=job.ip_address)
        with stored_file(studio, audio, wav), work.finish() as change:
            change.create(audio)
            change.save(change.track(job).complete(audio=audio))
            finish_job(change, job, audio, studio.options)
    return None


@speak_text.failed
def give_up(change: Change, input: ToSpeak, error: BaseException) -> None:
    """Tell whoever waits that the text will not be spoken."""
    job = change.store.lookup(_ref(input))
    if job is not None and job.status in (SpeechJobStatus.QUEUED, SpeechJobStatus.PROCESSING):
        # Another error may say anything.
        told = str(error) if isinstance(error, _TOLD) else "Synthesis failed"
        change.save(change.track(job).fail(error=told))
        fail_job(change, job, spoken=isinstance(error, SpeechTooLong | QuotaExceeded))


@speak_text.revived
def queue_again(change: Change, input: ToSpeak) -> None:
    """Somebody has the text tried again; NotFound once there is none, as a task alone can speak nothing."""
    job = change.store.lookup(_ref(input))
    if job is None or job.text is None:
        raise NotFound(
            f"the text of job {input.job_id} is gone: it was erased, is spoken already, or its 24 hours are over; "
            "have whoever wants it send the text again, and cancel this task"
        )
    if job.status is SpeechJobStatus.FAILED:
        change.save(change.track(job).retry())
        take_job_again(change, job)


def _spoken(work: TaskContext, speaker: Speaker, pieces: Sequence[Utterance | Pause]) -> Iterator[Sound]:
    """The pieces one after the other; the last part of the progress is for the file."""
    for number, piece in enumerate(pieces):
        work.progress(number / (len(pieces) + 1), f"{number} of {len(pieces)} pieces are spoken")
        yield from speaker.say(piece)
    work.progress(len(pieces) / (len(pieces) + 1), "storing")


def _ref(input: ToSpeak) -> Any:
    return SpeechJob.at(date=input.date, job_id=input.job_id)
