"""Pictures for choosing a video and for finding a place in it: a poster, and a sheet of small ones with its times."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

from penstock.media.errors import UnusableFile
from penstock.media.ladder import moving_pictures, shown
from penstock.media.probed import PictureTrack, Probed
from penstock.media.thumbnail import one_picture, typical_frame
from penstock.media.whole import whole

POSTER = 1280
"Pixels of the long side at most."

_COLUMNS = 10
_MOST_TILES = 100
_TILE = 160
_USUAL_STEP = 1
"Seconds; more if there would be too many."
_ENOUGH = 2
"Frames for each tile."


@dataclass(frozen=True, slots=True)
class ScrubSheet:
    """A sheet of tiles in rows, each the picture in the middle of its time."""

    tiles: int
    columns: int
    width: int
    height: int
    "Of a tile."
    step: Fraction
    "Seconds of a tile."

    @classmethod
    def of(cls, picture: PictureTrack) -> ScrubSheet:
        """One that fits a film: a tile a second, but not too many."""
        duration = Fraction(picture.duration).limit_denominator(1_000_000)
        tiles = max(1, min(_MOST_TILES, math.ceil(duration / _USUAL_STEP)))
        width, height = shown(picture)
        shrunk = min(1.0, _TILE / max(width, height))
        sides = (max(2, round(width * shrunk)), max(2, round(height * shrunk)))
        return cls(tiles, min(tiles, _COLUMNS), *sides, duration / tiles)

    @property
    def rows(self) -> int:
        return math.ceil(self.tiles / self.columns)

    def track(self, name: str) -> str:
        """WebVTT that tells for each time the part of the sheet to show."""
        cues = []
        for tile in range(self.tiles):
            row, column = divmod(tile, self.columns)
            place = f"{column * self.width},{row * self.height},{self.width},{self.height}"
            cues.append(f"{_clock(tile * self.step)} --> {_clock((tile + 1) * self.step)}\n{name}#xywh={place}\n")
        return "\n".join(["WEBVTT\n", *cues])


def poster(source: Path, probed: Probed, target: Path) -> None:
    """A JPEG of the most typical frame in the middle of a film, upright, in its own size if that is not too large."""
    typical_frame(source, moving_pictures(probed), target, longest=POSTER)


def scrub_sheet(source: Path, probed: Probed, sheet: Path, track: Path) -> ScrubSheet:
    """A JPEG of small pictures from all over a film, and WebVTT that tells which belongs to which moment."""
    picture = moving_pictures(probed)
    made = ScrubSheet.of(picture)
    still = "loop=-1:1,setpts=N/25/TB," if picture.frames == 1 else ""
    chosen = f"{still}fps=1/({made.step}),tpad=stop={made.tiles}:stop_mode=clone,trim=end_frame={made.tiles}"
    small = f"scale={made.width}:{made.height}:out_range=pc,setsar=1"
    filters = f"{chosen},{small},tile={made.columns}x{made.rows}:nb_frames={made.tiles}"
    # Few of many frames are needed: if enough of them need no others, the others are not decoded. Not all codecs can.
    ways = [["-skip_frame", "nokey"], []] if picture.key_frames >= _ENOUGH * made.tiles else [[]]
    begun = ["-copyts", "-itsoffset", f"{-picture.first:.6f}"]
    limit = timedelta(minutes=5, seconds=10 * picture.duration)
    if not any(one_picture(source, picture, sheet, *begun, *way, filters=filters, limit=limit) for way in ways):
        raise UnusableFile("not a single frame of the video can be decoded; export it anew")
    with whole(track) as unfinished:
        unfinished.write_text(made.track(sheet.name))
    return made


def _clock(seconds: Fraction) -> str:
    milliseconds = round(seconds * 1000)
    minutes, rest = divmod(milliseconds, 60_000)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{rest // 1000:02d}.{rest % 1000:03d}"
