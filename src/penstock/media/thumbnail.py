"""A small picture that shows what a video is about."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from penstock.media.errors import UnusableFile
from penstock.media.ffmpeg import EXACT, Ran, reading, run, writing
from penstock.media.probe import probe
from penstock.media.probed import PictureTrack
from penstock.media.whole import whole

_MEMORY = 1 << 30
_LOOKED_AT = 4.0
"Seconds from the middle of which the most typical frame is taken."


def thumbnail(clip: Path, into: Path, *, longest: int = 640) -> Ran:
    """A JPEG of the most typical frame in the middle of a video, upright, at most so many pixels wide and high."""
    picture = probe(clip).picture
    if picture is None:
        raise UnusableFile("there are no pictures in the file; send a video")
    return typical_frame(clip, picture, into, longest=longest)


def typical_frame(clip: Path, picture: PictureTrack, into: Path, *, longest: int) -> Ran:
    """The same of a video that was looked at already."""
    ratio = picture.width * picture.pixel_aspect / picture.height
    width, height = (longest, longest / ratio) if ratio > 1 else (longest * ratio, longest)
    shrink = min(1.0, picture.width * picture.pixel_aspect / width)
    size = f"{max(1, round(width * shrink))}:{max(1, round(height * shrink))}"
    begin = max(0.0, (picture.duration - _LOOKED_AT) / 2)
    count = round(min(picture.duration, _LOOKED_AT) * picture.fps)
    scaled = f"scale={size}:out_range=pc,setsar=1"
    typical = f"{scaled},thumbnail=n={min(max(count, 2), 100)}"
    ran = one_picture(clip, picture, into, "-ss", f"{begin:.3f}", "-t", str(_LOOKED_AT), filters=typical)
    # Some files cannot be sought in, or do not tell when their frames are shown: the first stands for them.
    ran = ran or one_picture(clip, picture, into, filters=scaled)
    if ran is None:
        raise UnusableFile("not a single frame of the video can be decoded; export it anew")
    return ran


def one_picture(
    clip: Path,
    picture: PictureTrack,
    into: Path,
    *options: str,
    filters: str,
    limit: timedelta = timedelta(minutes=1),
) -> Ran | None:
    """A JPEG of what filters make of a video that is read with such options; None if they make nothing of it."""
    with suppress(_NothingMade), whole(into) as unfinished:
        ran = run(
            [
                *(*reading(clip, "-threads", "2", *options), "-map", f"0:{picture.index}", "-frames:v", "1"),
                *("-vf", f"{filters},format=yuvj420p", "-c:v", "mjpeg", "-q:v", "3"),
                *(*EXACT, "-f", "mjpeg", writing(unfinished)),
            ],
            limit=limit,
            memory=_MEMORY,
        )
        if not ran.frames:
            raise _NothingMade
        return ran
    return None


class _NothingMade(Exception):
    """ffmpeg has ended well, without a picture."""
