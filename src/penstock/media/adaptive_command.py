"""How ffmpeg is asked for an adaptive stream.

Everything comes from one tee: each rung is encoded once, and goes to its segments and to its MP4; sound is encoded once
for all. Names are relative to the folder ffmpeg works in, so nothing in them needs escaping.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from penstock.media.ffmpeg import EXACT, reading
from penstock.media.hls_playlist import INDEX, INIT
from penstock.media.ladder import Rung, moving_pictures, new_rate, steady_rate
from penstock.media.probed import PictureTrack, Probed, SoundTrack

SEGMENT = "segment_%05d.m4s"
LONGEST_SEGMENT = 2.0
"Seconds."
AUDIO_BITS = 128_000

_RATE = 48_000
_PRIMING = 1024
"Samples an AAC encoder puts in front. As many are left out of the sound's beginning, so that all streams begin at 0."
_LATE = 0.015
"Seconds that sound may begin after the film without being filled."
_NEARLY = 0.0005
_UNITS = 90_000
_STANDING = 5.0
"Seconds that the last frame may stand for those that could not be decoded."
_UNTIMED = ("avi", "mpeg", "mpegvideo")
"Containers whose frames do not say when they are shown, so that everybody guesses in another way where they begin."
_DEINTERLACED = 16
"Lines and columns from which on it is worth it."
_HIGH_DEFINITION = 720
_H264 = (
    *("-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-profile:v", "high", "-threads:v", "2"),
    # Without B-frames a frame is shown when it is decoded, and a player's clock tells the frame's number.
    *("-bf", "0", "-sc_threshold", "0", "-g", "1000000"),
)
_AAC = ("-c:a", "aac", "-b:a", str(AUDIO_BITS), "-ac", "2", "-ar", str(_RATE))
_SEGMENTED = {
    "f": "hls",
    "onfail": "abort",
    "hls_playlist_type": "event",
    "hls_segment_type": "fmp4",
    "hls_fmp4_init_filename": INIT,
    "hls_flags": "temp_file",
    "start_number": "1",
}
_WHOLE = {"f": "mp4", "onfail": "abort", "movflags": "+faststart"}
_MOST_MEMORY = 4 << 30
_BASIC_MEMORY = 512 << 20
_DECODED_KEPT, _ENCODED_KEPT = 80, 120
"Bytes for each pixel of a frame: some 30 frames are under way in each part."


@dataclass(frozen=True, slots=True)
class Cadence:
    """When segments begin: a film is cut into equal parts, so that none is short."""

    seconds: float

    @classmethod
    def of(cls, picture: PictureTrack) -> Cadence:
        return cls(picture.duration / max(1, math.ceil(picture.duration / LONGEST_SEGMENT - _NEARLY)))

    def key_frames(self) -> str:
        """The first frame of each part, also if there was none for several parts."""
        part = f"floor((prev_forced_t+{_NEARLY})/{self.seconds:.6f})"
        return f"expr:if(isnan(prev_forced_t),1,gte(t+{_NEARLY},({part}+1)*{self.seconds:.6f}))"


def arguments(source: Path, probed: Probed, ladder: Sequence[Rung], cadence: Cadence) -> list[str]:
    """All that ffmpeg is told: what it reads, and that each rung N becomes N.mp4 and a folder N."""
    picture = moving_pictures(probed)
    sound = probed.sound if any(rung.audio for rung in ladder) else None
    # The first frame is at 0. No filter does that: it would forget how long the last frame is shown, and begin anew
    # whenever a film changes its size on the way.
    inputs = reading(source, "-threads", "2", "-max_error_rate", "1", "-copyts", "-itsoffset", f"{-picture.first:.6f}")
    graphs = ["-filter_complex_threads", "2", "-filter_complex", ";".join(_pictures(probed, picture, ladder))]
    maps = [part for number in range(len(ladder)) for part in ("-map", f"[v{number}]")]
    if sound is not None:
        graphs += ["-filter_complex", _sound(picture, sound)]
        maps += ["-map", "[a]", *_AAC]
    bits = [part for number, rung in enumerate(ladder) for part in _bits(number, rung)]
    timing = ["-fps_mode", "vfr", "-enc_time_base:v", f"1:{_UNITS}", "-force_key_frames:v", cadence.key_frames()]
    whole = [*EXACT, "-map_chapters", "-1", "-flags", "+global_header", "-f", "tee"]
    outputs = "|".join(part for number, rung in enumerate(ladder) for part in _outputs(number, rung, cadence, sound))
    return [*inputs, *graphs, *maps, *_H264, *bits, *timing, *whole, outputs]


def memory(probed: Probed, ladder: Sequence[Rung]) -> int:
    """What it may take."""
    picture = moving_pictures(probed)
    decoded = picture.width * picture.height * _DECODED_KEPT
    encoded = sum(rung.width * rung.height for rung in ladder) * _ENCODED_KEPT
    return min(_BASIC_MEMORY + decoded + encoded, _MOST_MEMORY)


def _pictures(probed: Probed, picture: PictureTrack, ladder: Sequence[Rung]) -> Iterator[str]:
    """Each rung is scaled from the one above it, which is less work than from the film."""
    steps = [_scaled(ladder[0], picture), *_timed(probed, picture), "format=yuv420p", "setsar=1", _tagged(picture)]
    if picture.interlaced and min(picture.width, picture.height) >= _DEINTERLACED:
        steps.insert(0, "yadif=deint=interlaced")
    so_far = f"[0:{picture.index}]{','.join(steps)}"
    for number, rung in enumerate(ladder[1:]):
        yield f"{so_far},split[v{number}][s{number}]"
        so_far = f"[s{number}]scale={rung.width}:{rung.height},setsar=1"
    yield f"{so_far}[v{len(ladder) - 1}]"


def _scaled(rung: Rung, picture: PictureTrack) -> str:
    colours = "" if _kept_matrix(picture) else ":out_color_matrix=bt709"
    return f"scale={rung.width}:{rung.height}:out_range=tv{colours}"


def _timed(probed: Probed, picture: PictureTrack) -> Iterator[str]:
    """At a new rate there are exactly as many frames as fit; the last stands for those that the film does not tell."""
    rate = new_rate(picture)
    if probed.container in _UNTIMED:
        rate = rate or steady_rate(picture)
        yield "setpts=PTS-STARTPTS"
    if rate is None:
        return
    frames = max(1, round(Fraction(picture.duration) * rate))
    if picture.frames == 1:
        yield f"loop=-1:1,setpts=N/({rate})/TB"
    else:
        yield f"tpad=stop_mode=clone:stop_duration={max(_STANDING, 2 / picture.fps):.3f}"
    yield f"fps={rate}"
    yield f"trim=end={float((frames - Fraction(1, 4)) / rate):.6f}"


def _kept_matrix(picture: PictureTrack) -> str | None:
    """The matrix that colours keep, for every player knows these two; the others become bt709."""
    if picture.matrix in ("bt601", "bt709"):
        return picture.matrix
    if not picture.matrix and "yuv" in picture.pixel_format:
        # What players take it for.
        return "bt709" if min(picture.width, picture.height) >= _HIGH_DEFINITION else "bt601"
    return None


def _tagged(picture: PictureTrack) -> str:
    name = "smpte170m" if _kept_matrix(picture) == "bt601" else "bt709"
    return f"setparams=range=tv:colorspace={name}:color_primaries={name}:color_trc={name}"


def _sound(picture: PictureTrack, sound: SoundTrack) -> str:
    samples = max(round(Fraction(picture.duration) * _RATE), _PRIMING + 1)
    filled = ":first_pts=0" if sound.first - picture.first > _LATE else ""
    return (
        f"[0:{sound.index}]aresample={_RATE}:async=1{filled},"
        f"aformat=sample_fmts=fltp:channel_layouts=stereo,"
        f"atrim=start_pts={_PRIMING},apad=whole_len={samples - _PRIMING},atrim=end_pts={samples}[a]"
    )


def _bits(number: int, rung: Rung) -> Iterator[str]:
    yield from (f"-maxrate:v:{number}", str(rung.video_bitrate), f"-bufsize:v:{number}", str(rung.video_bitrate))


def _outputs(number: int, rung: Rung, cadence: Cadence, sound: SoundTrack | None) -> Iterator[str]:
    streams = f"v:{number},a:0" if sound is not None and rung.audio else f"v:{number}"
    segmented = {
        "select": rf"\'{streams}\'",
        **_SEGMENTED,
        # Only the first frames of parts can be decoded by themselves, and each of them begins a segment.
        "hls_time": f"{cadence.seconds / 2:.6f}",
        "hls_segment_filename": f"{number}/{SEGMENT}",
    }
    yield f"[{_options(segmented)}]{number}/{INDEX}"
    yield f"[{_options({'select': segmented['select'], **_WHOLE})}]{number}.mp4"


def _options(values: dict[str, str]) -> str:
    return ":".join(f"{name}={value}" for name, value in values.items())
