"""How loud speech is, as ears have it: ITU-R BS.1770, in LUFS.

The sound is weighted as the head and the ear weigh it (K), measured in blocks of 400 ms that overlap by three quarters,
and averaged without the blocks that are silence or pauses. The filters are applied as a product of spectra, which in
numpy takes a fraction of the time of a recursion, with enough of what came before that no difference can be heard.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy

SILENCE = -70.0
"Below this, in LUFS, there is nothing to measure."
_STEPS = 4
"Steps of 100 ms in a block."
_PAUSE = 10.0
"So many LU below the rest is a pause."
_OFFSET = -0.691
_SLICE = 2
"Seconds that are weighted at once, so that memory does not grow with the speech."
_MEMORY = 0.2
"Seconds after which the filters have forgotten what they heard."


class LoudnessMeter:
    """Measures sound of one rate, part after part, however it is parted."""

    def __init__(self, rate: int) -> None:
        self._rate, self._step = rate, rate // 10
        self._past = numpy.zeros(int(rate * _MEMORY), numpy.float32)
        self._open = numpy.zeros(0, numpy.float32)
        "Weighted sound of a step that is not full yet."
        self._steps: list[float] = []
        "The power of each step."

    def add(self, samples: Any) -> None:
        """Hear some more; samples are numbers from -1 to 1."""
        size = self._rate * _SLICE
        for start in range(0, len(samples), size):
            self._hear(samples[start : start + size])

    @property
    def loudness(self) -> float:
        """The loudness of all that was heard, in LUFS; no more than SILENCE where there was nothing to hear."""
        powers = self._blocks()
        loud = powers[_lufs(powers) > SILENCE]
        if not len(loud):
            return SILENCE
        speech = loud[_lufs(loud) > _lufs(loud.mean()) - _PAUSE]
        return float(_lufs(speech.mean()))

    def _hear(self, samples: Any) -> None:
        weighted = self._weighted(samples)
        sound = numpy.concatenate([self._open, weighted * weighted])
        whole = len(sound) // self._step * self._step
        self._steps += sound[:whole].reshape(-1, self._step).mean(axis=1).tolist()
        self._open = sound[whole:]

    def _weighted(self, samples: Any) -> Any:
        past = len(self._past)
        heard = numpy.concatenate([self._past, samples])
        self._past = heard[-past:]
        # What the filters have not forgotten at the end would come round to the beginning; there is the past.
        size = _handy(len(heard))
        spectrum = numpy.fft.rfft(heard, size)
        return numpy.fft.irfft(spectrum * _weights(self._rate, size), size)[past : len(heard)].astype(numpy.float32)

    def _blocks(self) -> Any:
        """The power of each block; of what is shorter than one, that of all of it."""
        if len(self._steps) < _STEPS:
            rest = float(self._open.sum()) / self._step if len(self._open) else 0.0
            length = len(self._steps) + len(self._open) / self._step
            return numpy.array([(sum(self._steps) + rest) / length] if length else [])
        return numpy.convolve(self._steps, numpy.full(_STEPS, 1 / _STEPS), "valid")


def _lufs(power: Any) -> Any:
    return _OFFSET + 10 * numpy.log10(numpy.maximum(power, 1e-12))


def _handy(size: int) -> int:
    """The next size that is quickly transformed: two, three or five times a power of two."""
    power: int = 1 << max(size - 1, 1).bit_length()
    return min(n for n in (power, power * 3 // 4, power * 5 // 8) if n >= size)


@lru_cache(maxsize=16)
def _weights(rate: int, size: int) -> Any:
    """What K-weighting makes of each frequency: the head lifts the upper ones, the ear misses the lowest."""
    turn = numpy.exp(-2j * math.pi * numpy.arange(size // 2 + 1) / size)
    return _head(rate, turn) * _ear(rate, turn)


def _head(rate: int, turn: Any) -> Any:
    """A shelf of 4 dB above some 1,500 Hz."""
    tangent, quality, lift = math.tan(math.pi * 1681.974450955533 / rate), 0.7071752369554196, 3.999843853973347
    high = 10 ** (lift / 20)
    middle = high**0.4996667741545416
    above = _quadratic(
        turn,
        high + middle * tangent / quality + tangent**2,
        2 * (tangent**2 - high),
        high - middle * tangent / quality + tangent**2,
    )
    return above / _resonance(turn, tangent, quality)


def _ear(rate: int, turn: Any) -> Any:
    """What lies below some 40 Hz is left out."""
    tangent, quality = math.tan(math.pi * 38.13547087602444 / rate), 0.5003270373238773
    scale = 1 + tangent / quality + tangent**2
    return _quadratic(turn, 1, -2, 1) * scale / _resonance(turn, tangent, quality)


def _resonance(turn: Any, tangent: float, quality: float) -> Any:
    return _quadratic(
        turn, 1 + tangent / quality + tangent**2, 2 * (tangent**2 - 1), 1 - tangent / quality + tangent**2
    )


def _quadratic(turn: Any, a: float, b: float, c: float) -> Any:
    return a + b * turn + c * turn**2
