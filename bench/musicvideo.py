"""What the pipeline of a music video costs beside the film itself: the wall time of a video, from the request to the
final cut, less the time spent rendering and inside ffmpeg, for each of its scenes.

One worker at a time, so that no two films are made at once and the times add up. SQLite and local files, as in
``penstock demo musicvideo``; the pictures are small, which changes the film's time and not ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

from bench.contender import Limit
from bench.measure import FULL, Contest, Effort
from bench.topic import Contests
from penstock import open_store
from penstock.domains.musicvideo import DOMAIN, demo, projects
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import Project, ProjectStatus
from penstock.domains.musicvideo.tasks import TASKS
from penstock.kernel.store import Store
from penstock.media import ffmpeg
from penstock.runtime.composition import open_objects
from penstock.studio.musician import play
from penstock.work import WORKING, Task, TaskAttempt, TaskStatus
from penstock.work.domain_context import DomainContext
from penstock.workers.inline import InlineWorkers

GROUPS = {"musicvideo.overhead": "wall time beside rendering, a scene"}
BASELINE = PIPELINE = "the pipeline"
OWN = (PIPELINE,)
LIMITS = (
    Limit("musicvideo.overhead: at most 50 ms a scene beside rendering", "musicvideo.overhead", PIPELINE, None, 50_000),
)
SCENES = 4
_SETTINGS = {"MV_SIZE": "320x180", "MV_FPS": "12", "MV_SCENE_SECONDS": "1.0"}
_LONGEST = 300.0


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """One video after the other, on the same store."""
    with TemporaryDirectory() as folder, closing(open_store(f"sqlite:///{folder}/mv.db")) as store:
        store.ensure(DOMAIN, WORKING)
        context = DomainContext(store, open_objects(f"files:///{folder}/files"), _SETTINGS.get)
        studio, track = FilmStudio.within(context), Path(folder, "track.wav")
        scenes = effort.sized(SCENES)
        play(track, seconds=scenes)
        workers = InlineWorkers(store, [TASKS], threads=1, context=context)
        workers.start()
        count = 7 if effort.rounds >= FULL.rounds else min(3, effort.rounds)
        try:
            _own_time(studio, track, scenes)
            for group in groups:
                yield group, Contest({PIPELINE: lambda: _own_time(studio, track, scenes) / scenes * 1e6}, count)
        finally:
            workers.stop(grace=timedelta(seconds=30))


def _own_time(studio: FilmStudio, track: Path, scenes: int) -> float:
    """The seconds of one video that are ours."""
    known, decoded = _creative(studio.store), ffmpeg.spent()
    began = perf_counter()
    project = demo.begin(studio, "Robot exploring Austin", character="A robot", scenes=scenes, audio=track)
    decoded = ffmpeg.spent() - decoded  # to see whether the track is sound
    _until(studio.store, project, lambda now: now.completed_scenes == scenes)
    projects.compose(studio, project.project_id, by="bench")
    _until(studio.store, project, lambda now: now.status is ProjectStatus.COMPLETED)
    return perf_counter() - began - decoded - (_creative(studio.store) - known)


def _until(store: Store, project: Project, over: Callable[[Project], bool]) -> None:
    for _ in range(int(_LONGEST / 0.002)):
        now = store.get(Project.at(project_id=project.project_id))
        if over(now):
            return
        if now.status is ProjectStatus.FAILED or now.failed_scenes:
            raise RuntimeError(f"the video was not made: {now.error_message}")
        sleep(0.002)
    raise RuntimeError("the video was not made in time")


def _creative(store: Store) -> float:
    """The seconds that were spent rendering so far."""
    attempts = (
        attempt
        for task in store.find(Task.by_status(status=TaskStatus.DONE))
        for attempt in store.find(TaskAttempt.of_task(task_id=task.task_id))
    )
    return sum(float(attempt.metrics.get("creative_seconds", 0.0)) for attempt in attempts)
