"""A backing track for those who bring none: four chords, a bass, a beat and a melody, from a seed."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any, TypeAlias

from penstock.media.whole import whole

Wave: TypeAlias = Any
"An array of numpy's, which is an extra: samples from -1 to 1."

RATE = 44_100
_BEATS = 4
"In a bar; each bar has its chord."
_PROGRESSIONS = (
    ((57, 60, 64), (53, 57, 60), (48, 52, 55), (55, 59, 62)),
    ((60, 64, 67), (55, 59, 62), (57, 60, 64), (53, 57, 60)),
    ((62, 65, 69), (58, 62, 65), (53, 57, 60), (60, 64, 67)),
)
"Chords by the numbers of their notes, of which 69 is the A that orchestras tune to."


def play(into: Path, *, seconds: float, seed: int = 0) -> None:
    """A WAV of so many seconds; the same for the same seed."""
    import numpy as np

    chance = np.random.default_rng(seed)
    beat = 60 / float(chance.integers(88, 122))
    chords = _PROGRESSIONS[int(chance.integers(len(_PROGRESSIONS)))]
    length = round(seconds * RATE)
    left, right = np.zeros(length), np.zeros(length)
    bars = int(seconds / (beat * _BEATS)) + 1
    for bar in range(bars):
        chord, start = chords[bar % len(chords)], bar * beat * _BEATS
        pad = _sum(np, [_note(np, n, beat * _BEATS, attack=0.4, bright=0.25) for n in chord]) * 0.10
        _mix(left, pad, start)
        _mix(right, pad, start + 0.011)  # a moment later on the other side, which makes it wide
        for number in range(_BEATS):
            at = start + number * beat
            bass = _note(np, chord[0] - 24, beat * 0.9, attack=0.01, bright=0.4) * 0.24
            kick, hat = _kick(np) * 0.5, _hat(np, chance) * 0.07
            for side in (left, right):
                _mix(side, bass, at)
                if number % 2 == 0:
                    _mix(side, kick, at)
                _mix(side, hat, at + beat / 2)
            if bar >= 2:
                high = int(chance.choice(chord)) + 12 * int(chance.integers(1, 3))
                pluck = _note(np, high, beat / 2, attack=0.004, bright=0.6, decay=6) * 0.12
                _mix(left if number % 2 else right, pluck, at + float(chance.choice([0, beat / 2])))
    both = np.stack([left, right], axis=1)
    both *= 0.8 / max(1e-9, float(np.abs(both).max()))
    with whole(into) as path, wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((both * 32767).astype("<i2").tobytes())


def _note(np: Any, number: int, seconds: float, *, attack: float, bright: float, decay: float = 1.2) -> Wave:
    """One note: a few overtones, each weaker than the one before, that swell and fade."""
    time = np.arange(int(seconds * RATE)) / RATE
    pitch = 440 * 2 ** ((number - 69) / 12)
    tone = sum(bright**k * np.sin(2 * np.pi * pitch * (k + 1) * time * (1 + 0.0004 * k)) for k in range(5))
    shape = np.minimum(1, time / attack) * np.exp(-decay * time) * np.minimum(1, (time[-1] - time) / 0.02)
    return tone * shape


def _kick(np: Any) -> Wave:
    time = np.arange(int(0.25 * RATE)) / RATE
    return np.sin(2 * np.pi * (45 * time + 12 * (1 - np.exp(-time * 28)))) * np.exp(-time * 16)


def _hat(np: Any, chance: Any) -> Wave:
    time = np.arange(int(0.06 * RATE)) / RATE
    return np.diff(chance.standard_normal(time.size + 1)) * np.exp(-time * 70)


def _sum(np: Any, notes: list[Wave]) -> Wave:
    return np.sum(notes, axis=0)


def _mix(track: Wave, sound: Wave, at: float) -> None:
    start = round(at * RATE)
    if start < track.size:
        heard = sound[: track.size - start]
        track[start : start + heard.size] += heard
