"""Films whose every picture has its number painted into it, so that it can be told which one is seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from penstock.media import ffmpeg

BITS = 10
"Cells beside each other, the highest bit first: white above black is 1, black above white 0."


def numbered_film(target: Path, *, seconds: float = 4, rate: int = 25, size: tuple[int, int] = (320, 192)) -> Path:
    """An MP4 with sound."""
    command = [*_source(seconds, rate, size), "-map", "0:v", "-map", "1:a", "-c:v", "libx264", "-preset", "ultrafast"]
    command += ["-pix_fmt", "yuv420p", "-c:a", "aac", "-shortest", *ffmpeg.MP4, ffmpeg.writing(target)]
    ffmpeg.run(command, feed=_pictures(round(seconds * rate), size))
    return target


def numbered_stream(folder: Path, *, seconds: float = 4, rate: int = 25) -> Path:
    """The master playlist of an fMP4 HLS stream with sound in two rungs of 160 × 96 and 320 × 192."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [
        *_source(seconds, rate, (320, 192)),
        *("-filter_complex", "[0:v]split[a][large];[a]scale=160:96:flags=area[small]"),
        *("-map", "[small]", "-map", "[large]", "-map", "1:a", "-map", "1:a"),
        # Without B-frames: their delay shifts the numbers of pictures by two.
        *("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-bf", "0"),
        *("-force_key_frames", "expr:gte(t,n_forced)", "-b:v:0", "100k", "-b:v:1", "400k", "-c:a", "aac"),
        *("-f", "hls", "-hls_time", "1", "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4"),
        *("-hls_fmp4_init_filename", "init.mp4", "-master_pl_name", "master.m3u8"),
        *("-hls_segment_filename", f"{folder}/%v/segment_%05d.m4s"),
        *("-var_stream_map", "v:0,a:0,name:96p v:1,a:1,name:192p", f"{folder}/%v/index.m3u8"),
    ]
    ffmpeg.run(command, feed=_pictures(round(seconds * rate), (320, 192)))
    return folder / "master.m3u8"


def _source(seconds: float, rate: int, size: tuple[int, int]) -> list[str]:
    pictures = ["-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{size[0]}x{size[1]}", "-r", str(rate), "-i", "pipe:0"]
    return [*pictures, "-f", "lavfi", "-t", str(seconds), "-i", "sine=frequency=440:sample_rate=48000"]


def _pictures(count: int, size: tuple[int, int]) -> Iterator[Any]:
    width, height = size
    columns = np.arange(width) * BITS // width
    for number in range(count):
        above = (number >> (BITS - 1 - columns)) & 1
        rows = np.where(np.arange(height)[:, None] < height // 2, above, 1 - above)
        yield (16 + rows * 219).astype(np.uint8).tobytes()
