"""The order in which scenes are shown: as somebody has put them, else by their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.domains.musicvideo.errors import BadRequest
from penstock.domains.musicvideo.model import Project, Scene


def in_order(project: Project, scenes: Iterable[Scene]) -> list[Scene]:
    """Scenes as they are shown; those that nobody has put in order come last, by their numbers."""
    places = {sequence: place for place, sequence in enumerate(project.scene_order or [])}
    return sorted(scenes, key=lambda scene: (places.get(scene.sequence, len(places)), scene.sequence))


def check_order(order: Sequence[int], scenes: Iterable[Scene]) -> None:
    """Every scene has its place, once."""
    there = {scene.sequence for scene in scenes}
    if len(set(order)) != len(order):
        raise BadRequest("sceneOrder names a scene twice; name each once")
    if missing := sorted(there - set(order)):
        raise BadRequest(f"sceneOrder leaves out {', '.join(map(str, missing))}; name every scene")
    if unknown := sorted(set(order) - there):
        raise BadRequest(f"sceneOrder names {', '.join(map(str, unknown))}, and there is no such scene")
