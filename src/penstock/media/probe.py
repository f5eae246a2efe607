"""Looking at a media file. Its content decides, not its name, and what is measured counts more than what is claimed."""

from __future__ import annotations

import time
from array import array
from codecs import getincrementaldecoder
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.media.apart import apart
from penstock.media.content_type import UNKNOWN, sniff
from penstock.media.errors import TooMuchToDecode, UnusableFile
from penstock.media.extra import need
from penstock.media.ffmpeg import GUARDS, MOST_PIXELS, writing
from penstock.media.image import is_image, probe_image
from penstock.media.probed import MediaKind, PictureTrack, Probed, SoundTrack
from penstock.media.room import MEGABYTE
from penstock.media.shown_frames import ShownFrame, shown_frames

if TYPE_CHECKING:  # av is an extra, and its types are worth more than a line
    from av import AudioStream, Packet, VideoFrame, VideoStream
    from av.container import InputContainer
    from av.stream import Stream

Decodable = TypeVar("Decodable", "VideoStream", "AudioStream")

__all__ = ["MediaKind", "PictureTrack", "Probed", "SoundTrack", "probe"]

AS_ANY_KIND = "export it as MP4, WebM, MP3 or WAV"
"What is advised where nobody has said of which kind a file should be."
_BEGINNING = 4096
_TO_OPEN = 20.0
"Seconds until a file must be open, and until there must be more of it."
_MOST_PACKETS = 5_000_000
_MEMORY = (160 * MEGABYTE, 448 * MEGABYTE)
"What is tried first, and what a film of many pixels gets."
_MATRICES = {0: "rgb", 1: "bt709", 2: "", 3: "", 5: "bt601", 6: "bt601"}
"By the numbers they have in every codec; whoever says nothing, or something reserved, leaves it to the player."
_FULL_RANGE = 2
_PADDING = 0.12
_STEADY = 0.1
_DRIFT = 0.4
"By how much of a frame the time between two may differ in a film of constant rate, and any from where it belongs."


def probe(path: Path, *, limit: timedelta = timedelta(minutes=2)) -> Probed:
    """What the file is and holds. It is read to its end, though hardly decoded; UnusableFile if it cannot be."""
    with path.open("rb") as file:
        beginning = file.read(_BEGINNING)
    if not beginning:
        raise UnusableFile("the file is empty; send it again")
    if is_image(beginning):
        return probe_image(path)
    need("av")
    seconds = limit.total_seconds()
    for memory in _MEMORY:
        try:
            return Probed.of(apart("probe", path, memory=memory, limit=limit, seconds=seconds))
        except TooMuchToDecode:
            if memory == _MEMORY[-1]:
                raise
    raise AssertionError("there is a last one")


def probe_here(path: Path, *, limit: timedelta) -> Probed:
    """The same of what is no image, in this process: for decoders."""
    import av

    with path.open("rb") as file:
        beginning = file.read(_BEGINNING)
    try:
        with av.open(
            writing(path), container_options=dict(GUARDS), timeout=_TO_OPEN, metadata_errors="replace"
        ) as container:
            return _probed(container, path, beginning, until=time.monotonic() + limit.total_seconds())
    except MemoryError:
        raise
    except (av.FFmpegError, EOFError) as error:
        raise UnusableFile(_unreadable(beginning, error)) from None


def _unreadable(beginning: bytes, error: Exception) -> str:
    if _is_text(beginning):
        return "the file is text, not a video, sound or image; send the media file itself"
    if (found := sniff(beginning)).startswith(("model/", "application/", "image/")) and found != UNKNOWN:
        return f"the file is {found}; {AS_ANY_KIND}"
    reason = getattr(error, "strerror", None) or str(error)
    return f"the file is damaged or of a kind that is not taken here ({reason}); {AS_ANY_KIND}"


def _is_text(beginning: bytes) -> bool:
    try:
        # Its last character may be cut.
        return "\0" not in getincrementaldecoder("utf-8")().decode(beginning)
    except UnicodeDecodeError:
        return False


