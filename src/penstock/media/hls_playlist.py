"""HLS playlists: what is written for players, and what ffmpeg writes for us."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.media.errors import FfmpegFailed
from penstock.media.ladder import Rung

INIT, INDEX, MASTER = "init.mp4", "index.m3u8", "master.m3u8"

_HEADER = 4096
_AAC_LC = "mp4a.40.2"


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a stream that can be decoded without the others."""

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Variant:
    """A rung as a player chooses it; bits are those of a second."""

    rung: Rung
    codecs: str
    bandwidth: int
    "Of the segment that needs most."
    average_bandwidth: int | None = None


def written_segments(text: str) -> list[Segment]:
    """The segments that ffmpeg has finished, by the playlist it keeps."""
    segments, seconds = [], 0.0
    for line in text.splitlines():
        if line.startswith("#EXTINF:"):
            seconds = float(line.removeprefix("#EXTINF:").rstrip(","))
        elif line and not line.startswith("#"):
            segments.append(Segment(line.rpartition("/")[2], seconds))
    return segments


def media_playlist(segments: Sequence[Segment], *, target: float, ended: bool) -> str:
    """The playlist of one rung: it only grows (EVENT) until it is whole (VOD).

    ``target`` is what the longest segment will last, for that may not change later.
    """
    longest = max([target, *(segment.seconds for segment in segments)])
    rounded = max(1, math.floor(longest + 0.5))
    lines = [
        "#EXTM3U",
        "#EXT-X-VERSION:7",
        f"#EXT-X-TARGETDURATION:{rounded}",
        "#EXT-X-MEDIA-SEQUENCE:1",
        f"#EXT-X-PLAYLIST-TYPE:{'VOD' if ended else 'EVENT'}",
        "#EXT-X-INDEPENDENT-SEGMENTS",
        f'#EXT-X-MAP:URI="{INIT}"',
    ]
    for segment in segments:
        lines += [f"#EXTINF:{segment.seconds:.6f},", segment.name]
    if ended:
        lines.append("#EXT-X-ENDLIST")
    return "\n".join(lines) + "\n"


def master_playlist(variants: Sequence[Variant]) -> str:
    """The playlist of all rungs, in the order they are given: players begin with the first."""
    lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-INDEPENDENT-SEGMENTS"]
    for variant in variants:
        rung = variant.rung
        told = [f"BANDWIDTH={variant.bandwidth}"]
        if variant.average_bandwidth is not None:
            told.append(f"AVERAGE-BANDWIDTH={variant.average_bandwidth}")
        told += [f'CODECS="{variant.codecs}"', f"RESOLUTION={rung.width}x{rung.height}", f"FRAME-RATE={rung.fps:.3f}"]
        lines += [f"#EXT-X-STREAM-INF:{','.join(told)}", f"{rung.name}/{INDEX}"]
    return "\n".join(lines) + "\n"


def codecs(init: Path) -> str:
    """What a player must be able to decode, as RFC 6381 writes it; the film's profile and level are in its header."""
    header = init.read_bytes()
    _, found, configuration = header.partition(b"avcC")
    if not found:
        raise FfmpegFailed("ffmpeg wrote a stream that is no H.264")
    film = f"avc1.{configuration[1:4].hex()}"
    return f"{film},{_AAC_LC}" if b"mp4a" in header else film


def film_seconds(mp4: Path) -> float:
    """How long the film in an MP4 is, whose header is in front and tells of the film first."""
    with mp4.open("rb") as file:
        _, found, header = file.read(_HEADER).partition(b"mdhd")
    if not found:
        raise FfmpegFailed("ffmpeg wrote an MP4 without a header")
    moments, layout = (16, ">IQ") if header[0] else (8, ">II")
    units, duration = struct.unpack_from(layout, header, 4 + moments)
    return float(duration / units)
