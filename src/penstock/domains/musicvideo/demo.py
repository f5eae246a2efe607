"""The whole pipeline for somebody who watches: from a sentence to a film, with every step told as it happens."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from penstock.domains.musicvideo import projects
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import Mode, Project, ProjectStatus, Scene, SceneStatus
from penstock.files.object_reads import fetch
from penstock.kernel.store import Store
from penstock.studio.musician import play
from penstock.work import Progress, Task, TaskStatus

BY = "penstock demo"
_DOES = {
    "musicvideo.write_scenes": "writing",
    "musicvideo.film": "filming",
    "musicvideo.lip_sync": "singing",
    "musicvideo.compose": "cutting",
}


@dataclass(frozen=True, slots=True)
class DemoProgress:
    """How far one part is."""

    part: str
    done: float
    note: str


def begin(studio: FilmStudio, concept: str, *, character: str, scenes: int, audio: Path | None) -> Project:
    """A music video of a concept; with a track of our own unless there is one."""
    with TemporaryDirectory(prefix="penstock-mv-") as folder:
        track = audio
        if track is None:
            wav, track = Path(folder, "track.wav"), Path(folder, "track.mp3")
            seconds = scenes * studio.options.scene_seconds
            play(wav, seconds=seconds, seed=zlib.crc32(concept.encode()))
            studio.providers.composer.excerpt(wav, track, start=0, seconds=seconds)
        wanted = projects.NewProject(Mode.MUSIC_VIDEO.value, concept, character, audio=track)
        project = projects.create_project(studio, wanted, by=BY)
    return projects.generate(studio, project.project_id, scenes=scenes, by=BY)


def look(store: Store, project_id: UUID) -> tuple[Project, list[DemoProgress]]:
    """How it stands: one line for the writing, one for each scene, one for the cut."""
    project = store.get(Project.at(project_id=project_id))
    scenes = project.in_order(store.find(Scene.of_project(project_id=project_id)))
    running = {
        (task.name, task.input.get("sequence")): store.lookup(Progress.at(task_id=task.task_id))
        for task in store.find(Task.of_project(project_id=str(project_id), status=TaskStatus.RUNNING))
    }
    told = [DemoProgress("scenes", 1.0 if scenes else 0.0, "written" if scenes else "writing")]
    if not scenes:
        return project, told
    told += [_scene(scene, running) for scene in scenes]
    cut = running.get(("musicvideo.compose", None))
    done = 1.0 if project.status is ProjectStatus.COMPLETED else cut.fraction if cut else 0.0
    told.append(DemoProgress("final cut", done, project.status.value))
    return project, told


def _scene(scene: Scene, running: dict[tuple[str, int | None], Progress | None]) -> DemoProgress:
    """A scene is filmed, and then perhaps sung: two halves."""
    part = f"scene {scene.sequence}"
    if scene.status in (SceneStatus.COMPLETED, SceneStatus.FAILED):
        return DemoProgress(part, 1.0, scene.error_message or "done")
    halves = 2 if scene.needs_lip_sync else 1
    done = 1 / halves if scene.video_clip_s3_key and halves == 2 else 0.0
    for (name, sequence), progress in running.items():
        if sequence == scene.sequence and name in _DOES:
            return DemoProgress(part, done + (progress.fraction if progress else 0.0) / halves, _DOES[name])
    return DemoProgress(part, done, "waiting")


def watch(studio: FilmStudio, project_id: UUID) -> Iterator[list[DemoProgress]]:
    """How it stands, again and again, until the video is there; asks for the final cut when all scenes are."""
    while True:
        project, told = look(studio.store, project_id)
        yield told
        if project.status in (ProjectStatus.COMPLETED, ProjectStatus.FAILED):
            return
        over = project.failed_scenes + project.completed_scenes == project.scene_count
        if project.status is ProjectStatus.PROCESSING and over:
            if project.failed_scenes:
                return
            projects.compose(studio, project_id, by=BY)


def download(studio: FilmStudio, project: Project, into: Path) -> Path:
    """The final video as a file."""
    assert project.final_output_s3_key is not None
    with TemporaryDirectory(prefix="penstock-mv-", dir=into.parent) as folder:
        return fetch(studio.objects, project.final_output_s3_key, Path(folder)).replace(into)
