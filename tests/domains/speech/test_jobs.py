"""Long texts: spoken by workers, in pieces, into one file; with nothing left of those that fail."""

from __future__ import annotations

import datetime as dt
import io
import wave
from collections.abc import Callable
from typing import Any

import pytest

from penstock.domains.speech.actions import AS_JOB
from penstock.domains.speech.erasure import Erased, erase_address, erase_audio
from penstock.domains.speech.errors import NoText, TextTooLong
from penstock.domains.speech.model import SpeechJob, SpeechJobStatus, TempAudio
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.domains.speech.tasks import TASKS, job_of, request_job
from penstock.errors import NotFound
from penstock.media.speech.chunks import chunks
from penstock.media.speech.errors import SynthesisFailed, VoiceNotFound
from penstock.media.speech.sound import Sound, merged
from penstock.media.speech.voices import Offer, Voices
from penstock.work.dead_letters import DeadLetters, retry, retry_all
from penstock.work.domain_context import DomainContext
from penstock.work.task import Outcome, Progress, Task, TaskAttempt, TaskStatus
from penstock.workers.manual import ManualWorkers
from tests.domains.speech.faults import Failing
from tests.domains.speech.story import GUEST, at, cleaned, files, unset

SENTENCE = "The old boat goes down the river. "
LONG = SENTENCE * 16
"Two pieces."


def workers(studio: SpeechStudio) -> ManualWorkers:
    context = DomainContext(studio.store, studio.objects, unset)
    return ManualWorkers(studio.store, [TASKS], context=context)


@pytest.mark.every_engine
def test_a_job_makes_an_audio(anywhere: SpeechStudio) -> None:
    """TA-24: queued, then spoken by a worker, with a file and a record like any other."""
    job = request_job(anywhere, "Hello world test.", ip_address=GUEST)
    assert job_of(anywhere, job.date, job.job_id).job.status is SpeechJobStatus.QUEUED
    assert files(anywhere.objects) == set()
    assert workers(anywhere).drain() == 1
    seen = job_of(anywhere, job.date, job.job_id)
    assert (seen.job.status, seen.progress) == (SpeechJobStatus.COMPLETED, 1.0)
    assert seen.spoken is not None
    audio = seen.spoken.audio
    assert files(anywhere.objects) == {audio.s3_key}
    assert (audio.text, audio.ip_address) == ("Hello world test.", GUEST)


def test_all_pieces_are_in_one_file(studio: SpeechStudio) -> None:
    """TA-4, TA-24: one after the other, as long as the record says."""
    job = request_job(studio, LONG, ip_address=GUEST)
    workers(studio).drain()
    made = job_of(studio, job.date, job.job_id).spoken
    assert made is not None
    with wave.open(io.BytesIO(studio.objects.get(made.audio.file).read())) as wav:
        assert made.audio.duration == pytest.approx(wav.getnframes() / wav.getframerate(), abs=0.001)
        content = wav.readframes(wav.getnframes())
    voice = studio.voices.get(job.voice_id)
    with merged([voice.speak(piece) for piece in chunks(LONG)]) as alone:
        assert content == alone.file.read()[44:]


def test_progress_is_told_on_the_way(studio: SpeechStudio, monkeypatch: pytest.MonkeyPatch) -> None:
    """TA-24: each piece is a step, and the file is the last."""
    told: list[float] = []
    monkeypatch.setattr(
        "penstock.work.context.TaskContext.progress", lambda self, fraction, note=None: told.append(fraction)
    )
    request_job(studio, LONG, ip_address=GUEST)
    workers(studio).drain()
    assert told == [0.0, pytest.approx(1 / 3), pytest.approx(2 / 3)]


def test_whoever_asks_sees_how_far_it_is(studio: SpeechStudio) -> None:
    """TA-24."""
    job = request_job(studio, LONG, ip_address=GUEST)
    runner = workers(studio).runner
    (work,) = runner.take(1)
    work.progress(0.5, "half of it")
    assert job_of(studio, job.date, job.job_id).progress == 0.5
    assert studio.store.get(Progress.at(task_id=job.task_id or "")).note == "half of it"


def test_the_text_is_nowhere_but_in_its_record(studio: SpeechStudio) -> None:
    """TA-25, F-TA-10: a finished task is remembered for weeks; the job forgets its text when it is spoken."""
    job = request_job(studio, "A secret sentence about the river.", ip_address=GUEST)
    workers(studio).drain()
    task = studio.store.get(Task.at(task_id=job.task_id or ""))
    attempts = list(studio.store.find(TaskAttempt.of_task(task_id=task.task_id)))
    done = studio.store.get(job.ref)
    assert done.text is None
    for record in (task, *attempts):
        told = record.model_dump_json()
        assert "secret" not in told
        assert GUEST not in told