def _probed(container: InputContainer, path: Path, beginning: bytes, *, until: float) -> Probed:
    film, heard = _film(container), _heard(container)
    if film is None and heard is None:
        raise UnusableFile(f"there is nothing in the file that can be decoded; {AS_ANY_KIND}")
    measured = _Measured.of(container, film, until=until)
    if film is not None and measured.frame is not None and measured.of_stream(film).untold:
        measured.of_stream(film).correct(shown_frames(path, film.index, until=until))
    start = (container.start_time or 0) / 1e6
    claimed = container.duration / 1e6 if container.duration else None
    if claimed is not None and container.format.name.startswith("matroska"):
        # It tells when it ends, and not how long it is.
        claimed -= max(0.0, start)
    picture = None if film is None else _picture(film, measured, start=start, claimed=claimed)
    sound = None if heard is None else _sound(heard, measured)
    return Probed(
        MediaKind.VIDEO if picture is not None else MediaKind.AUDIO,
        _container(container, beginning),
        picture.duration if picture is not None else sound.duration if sound is not None else 0.0,
        streams=len(container.streams),
        packets=sum(times.count for times in measured.streams.values()),
        picture=picture,
        sound=sound,
        claimed=claimed,
        measured=round(max((times.end for times in measured.streams.values()), default=0.0) - start, 6),
    )


class _Times:
    """When the packets of a stream are shown or heard, in seconds."""

    def __init__(self, unit: float) -> None:
        self._unit = unit
        self._told, self._guessed = array("d"), array("d")
        self.count = self.keys = self.untold = 0
        self.end = 0.0

    def add(self, packet: Packet[Any]) -> None:
        moment = packet.pts if packet.pts is not None else packet.dts
        begins = moment * self._unit if moment is not None else self.end
        (self._guessed if moment is None else self._told).append(begins)
        self.count += 1
        self.untold += packet.pts is None
        self.keys += packet.is_keyframe
        self.end = max(self.end, begins + (packet.duration or 0) * self._unit)

    def correct(self, shown: Sequence[ShownFrame]) -> None:
        """By when its frames were shown, decoded: a packet that does not say it may belong before others."""
        if shown:
            self._told, self._guessed = array("d", [frame.begins for frame in shown]), array("d")
            self.end = max(frame.begins + frame.lasts for frame in shown)

    @property
    def uncertain(self) -> bool:
        """Whether only some say it."""
        return bool(self._told and self._guessed)

    @property
    def starts(self) -> array[float]:
        """Of those that say it; of all, one after the other, if none does."""
        return self._told or self._guessed

    @property
    def start(self) -> float:
        return min(self.starts, default=0.0)


class _Measured:
    """All packets of a file, looked at one by one, and the first frame of the film."""

    def __init__(self) -> None:
        self.streams: dict[int, _Times] = {}
        self.frame: VideoFrame | None = None

    @classmethod
    def of(cls, container: InputContainer, film: VideoStream | None, *, until: float) -> _Measured:
        measured, count = cls(), 0
        if film is not None:
            film.codec_context.thread_count = 1
        small = film is not None and film.codec_context.width * film.codec_context.height <= MOST_PIXELS
        for packet in container.demux():
            if not packet.size or packet.is_discard:
                continue
            count += 1
            if time.monotonic() > until or count > _MOST_PACKETS:
                raise UnusableFile("the file is longer than can be looked at; send a shorter one")
            unit = float(packet.time_base or 0)
            measured.streams.setdefault(packet.stream.index, _Times(unit)).add(packet)
            if small and measured.frame is None and packet.stream is film:
                measured.frame = _first(packet)
        return measured

    def of_stream(self, stream: Stream) -> _Times:
        return self.streams.get(stream.index) or _Times(0.0)


def _first(packet: Packet[Any]) -> VideoFrame | None:
    """The first frame a packet gives; some give none, and damaged ones are looked for elsewhere."""
    import av

    try:
        return next(iter(packet.decode()), None)
    except MemoryError:
        raise
    except av.FFmpegError:
        return None


def _picture(film: VideoStream, measured: _Measured, *, start: float, claimed: float | None) -> PictureTrack:
    times, frame = measured.of_stream(film), measured.frame
    # The frame knows; the stream's header may be of another size, or say nothing.
    width, height = (frame.width, frame.height) if frame is not None else (film.width, film.height)
    rotation = round(frame.rotation) % 360 if frame is not None else 0
    aspect = float(film.sample_aspect_ratio or 1)
    if rotation in (90, 270):
        width, height, aspect = height, width, 1 / aspect
    first = _first_shown(times, frame)
    starts = sorted(begins for begins in times.starts if begins >= first)
    duration = times.end - first
    if len(starts) > 1 and duration <= starts[-1] - starts[0]:
        # The last frame does not say how long it is shown: as long as the others.
        duration = (starts[-1] - starts[0]) * len(starts) / (len(starts) - 1)
    elif not duration and starts:
        duration = 1 / float(film.average_rate) if film.average_rate else claimed or 0.0
    return PictureTrack(
        index=film.index,
        codec=film.codec_context.codec.canonical_name,
        pixel_format=frame.format.name if frame is not None else film.pix_fmt or "unknown",
        width=width,
        height=height,
        rotation=rotation,
        pixel_aspect=aspect,
        has_alpha=film.metadata.get("alpha_mode") == "1" or _has_alpha(frame),
        frames=times.count,
        fps=round(len(starts) / duration, 6) if duration else 0.0,
        variable_rate=times.uncertain or _varies(starts, unit=float(film.time_base or 0)),
        start=round(max(0.0, first - start), 6),
        duration=round(duration, 6),
        first=round(first, 6),
        pace=_pace(starts, unit=float(film.time_base or 0)),
        jitter=_jitter(starts),
        key_frames=times.keys,
        **_look(frame),
    )


