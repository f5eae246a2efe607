"""Whether a file that somebody sent is what it is to be, whole, and no more than can be handled.

A file is decoded to its end before it is trusted: headers lie, and a decoder hides damage and only mutters about it. A
few complaints are forgiven, for the end of a recording is often cut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from penstock.media.content_type import UNKNOWN
from penstock.media.errors import FfmpegFailed, FfmpegTooLarge, FfmpegTooSlow, TooMuchToDecode, UnusableFile
from penstock.media.ffmpeg import MOST_PIXELS, Ran, reading, run
from penstock.media.image import IMAGE_TYPES, decode_image
from penstock.media.media_type import canonical
from penstock.media.probe import AS_ANY_KIND, probe
from penstock.media.probed import MediaKind, Probed
from penstock.media.room import MEGABYTE, room


@dataclass(frozen=True, slots=True)
class SoundnessLimits:
    """The most that is taken."""

    pixels: int = MOST_PIXELS
    "Of a frame; of an image, all its frames together."
    seconds: float = 4 * 3600.0
    frames: int = 1_000_000
    time: timedelta = timedelta(minutes=10)
    "For looking at it."


LIMITS = SoundnessLimits()

_FORGIVEN = 3
_FORGIVEN_SHARE = 100
"One complaint for so many packets is forgiven, but always a few."
_DECODED_SHARE = 0.9
"As many of the frames must come out."
_MISSING = 0.5
_MISSING_SHARE = 0.05
"Seconds, and share of its length, that a file may be shorter than it says."
_CUT = ("File ended prematurely", "partial file")
"What demuxers say of a file that ends in the middle of something."
_LEAST_MEMORY = 192 * MEGABYTE
_MOST_MEMORY = 448 * MEGABYTE
_NO_ROOM = "get_buffer() failed"
"What a decoder says that gets no memory for a frame; or of a small film that claims to be large, for it is damaged."
_FRAMES_KEPT = 20
_BYTES_PER_PIXEL = 2
_RIFF_UNKNOWN = 0x7FFFFFFF
"A size from here on was written by somebody who did not know it yet."


Tell = Callable[[float], None]
"Told which share of a file is seen; what it raises ends the look."


def sound_video(path: Path, *, limits: SoundnessLimits = LIMITS, tell: Tell = lambda share: None) -> Probed:
    """What is known of a video that is whole."""
    probed = _of_kind(MediaKind.VIDEO, path, limits)
    picture = probed.picture
    assert picture is not None
    pixels = picture.width * picture.height
    if not pixels:
        raise UnusableFile("the video is damaged: it does not tell its size; export it anew")
    if pixels > limits.pixels:
        size = f"{picture.width}x{picture.height}"
        raise UnusableFile(f"the video is {size}; send one of at most {limits.pixels} pixels a frame")
    if picture.frames > limits.frames:
        raise UnusableFile(f"the video has {picture.frames} frames; send one of at most {limits.frames}")
    ran = _decoded(path, probed, limits, tell)
    if ran.frames < max(1, _DECODED_SHARE * picture.frames):
        raise UnusableFile(f"only {ran.frames} of the video's {picture.frames} frames can be decoded; export it anew")
    return probed


def sound_audio(path: Path, *, limits: SoundnessLimits = LIMITS, tell: Tell = lambda share: None) -> Probed:
    """What is known of a sound that is whole."""
    probed = _of_kind(MediaKind.AUDIO, path, limits)
    _decoded(path, probed, limits, tell)
    return probed


def sound_image(path: Path, *, limits: SoundnessLimits = LIMITS, tell: Tell = lambda share: None) -> Probed:
    """What is known of an image that is whole."""
    probed = _of_kind(MediaKind.IMAGE, path, limits)
    tell(0.5)
    decode_image(path, pixels=limits.pixels)
    return probed


def advice(kind: MediaKind, content_type: str) -> str | None:
    """What to tell whoever announces a file that is to be of a kind; None where its type promises well.

    No type is refused for its name: senders are often wrong about it, and the bytes decide.
    """
    claim = canonical(content_type)
    if claim == UNKNOWN or claim in _TAKEN[kind]:
        return None
    return f"{claim} is usually not {_NAMES[kind]} that is taken here, and the bytes decide; {_WANTED[kind]}"


def _of_kind(kind: MediaKind, path: Path, limits: SoundnessLimits) -> Probed:
    try:
        probed = probe(path, limit=limits.time)
    except UnusableFile as error:
        # Of whatever cannot be read, nobody but us knows what it should have been.
        raise type(error)(str(error).replace(AS_ANY_KIND, _WANTED[kind])) from None
    if probed.kind is not kind:
        found = f"{_NAMES[probed.kind]} ({probed.container})"
        raise UnusableFile(f"the file is {found}, not {_NAMES[kind]}; {_WANTED[kind]}")
    if kind is not MediaKind.IMAGE:
        _check_length(path, probed, limits)
    return probed


_EITHER = frozenset({"video/mp4", "video/quicktime", "video/3gpp", "video/3gpp2", "video/webm", "video/x-matroska"})
"Containers with pictures, or with sound alone."
_TAKEN = {
    MediaKind.VIDEO: _EITHER
    | {"video/x-msvideo", "video/mpeg", "video/mp2t", "video/ogg", "video/x-flv", "video/x-ms-asf", "application/mxf"},
    MediaKind.AUDIO: _EITHER
    | {"audio/wav", "audio/mpeg", "audio/flac", "audio/ogg", "audio/mp4", "audio/aac", "audio/aiff", "audio/x-caf"}
    | {"audio/amr", "audio/ac3", "video/x-ms-asf"},
    MediaKind.IMAGE: IMAGE_TYPES,
}
"Under which types files of a kind usually come."
_NAMES = {MediaKind.VIDEO: "a video", MediaKind.AUDIO: "sound without pictures", MediaKind.IMAGE: "an image"}
_WANTED = {
    MediaKind.VIDEO: "send a video such as MP4, WebM or MOV",
    MediaKind.AUDIO: "send a sound such as MP3, WAV, FLAC or OGG",
    MediaKind.IMAGE: "send an image: PNG, JPEG, WebP, AVIF, HEIC or GIF",
}


def _check_length(path: Path, probed: Probed, limits: SoundnessLimits) -> None:
    if not probed.packets or probed.duration <= 0:
        raise UnusableFile("there is a header in the file and nothing after it; export it anew")
    if probed.duration > limits.seconds:
        raise UnusableFile(f"it lasts {probed.duration:.0f} s; send one of at most {limits.seconds:.0f} s")
    length = max(probed.measured, probed.duration)
    claimed = probed.claimed or 0.0
    if claimed - length > max(_MISSING, _MISSING_SHARE * claimed):
        raise UnusableFile(f"the file is cut: it says {claimed:.1f} s and ends after {length:.1f} s; send it whole")
    if _shorter_than_riff(path):
        raise UnusableFile("the file is cut: it ends before its header says; send it whole")


def _shorter_than_riff(path: Path) -> bool:
    """A WAV or AVI tells its size at the beginning, and nobody else looks whether it is true."""
    with path.open("rb") as file:
        header = file.read(8)
    size = int.from_bytes(header[4:], "little")
    return header[:4] == b"RIFF" and size < _RIFF_UNKNOWN and size > path.stat().st_size


def _memory(probed: Probed) -> int:
    """What decoding may take: a codec keeps up to 16 frames, and each thread one or two more."""
    picture = probed.picture
    frame = picture.width * picture.height * _BYTES_PER_PIXEL if picture is not None else 0
    return min(_LEAST_MEMORY + _FRAMES_KEPT * frame, _MOST_MEMORY)


def _strictness(probed: Probed) -> str:
    """What a decoder looks for beside what it stumbles over."""
    picture = probed.picture
    # A constant rate is kept by zeros behind a slice, which pass for something that does not belong there.
    filled = picture is not None and picture.codec in ("mpeg1video", "mpeg2video")
    return "crccheck+buffer+careful" if filled else "crccheck+bitstream+buffer+careful"


def _decoded(path: Path, probed: Probed, limits: SoundnessLimits, tell: Tell) -> Ran:
    """All of it decoded, and hardly a complaint about it."""
    length = max(probed.duration, probed.measured)
    streams = [stream.index for stream in (probed.picture, probed.sound) if stream is not None]
    maps = [part for index in streams for part in ("-map", f"0:{index}")]
    source = reading(path, "-threads", "2", "-err_detect", _strictness(probed))
    memory = _memory(probed)
    try:
        with room().taken(memory):
            ran = run(
                [*source, *maps, "-fps_mode", "passthrough", "-f", "null", "-"],
                limit=limits.time,
                memory=memory,
                progress=lambda seconds: tell(min(seconds / length, 1.0)),
            )
    except FfmpegTooLarge:
        raise _too_much(memory) from None
    except FfmpegTooSlow:
        seconds = limits.time.total_seconds()
        raise UnusableFile(f"it takes more than {seconds:.0f} s to decode; send a shorter or smaller one") from None
    except FfmpegFailed as error:
        raise UnusableFile(f"the file cannot be decoded; export it anew ({error})") from None
    if _NO_ROOM in ran.log and memory == _MOST_MEMORY:
        raise _too_much(memory)
    if any(words in ran.log for words in _CUT):
        raise UnusableFile("the file is cut: it ends in the middle of something; send it whole")
    if ran.complaints > max(_FORGIVEN, probed.packets // _FORGIVEN_SHARE):
        raise UnusableFile(f"the file is damaged: decoding it went wrong {ran.complaints} times; export it anew")
    return ran


def _too_much(memory: int) -> TooMuchToDecode:
    return TooMuchToDecode(f"it takes more than {memory // MEGABYTE} MB of memory to decode; send a smaller one")
