"""The ladder of a film: in which sizes it is encoded, so that everybody gets the largest that comes through in time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from penstock.media.errors import UnusableFile
from penstock.media.probed import MediaKind, PictureTrack, Probed

HIGHEST = 1080
"The short side of the largest rung, unless somebody asks for more."
FASTEST = 60
"Frames a second; what has more is halved until it has no more."

_STANDARD = (2160, 1440, 1080, 720, 480, 360, 240)
_STEP = 1.4
"How much larger than the next a rung is at least: two that look the same are not worth encoding both."
_LONGEST = 4096
"Pixels of the long side, which is what decoders in hardware take."
_REFERENCE = (5_000_000, 1920 * 1080, 30.0)
"So many bits a second for so many pixels so many times a second; a quarter of the pixels needs a bit more than that."
_LEAST_BITS = 64_000
_LEAST_RATE = 23.9
"Frames a second of a film that had no constant rate: slower ones would show pictures too early or too late."
_REPEATED = 10
"As often each frame may be shown on average to make a rate constant; of short films any number of times."
_FEW_SECONDS = 120
_USUAL_RATES = (*(Fraction(n * 1000, 1001) for n in (24, 30, 60)), *(Fraction(n) for n in (24, 25, 30, 48, 50, 60)))
_FEW = 2
"Frames of which nothing tells how long the last is shown, but how long the film is."
_UNITS = 90_000
_NEARLY, _SAME, _EXACTLY = 0.02, 0.01, 0.0005
_MISSED = 0.1
"Frames."
_ROUNDED = 0.05
"What whole milliseconds make of the time between two frames, at most."


@dataclass(frozen=True, slots=True)
class Rung:
    """One size in which a film is encoded. The name is the short side, as people say it: 720p, upright or not."""

    name: str
    width: int
    height: int
    video_bitrate: int
    "Bits a second that it has at most, over a second or two; most films need less."
    fps: float
    audio: bool


def rungs(probed: Probed, *, highest: int = HIGHEST) -> list[Rung]:
    """The sizes a film is encoded in, the largest first: its own if that is not too large, and those below it.

    None is larger than the film is shown, whichever way it was turned and whatever the shape of its pixels; all have
    even sides, for which a film of one pixel has to grow to two. UnusableFile if there is no film in the file.
    """
    picture = moving_pictures(probed)
    width, height = shown(picture)
    shortest, longest = sorted((width, height))
    # What is very long is bounded by its long side.
    top = min(shortest, highest, shortest * _LONGEST / longest)
    return [_rung(probed, picture, short) for short in _short_sides(top)]


def moving_pictures(probed: Probed) -> PictureTrack:
    """The film of a file."""
    picture = probed.picture
    if picture is None or probed.kind is not MediaKind.VIDEO:
        raise UnusableFile(f"there is no film in the file ({probed.container}); send a video such as MP4, WebM or MOV")
    if min(picture.width, picture.height) < 1 or picture.duration <= 0 or picture.fps <= 0:
        raise UnusableFile("not a single frame of the video can be shown; export it anew")
    return picture


def shown(picture: PictureTrack) -> tuple[float, float]:
    """Width and height on a screen, whose pixels are square."""
    aspect = picture.pixel_aspect if 0 < picture.pixel_aspect < float("inf") else 1.0
    return picture.width * aspect, float(picture.height)


def new_rate(picture: PictureTrack) -> Fraction | None:
    """The rate a film is brought to; None if its frames stay when they are, as they do in a film of constant rate.

    A film of a variable rate gets a constant one that loses few of its frames, so that a moment has a frame's number.
    One that stands still for seconds shows its frames several times, so that it can be cut between them.
    """
    if picture.variable_rate:
        return _constant(picture)
    if picture.frames < _FEW or picture.fps < 1:
        return _exact(picture) * math.ceil(1 / _exact(picture))
    often = math.ceil(picture.fps / FASTEST / (1 + _SAME))
    if often > 1:
        return _meant(picture.fps / often)
    # Times that were rounded to milliseconds are made exact, each frame's own.
    return steady_rate(picture) if picture.jitter > _EXACTLY else None


def steady_rate(picture: PictureTrack) -> Fraction:
    """That of a film whose frames are all shown equally long, so exactly that its last frame is not missed."""
    usual = min(_USUAL_RATES, key=lambda rate: abs(rate - picture.fps))
    off = abs(float(usual) - picture.fps) * picture.duration
    return usual if off < _MISSED else Fraction(picture.fps).limit_denominator(_UNITS)


def _constant(picture: PictureTrack) -> Fraction:
    """A multiple or a part of the pace at which frames follow each other, or else a usual rate."""
    affordable = _affordable(picture)
    if affordable < _LEAST_RATE:
        return Fraction(max(1, math.floor(affordable)))
    enough, most = max(picture.fps * (1 - _NEARLY), _LEAST_RATE), min(FASTEST * (1 + _SAME), affordable)
    pace = _meant(picture.pace, near=_ROUNDED)
    if pace:
        rate = pace / math.ceil(pace / most) if pace > most else pace * math.ceil(enough / pace)
        if enough <= rate <= most:
            return rate
    return min((rate for rate in _USUAL_RATES if enough <= rate <= most), default=Fraction(math.floor(most)))


def _affordable(picture: PictureTrack) -> float:
    """The rate beyond which a film that mostly stands still would cost far more than it weighs."""
    return max(_REPEATED * picture.frames, _FEW_SECONDS * FASTEST) / picture.duration


def _exact(picture: PictureTrack) -> Fraction:
    return max(1, picture.frames) / Fraction(picture.duration).limit_denominator(_UNITS)


def _meant(fps: float, *, near: float = _NEARLY) -> Fraction:
    """The usual rate that is near, for times are rounded in many files."""
    usual = min(_USUAL_RATES, key=lambda rate: abs(rate - fps))
    return usual if abs(usual - fps) < near * fps else Fraction(fps).limit_denominator(1001)


def _short_sides(top: float) -> Iterator[int]:
    so_far = _even(top)
    yield so_far
    for side in _STANDARD:
        if so_far >= side * _STEP:
            so_far = side
            yield side


def _rung(probed: Probed, picture: PictureTrack, short: int) -> Rung:
    width, height = shown(picture)
    shrunk = short / min(width, height)
    most = min(_LONGEST, _even(max(width, height)))
    long = max(short, min(most, 2 * round(max(width, height) * shrunk / 2)))
    upright = height > width
    rate = new_rate(picture)
    fps = round(float(rate) if rate is not None else picture.fps, 3)
    size = (short, long) if upright else (long, short)
    return Rung(f"{short}p", *size, _bits(short * long, fps), fps, probed.sound is not None)


def _bits(pixels: int, fps: float) -> int:
    bits, many, often = _REFERENCE
    wanted: float = bits * (pixels / many) ** 0.75 * max(1.0, fps / often) ** 0.5
    return max(_LEAST_BITS, round(wanted / 1000) * 1000)


def _even(side: float) -> int:
    """The next even number down, but not none."""
    return max(2, int(side) // 2 * 2)
