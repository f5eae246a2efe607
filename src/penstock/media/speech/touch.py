"""Small changes to sound before it is put together: turned down, or without the silence at one end."""

from __future__ import annotations

from penstock.media.speech.sound import Sound

_QUIET = 0.02
"Of the highest peak: nobody hears what is below."
_LEFT = 0.04
"Seconds of silence that stay."


def quieter(sound: Sound, decibels: float) -> Sound:
    """Sound turned down by decibels below zero."""
    if decibels >= 0:
        return sound
    import numpy

    samples = numpy.frombuffer(sound.samples, "<i2") * 10 ** (decibels / 20)
    return Sound(numpy.rint(samples).astype("<i2").tobytes(), sound.rate)


def trimmed(sound: Sound, *, start: bool) -> Sound:
    """Sound that begins, or ends, with hardly any silence."""
    import numpy

    samples = numpy.frombuffer(sound.samples, "<i2")
    heights = numpy.abs(samples.astype(numpy.int32))
    heard = numpy.flatnonzero(heights > heights.max(initial=0) * _QUIET)
    if not len(heard):
        return sound
    left = int(_LEFT * sound.rate)
    kept = samples[max(0, heard[0] - left) :] if start else samples[: heard[-1] + left]
    return Sound(kept.tobytes(), sound.rate)
