"""The waveform of a sound: how loud it is, from moment to moment, at a few zooms. Its size does not depend on length.

Of each bucket of samples the lowest and the highest are kept, so that no click is lost at any zoom. Buckets begin small
and are joined in pairs whenever there are too many: memory is bounded however long the sound is, and each file is
decoded once.
"""

from __future__ import annotations

import time
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.media.apart import apart
from penstock.media.errors import UnusableFile
from penstock.media.extra import need
from penstock.media.ffmpeg import GUARDS, writing
from penstock.media.room import MEGABYTE

if TYPE_CHECKING:  # numpy and av are extras, and are loaded where sound is decoded
    import numpy as np
    from av import AudioFrame
    from av.container import InputContainer
    from numpy.typing import NDArray

_MEMORY = 192 * MEGABYTE
_TO_OPEN = 20.0
_SMALLEST = 64
"Samples of a bucket to begin with."
_MOST = 16_384
"Buckets of the finest level; of each coarser one there are an eighth."
_LEVELS, _JOINED = 3, 8
_AT_ONCE = 1 << 17
"Samples that are looked at together."
_FULL = 127


@dataclass(frozen=True, slots=True)
class WaveformLevel:
    """A waveform at one zoom: of each bucket the lowest and the highest sample, from -127 to 127."""

    samples: int
    "In each bucket, but the last, which may have fewer."
    peaks: str
    "Bytes with a sign, as base64: the lowest and the highest of the first bucket, of the second, …"

    def pairs(self) -> list[tuple[int, int]]:
        """The lowest and the highest of each bucket."""
        found = [byte - 256 if byte > _FULL else byte for byte in b64decode(self.peaks)]
        return list(zip(found[::2], found[1::2], strict=True))


@dataclass(frozen=True, slots=True)
class Waveform:
    """How loud a sound is from moment to moment. All its channels are heard as one: the loudest of them counts."""

    sample_rate: int
    samples: int
    channels: int
    levels: tuple[WaveformLevel, ...]
    "The finest first."

    @property
    def duration(self) -> timedelta:
        return timedelta(seconds=self.samples / self.sample_rate) if self.sample_rate else timedelta(0)

    @classmethod
    def of(cls, found: dict[str, Any]) -> Waveform:
        """From what a decoder has told."""
        return cls(**{**found, "levels": tuple(WaveformLevel(**level) for level in found["levels"])})


def waveform(path: Path, *, limit: timedelta = timedelta(minutes=2)) -> Waveform:
    """The waveform of a sound, or of what is heard in a film; UnusableFile if there is nothing to hear."""
    need("av")
    need("numpy")
    seconds = limit.total_seconds()
    return Waveform.of(apart("waveform", path, memory=_MEMORY, limit=limit, seconds=seconds))


def waveform_here(path: Path, *, limit: timedelta) -> Waveform:
    """The same in this process: for decoders."""
    import av

    until = time.monotonic() + limit.total_seconds()
    try:
        with av.open(writing(path), container_options=dict(GUARDS), timeout=_TO_OPEN) as container:
            if not container.streams.audio:
                raise UnusableFile("there is nothing to hear in the file; choose one with sound")
            return _measured(container, until=until)
    except MemoryError:
        raise
    except (av.FFmpegError, EOFError):
        raise UnusableFile("the sound of the file cannot be decoded; export it anew") from None


def _measured(container: InputContainer, *, until: float) -> Waveform:
    heard = container.streams.best("audio") or container.streams.audio[0]
    peaks, rate, channels = _Peaks(), 0, 0
    for frame in _frames(container, heard):
        if time.monotonic() > until:
            raise UnusableFile("the sound is longer than can be drawn; cut it into parts")
        rate, channels = rate or frame.sample_rate, max(channels, len(frame.layout.channels))
        peaks.add(_loudest(frame))
    if not peaks.samples:
        raise UnusableFile("not a single sample of the sound can be decoded; export it anew")
    return Waveform(rate, peaks.samples, channels, tuple(peaks.levels()))


def _frames(container: InputContainer, heard: Any) -> Iterator[AudioFrame]:
    """The frames that can be decoded; one that is damaged makes no other silent."""
    import av

    for packet in container.demux(heard):
        try:
            yield from packet.decode()
        except MemoryError:
            raise
        except av.FFmpegError:
            continue


