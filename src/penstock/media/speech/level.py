"""Speech at one level: as loud as the next, whoever speaks.

The samples of a file are turned up or down in their place, a few seconds at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import IO, Any

import numpy

from penstock.media.speech.limiter import Limiter
from penstock.media.speech.loudness import SILENCE, LoudnessMeter

LOUDNESS = -16.0
"LUFS, integrated: what listeners of speech are used to."
_MOST_GAIN = 10 ** (30 / 20)
"What is quieter than that is noise."
_CLOSE, _TRIES = 0.3, 3
"LU that nobody hears, and how often it is tried to come as close."
_AT_ONCE = 2
"Seconds that are held in memory at once, but for what is short enough to be tried."
_SHORT = 20
"Seconds of speech whose level is settled by trying: a megabyte."
_FULL = 32768.0
_NOTHING = numpy.zeros(0, numpy.float32)


def bring_to_level(file: IO[bytes], *, start: int, rate: int) -> None:
    """Make all samples from a place to the end of a file as loud as speech is, and none so loud that it is cut off."""
    meter, frames = LoudnessMeter(rate), 0
    for part in _parts(file, start, rate * _AT_ONCE):
        meter.add(part)
        frames += len(part)
    gain = gain_for(meter.loudness)
    if frames <= rate * _SHORT:
        _put(file, start, _levelled(numpy.concatenate([*_parts(file, start, frames), _NOTHING]), rate, gain))
    else:
        _turn(file, start, rate, gain)
    file.seek(0, 2)


def gain_for(loudness: float) -> float:
    """The factor that brings sound of a loudness to the level of speech."""
    if loudness <= SILENCE:
        return 1.0
    return float(min(10 ** ((LOUDNESS - loudness) / 20), _MOST_GAIN))


def _levelled(samples: Any, rate: int, gain: float) -> Any:
    """Short sound at its level, also where taking back its peaks costs much of it: a word may be little but peaks."""
    for _ in range(_TRIES):
        limiter = Limiter(rate, gain)
        made = numpy.concatenate([limiter.add(samples), limiter.end()])
        lost = _decibels(_power(samples) * gain**2) - _decibels(_power(made))
        if lost < _CLOSE or (missing := LOUDNESS - _loudness(made, rate)) < _CLOSE:
            break
        gain *= 10 ** (missing / 20)
    return made


def _turn(file: IO[bytes], start: int, rate: int, gain: float) -> None:
    """Turn the samples of a file up or down, a few seconds at a time: what is made is always behind what is read."""
    limiter, place = Limiter(rate, gain), start
    for part in _parts(file, start, rate * _AT_ONCE):
        place = _put(file, place, limiter.add(part))
    _put(file, place, limiter.end())


def _loudness(samples: Any, rate: int) -> float:
    meter = LoudnessMeter(rate)
    meter.add(samples)
    return meter.loudness


def _power(samples: Any) -> float:
    return float(samples @ samples)


def _decibels(power: float) -> float:
    return 10 * math.log10(max(power, 1e-12))


def _parts(file: IO[bytes], start: int, size: int) -> Iterator[Any]:
    """The samples in order, from -1 to 1; between two parts the file may be written to."""
    while size:
        file.seek(start)
        read = file.read(size * 2)
        if not read:
            return
        start += len(read)
        yield numpy.frombuffer(read, "<i2").astype(numpy.float32) / numpy.float32(_FULL)


def _put(file: IO[bytes], place: int, samples: Any) -> int:
    """Write samples at a place; the one behind them."""
    written = numpy.clip(numpy.rint(samples * _FULL), -_FULL, _FULL - 1).astype("<i2").tobytes()
    file.seek(place)
    file.write(written)
    return place + len(written)