def test_a_job_is_forgotten(studio: SpeechStudio) -> None:
    """TA-10: with its audio; one that nobody speaks, after a day."""
    spoken_job = request_job(studio, "Hello.", ip_address=GUEST)
    at(studio, "12-08 20:00:00")
    workers(studio).drain()
    waiting = request_job(studio, "Hello again.", ip_address=GUEST)
    at(studio, "12-09 19:59:59")
    assert job_of(studio, spoken_job.date, spoken_job.job_id).spoken is not None
    at(studio, "12-09 20:00:00")
    for job in (spoken_job, waiting):
        with pytest.raises(NotFound):
            job_of(studio, job.date, job.job_id)
    assert workers(studio).drain() == 1, "its task comes to nothing"
    cleaned(studio, "12-10 12:00:00")
    assert files(studio.objects) == set()


@pytest.mark.parametrize(
    ("text", "voice", "error"),
    [("", None, NoText), ("a" * (AS_JOB + 1), None, TextTooLong), ("Hello", "nobody", VoiceNotFound)],
)
def test_what_cannot_be_done_is_no_job(
    studio: SpeechStudio, text: str, voice: str | None, error: type[Exception]
) -> None:
    """TA-5, TA-24: told at once."""
    with pytest.raises(error):
        request_job(studio, text, voice, ip_address=GUEST)
    assert list(studio.store.find(SpeechJob.of_date(date=studio.store.clock.now().date()))) == []


def test_a_text_that_cannot_be_read_fails_once(studio: SpeechStudio) -> None:
    """TA-5: another attempt would fail for the same reason."""
    job = request_job(studio, f"{LONG} 世界", ip_address=GUEST)
    assert workers(studio).drain() == 1
    seen = job_of(studio, job.date, job.job_id)
    assert seen.job.status is SpeechJobStatus.FAILED
    assert "Latin script" in (seen.job.error_message or "")
    assert files(studio.objects) == set()


class Hoarse:
    """A voice that fails so many times, and says why in words that are not for guests."""

    def __init__(self, times: int, then: Callable[[str], Sound]) -> None:
        self.left, self._then = times, then

    def speak(self, text: str) -> Sound:
        self.left -= 1
        if self.left >= 0:
            raise SynthesisFailed(f"Synthesis failed: /private/model with {text}")
        return self._then(text)


@pytest.fixture
def hoarse(studio: SpeechStudio, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Hoarse]:
    """Makes the voice of tasks fail."""

    def make(times: int) -> Hoarse:
        voice = Hoarse(times, studio.voices.get("en_US-heart").speak)
        voices = Voices([Offer("en_US-heart", "en-US", "test", lambda: voice)])
        monkeypatch.setattr("penstock.domains.speech.speech_studio.installed_voices", lambda folder, usual: voices)
        return voice

    return make


def test_a_failure_is_tried_again(studio: SpeechStudio, hoarse: Callable[[int], Hoarse]) -> None:
    """TA-24: with no file of the attempts that failed."""
    hoarse(2)
    job = request_job(studio, "Hello.", ip_address=GUEST)
    for minute in range(3):
        at(studio, f"12-08 14:{minute:02d}:00")
        workers(studio).drain()
    assert job_of(studio, job.date, job.job_id).job.status is SpeechJobStatus.COMPLETED
    assert len(files(studio.objects)) == 1


def test_a_failure_for_good_is_told_without_its_details(studio: SpeechStudio, hoarse: Callable[[int], Hoarse]) -> None:
    """TA-5: a guest reads that it failed; where the model lies is not for him."""
    hoarse(100)
    job = request_job(studio, "Hello.", ip_address=GUEST)
    for minute in range(30):
        at(studio, f"12-08 14:{minute:02d}:00")
        workers(studio).drain()
    seen = job_of(studio, job.date, job.job_id)
    assert (seen.job.status, seen.job.error_message) == (SpeechJobStatus.FAILED, "Synthesis failed")
    assert studio.store.get(Task.at(task_id=job.task_id or "")).status is TaskStatus.FAILED
    assert files(studio.objects) == set()


def buried(studio: SpeechStudio, hoarse: Callable[[int], Hoarse]) -> SpeechJob:
    """A job whose task has become a dead letter, with a voice that is well again by now."""
    voice = hoarse(5)
    job = request_job(studio, "Hello.", ip_address=GUEST)
    for minute in range(0, 30, 6):
        at(studio, f"12-08 14:{minute:02d}:00")
        workers(studio).drain()
    assert voice.left == 0
    failed = studio.store.get(SpeechJob.at(date=job.date, job_id=job.job_id))
    assert failed.status is SpeechJobStatus.FAILED
    return failed


