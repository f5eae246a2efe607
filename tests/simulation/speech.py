"""Speech: guests have texts spoken, whose files are cleaned up after a day; the domain itself, with a quick voice."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from penstock import Store
from penstock.domains.speech import DOMAIN
from penstock.domains.speech.cleanup import schedules
from penstock.domains.speech.model import SpeechJob, SpeechJobStatus, TempAudio
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.domains.speech.tasks import TASKS, request_job
from penstock.kernel.idempotency import Claim, InProgress, Replay, SystemOnce, begin, once_key
from penstock.media.speech.sound import Sound
from penstock.media.speech.voices import Offer, Voices
from penstock.schema.file_pattern import TRASH
from penstock.testing.simulation import (
    Actor,
    Process,
    Scene,
    World,
    at_rest,
    doing,
    invariant,
    reaper,
    scene_of,
    scheduler,
    sweeper,
)
from penstock.testing.simulation.cast import crew
from penstock.testing.simulation.invariants import settled
from penstock.work.domain_context import DomainContext
from penstock.work.working import WORKING


class QuickVoice:
    """Says a hundredth of a second of anything."""

    def speak(self, text: str) -> Sound:
        return Sound(bytes(320), 16_000)


VOICES = Voices([Offer("quick", "en", "quick", QuickVoice)])


class QuickContext(DomainContext):
    """A context whose studio has the quick voice."""

    def made_once(self, make: Any) -> Any:
        if make == SpeechStudio._made:
            return SpeechStudio(self.store, self.objects, VOICES)
        return super().made_once(make)


def context(process: Process) -> DomainContext:
    return QuickContext(process.store, process.objects, lambda name: None)


def _ask(process: Process) -> None:
    """Ask for a text to be spoken, under a key: asked for again, it is the same job."""
    now = process.clock.now()
    mark = SystemOnce(idempotency_key=once_key("a text"), created_at=now, ttl=int(now.timestamp()) + 10**7)
    claim: Claim | Replay | None = None
    while claim is None:
        try:
            claim = begin(process.store, mark, owner=process.name, period=timedelta(seconds=60))
        except InProgress:
            process.clock.sleep(20)
    if isinstance(claim, Claim):
        studio = SpeechStudio(process.store, process.objects, VOICES)
        request_job(studio, "Hello.", ip_address="192.168.1.100", once=claim)


@invariant
def a_text_is_spoken_once(world: World) -> None:
    """A text that was asked for is spoken once, however often it is asked for."""
    audios: set[str] = world.notes.setdefault("audios", set())
    jobs: dict[str, str] = world.notes.setdefault("jobs", {})
    for touched in world.touched:
        if touched.shape is TempAudio.__shape__ and touched.new is not None:
            audios.add(str(touched.new.values["audio_id"]))
        if touched.shape is SpeechJob.__shape__ and touched.new is not None:
            jobs[str(touched.new.values["job_id"])] = touched.new.values["status"]
    assert len(audios) <= 1, f"there are {len(audios)} audios of one text"
    assert len(jobs) <= 1, f"there are {len(jobs)} jobs for one request"


@invariant
def what_can_be_heard_has_its_file(world: World) -> None:
    """An audio that can be heard has its file, until its day is over by somebody's clock."""
    for audio in world.records(TempAudio):
        there = not audio.audible or audio.file in world.objects or world.clocks_set
        assert there, f"{audio.file} is missing"


@at_rest
def the_text_was_spoken_and_each_file_has_its_record(world: World) -> None:
    """The text was spoken, and of those who died while they spoke it no file is left."""
    spoken = list(world.notes.get("jobs", {}).values()) == [SpeechJobStatus.COMPLETED.value]
    assert spoken or world.clocks_set, "the text was not spoken, though nobody's clock had its day over"
    files = {audio.file for audio in world.records(TempAudio)}
    left = [key for key in world.objects if key not in files and not key.startswith(TRASH)]
    assert left == [], f"{left} have no record"


SPOKEN = (a_text_is_spoken_once, what_can_be_heard_has_its_file, the_text_was_spoken_and_each_file_has_its_record)


def cast() -> list[Actor]:
    """Beside whoever works on all tasks."""
    return [
        doing("guest", _ask, _ask),
        scheduler(lambda process: schedules(context(process))),
        sweeper(DOMAIN, grace=timedelta(minutes=5)),
    ]


def spoken() -> Scene:
    """Two workers, a rescuer, a guest, a scheduler, a sweeper and a reaper."""

    def begin_with_nothing(store: Store) -> None:
        """Nobody has asked for anything yet."""

    actors = [*crew(TASKS, context=context), *cast(), reaper(DOMAIN, WORKING)]
    scene = scene_of(begin_with_nothing, actors=actors, domains=[DOMAIN], invariants=SPOKEN)
    return replace(scene, is_done=settled(*scene.at_rest))
