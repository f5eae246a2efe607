"""``penstock demo``: a whole system at work, in the terminal."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from penstock.cli.terminal import ObjectsUrl, StoreUrl, console, settings, tell, writable
from penstock.domains import INSTALLED
from penstock.domains.musicvideo import demo as film
from penstock.domains.musicvideo.errors import NotMade
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import Project, Scene, SceneStatus
from penstock.errors import InvalidValue
from penstock.runtime.service import Service

_LOOK = 0.2
"Seconds between looks at how far it is."

demo = typer.Typer(no_args_is_help=True, help="See a whole system at work.")


@demo.callback()
def _demos() -> None:
    """See a whole system at work."""


@demo.command()
def musicvideo(
    concept: Annotated[str, typer.Argument(help="What the video is about.")] = "Robot exploring Austin, Texas",
    character: Annotated[str, typer.Option(help="Who is in it.")] = "Silver metallic humanoid robot",
    scenes: Annotated[int, typer.Option(min=1, max=8, help="How many scenes.")] = 4,
    seconds: Annotated[float, typer.Option(min=0.5, max=60, help="How long each is.")] = 5.0,
    size: Annotated[str, typer.Option(help="Of the picture.")] = "1280x720",
    audio: Annotated[Path | None, typer.Option(help="A backing track; else one is played.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")] = Path("final.mp4"),
    store: StoreUrl = None,
    objects: ObjectsUrl = None,
) -> None:
    """Make a music video of a sentence: scenes are written, filmed, sung in and cut."""
    if audio is not None and not audio.is_file():
        raise InvalidValue(f"{audio} is no file; name a track such as song.mp3")
    writable(out)
    chosen = settings(keep_secret=True, store=store, objects=objects)
    own = {"MV_SIZE": size, "MV_SCENE_SECONDS": str(seconds)}
    service = Service(replace(chosen, domains={**chosen.domains, **own}), INSTALLED)
    try:
        service.start(background=False)
        studio = FilmStudio.within(service.context)
        project = film.begin(studio, concept, character=character, scenes=scenes, audio=audio)
        service.start_workers()
        _watch(studio, project)
        project, _ = film.look(studio.store, project.project_id)
        if project.final_output_s3_key is None:
            raise NotMade(_why(studio, project))
        path = film.download(studio, project, out)
        tell(f"{path.absolute()} ({project.final_duration:.1f} s, {path.stat().st_size:,} bytes)")
        tell(f"Project {project.project_id}. While `penstock up` runs: {studio.sign(project.final_output_s3_key).url}")
    finally:
        service.stop()


def _watch(studio: FilmStudio, project: Project) -> None:
    """Bars for the scenes and the cut, until it is over."""
    bar = Progress(
        TextColumn("{task.description:>10}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} % {task.fields[note]}"),
        TimeElapsedColumn(),
        console=console(),
    )
    rows: dict[str, TaskID] = {}
    with bar:
        for told in film.watch(studio, project.project_id):
            for part in told:
                if part.part not in rows:
                    rows[part.part] = bar.add_task(part.part, total=1.0, note=part.note)
                bar.update(rows[part.part], completed=part.done, note=part.note)
            time.sleep(_LOOK)


def _why(studio: FilmStudio, project: Project) -> str:
    failed = [
        f"scene {scene.sequence}: {scene.error_message}"
        for scene in studio.store.find(Scene.of_project(project_id=project.project_id))
        if scene.status is SceneStatus.FAILED
    ]
    return "; ".join([*([project.error_message] if project.error_message else []), *failed]) or project.status.value