def test_a_dead_letter_that_is_retried_takes_its_job_along(
    studio: SpeechStudio, hoarse: Callable[[int], Hoarse]
) -> None:
    """TA-24: failed, then queued again without the old error, then spoken; forgotten no later than was promised."""
    job = buried(studio, hoarse)
    assert len(retry_all(studio.store, [TASKS], DeadLetters(name="speech.speak_text"), by="ann").done) == 1
    again = studio.store.get(job.ref)
    assert (again.status, again.error_message, again.ttl) == (SpeechJobStatus.QUEUED, None, job.ttl)
    assert workers(studio).drain() == 1
    assert job_of(studio, job.date, job.job_id).spoken is not None
    assert studio.store.get(Task.at(task_id=job.task_id or "")).status is TaskStatus.DONE
    assert len(files(studio.objects)) == 1


@pytest.mark.parametrize("how", ["expired", "erased"])
def test_a_dead_letter_whose_text_is_gone_is_not_retried(
    studio: SpeechStudio, hoarse: Callable[[int], Hoarse], how: str
) -> None:
    """TA-10, TA-24: whoever wants it is told why; the letter stays as it was."""
    job = buried(studio, hoarse)
    if how == "erased":
        studio.store.delete(job.ref)
    else:
        at(studio, "12-09 13:02:20")
    with pytest.raises(NotFound, match=r"text .* is gone: it was erased, .* send the text again"):
        retry(studio.store, [TASKS], job.task_id or "", by="ann")
    assert studio.store.get(Task.at(task_id=job.task_id or "")).status is TaskStatus.FAILED


def test_a_worker_that_lost_its_lease_leaves_nothing(studio: SpeechStudio) -> None:
    """TA-24: two workers at one job make one audio, and one file."""
    job = request_job(studio, "Hello.", ip_address=GUEST)
    slow, fast = workers(studio), workers(studio)
    (stalled,) = slow.runner.take(1)
    at(studio, "12-08 14:00:00")
    fast.rescue()
    at(studio, "12-08 14:10:00")
    assert fast.drain() == 1
    made = job_of(studio, job.date, job.job_id).spoken
    assert made is not None
    assert slow.runner.run(stalled) is Outcome.LOST
    assert files(studio.objects) == {made.audio.s3_key}


def test_a_commit_that_fails_leaves_no_file(studio: SpeechStudio) -> None:
    """TA-24."""
    job = request_job(studio, "Hello.", ip_address=GUEST)
    (work,) = workers(studio).runner.take(1)
    put = studio.objects.put

    def erased_meanwhile(*args: Any, **kwargs: Any) -> Any:
        stored = put(*args, **kwargs)
        studio.store.delete(job.ref)
        return stored

    objects: Any = Failing(studio.objects)
    objects.put = erased_meanwhile
    context = DomainContext(studio.store, objects, unset)
    runner = ManualWorkers(studio.store, [TASKS], context=context).runner
    work._domain = context
    runner.run(work)
    assert files(studio.objects) == set()
    assert list(studio.store.find(SpeechJob.of_date(date=job.date))) == []


@pytest.fixture
def begun_two_days_ago(studio: SpeechStudio) -> TempAudio:
    """An audio that still lives: its job was begun in the last minute of a day, and spoken in that of the next."""
    at(studio, "12-08 23:59:00")
    job = request_job(studio, "Hello.", ip_address=GUEST)
    at(studio, "12-09 23:58:00")
    assert workers(studio).drain() == 1
    at(studio, "12-10 23:50:00")
    seen = job_of(studio, job.date, job.job_id).spoken
    assert seen is not None
    return seen.audio


def test_an_address_is_erased_wherever_it_still_is(studio: SpeechStudio, begun_two_days_ago: TempAudio) -> None:
    """TA-25, F-TA-10: a job of two days ago has it as long as its audio lives."""
    assert erase_address(studio, GUEST, by="ann") == Erased(audios=1, jobs=1)
    assert left_behind(studio) == []
    assert files(studio.objects) == set()


def test_with_an_audio_its_job_of_the_day_before_is_erased(studio: SpeechStudio, begun_two_days_ago: TempAudio) -> None:
    """TA-25, F-TA-10."""
    erase_audio(studio, begun_two_days_ago.date, begun_two_days_ago.audio_id, by="ann")
    assert left_behind(studio) == []


def left_behind(studio: SpeechStudio) -> list[SpeechJob | TempAudio]:
    """All that has an address, of any day."""
    days = [dt.date(2025, 12, day) for day in range(7, 13)]
    jobs = [job for day in days for job in studio.store.find(SpeechJob.of_date(date=day))]
    return [*jobs, *(audio for day in days for audio in studio.store.find(TempAudio.of_date(date=day)))]