def _loudest(frame: AudioFrame) -> NDArray[np.float32]:
    """One sample for each moment: of all channels the one that is farthest from silence."""
    import numpy as np

    channels = len(frame.layout.channels)
    raw = frame.to_ndarray()
    samples = raw if frame.format.is_planar else raw.reshape(-1, channels).T
    if samples.dtype.kind == "u":
        heard = (samples.astype(np.float32) - 128.0) / 128.0
    elif samples.dtype.kind == "i":
        heard = samples.astype(np.float32) / float(2 ** (8 * samples.dtype.itemsize - 1) - 1)
    else:
        heard = np.nan_to_num(samples.astype(np.float32), nan=0.0, posinf=1.0, neginf=-1.0)
    if len(heard) == 1:
        return heard[0]  # type: ignore[no-any-return]
    return heard[np.argmax(np.abs(heard), axis=0), np.arange(heard.shape[1])]  # type: ignore[no-any-return]


class _Peaks:
    """The lowest and highest sample of each bucket, while a sound is heard."""

    def __init__(self) -> None:
        import numpy as np

        self._size = _SMALLEST
        self._low, self._high = np.zeros(0, np.float32), np.zeros(0, np.float32)
        self._left = np.zeros(0, np.float32)
        "Samples that do not fill a bucket yet."
        self._heard: list[NDArray[np.float32]] = []
        self._waiting = 0
        self.samples = 0

    def add(self, heard: NDArray[np.float32]) -> None:
        self.samples += heard.size
        self._heard.append(heard)
        self._waiting += heard.size
        if self._waiting >= _AT_ONCE:  # frames are small, and each time costs something
            self._take()

    def _take(self) -> None:
        import numpy as np

        waiting = np.concatenate([self._left, *self._heard])
        self._heard, self._waiting = [], 0
        whole = waiting.size // self._size * self._size
        if whole:
            buckets = waiting[:whole].reshape(-1, self._size)
            self._low = np.concatenate([self._low, buckets.min(axis=1)])
            self._high = np.concatenate([self._high, buckets.max(axis=1)])
        self._left = waiting[whole:]
        while self._low.size > 2 * _MOST:
            self._join()

    def _join(self) -> None:
        """Make one bucket of each two; the last of an odd number waits for another."""
        if self._low.size % 2:
            last = (self._low[-1], self._high[-1])
            self._low, self._high = _joined(self._low[:-1], self._high[:-1], 2)
            # Nothing of it is lost: it stands for the samples that were in it, and is the first of the next bucket.
            self._left = _standing_for(*last, self._size, self._left)
        else:
            self._low, self._high = _joined(self._low, self._high, 2)
        self._size *= 2

    def levels(self) -> Iterator[WaveformLevel]:
        import numpy as np

        self._take()
        low, high, size = self._low, self._high, self._size
        if self._left.size:
            low, high = np.append(low, self._left.min()), np.append(high, self._left.max())
        while low.size > _MOST:
            low, high, size = *_joined(low, high, 2), size * 2
        for _ in range(_LEVELS):
            yield WaveformLevel(size, _packed(low, high))
            if low.size <= _JOINED:
                return
            low, high, size = *_joined(low, high, _JOINED), size * _JOINED


def _standing_for(low: Any, high: Any, size: int, after: NDArray[np.float32]) -> NDArray[np.float32]:
    """As many samples as a bucket had, with its lowest and its highest among them, and those that follow it."""
    import numpy as np

    bucket = np.full(size, low, np.float32)
    bucket[-1] = high
    return np.concatenate([bucket, after])


def _joined(
    low: NDArray[np.float32], high: NDArray[np.float32], count: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """One bucket of each so many; the last may stand for fewer."""
    import numpy as np

    begins = np.arange(0, low.size, count)
    return np.minimum.reduceat(low, begins), np.maximum.reduceat(high, begins)


def _packed(low: NDArray[np.float32], high: NDArray[np.float32]) -> str:
    """Rounded away from silence, so that what can be heard is seen."""
    import numpy as np

    pairs = np.stack([np.floor(low * _FULL), np.ceil(high * _FULL)], axis=1)
    return b64encode(np.clip(pairs, -_FULL, _FULL).astype(np.int8).tobytes()).decode()
