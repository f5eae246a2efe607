"""What a service has made, cut to what was ordered: services know a few lengths only, and add sound of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from penstock.errors import Unanswered
from penstock.media.content_type import SNIFFED_BYTES, sniff
from penstock.media.ffmpeg import AAC, H264, MP4, reading, run, writing
from penstock.media.probe import probe
from penstock.media.probed import Probed
from penstock.media.whole import whole

_LEAST = 0.5
"A film that is shorter than this part of what was ordered is none."
_EVEN = "scale=trunc(iw/2)*2:trunc(ih/2)*2"
"H.264 knows no odd sizes."


def fit_film(made: Path, into: Path, *, seconds: float, tell: Callable[[float], None]) -> None:
    """A film of a length, without sound: a longer one is cut, a shorter one is slowed down."""
    film = probe(made)
    _check_length(film, seconds)
    if film.sound is None and _is_as_ordered(made, film, seconds):
        made.replace(into)
        return
    slower = max(1.0, seconds / film.duration)
    pictures = f"{_EVEN},setpts=PTS*{slower:.9f},fps={_rate(film)},tpad=stop_mode=clone:stop=2"
    _write(made, into, ["-an", "-vf", pictures, *H264], seconds, tell)


def fit_synced(made: Path, into: Path, *, seconds: float, audio: Path, tell: Callable[[float], None]) -> None:
    """A film of a length with its sound, or with ``audio`` if it has none: a longer one is cut, a shorter one waits."""
    film = probe(made)
    _check_length(film, seconds)
    if film.sound is not None and _is_as_ordered(made, film, seconds):
        made.replace(into)
        return
    source = ["-map", "0:v:0", "-map", "0:a:0"]
    if film.sound is None:
        source = [*reading(audio), "-map", "0:v:0", "-map", "1:a:0"]
    pictures = f"{_EVEN},fps={_rate(film)},tpad=stop_mode=clone:stop_duration={seconds:.6f}"
    sound = f"apad=whole_dur={seconds:.6f}"
    _write(made, into, [*source, "-vf", pictures, "-af", sound, *H264, *AAC], seconds, tell)


def _write(made: Path, into: Path, options: list[str], seconds: float, tell: Callable[[float], None]) -> None:
    with whole(into) as part:
        command = [*reading(made), *options, "-t", f"{seconds:.6f}", *MP4, writing(part)]
        run(command, progress=lambda done: tell(min(done / seconds, 1.0)))


def _check_length(film: Probed, seconds: float) -> None:
    if film.duration < _LEAST * seconds:
        raise Unanswered(f"{seconds:g} s were ordered and {film.duration:.2f} s were made; check the model's settings")


def _is_as_ordered(made: Path, film: Probed, seconds: float) -> bool:
    """An MP4 that every browser plays, of that length."""
    with made.open("rb") as file:
        kind = sniff(file.read(SNIFFED_BYTES))
    playable = kind == "video/mp4" and film.picture is not None and film.picture.codec == "h264"
    return playable and abs(film.duration - seconds) <= 0.5 / _rate(film)


def _rate(film: Probed) -> float:
    """Its pictures a second; a rate that changes is made even."""
    return film.picture.fps if film.picture and film.picture.fps > 0 else 24.0
