"""What every adaptive stream must be, looked at with tools other than those that made it."""

from __future__ import annotations

import io
import re
import struct
from dataclasses import dataclass
from pathlib import Path

import av
import pytest

from penstock.media.adaptive import Encoded
from penstock.media.ffmpeg import run
from penstock.media.probed import Probed
from penstock.media.stream_growth import GrownRung


@dataclass(frozen=True)
class Heard:
    """A playlist as a player reads it."""

    kind: str
    ended: bool
    target: int
    names: list[str]
    seconds: list[float]

    @classmethod
    def of(cls, playlist: Path) -> Heard:
        text = playlist.read_text()
        assert text.startswith("#EXTM3U\n#EXT-X-VERSION:7\n")
        assert '#EXT-X-MAP:URI="init.mp4"\n' in text
        assert "#EXT-X-INDEPENDENT-SEGMENTS\n" in text
        (kind,) = re.findall(r"#EXT-X-PLAYLIST-TYPE:(\w+)", text)
        (target,) = re.findall(r"#EXT-X-TARGETDURATION:(\d+)", text)
        parts = re.findall(r"#EXTINF:([\d.]+),\n(\S+)", text)
        names, seconds = [name for _, name in parts], [float(length) for length, _ in parts]
        return cls(kind, text.endswith("#EXT-X-ENDLIST\n"), int(target), names, seconds)


def variants(master: Path) -> dict[str, dict[str, str]]:
    """What a master playlist says of each rung's playlist."""
    found = {}
    for told, name in re.findall(r"#EXT-X-STREAM-INF:(.+)\n(\S+)", master.read_text()):
        attributes = re.findall(r'([A-Z-]+)=("[^"]*"|[^,]*)', told)
        found[name] = {key: value.strip('"') for key, value in attributes}
    return found


def check_stream(encoded: Encoded, source: Probed) -> None:
    """It is whole, in step, and what its playlists say."""
    told = variants(encoded.master)
    assert list(told) == [f"{rung.rung.name}/index.m3u8" for rung in encoded.rungs]
    frame = 1 / encoded.rungs[0].rung.fps
    assert encoded.duration == pytest.approx(source.duration, abs=frame + 0.001)
    beginnings = [_check_rung(rung, source, told[f"{rung.rung.name}/index.m3u8"]) for rung in encoded.rungs]
    for begins in beginnings[1:]:
        assert begins == pytest.approx(beginnings[0], abs=frame), "segments of all rungs begin together"
    assert all(file.is_file() for file in encoded.files)
    root = encoded.master.parents[1]
    stray = {file for folder in ("hls", "mp4") for file in (root / folder).rglob("*") if file.is_file()}
    assert stray == set(encoded.files)
    assert not list(root.glob(".*"))


def _check_rung(rung: GrownRung, source: Probed, told: dict[str, str]) -> list[float]:
    wanted, heard = rung.rung, Heard.of(rung.playlist)
    frame = 1 / wanted.fps
    assert (heard.kind, heard.ended) == ("VOD", True)
    assert heard.names == [segment.name for segment in rung.segments]
    assert max(map(round, heard.seconds)) <= heard.target
    assert sum(heard.seconds) == pytest.approx(source.duration, abs=frame + 0.001)
    begins = _segment_beginnings(rung)
    expected = [sum(heard.seconds[:number]) for number in range(len(heard.seconds))]
    assert begins == pytest.approx(expected, abs=frame)
    for file in (rung.playlist, rung.mp4):
        # Times as they are: by itself ffmpeg rounds them to frames of a rate that it guesses.
        nowhere = ["-map", "0", "-enc_time_base:v", "demux", "-f", "null", "-"]
        ran = run(["-xerror", "-i", f"file:{file}", *nowhere], level="warning")
        assert (ran.complaints, ran.log) == (0, "")
    _check_mp4(rung, source)
    _check_told(rung, heard, told)
    return begins


def _segment_beginnings(rung: GrownRung) -> list[float]:
    """When each begins, which it says itself, with a frame that needs no other."""
    begins, init = [], rung.init.read_bytes()
    for segment in rung.segments:
        part = segment.read_bytes()
        with av.open(io.BytesIO(init + part), "r") as container:
            film = container.streams.video[0]
            packet = next(packet for packet in container.demux(film) if packet.size)
            assert packet.is_keyframe
            assert film.time_base is not None
            begins.append(float(_decode_time(part) * film.time_base))
    return begins


def _decode_time(segment: bytes) -> int:
    """Of its first track, which is the film."""
    place = segment.index(b"tfdt") + 4
    moment: int = struct.unpack_from(">Q" if segment[place] else ">I", segment, place + 4)[0]
    return moment


def _check_mp4(rung: GrownRung, source: Probed) -> None:
    head = rung.mp4.read_bytes()
    assert head.index(b"moov") < head.index(b"mdat"), "it can be played before it is all there"
    with av.open(str(rung.mp4)) as container:
        film = container.streams.video[0]
        assert (film.width, film.height) == (rung.rung.width, rung.rung.height)
        assert (film.codec_context.name, film.pix_fmt, film.profile) == ("h264", "yuv420p", "High")
        assert film.sample_aspect_ratio in (None, 1)
        assert len(container.streams) == 1 + (source.sound is not None)
        packets = [packet for packet in container.demux(film) if packet.size]
        assert all(packet.pts == packet.dts for packet in packets), "a frame is shown when it is decoded"
        assert packets[0].pts == 0
        for sound in container.streams.audio:
            assert (sound.codec_context.name, sound.profile) == ("aac", "LC")
            assert (sound.codec_context.sample_rate, sound.codec_context.channels) == (48_000, 2)
            assert sound.start_time == 0


def _check_told(rung: GrownRung, heard: Heard, told: dict[str, str]) -> None:
    peak = max(8 * file.stat().st_size / length for file, length in zip(rung.segments, heard.seconds, strict=True))
    assert peak <= int(told["BANDWIDTH"]) <= peak + 1000
    assert int(told["AVERAGE-BANDWIDTH"]) <= int(told["BANDWIDTH"])
    assert told["RESOLUTION"] == f"{rung.rung.width}x{rung.rung.height}"
    assert float(told["FRAME-RATE"]) == pytest.approx(rung.rung.fps, abs=0.001)
    film, *sound = told["CODECS"].split(",")
    with av.open(str(rung.mp4)) as container:
        level = rung.init.read_bytes().partition(b"avcC")[2][3]
        assert film == f"avc1.6400{level:02x}"
        assert sound == ["mp4a.40.2"] * len(container.streams.audio)
