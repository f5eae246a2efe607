"""A stream while it grows: what ffmpeg has finished is moved to its place, and told of, in the right order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from penstock.media.adaptive_command import AUDIO_BITS, Cadence
from penstock.media.hls_playlist import (
    INDEX,
    INIT,
    MASTER,
    Segment,
    Variant,
    codecs,
    film_seconds,
    master_playlist,
    media_playlist,
    written_segments,
)
from penstock.media.ladder import Rung
from penstock.media.whole import whole

HLS, MP4 = "hls", "mp4"
"The folders of a stream."

_OVERHEAD = 64_000
"Bits a second for headers, at most."
_ROUND = 1000


@dataclass(frozen=True, slots=True)
class GrownRung:
    """A rung that is there whole."""

    variant: Variant
    playlist: Path
    init: Path
    segments: tuple[Path, ...]
    mp4: Path

    @property
    def rung(self) -> Rung:
        return self.variant.rung

    @property
    def files(self) -> list[Path]:
        return [self.init, *self.segments, self.playlist, self.mp4]


class StreamGrowth:
    """All rungs of a film while they are encoded."""

    def __init__(
        self,
        folder: Path,
        into: Path,
        ladder: Sequence[Rung],
        cadence: Cadence,
        grown: Callable[[Path], None] | None,
    ) -> None:
        self._grown = grown or (lambda _: None)
        self._into, self._announced = into, False
        self._rungs = [_Rung(folder, into, number, rung, cadence) for number, rung in enumerate(ladder)]
        (into / MP4).mkdir(exist_ok=True)

    @property
    def master(self) -> Path:
        return self._into / HLS / MASTER

    @property
    def begun(self) -> bool:
        """Whether there is anything to be seen yet."""
        return any(rung.segments for rung in self._rungs)

    @property
    def seconds(self) -> float:
        """How much of the film there is, in every size."""
        return min(sum(segment.seconds for segment in rung.segments) for rung in self._rungs)

    def look_last(self) -> None:
        """Take what is left when ffmpeg has ended."""
        self.look()
        for rung in self._rungs:
            if rung.segments:
                rung.measure()

    def look(self) -> None:
        """Take what ffmpeg has finished since."""
        for rung in self._rungs:
            rung.look(self._grown)
        if not self._announced and all(rung.segments for rung in self._rungs):
            self._announced = True
            self._write_master([rung.expected() for rung in self._rungs])

    def finish(self) -> list[GrownRung]:
        """Say that this is all."""
        rungs = [rung.finished(self._grown) for rung in self._rungs]
        self._write_master([rung.variant for rung in rungs])
        for number, rung in enumerate(rungs):
            self._rungs[number].take_mp4(rung.mp4)
            self._grown(rung.mp4)
        return rungs

    def _write_master(self, variants: Sequence[Variant]) -> None:
        _write(self.master, master_playlist(variants))
        self._grown(self.master)


class _Rung:
    """One of them: where ffmpeg writes it, and where it belongs."""

    def __init__(self, folder: Path, into: Path, number: int, rung: Rung, cadence: Cadence) -> None:
        self._from, self._to = folder / str(number), into / HLS / rung.name
        self._written = folder / f"{number}.mp4"
        self._mp4 = into / MP4 / f"{rung.name}.mp4"
        self._rung, self._cadence = rung, cadence
        self._seen = 0
        self.segments: list[Segment] = []
        self._sizes: list[int] = []
        for place in (self._from, self._to):
            place.mkdir(parents=True, exist_ok=True)

    def look(self, grown: Callable[[Path], None]) -> None:
        finished = self._finished_segments()
        if len(finished) == len(self.segments):
            return
        if not self.segments:
            grown(self._taken(INIT))
        for segment in finished[len(self.segments) :]:
            place = self._taken(segment.name)
            self._sizes.append(place.stat().st_size)
            self.segments.append(segment)
            grown(place)
        grown(self._write_playlist(ended=False))

    def expected(self) -> Variant:
        """As it will be at most: a segment has what its rate gives in its time, and what was saved up before."""
        saved_up = 1 + 1 / max(self._cadence.seconds, 1.0)
        bits = self._rung.video_bitrate * saved_up + (AUDIO_BITS if self._rung.audio else 0) + _OVERHEAD
        return Variant(self._rung, self._codecs(), max(math.ceil(bits), self._peak()))

    def measure(self) -> None:
        """Find out how long the last segment is: ffmpeg has added up what frames say, not when the next one comes."""
        before = sum(segment.seconds for segment in self.segments[:-1])
        left = round(max(0.001, film_seconds(self._written) - before), 6)
        self.segments[-1] = Segment(self.segments[-1].name, left)

    def finished(self, grown: Callable[[Path], None]) -> GrownRung:
        playlist = self._write_playlist(ended=True)
        grown(playlist)
        average = round(8 * sum(self._sizes) / sum(segment.seconds for segment in self.segments))
        variant = Variant(self._rung, self._codecs(), self._peak(), average)
        places = tuple(self._to / segment.name for segment in self.segments)
        return GrownRung(variant, playlist, self._to / INIT, places, self._mp4)

    def take_mp4(self, place: Path) -> None:
        self._written.replace(place)

    def _finished_segments(self) -> list[Segment]:
        playlist = self._from / INDEX
        with suppress(FileNotFoundError):
            changed = playlist.stat().st_mtime_ns
            if changed != self._seen:
                self._seen = changed
                return written_segments(playlist.read_text())
        return self.segments

    def _taken(self, name: str) -> Path:
        return (self._from / name).replace(self._to / name)

    def _write_playlist(self, *, ended: bool) -> Path:
        longest = self._cadence.seconds + (1 / self._rung.fps if self._rung.fps else 0.0)
        _write(self._to / INDEX, media_playlist(self.segments, target=longest, ended=ended))
        return self._to / INDEX

    def _codecs(self) -> str:
        return codecs(self._to / INIT)

    def _peak(self) -> int:
        rates = (8 * size / segment.seconds for size, segment in zip(self._sizes, self.segments, strict=True))
        return _ROUND * math.ceil(max(rates) / _ROUND)


def _write(place: Path, text: str) -> None:
    with whole(place) as unfinished:
        unfinished.write_text(text)
