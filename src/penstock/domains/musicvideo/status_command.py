"""How a video stands, in the terminal: ``penstock musicvideo status``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.markup import escape
from rich.table import Table

from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.lip_standing import LipsStatus, PlacedScene, stale_lips
from penstock.domains.musicvideo.projects import ProjectSeen, project_of
from penstock.plugin import CommandContext


def commands(terminal: CommandContext) -> Mapping[str, Callable[..., Any]]:
    """``penstock musicvideo status``."""

    def status(
        project: Annotated[UUID, typer.Argument(help="Which video.", show_default=False)],
        store: Annotated[str | None, typer.Option(help="Where records live; else PENSTOCK_STORE.")] = None,
        objects: Annotated[str | None, typer.Option(help="Where files live; else PENSTOCK_OBJECTS.")] = None,
        as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
    ) -> None:
        """How far each scene of a music video is, and whether lips are in step with the track."""
        with terminal.opened(store=store, objects=objects) as context:
            seen = project_of(FilmStudio.within(context), project)
        if as_json:
            print(json.dumps(_told(seen), indent=2))
            return
        terminal.console().print(_table(seen))
        for line in _advice(seen):
            terminal.tell(line)

    return {"musicvideo status": status}


def _told(seen: ProjectSeen) -> dict[str, Any]:
    return {
        "project_id": str(seen.project.project_id),
        "status": seen.project.status.value,
        "stale_lips": list(stale_lips(seen.places)),
        "scenes": [_scene(seen, place) for place in seen.places],
    }


def _scene(seen: ProjectSeen, place: PlacedScene) -> dict[str, Any]:
    scene, progress = place.scene, seen.progress[place.scene.sequence]
    return {
        "sequence": scene.sequence,
        "starts_at": round(place.start, 3),
        "status": scene.status.value,
        "progress": progress.per_cent,
        "doing": progress.doing,
        "lips": place.lips.status.value,
        "why": [why for why in (scene.error_message, place.lips.why, *place.outdated) if why],
    }


def _table(seen: ProjectSeen) -> Table:
    table = Table("Scene", "From", "State", "", "Lips", "Why", title=escape(seen.project.concept_prompt[:80]))
    for place in seen.places:
        told = _scene(seen, place)
        doing = told["doing"] or told["status"]
        lips = "" if place.lips.status is LipsStatus.NONE else told["lips"].replace("_", " ")
        why = "\n".join(map(escape, told["why"]))
        table.add_row(str(told["sequence"]), f"{place.start:.2f} s", doing, f"{told['progress']} %", lips, why)
    return table


def _advice(seen: ProjectSeen) -> list[str]:
    path = f"POST /api/mv/projects/{seen.project.project_id}"
    told = [f"The video is {seen.project.status.value}."]
    if stale := stale_lips(seen.places):
        told.append(f"Lips of {', '.join(map(str, stale))} are out of step; {path}/lipsync moves them again.")
    if seen.project.failed_scenes:
        told.append(f"{seen.project.failed_scenes} failed; {path}/retry runs just these again.")
    return told
