"""Where each clip of a cut lies, counted in frames.

A clip begins where all before it end, to the nearest frame of their summed durations, so that nothing drifts however
many there are. It is shown a little longer than that while the next one is faded in over its last frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Place:
    """A clip's place in the cut."""

    first: int
    frames: int
    fade: int
    "Frames after its end over which the next one comes in; 0 is a hard cut."


def timeline(durations: Sequence[float], *, fps: int, fade: float) -> list[Place]:
    """The places of clips that last so many seconds, one after the other."""
    ends, total = [0], 0.0
    for duration in durations:
        total += duration
        # However short, it is seen.
        ends.append(max(ends[-1] + 1, round(total * fps)))
    frames = [after - before for before, after in pairwise(ends)]
    fades = [_fade(fade, fps, here, following) for here, following in pairwise(frames)]
    return [Place(*place) for place in zip(ends, frames, [*fades, 0], strict=False)]


def _fade(fade: float, fps: int, here: int, following: int) -> int:
    """At most half of a clip. The first frame of a fade is all old, so a fade of one frame would hide a short clip."""
    frames = min(round(fade * fps), here // 2, following // 2)
    return frames if frames >= 2 else 0
