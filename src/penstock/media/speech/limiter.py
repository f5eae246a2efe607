"""A limiter: sound turned up, and never so far that it is cut off.

Where the gain would send a peak too high, also one between two samples that a listener's machine makes of them, it is
taken back for some milliseconds around it, too softly to be heard.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy
from numpy.lib.stride_tricks import sliding_window_view

HIGHEST = -1.0
"dBTP: no peak comes as high."
CEILING = 10 ** ((HIGHEST - 0.5) / 20)
"Somewhat lower: other meters find other peaks between the samples."
_TIMES, _REACH = 4, 8
"Points between samples that are looked at, and samples on each side that they are made of."
_HOPS_A_SECOND = 2_000
_AROUND = 12
"Hops on each side of a peak in which the gain is taken back, and comes again: six milliseconds."


class Limiter:
    """Turns sound of one rate up by a gain, part after part, with no peak above the ceiling.

    It gives back what it takes some milliseconds later, as it must know what comes.
    """

    def __init__(self, rate: int, gain: float) -> None:
        self._hop, self._gain = max(1, rate // _HOPS_A_SECOND), gain
        self._context = self._hop * (2 * _AROUND + 2)
        self._before = numpy.zeros(self._context, numpy.float32)
        self._waiting = numpy.zeros(0, numpy.float32)

    def add(self, samples: Any) -> Any:
        """Some more, from -1 to 1; what is ready of it."""
        self._waiting = numpy.concatenate([self._waiting, samples * numpy.float32(self._gain)])
        ready = (len(self._waiting) - self._context) // self._hop * self._hop
        return self._made(ready) if ready > 0 else self._waiting[:0]

    def end(self) -> Any:
        """The rest."""
        left = len(self._waiting)
        padding = self._context + -left % self._hop
        self._waiting = numpy.concatenate([self._waiting, numpy.zeros(padding, numpy.float32)])
        return self._made(len(self._waiting) - self._context)[:left]

    def _made(self, ready: int) -> Any:
        """The first of those that wait, as many as are ready: a whole number of hops."""
        sound = numpy.concatenate([self._before, self._waiting[: ready + self._context]])
        made = sound[self._context : self._context + ready] * self._factors(sound)[self._context : -self._context]
        self._before = sound[ready : ready + self._context]
        self._waiting = self._waiting[ready:]
        return made

    def _factors(self, sound: Any) -> Any:
        """What each sample is multiplied by; wrong within the context at both ends."""
        peaks = _peaks(sound, self._hop)
        if peaks.max() <= CEILING:
            return numpy.ones(len(sound), numpy.float32)
        needed = CEILING / numpy.maximum(peaks, CEILING)
        # Taken back wholly for as long as the window is wide, so that its average there is no less.
        held = sliding_window_view(numpy.pad(needed, _AROUND + 1, constant_values=1.0), 2 * _AROUND + 3).min(axis=1)
        soft = numpy.convolve(numpy.pad(held, _AROUND, constant_values=1.0), _window(), "valid")
        middles = (numpy.arange(len(soft)) + 0.5) * self._hop
        return numpy.interp(numpy.arange(len(sound)), middles, soft).astype(numpy.float32)


def _peaks(sound: Any, hop: int) -> Any:
    """How high the sound is in each hop; where it comes close to the ceiling, also between its samples."""
    highest = numpy.abs(sound).reshape(-1, hop).max(axis=1)
    # Between samples no sound of a voice is twice as high as at them.
    close = numpy.flatnonzero(highest > CEILING / 2)
    if len(close):
        around = sliding_window_view(numpy.pad(sound, _REACH), hop + 2 * _REACH)[close * hop]
        between = numpy.abs(sliding_window_view(around, 2 * _REACH, axis=1) @ _between())
        highest[close] = numpy.maximum(highest[close], between.max(axis=(1, 2)))
    return highest


@lru_cache(maxsize=1)
def _between() -> Any:
    """For each point between two samples, how much of the samples around it is in it."""
    distance = numpy.arange(-_REACH + 1, _REACH + 1)[:, None] - numpy.arange(1, _TIMES)[None, :] / _TIMES
    kernels = numpy.sinc(distance) * numpy.cos(numpy.pi * distance / (2 * _REACH)) ** 2
    return (kernels / kernels.sum(axis=0)).astype(numpy.float32)


@lru_cache(maxsize=1)
def _window() -> Any:
    window = numpy.hanning(2 * _AROUND + 3)[1:-1]
    return window / window.sum()
