"""Who makes a film: the embedded crew, which needs nothing but a CPU, and those hired by settings to work elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.generation.ports import Crew

if TYPE_CHECKING:
    from penstock.domains.musicvideo.options import MusicVideoOptions

__all__ = ["Crew", "crew_within", "embedded_crew"]


def embedded_crew(width: int = 1280, height: int = 720, fps: int = 24) -> Crew:
    """Everybody, here. Whoever lacks a package says so, with the line to install it, once there is something to do."""
    from penstock.media.compose import FfmpegComposer
    from penstock.studio.artist import PortraitArtist
    from penstock.studio.filmer import ProceduralFilmer
    from penstock.studio.lip_sync import MouthLipSync
    from penstock.studio.writer import ConceptWriter

    return Crew(
        writer=ConceptWriter(),
        generator=ProceduralFilmer(width, height, fps),
        lip_sync=MouthLipSync(),
        composer=FfmpegComposer(width, height, fps),
        artist=PortraitArtist(),
    )


def crew_within(setting: Callable[[str], str | None], options: MusicVideoOptions) -> Crew:
    """The crew that a deployment has chosen."""
    from penstock.generation.remote import hired_crew

    return hired_crew(setting, embedded_crew(options.width, options.height, options.fps))