def _first_shown(times: _Times, frame: VideoFrame | None) -> float:
    """When a film begins: a part cut out of another may have frames in front that need one which is not there."""
    shown = times.start if frame is None or frame.time is None else float(frame.time)
    return shown if times.start < shown < times.end else times.start


def _look(frame: VideoFrame | None) -> dict[str, Any]:
    """What the first frame says of how it is to be shown."""
    if frame is None:
        return {}
    return {
        "interlaced": bool(frame.interlaced_frame),
        "matrix": _MATRICES.get(int(frame.colorspace), "other"),
        "full_range": int(frame.color_range) == _FULL_RANGE or frame.format.name.startswith("yuvj"),
    }


def _sound(heard: AudioStream, measured: _Measured) -> SoundTrack:
    times, codec = measured.of_stream(heard), heard.codec_context
    duration = times.end - max(0.0, times.start)
    told = float(heard.duration * heard.time_base) if heard.duration and heard.time_base else 0.0
    if told and 0 < duration - told < _PADDING:
        # What an encoder adds at both ends is not heard, and the header has left it out.
        duration = told
    return SoundTrack(
        index=heard.index,
        codec=codec.codec.canonical_name,
        sample_rate=codec.sample_rate,
        channels=codec.channels,
        duration=round(duration, 6),
        first=round(times.start, 6),
    )


def _pace(starts: Sequence[float], *, unit: float) -> float:
    """By the shortest time between two frames if the others are multiples of it, for then some are left out.

    If they are not it is one that is neither among the longer nor among the shorter ones.
    """
    gaps = sorted(gap for before, after in pairwise(starts) if (gap := after - before) > 0)
    if not gaps:
        return 0.0
    least, usual = gaps[0], gaps[len(gaps) // 2]
    off = (abs(gap - round(gap / least) * least) - _STEADY * gap for gap in gaps)
    return round(1 / (least if max(off) <= 2 * unit else usual), 6)


def _varies(starts: Sequence[float], *, unit: float) -> bool:
    """Whether some frames are shown longer than others, by more than rounding, or all together drift."""
    gaps = sorted(after - before for before, after in pairwise(starts))
    if not gaps:
        return False
    usual = gaps[len(gaps) // 2]
    steady = max(_STEADY * usual, 2 * unit)
    return gaps[-1] - usual > steady or usual - gaps[0] > steady or _jitter(starts) > _DRIFT


def _jitter(starts: Sequence[float]) -> float:
    """How far the one that is farthest from it is from where it belongs, in frames."""
    mean = (starts[-1] - starts[0]) / (len(starts) - 1) if len(starts) > 1 else 0.0
    if mean <= 0:
        return 0.0
    return round(max(abs(begins - starts[0] - number * mean) for number, begins in enumerate(starts)) / mean, 6)


def _has_alpha(frame: VideoFrame | None) -> bool:
    return frame is not None and any(component.is_alpha for component in frame.format.components)


def _film(container: InputContainer) -> VideoStream | None:
    """The best one that can be decoded. The picture on the sleeve of a record is none."""
    from av.stream import Disposition

    films = [stream for stream in container.streams.video if not stream.disposition & Disposition.attached_pic]
    return _best(container.streams.best("video"), films)


def _heard(container: InputContainer) -> AudioStream | None:
    return _best(container.streams.best("audio"), list(container.streams.audio))


def _best(best: Stream | None, streams: list[Decodable]) -> Decodable | None:
    known = [stream for stream in streams if stream.codec_context is not None]
    return next((stream for stream in known if stream is best), known[0] if known else None)


def _container(container: InputContainer, beginning: bytes) -> str:
    """Its usual name; libavformat has one for all that are built alike."""
    name = container.format.name
    if name.startswith("mov,"):
        return "mov" if container.metadata.get("major_brand", "qt").startswith("qt") else "mp4"
    if name.startswith("matroska"):
        return "webm" if b"webm" in beginning[:64] else "matroska"
    return name
