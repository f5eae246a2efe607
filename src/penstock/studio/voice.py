"""A voice, or whatever sounds: its samples, and what a mouth does that only hears how loud and how bright it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidValue
from penstock.media.extra import need
from penstock.media.ffmpeg import GUARDS, writing
from penstock.studio.mouth import CLOSED, Mouth

RATE = 16_000
"Samples a second."
_SILENCE = -48.0
"Quieter than this, in decibels below the loudest a file can be, nobody sings."
_RANGE = (10.0, 26.0)
"A mouth goes from closed to open within so many decibels at least, and at most."
_DARK, _BRIGHT = 500.0, 1900.0
"Hertz; vowels like U have their middle at the one, vowels like I at the other."

Samples = NDArray[np.float32]


def samples(path: Path, seconds: float) -> Samples:
    """The sound of a file from its beginning, as one channel; silence where it has ended.

    InvalidValue if the file has none.
    """
    need("av")
    import av

    wanted = round(seconds * RATE)
    pieces: list[Samples] = []
    there = 0
    try:
        with av.open(writing(path), container_options=dict(GUARDS)) as container:
            if not container.streams.audio:
                raise InvalidValue(f"{path.name} has no sound that lips could move to")
            resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)
            for frame in container.decode(audio=0):
                for piece in resampler.resample(frame):
                    pieces.append(piece.to_ndarray().ravel().astype(np.float32))
                    there += len(pieces[-1])
                if there >= wanted:
                    break
    except av.FFmpegError as error:
        raise InvalidValue(f"the sound {path.name} cannot be read: {error}; send an MP3, WAV or M4A") from None
    sound = np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.float32)
    padded: Samples = np.zeros(wanted, dtype=np.float32)
    padded[: min(len(sound), wanted)] = sound[:wanted]
    return padded


def heard(sound: Samples, frames: int, fps: float) -> list[Mouth]:
    """A mouth for each frame: open when it is loud, wide when it is bright, closed in silence."""
    loud, bright = _listen(sound, frames, fps)
    audible = loud[loud > _SILENCE]
    if not len(audible):
        return [CLOSED] * frames
    high = float(np.percentile(audible, 92))
    low = min(max(float(np.percentile(audible, 12)), high - _RANGE[1]), high - _RANGE[0])
    opened = ((loud - low) / (high - low)).clip(0, 1) ** 0.8
    wide = ((bright - _DARK) / (_BRIGHT - _DARK)).clip(0, 1)
    return [
        Mouth(float(o), float(w)) if level > _SILENCE and o > 0.05 else CLOSED
        for o, w, level in zip(opened, wide, loud, strict=True)
    ]


def quiet(sound: Samples, frames: int, fps: float) -> list[bool]:
    """Whether nothing is to be heard, for each frame."""
    loud, _ = _listen(sound, frames, fps)
    return [bool(level <= _SILENCE) for level in loud]


def _listen(sound: Samples, frames: int, fps: float) -> tuple[Samples, Samples]:
    """Loudness in decibels and the middle of the spectrum in hertz, around each frame."""
    half = max(round(RATE / fps * 0.75), 64)
    padded = np.pad(sound, half)
    window = np.hanning(2 * half).astype(np.float32)
    pitches = np.fft.rfftfreq(2 * half, 1 / RATE)
    # What a voice is made of; the bass and the cymbals of a track do not move lips.
    voice = (pitches > 150) & (pitches < 3800)
    loud, bright = np.full(frames, -120.0, dtype=np.float32), np.zeros(frames, dtype=np.float32)
    for n in range(frames):
        middle = round((n + 0.5) / fps * RATE)
        piece = padded[middle : middle + 2 * half]
        if len(piece) < 2 * half:
            break
        power = np.abs(np.fft.rfft(piece * window)) ** 2
        heard = power[voice]
        strength = float(heard.sum())
        # As the level of a sine wave with this much power.
        loud[n] = 10 * np.log10(strength / float((window**2).sum()) / half + 1e-12)
        bright[n] = float((heard * pitches[voice]).sum()) / strength if strength > 0 else 0.0
    return loud, bright
