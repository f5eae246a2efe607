"""The whole pipeline for somebody who watches: from a sentence to a film, with every step told as it happens.

It is the command ``penstock demo musicvideo``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from penstock.domains.musicvideo import final_cut, projects
from penstock.domains.musicvideo.backing_track import played_track
from penstock.domains.musicvideo.errors import NotMade
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import Mode, Project, ProjectStatus, Scene, SceneStatus
from penstock.domains.musicvideo.scene_progress import SceneProgress, progress_of
from penstock.domains.musicvideo.scenes import sync_stale
from penstock.errors import InvalidValue
from penstock.files.object_reads import fetch
from penstock.files.scratch import scratch_folder
from penstock.kernel.store import Store
from penstock.plugin import CommandContext
from penstock.work import Progress, Task, TaskStatus

BY = "penstock demo"
_LOOK = 0.2
"Seconds between looks at how far it is."


@dataclass(frozen=True, slots=True)
class DemoProgress:
    """How far one part is."""

    part: str
    done: float
    note: str


def begin(studio: FilmStudio, concept: str, *, character: str, scenes: int | None, audio: Path | None) -> Project:
    """A music video of a concept; with a track of our own unless there is one, which its scenes fit."""
    with scratch_folder("musicvideo") as folder:
        track = audio or played_track(studio, concept, scenes=scenes or studio.options.scenes, folder=Path(folder))
        wanted = projects.NewProject(Mode.MUSIC_VIDEO.value, concept, character, audio=track)
        project = projects.create_project(studio, wanted, by=BY)
    return projects.generate(studio, project.project_id, scenes=scenes, by=BY)


def look(store: Store, project_id: UUID) -> tuple[Project, list[DemoProgress]]:
    """How it stands: one line for the writing, one for each scene, one for the cut."""
    project = store.get(Project.at(project_id=project_id))
    scenes = project.in_order(store.find(Scene.of_project(project_id=project_id)))
    told = [DemoProgress("scenes", 1.0 if scenes else 0.0, "written" if scenes else "writing")]
    if not scenes:
        return project, told
    progress = progress_of(store, project_id, scenes)
    told += [_scene(scene, progress[scene.sequence]) for scene in scenes]
    cut = next((store.lookup(Progress.at(task_id=task.task_id)) for task in _cuts(store, project_id)), None)
    done = 1.0 if project.status is ProjectStatus.COMPLETED else cut.fraction if cut else 0.0
    told.append(DemoProgress("final cut", done, project.status.value))
    return project, told


def _cuts(store: Store, project_id: UUID) -> Iterator[Task]:
    name = final_cut.compose.name
    return iter(store.find(Task.of_project(project_id=str(project_id), status=TaskStatus.RUNNING, name=name)))


def _scene(scene: Scene, progress: SceneProgress) -> DemoProgress:
    part = f"scene {scene.sequence}"
    if scene.status in (SceneStatus.COMPLETED, SceneStatus.FAILED):
        return DemoProgress(part, 1.0, scene.error_message or "done")
    return DemoProgress(part, progress.per_cent / 100, progress.doing or "waiting")


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
            # A film from elsewhere may be longer than it was ordered, and those behind it are heard later then.
            if not sync_stale(studio, project_id, by=BY):
                projects.compose(studio, project_id, by=BY)


def download(studio: FilmStudio, project: Project, into: Path) -> Path:
    """The final video as a file."""
    assert project.final_output_s3_key is not None
    with TemporaryDirectory(prefix="penstock-mv-", dir=into.parent) as folder:
        return fetch(studio.objects, project.final_output_s3_key, Path(folder)).replace(into)


def commands(terminal: CommandContext) -> Mapping[str, Callable[..., Any]]:
    """``penstock demo musicvideo``."""

    def musicvideo(
        concept: Annotated[str, typer.Argument(help="What the video is about.")] = "Robot exploring Austin, Texas",
        character: Annotated[str, typer.Option(help="Who is in it.")] = "Silver metallic humanoid robot",
        scenes: Annotated[int | None, typer.Option(min=1, max=8, help="How many; else as the track wants.")] = None,
        seconds: Annotated[float, typer.Option(min=0.5, max=60, help="How long each is, about.")] = 5.0,
        size: Annotated[str, typer.Option(help="Of the picture.")] = "1280x720",
        audio: Annotated[Path | None, typer.Option(help="A backing track; else one is played.")] = None,
        out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")] = Path("final.mp4"),
        store: Annotated[str | None, typer.Option(help="Where records live; else PENSTOCK_STORE.")] = None,
        objects: Annotated[str | None, typer.Option(help="Where files live; else PENSTOCK_OBJECTS.")] = None,
    ) -> None:
        """Make a music video of a sentence: scenes are written, filmed, sung in and cut."""
        if audio is not None and not audio.is_file():
            raise InvalidValue(f"{audio} is no file; name a track such as song.mp3")
        terminal.writable(out)
        own = {"MV_SIZE": size, "MV_SCENE_SECONDS": str(seconds)}
        with terminal.working(store=store, objects=objects, settings=own) as context:
            studio = FilmStudio.within(context)
            project = begin(studio, concept, character=character, scenes=scenes, audio=audio)
            _show(terminal, watch(studio, project.project_id))
            project, _ = look(studio.store, project.project_id)
            if project.final_output_s3_key is None:
                raise NotMade(_why(studio.store, project))
            path = download(studio, project, out)
            terminal.tell(f"{path.absolute()} ({project.final_duration:.1f} s, {path.stat().st_size:,} bytes)")
            _tell_undrawn(terminal, studio.store, project)
            url = studio.sign(project.final_output_s3_key).url
            terminal.tell(f"Project {project.project_id}. While `penstock up` runs: {url}")

    return {"demo musicvideo": musicvideo}


def _tell_undrawn(terminal: CommandContext, store: Store, project: Project) -> None:
    """What was asked for and is not to be seen, if there is such."""
    scenes = project.in_order(store.find(Scene.of_project(project_id=project.project_id)))
    told = [f"{', '.join(scene.not_drawn)} (scene {scene.sequence})" for scene in scenes if scene.not_drawn]
    if told:
        terminal.tell(f"Not drawn: {'; '.join(told)}")


def _show(terminal: CommandContext, watched: Iterator[list[DemoProgress]]) -> None:
    """Bars for the scenes and the cut, until it is over."""
    bars = Bars(
        TextColumn("{task.description:>10}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} % {task.fields[note]}"),
        TimeElapsedColumn(),
        console=terminal.console(),
    )
    rows = {}
    with bars:
        for told in watched:
            for part in told:
                if part.part not in rows:
                    rows[part.part] = bars.add_task(part.part, total=1.0, note=part.note)
                bars.update(rows[part.part], completed=part.done, note=part.note)
            time.sleep(_LOOK)


def _why(store: Store, project: Project) -> str:
    failed = [
        f"scene {scene.sequence}: {scene.error_message}"
        for scene in store.find(Scene.of_project(project_id=project.project_id))
        if scene.status is SceneStatus.FAILED
    ]
    return "; ".join([*([project.error_message] if project.error_message else []), *failed]) or project.status.value
