"""Pictures that somebody draws, one after the other, as an MP4."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

from penstock.errors import InvalidValue
from penstock.media.ffmpeg import AAC, H264, MP4, Ran, Raw, reading, run, seen_as_bytes, writing
from penstock.media.whole import whole


def encode(
    frames: Iterable[Raw],
    into: Path,
    *,
    width: int,
    height: int,
    fps: int | Fraction,
    sound: Path | None = None,
    progress: Callable[[int], None] | None = None,
    limit: timedelta = timedelta(minutes=10),
) -> Ran:
    """An MP4 of raw RGB frames: rows from the top, three bytes a pixel. The same frames give the same file.

    The sound, if there is one, is cut or filled with silence to the length of the frames. ``progress`` is told how
    many frames were taken, about four times a second; what it raises goes through, and nothing is left behind.
    """
    if width % 2 or height % 2 or min(width, height) < 2:
        raise InvalidValue(f"a video's width and height are even numbers from 2, not {width}x{height}")
    taken = _Taken(frames, size=width * height * 3)
    raw = ["-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", f"{width}x{height}", "-framerate", str(fps)]
    colours = ["-vf", "scale=out_color_matrix=bt709:out_range=tv"]
    key_frames = ["-g", str(max(1, round(fps * 2)))]
    with whole(into) as silent:
        ran = run(
            [*raw, "-i", "pipe:0", *colours, *H264, *key_frames, *MP4, writing(silent)],
            limit=limit,
            progress=None if progress is None else lambda _: progress(taken.count),
            feed=taken,
        )
        if not taken.count:
            raise InvalidValue("there are no frames to encode")
        if sound is not None:
            _add_sound(silent, sound, seconds=float(taken.count / Fraction(fps)), limit=limit)
    return ran


class _Taken:
    """Frames, counted while they are taken; each has the size it must have."""

    def __init__(self, frames: Iterable[Raw], *, size: int) -> None:
        self._frames, self._size = frames, size
        self.count = 0

    def __iter__(self) -> Iterator[memoryview]:
        for frame in map(seen_as_bytes, self._frames):
            if len(frame) != self._size:
                raise InvalidValue(f"frame {self.count} has {len(frame)} bytes, not {self._size}")
            self.count += 1
            yield frame


def _add_sound(silent: Path, sound: Path, *, seconds: float, limit: timedelta) -> None:
    """The sound is added in place of the silent file, which is not encoded again."""
    with whole(silent) as complete:
        filled = ["-af", f"aresample=48000:async=1:first_pts=0,apad=whole_dur={seconds:.6f}"]
        maps = ["-map", "0:v:0", "-map", "1:a:0", "-c:v", "copy", "-t", f"{seconds:.6f}"]
        run([*reading(silent), *reading(sound), *maps, *filled, *AAC, *MP4, writing(complete)], limit=limit)
