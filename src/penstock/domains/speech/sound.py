"""Sound as voices make it, and as a WAV file: 16 bits, one channel."""

from __future__ import annotations

import wave
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import IO

_IN_MEMORY = 8 * 1024 * 1024
_WIDTH = 2


@dataclass(frozen=True, slots=True)
class Sound:
    """Samples of 16 bits, one after the other, and how many there are in a second."""

    samples: bytes
    rate: int


@dataclass(frozen=True, slots=True)
class Wav:
    """A whole file, to be read from its beginning."""

    file: IO[bytes]
    size: int
    duration: float
    "Seconds, to the millisecond."


@contextmanager
def merged(sounds: Iterable[Sound]) -> Iterator[Wav]:
    """One WAV of sounds in their order; a long one lies on the disk while it is in use."""
    with SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        frames, rate = _write(file, sounds)
        size = file.tell()
        file.seek(0)
        yield Wav(file, size, round(frames / rate, 3))


def _write(file: IO[bytes], sounds: Iterable[Sound]) -> tuple[int, int]:
    """Frames written, and how many there are in a second."""
    left = iter(sounds)
    # Before the file is begun: one without a rate cannot even be closed.
    first = next(left)
    with wave.open(file, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(_WIDTH)
        wav.setframerate(first.rate)
        for sound in chain([first], left):
            wav.writeframes(sound.samples)
        return wav.getnframes(), wav.getframerate()
