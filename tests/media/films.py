"""Small films whose frames can be told apart, made with the encoder that is tested elsewhere."""

from __future__ import annotations

import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from penstock.media.ffmpeg import reading, run, writing
from penstock.media.frame_encoder import encode

WIDTH, HEIGHT, FPS = 160, 90, 12
Frame = NDArray[np.uint8]


def grey_frames(levels: list[int], *, width: int = WIDTH, height: int = HEIGHT) -> Iterator[Frame]:
    """One frame for each level of grey."""
    for level in levels:
        yield np.full((height, width, 3), level, dtype=np.uint8)


def moving_frames(count: int, *, seed: int = 0, width: int = WIDTH, height: int = HEIGHT) -> Iterator[Frame]:
    """Soft colours that drift, different for each seed."""
    y, x = np.mgrid[0:height, 0:width]
    phase = np.random.default_rng(seed).uniform(0, 6, 3)
    for n in range(count):
        waves = [
            np.sin((x + 3 * n) / 9 + phase[0]),
            np.cos((y - 2 * n) / 7 + phase[1]),
            np.sin((x + y) / 11 + phase[2]),
        ]
        yield (127 + 100 * np.stack(waves, axis=-1)).astype(np.uint8)


def film(into: Path, seconds: float, *, seed: int = 0, fps: int = FPS, sound: Path | None = None) -> Path:
    encode(moving_frames(round(seconds * fps), seed=seed), into, width=WIDTH, height=HEIGHT, fps=fps, sound=sound)
    return into


def beheaded(folder: Path) -> Path:
    """A film of 10 frames, cut out of another so that two of them need one which is no longer there."""
    whole, cut = folder / "whole.mp4", folder / "cut.mkv"
    references = "keyint=10:min-keyint=10:bframes=6:b-adapt=0:rc-lookahead=9:open-gop=1:scenecut=0:log-level=none"
    coded = ("-c:v", "libx265", "-preset", "ultrafast", "-x265-params", references)
    run([*reading(film(folder / "film.mp4", 2)), *coded, writing(whole)])
    run([*reading(whole, "-ss", "0.9"), "-c", "copy", "-frames:v", "10", writing(cut)])
    return cut


def tone(into: Path, seconds: float, *, hertz: float = 440.0, level: float = 0.3, rate: int = 16_000) -> Path:
    """A WAV of one tone."""
    time = np.arange(round(seconds * rate)) / rate
    samples = (np.sin(2 * np.pi * hertz * time) * level * 32767).astype("<i2")
    with wave.open(str(into), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())
    return into


def greys(path: Path) -> list[int]:
    """How bright each frame is in its middle."""
    with av.open(str(path)) as container:
        return [_in_the_middle(frame.to_ndarray(format="gray")) for frame in container.decode(video=0)]


def _in_the_middle(shown: NDArray[Any]) -> int:
    y, x = shown.shape[0] // 2, shown.shape[1] // 2
    return round(float(shown[y - 4 : y + 4, x - 4 : x + 4].mean()))


def samples(path: Path) -> NDArray[np.float32]:
    """The left channel, at 48 kHz."""
    with av.open(str(path)) as container:
        resampler = av.AudioResampler(format="fltp", layout="stereo", rate=48_000)
        parts = [part.to_ndarray()[0] for f in container.decode(audio=0) for part in resampler.resample(f)]
    return np.concatenate(parts)
