"""Lips and the track: whether what somebody sings in a scene is what is heard there in the final cut.

A scene notes what its lips were made for: which part of which track, and which clip. Whether that still holds follows
from the project and all its scenes, and is found out whenever somebody looks. It is stored nowhere: any scene that is
moved, cut or removed moves those behind it as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from penstock.domains.musicvideo.model import Project, Scene
from penstock.domains.musicvideo.outdated import outdated

TOLERANCE = 0.05
"Seconds by which a mouth may be early or late before people see it."


class LipsStatus(StrEnum):
    NONE = "none"
    "Nobody sings."
    MISSING = "missing"
    "Somebody is to sing, and does not yet."
    IN_STEP = "in_step"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class LipStanding:
    """How the lips of a scene stand to what is heard with it."""

    status: LipsStatus
    why: str | None = None
    "If they are stale."


@dataclass(frozen=True, slots=True)
class PlacedScene:
    """A scene at its place in the cut."""

    scene: Scene
    start: float
    "The second of the cut, and of its track, at which it begins."
    lips: LipStanding
    outdated: tuple[str, ...] = ()
    "What has changed since it was written and filmed."


def placed(project: Project, scenes: Iterable[Scene]) -> list[PlacedScene]:
    """Scenes as they are shown one after the other, in the project's order."""
    places, start = [], 0.0
    for scene in project.in_order(scenes):
        places.append(PlacedScene(scene, start, lips_of(project, scene, start), tuple(outdated(project, scene))))
        start += shown_seconds(scene)
    return places


def stale_lips(places: Sequence[PlacedScene]) -> dict[int, str]:
    """Why, of each scene whose lips are out of step, by its number."""
    return {place.scene.sequence: place.lips.why or "" for place in places if place.lips.status is LipsStatus.STALE}


def shown_seconds(scene: Scene) -> float:
    """How long a scene is in the cut, as far as that is known."""
    return scene.duration if scene.shown_duration is None else scene.shown_duration


def first_shown(scene: Scene) -> float:
    """The second of its clip with which a scene begins."""
    return (scene.trim_points or {}).get("in", 0.0)


def lips_of(project: Project, scene: Scene, start: float) -> LipStanding:
    """How a scene's lips stand, if it begins at this second of the track."""
    if scene.lip_synced_video_clip_s3_key is None:
        wanted = scene.needs_lip_sync and project.audio_backing_track_s3_key is not None
        return LipStanding(LipsStatus.MISSING if wanted else LipsStatus.NONE)
    why = _why_stale(project, scene, start)
    return LipStanding(LipsStatus.IN_STEP) if why is None else LipStanding(LipsStatus.STALE, why)


def _why_stale(project: Project, scene: Scene, start: float) -> str | None:
    if project.audio_backing_track_s3_key is None:
        return None  # what is heard is the clip's own sound, which goes where the clip goes
    if scene.lips_offset is None or scene.lips_track_sha256 is None:
        return "it is not known for which part of the track its lips were made"
    # A track that was never replaced here has no checksum in the records of other writers.
    if project.audio_sha256 not in (None, scene.lips_track_sha256):
        return "its lips were made for another track"
    if scene.clip_sha256 != scene.lips_clip_sha256:
        return "its lips were made for another clip"
    made_for = scene.lips_offset + first_shown(scene)
    if abs(made_for - start) > TOLERANCE:
        return f"the scene is heard from {start:.2f} s of the track on, and its lips were made for {made_for:.2f} s"
    if first_shown(scene) + shown_seconds(scene) > (scene.lips_duration or 0.0) + TOLERANCE:
        return f"its lips were made for {scene.lips_duration or 0.0:.2f} s, and the scene shows more than that"
    return None
