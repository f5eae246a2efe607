"""How many scenes a video has, and how long each is: so many that it fits its track, with cuts on the beat."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

SHORTEST, LONGEST = 0.1, 60.0
"Seconds of a scene."
_LEAST = 0.25
"Of the usual length: a scene is not made shorter than that for a beat's sake."


@dataclass(frozen=True, slots=True)
class HeardTrack:
    """What is known of a track."""

    seconds: float
    beats: Sequence[float] = ()
    "In order; empty where none can be heard."


@dataclass(frozen=True, slots=True)
class Measure:
    """What a deployment, a kind of video and whoever asks have said about scenes."""

    usual: float
    "Seconds of a scene, where nobody says."
    most: int
    fps: int
    longest: float = LONGEST
    scenes: int | None = None
    "How many are wanted, if somebody said."
    seconds: float | None = None
    "How long each is to be, if somebody said."


def lengths(track: HeardTrack, measure: Measure) -> list[float]:
    """The seconds of each scene, which together are as long as the track, as far as so many scenes can be.

    Whoever says how long a scene is gets scenes of that length; the last has what is left of the track, unless they say
    how many there are, too.
    """
    if measure.seconds is not None:
        return _of_given_length(track.seconds, measure, measure.seconds)
    count = measure.scenes or _how_many(track.seconds, measure)
    total = min(track.seconds, count * measure.longest)
    return _between(_borders(total, count, track.beats), fps=measure.fps)


def _of_given_length(total: float, measure: Measure, seconds: float) -> list[float]:
    if measure.scenes is not None:
        return [seconds] * measure.scenes
    count = max(1, round(total / seconds))
    if count > measure.most:
        return [seconds] * measure.most
    last = total - (count - 1) * seconds
    return [*([seconds] * (count - 1)), max(_whole_frames(last, measure.fps), SHORTEST)]


def _how_many(total: float, measure: Measure) -> int:
    return min(max(1, round(total / measure.usual)), measure.most)


def _borders(total: float, count: int, beats: Sequence[float]) -> list[float]:
    """Where scenes begin and end: at even steps, each moved to the beat that is nearest."""
    step = total / count
    borders = [0.0]
    for number in range(1, count):
        even = number * step
        beat = _nearest(beats, even)
        fits = beat is not None and borders[-1] + _LEAST * step <= beat <= total - (count - number) * _LEAST * step
        borders.append(beat if beat is not None and fits and abs(beat - even) <= step / 2 else even)
    return [*borders, total]


def _nearest(beats: Sequence[float], moment: float) -> float | None:
    at = bisect_left(beats, moment)
    return min(beats[max(at - 1, 0) : at + 1], key=lambda beat: abs(beat - moment), default=None)


def _between(borders: Sequence[float], *, fps: int) -> list[float]:
    """The lengths between borders, in whole frames, so that nothing drifts. The last ends with the track, not after."""
    frames = [round(border * fps) for border in borders[:-1]] + [int(borders[-1] * fps + 1e-6)]
    return [max(1, end - begin) / fps for begin, end in pairwise(frames)]


def _whole_frames(seconds: float, fps: int) -> float:
    return max(1, int(seconds * fps + 1e-6)) / fps
