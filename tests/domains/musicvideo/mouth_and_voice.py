"""How well a mouth goes with a voice, measured from files alone: the pictures of a clip, and the sound of a track."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from penstock.studio.faces import noted_faces

RATE = 16_000
Numbers = NDArray[np.float64]


def sung(into: Path, *, seconds: float, seed: int) -> Path:
    """A track on which somebody sings syllables, at moments that no other seed has."""
    chance = np.random.default_rng(seed)
    time = np.arange(round(seconds * RATE)) / RATE
    loud = np.zeros_like(time)
    at = 0.0
    while at < seconds:
        long, pause = chance.uniform(0.18, 0.5), chance.uniform(0.18, 0.5)
        within = (time >= at) & (time < at + long)
        loud[within] = np.sin(np.pi * (time[within] - at) / long) ** 0.5
        at += long + pause
    sound = 0.5 * loud * np.sin(2 * np.pi * 600 * time)
    with wave.open(str(into), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((sound * 32767).astype("<i2").tobytes())
    return into


def openness(filmed: Path, shown: Path, *, first: int = 0) -> Numbers:
    """How far the mouth is open in each picture of what is shown: what there is at its place that was not filmed.

    ``first`` is the picture of the filmed clip with which the shown part begins.
    """
    faces = noted_faces(filmed)
    assert faces is not None
    before, after = _pictures(filmed)[first:], _pictures(shown)
    opened = []
    for one, other, face in zip(before, after, faces.frames[first:], strict=False):
        half = max(round(0.16 * face.head), 2)
        y, x = round(face.y), round(face.x)
        part = (slice(max(y - half, 0), y + half), slice(max(x - half, 0), x + half))
        opened.append(float((np.abs(one[part] - other[part]).max(axis=2) > 40).mean()))
    return np.array(opened)


def loudness(track: Path, *, start: float, frames: int, fps: int) -> Numbers:
    """How loud the track is around each picture of a scene that begins at a second; after its end it begins again."""
    with wave.open(str(track)) as file:
        rate = file.getframerate()
        sound = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(float) / 32768
    window = round(1.5 * rate / fps)
    middles = [round((start + (n + 0.5) / fps) * rate) for n in range(frames)]
    heard = [sound[np.arange(middle - window // 2, middle + window // 2) % len(sound)] for middle in middles]
    return np.array([float(np.sqrt((part**2).mean())) for part in heard])


def correlation(one: Numbers, other: Numbers) -> float:
    """From -1 to 1, at lag 0; 0 where one of them never changes."""
    if one.std() < 1e-9 or other.std() < 1e-9:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])


def _pictures(film: Path) -> list[NDArray[Any]]:
    with av.open(str(film)) as container:
        return [frame.to_ndarray(format="rgb24").astype(int) for frame in container.decode(video=0)]
