"""Sound as voices make it, and as a WAV file: 16 bits, one channel, at the level of speech."""

from __future__ import annotations

import wave
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import IO

from penstock.media.speech.errors import SpeechTooLong

_IN_MEMORY = 1024 * 1024
"Bytes of a file that are held in memory while it is made; it goes to the disk with the next one."
_WIDTH = 2
BYTES_A_SECOND = 48_000
"Of what the usual voice makes. A second of a voice that makes more of them counts for more than one."


@dataclass(frozen=True, slots=True)
class Sound:
    """Samples of 16 bits, one after the other, and how many there are in a second."""

    samples: bytes
    rate: int

    @property
    def seconds(self) -> float:
        """How long it takes, to be heard or to be kept."""
        return len(self.samples) / min(self.rate * _WIDTH, BYTES_A_SECOND)


@dataclass(frozen=True, slots=True)
class Wav:
    """A whole file, to be read from its beginning."""

    file: IO[bytes]
    size: int
    duration: float
    "Seconds, to the millisecond."


@contextmanager
def merged(sounds: Iterable[Sound]) -> Iterator[Wav]:
    """One WAV of sounds in their order, as loud as every other; a long one lies on the disk while it is in use."""
    with SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        frames, rate = _write(file, sounds)
        size = file.tell()
        # Only those who speak need numpy.
        from penstock.media.speech.level import bring_to_level

        bring_to_level(file, start=size - frames * _WIDTH, rate=rate)
        file.seek(0)
        yield Wav(file, size, round(frames / rate, 3))


def joined(sounds: Iterable[Sound]) -> Sound:
    """Sounds of one rate, as one."""
    all_of_them = list(sounds)
    return Sound(b"".join(sound.samples for sound in all_of_them), all_of_them[0].rate)


def stopped(sounds: Iterable[Sound], *, most: int) -> Iterator[Sound]:
    """The sounds in their order, as long as they take no more seconds than this; SpeechTooLong at the first beyond."""
    seconds = 0.0
    for sound in sounds:
        seconds += sound.seconds
        if seconds > most:
            raise SpeechTooLong(f"spoken, the text takes more than {most:,} seconds, which is as much as is allowed")
        yield sound


def silence(seconds: float, rate: int) -> Sound:
    """Nothing, for so long."""
    return Sound(bytes(round(seconds * rate) * _WIDTH), rate)


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
