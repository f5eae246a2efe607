"""Beats: the moments at which somebody would tap a foot to a track.

Onsets are where a spectrum grows. How far apart the beats are is the time after which onsets come again; where they are
is the way through the track that meets the most onsets at steps of about that length (dynamic programming, after D.
Ellis, *Beat tracking by dynamic programming*, 2007). A track in which nothing comes again has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.media.errors import UnusableFile
from penstock.media.extra import need
from penstock.media.ffmpeg import GUARDS, writing

if TYPE_CHECKING:  # numpy and av are extras, and are loaded where a track is heard
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

RATE, STEP, WINDOW = 16_000, 160, 640
"Samples a second, and of a step and a window: a moment is known to a hundredth of a second."
_A_SECOND = RATE / STEP
_LONGEST = 900.0
"Seconds of a track that are listened to."
_SLOWEST, _FASTEST, _USUAL = 50.0, 190.0, 115.0
"Beats a minute."
_HEARD = 0.12
"So much of the onsets at least comes again after a beat, where there are beats."
_BANDS = 16
_FAINT = 10.0
"What is fainter than one divided by this, in power, grows in vain."
_RIPPLE = 0.08
"Of the strongest onset; a tone that stays has some."
_STRICT = 100.0
"How much a step counts that is not as long as a beat."
_AT_ONCE = 2_000
"Steps that are looked at together, so that memory does not grow with the track."


def beats(track: Path, *, seconds: float = _LONGEST) -> list[float]:
    """The seconds of a track's beats, in order, as far as ``seconds`` go; none where none can be heard."""
    need("numpy")
    onsets = _onsets(_samples(track, min(seconds, _LONGEST)))
    period = _period(onsets)
    return [] if period is None else [float(step) / _A_SECOND for step in _tapped(onsets, period)]


def _samples(track: Path, seconds: float) -> Iterator[NDArray[np.float32]]:
    """The sound as one channel, piece by piece."""
    need("av")
    import av

    left = round(seconds * RATE)
    try:
        with av.open(writing(track), container_options=dict(GUARDS)) as container:
            if not container.streams.audio:
                raise UnusableFile("there is no sound in the track; send another one")
            resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)
            for frame in container.decode(audio=0):
                for piece in resampler.resample(frame):
                    sound = piece.to_ndarray().ravel().astype("float32")[:left]
                    left -= len(sound)
                    yield sound
                if left <= 0:
                    return
    except av.FFmpegError as error:
        raise UnusableFile(f"the track cannot be read: {error}; send an MP3, WAV or M4A") from None


def _onsets(pieces: Iterator[NDArray[np.float32]]) -> Numbers:
    """How much the sound grows at each step, over all pitches; 0 where it fades or stays."""
    import numpy as np

    window, bands = np.hanning(WINDOW), _bands()
    waiting = np.zeros(WINDOW // 2, dtype=np.float32)  # so that a step is at the middle of its window
    before: Any = None
    grown: list[Any] = []
    for sound in _joined(pieces):
        waiting = np.concatenate([waiting, sound])
        steps = (len(waiting) - WINDOW) // STEP + 1
        if steps < 1:
            continue
        at = np.arange(steps)[:, None] * STEP + np.arange(WINDOW)
        loud = np.log1p(_FAINT * (np.abs(np.fft.rfft(waiting[at] * window, axis=1)) ** 2 @ bands))
        above = np.vstack([loud[:1] if before is None else before, loud])
        grown.append(np.maximum(np.diff(above, axis=0), 0).mean(axis=1))
        before, waiting = loud[-1:], waiting[steps * STEP :]
    onsets = np.concatenate(grown) if grown else np.zeros(0)
    return np.where(onsets > _RIPPLE * onsets.max(initial=0.0), onsets, 0.0)


def _bands() -> Numbers:
    """Which pitches are heard as one, as wide as they are high: a bass drum is one of them, and so is a cymbal."""
    import numpy as np

    pitches = np.fft.rfftfreq(WINDOW, 1 / RATE)
    edges = np.geomspace(40, RATE / 2, _BANDS + 1)
    within = (pitches[:, None] >= edges[:-1]) & (pitches[:, None] < edges[1:])
    share: Numbers = within / np.maximum(within.sum(axis=0), 1)
    return share


def _joined(pieces: Iterator[NDArray[np.float32]]) -> Iterator[NDArray[np.float32]]:
    import numpy as np

    gathered: list[Any] = []
    for piece in pieces:
        gathered.append(piece)
        if sum(map(len, gathered)) >= _AT_ONCE * STEP:
            yield np.concatenate(gathered)
            gathered = []
    if gathered:
        yield np.concatenate(gathered)


def _period(onsets: Numbers) -> float | None:
    """Steps from beat to beat; None where nothing comes again."""
    import numpy as np

    shortest, longest = round(60 / _FASTEST * _A_SECOND), round(60 / _SLOWEST * _A_SECOND)
    if len(onsets) < 2 * longest or onsets.max() < 1e-6:
        return None
    even = onsets - onsets.mean()
    size = 1 << (2 * len(even) - 1).bit_length()
    again = np.fft.irfft(np.abs(np.fft.rfft(even, size)) ** 2, size)[: longest + 2]
    lags = np.arange(shortest, longest + 1)
    found = again[lags] / again[0]
    likely = found * np.exp(-0.5 * (np.log2(lags / (60 / _USUAL * _A_SECOND)) / 0.9) ** 2)
    best = int(np.argmax(likely))
    if found[best] < _HEARD:
        return None
    return _between(again, int(lags[best]))


def _between(values: Numbers, at: int) -> float:
    """Where the top of a hill really is, between the steps that were looked at."""
    left, middle, right = values[at - 1 : at + 2]
    bend = left - 2 * middle + right
    return at if bend >= 0 else at + 0.5 * (left - right) / bend


def _tapped(onsets: Numbers, period: float) -> list[int]:
    """The steps of the way that meets the most onsets, each about a period after the one before."""
    import numpy as np

    strength = onsets / max(float(onsets.std()), 1e-9)
    back = np.arange(-round(2 * period), -round(period / 2) + 1)
    far = -_STRICT * np.log(-back / period) ** 2
    score, came = strength.copy(), np.full(len(strength), -1)
    for step in range(-int(back[0]), len(strength)):
        reached = far + score[step + back]
        best = int(np.argmax(reached))
        score[step] += reached[best]
        came[step] = step + back[best]
    step = len(score) - 1 - round(period) + int(np.argmax(score[-round(period) - 1 :]))
    way = []
    while step >= 0:
        way.append(step)
        step = int(came[step])
    while way[-1] - period >= 0:
        way.append(round(way[-1] - period))  # before the first step that was looked at
    return way[::-1]
