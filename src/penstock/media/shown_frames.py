"""When the frames of a film are shown, found out by decoding all of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from penstock.media.errors import UnusableFile
from penstock.media.ffmpeg import GUARDS, writing

_USUAL_RATE = 25.0


@dataclass(frozen=True, slots=True)
class ShownFrame:
    """One frame: when it is shown, by the film's own clock, and for how long."""

    begins: float
    lasts: float


def shown_frames(path: Path, index: int, *, until: float) -> list[ShownFrame]:
    """The frames of one of a file's streams, in order, in this process: for decoders.

    They come out in the order in which they are shown, so that one without a time follows the one before it.
    """
    import av

    found: list[ShownFrame] = []
    with av.open(writing(path), container_options=dict(GUARDS), metadata_errors="replace") as container:
        film = container.streams[index]
        assert isinstance(film, av.VideoStream)
        film.codec_context.thread_count = 1
        usual = 1 / float(film.average_rate or film.guessed_rate or _USUAL_RATE)
        for packet in container.demux(film):
            if time.monotonic() > until:
                raise UnusableFile("the file is longer than can be looked at; send a shorter one")
            try:
                frames = packet.decode()
            except MemoryError:
                raise
            except av.FFmpegError:
                continue  # whoever decodes it to trust it counts what goes wrong
            for frame in frames:
                lasts = float(frame.duration * frame.time_base) if frame.duration and frame.time_base else usual
                follows = found[-1].begins + found[-1].lasts if found else 0.0
                found.append(ShownFrame(follows if frame.time is None else float(frame.time), lasts))
    return found
