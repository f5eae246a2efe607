"""A film as an adaptive stream: all rungs of its ladder in one run of ffmpeg, playable while it goes on."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from penstock.errors import InvalidValue
from penstock.media.adaptive_command import Cadence, arguments, memory
from penstock.media.errors import FfmpegFailed, FfmpegTooLarge, TooMuchToDecode, UnusableFile
from penstock.media.ffmpeg import TICK, Ran, run
from penstock.media.ladder import Rung, moving_pictures
from penstock.media.probed import PictureTrack, Probed
from penstock.media.stream_growth import HLS, MP4, GrownRung, StreamGrowth

_TICK = 0.05
"Seconds in which a segment that is finished is seen."
_ENOUGH = 0.9
"As much of a film must come out."


@dataclass(frozen=True, slots=True)
class Encoded:
    """A film that is encoded: ``hls/master.m3u8`` with a folder beside it for each rung, and ``mp4/RUNG.mp4``."""

    rungs: tuple[GrownRung, ...]
    master: Path
    duration: float
    "Seconds, by the stream's own playlists."
    frames: int
    ffmpeg_seconds: float

    @property
    def files(self) -> list[Path]:
        """All of them."""
        return [*(file for rung in self.rungs for file in rung.files), self.master]


def encode_adaptive(
    source: Path,
    probed: Probed,
    ladder: Sequence[Rung],
    into: Path,
    *,
    progress: Callable[[float], None] | None = None,
    grown: Callable[[Path], None] | None = None,
    limit: timedelta | None = None,
) -> Encoded:
    """Encode a film in every size of its ladder: HLS in fMP4 and one MP4 each, from one decoding and one encoding.

    A frame is in all of them at the moment it has in the film, counted from its first; sound is cut or filled with
    silence to the film's length. Segments of all rungs begin at the same frames.

    ``progress`` is told the share that is done, about four times a second; ``grown`` each file when it is whole, and
    playlists again whenever they have grown, in an order in which whoever has all files so far has a stream that plays.
    What either raises ends the encoding and goes through; then, as after any failure, no file is left in ``into``, and
    none of an earlier encoding.
    """
    picture = moving_pictures(probed)
    if not ladder or len({rung.name for rung in ladder}) != len(ladder):
        raise InvalidValue("a ladder has at least one rung, and each has a name of its own")
    cadence = Cadence.of(picture)
    with _all_or_nothing(into) as folder:
        growth = StreamGrowth(folder, into, ladder, cadence, grown)
        watched = _Watched(growth, picture.duration, progress)
        try:
            ran = run(
                arguments(source, probed, ladder, cadence),
                limit=_limit(probed, ladder) if limit is None else limit,
                progress=watched.look,
                memory=memory(probed, ladder),
                folder=folder,
                tick=_TICK,
            )
        except FfmpegTooLarge as error:
            raise TooMuchToDecode(f"{error}; send a film with fewer pixels") from None
        except FfmpegFailed as error:
            if type(error) is not FfmpegFailed or growth.begun or "No space left" in str(error):
                raise
            raise UnusableFile("not a single frame of the film can be decoded; export it anew") from error
        return _finished(growth, ran, picture)


def _finished(growth: StreamGrowth, ran: Ran, picture: PictureTrack) -> Encoded:
    growth.look_last()
    if not growth.begun:
        raise UnusableFile("not a single frame of the film can be decoded; export it anew")
    # How long the last frame is shown is often a guess.
    if growth.seconds + 1 / picture.fps < _ENOUGH * picture.duration:
        found = f"{growth.seconds:.1f} of {picture.duration:.1f} s"
        raise UnusableFile(f"only {found} of the film can be decoded; export it anew")
    rungs = growth.finish()
    return Encoded(tuple(rungs), growth.master, growth.seconds, ran.frames, round(ran.seconds, 3))


class _Watched:
    """Looks for what has grown often, and tells how far it is now and then."""

    def __init__(self, growth: StreamGrowth, duration: float, progress: Callable[[float], None] | None) -> None:
        self._growth, self._duration, self._progress = growth, duration, progress
        self._told = -math.inf

    def look(self, seconds: float) -> None:
        self._growth.look()
        now = time.monotonic()
        if self._progress is not None and now - self._told >= TICK:
            self._told = now
            self._progress(min(1.0, seconds / self._duration))


@contextmanager
def _all_or_nothing(into: Path) -> Iterator[Path]:
    """A folder to work in. What was made is left only if all went well, and nothing that was made before."""
    into.mkdir(parents=True, exist_ok=True)
    _clear(into)
    try:
        with TemporaryDirectory(dir=into, prefix=".unfinished-") as folder:
            yield Path(folder)
    except BaseException:
        _clear(into)
        raise


def _clear(into: Path) -> None:
    for folder in (HLS, MP4):
        shutil.rmtree(into / folder, ignore_errors=True)


def _limit(probed: Probed, ladder: Sequence[Rung]) -> timedelta:
    """Ten minutes, and for each second of a film as long as a slow machine needs that has other things to do."""
    megapixels = sum(rung.width * rung.height for rung in ladder) / 1e6
    picture = moving_pictures(probed)
    decoded = picture.width * picture.height / 1e6
    rate = max(30.0, min(picture.fps, 240.0)) / 30.0
    return timedelta(minutes=10, seconds=probed.duration * rate * (10 + 10 * (megapixels + decoded)))
