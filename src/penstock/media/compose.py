"""The final cut, and small cuts on the way to it, by ffmpeg on this machine."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from penstock.errors import InvalidValue
from penstock.media.errors import FfmpegFailed, UnusableFile
from penstock.media.ffmpeg import AAC, EXACT, H264, MP4, Ran, reading, run, writing
from penstock.media.probe import PictureTrack, Probed, SoundTrack, probe
from penstock.media.thumbnail import thumbnail
from penstock.media.timeline import Place, timeline
from penstock.media.whole import whole

RATE = 48_000
LOUDNESS = -14.0
"LUFS, as streaming services play music."

_PEAK = 0.89
_MOST_GAIN = 24.0
"Decibels; what is fainter than that is meant to be faint."
_SILENT = -60.0
_FADE_OUT = 1.5
_SOFT_EDGE = 0.01
"Seconds over which the sound of a clip comes and goes, so that a cut does not click."
_MEASURED = re.compile(r"Integrated loudness:\s+I:\s+(-?[\d.]+|-inf) LUFS")
_STEREO = f"aformat=sample_fmts=fltp:sample_rates={RATE}:channel_layouts=stereo"
_COLOURS = "out_color_matrix=bt709:out_range=tv"


CutProgress: TypeAlias = Callable[[float, str | None], None]
"Told how far it is, and now and then with what; what it raises goes through, and nothing is left behind."


@dataclass(frozen=True, slots=True)
class Cut:
    """That something was cut: the file is where it was asked for."""

    metrics: dict[str, Any] = field(default_factory=dict)
    "Numbers worth keeping."


class Composer(Protocol):
    """Whoever cuts clips and tracks."""

    def compose(self, clips: Sequence[Path], track: Path | None, into: Path, progress: CutProgress) -> Cut:
        """One MP4 of clips in order, as long as they are together, with cross-fades and the backing track.

        The track is looped or cut to that length and normalised in loudness. Without one the clips' own sound is kept,
        with silence where a clip has none.
        """
        ...

    def trim(self, clip: Path, into: Path, *, start: float, stop: float) -> Cut:
        """A part of a clip, exact to the frame."""
        ...

    def excerpt(self, track: Path, into: Path, *, start: float, seconds: float) -> Cut:
        """A part of a track as MP3; the track begins again where it ends, and before its beginning it is silent."""
        ...

    def thumbnail(self, clip: Path, into: Path) -> Cut:
        """A JPEG that shows what the clip is about."""
        ...


class FfmpegComposer:
    """Cuts to one size and frame rate. The same files give the same cut, byte for byte."""

    def __init__(self, width: int = 1280, height: int = 720, fps: int = 24, fade: float = 0.5) -> None:
        if min(width, height) < 2 or width % 2 or height % 2:
            raise InvalidValue(f"a video's width and height are even numbers from 2, not {width}x{height}")
        if fps < 1 or not fade >= 0:
            raise InvalidValue(f"there is at least 1 frame a second and a fade of at least 0 s, not {fps} and {fade}")
        self._width, self._height, self._fps, self._fade = width, height, fps, fade

    def compose(self, clips: Sequence[Path], track: Path | None, into: Path, progress: CutProgress) -> Cut:
        """All clips in order and the track, in one run over the pictures; sounds are measured before."""
        if not clips:
            raise InvalidValue("there are no clips to compose; film at least one scene")
        progress(0.0, "looking at the clips")
        looked_at = [(clip, probed, _picture(probed)) for clip, probed in _probed_all(clips)]
        places = timeline([probed.duration for _, probed, _ in looked_at], fps=self._fps, fade=self._fade)
        frames = sum(place.frames for place in places)
        inputs = [part for clip, *_ in looked_at for part in reading(clip, "-threads", "1")]
        pictures = [picture for *_, picture in looked_at]
        graph = [self._normalised(n, *seen) for n, seen in enumerate(zip(pictures, places, strict=True))]
        graph += _joined(places, self._fps)
        spent = 0.0
        if track is None:
            graph += _own_sounds([probed for _, probed, _ in looked_at], places, self._fps)
        else:
            backing = _Backing(track, samples=_samples(frames, self._fps))
            measured = backing.measured(progress)
            spent = measured.seconds
            inputs += backing.reading()
            graph.append(f"[{len(clips)}:{backing.index}]{backing.filters(gain=_gain(measured))}[sound]")
        progress(0.0, "cutting")
        seconds = frames / self._fps
        with whole(into) as unfinished:
            ran = run(
                [
                    *(*inputs, "-filter_complex", ";".join(graph), "-map", "[film]", "-map", "[sound]"),
                    *(*H264, "-g", str(2 * self._fps), *AAC, *MP4, writing(unfinished)),
                ],
                limit=_limit(seconds),
                progress=lambda done: progress(min(1.0, done / seconds), None),
            )
            _check(ran, frames)
        return _cut(ran, seconds, spent=spent)

    def trim(self, clip: Path, into: Path, *, start: float, stop: float) -> Cut:
        """The frames from the one at ``start`` to the one before ``stop``, in the clip's own size."""
        probed = probe(clip)
        picture = _picture(probed)
        unsteady = picture.variable_rate or picture.fps < 1
        fps = Fraction(self._fps) if unsteady else Fraction(picture.fps).limit_denominator(1001)
        if not 0 <= start < stop <= picture.duration + 1 / fps:
            raise InvalidValue(f"the clip lasts {picture.duration:g} s; from {start:g} to {stop:g} s is no part of it")
        first, end = round(start * fps), min(round(stop * fps), round(picture.duration * fps))
        if first >= end:
            rate = f"{float(fps):g} frames a second"
            raise InvalidValue(f"from {start:g} to {stop:g} s there is no whole frame; there are {rate}")
        even = "pad=ceil(iw/2)*2:ceil(ih/2)*2"
        steady = f"fps={fps}," if unsteady else ""
        # Frames that cannot be decoded are missing at the end; the last one stands for them.
        part = f"tpad=stop={end}:stop_mode=clone,trim=start_frame={first}:end_frame={end},setpts=N/({fps})/TB,fps={fps}"
        graph = [f"[0:{picture.index}]{steady}{part},scale={_COLOURS},{even}[film]"]
        maps, seconds = ["-map", "[film]"], float((end - first) / fps)
        if probed.sound is not None:
            begin = picture.start + float(first / fps)
            graph.append(f"[0:{probed.sound.index}]{_placed(begin, round(seconds * RATE))}[sound]")
            maps += ["-map", "[sound]"]
        with whole(into) as unfinished:
            # It is cut again later, so little of it may be lost here.
            output = [*maps, *H264, "-crf", "18", *AAC, *MP4, writing(unfinished)]
            ran = run([*reading(clip), "-filter_complex", ";".join(graph), *output], limit=_limit(picture.duration))
            _check(ran, end - first)
        return _cut(ran, seconds)

    def excerpt(self, track: Path, into: Path, *, start: float, seconds: float) -> Cut:
        sound = _sound(probe(track))
        if not (-seconds < start < math.inf and 0 < seconds < math.inf):
            raise InvalidValue(f"{seconds:g} s from {start:g} s on is no part of a track")
        # Counted from its first beginning, as in the cut: rounds are not exactly as long as the track says it is.
        loops = math.ceil((start + seconds) / sound.duration)
        begin, end, silent = round(max(start, 0) * RATE), round((start + seconds) * RATE), round(max(-start, 0) * RATE)
        cut = f"{_STEREO},asetpts=N/SR/TB,atrim=start_sample={begin}:end_sample={end},asetpts=PTS-STARTPTS"
        cut += f",adelay=delays={silent}S:all=1" if silent else ""
        output = ["-map", f"0:{sound.index}", "-af", cut, "-c:a", "libmp3lame", "-b:a", "192k", *EXACT, "-f", "mp3"]
        with whole(into) as unfinished:
            looped = reading(track, "-stream_loop", str(loops))
            ran = run([*looped, *output, writing(unfinished)], limit=_limit(start + seconds))
        return _cut(ran, seconds)

    def thumbnail(self, clip: Path, into: Path) -> Cut:
        return Cut(metrics={"ffmpeg_seconds": round(thumbnail(clip, into).seconds, 3)})

    def _normalised(self, number: int, picture: PictureTrack, place: Place) -> str:
        """A clip in the size and rate of the cut, for exactly as long as it is seen; its last frame may stand still."""
        shown = picture.width * picture.pixel_aspect
        ratio = min(self._width / shown, self._height / picture.height)
        width, height = _even(shown * ratio, self._width), _even(picture.height * ratio, self._height)
        seen = place.frames + place.fade
        return (
            f"[{number}:{picture.index}]setpts=PTS-STARTPTS,fps={self._fps},scale={width}:{height}:{_COLOURS},"
            f"pad={self._width}:{self._height}:-1:-1,setsar=1,format=yuv420p,"
            f"tpad=stop={seen}:stop_mode=clone,trim=end_frame={seen}[{_seen(number)}]"
        )


class _Backing:
    """The track under a cut: looped or cut to its length, as loud as all of them are, and gone at the end."""

    def __init__(self, track: Path, *, samples: int) -> None:
        self._track, self._samples = track, samples
        self._sound = _sound(probe(track))
        self._loops = math.ceil(samples / RATE / self._sound.duration)
        self.index = self._sound.index

    def reading(self) -> list[str]:
        # One round more than needed, never without end: some tracks are shorter than they seem.
        return reading(self._track, "-stream_loop", str(self._loops))

    def filters(self, *, gain: float) -> str:
        seconds = self._samples / RATE
        fade = min(_FADE_OUT, seconds / 4)
        gone = f"afade=t=out:st={seconds - fade:.6f}:d={fade:.6f}"
        # The limiter looks ahead, and shifts times by what it has seen.
        limited = f"alimiter=limit={_PEAK}:level=disabled:latency=1,asetpts=N/SR/TB"
        return f"{self._shortened()},volume={gain:.2f}dB,{limited},{gone},{_exactly(self._samples)}"

    def _shortened(self) -> str:
        return f"{_STEREO},asetpts=N/SR/TB,atrim=end_sample={self._samples}"

    def measured(self, progress: CutProgress) -> Ran:
        """How loud what will be heard is, in the log."""
        progress(0.0, "measuring the track")
        loudness = f"{self._shortened()},ebur128=framelog=quiet"
        return run(
            [*self.reading(), "-map", f"0:{self.index}", "-af", loudness, "-f", "null", "-"],
            limit=_limit(self._samples / RATE),
            progress=lambda _: progress(0.0, None),
            level="info",
        )


def _gain(measured: Ran) -> float:
    """Decibels from how loud a track is to how loud it is to be."""
    found = _MEASURED.search(measured.log)
    loudness = float(found[1]) if found else -math.inf
    return min(LOUDNESS - loudness, _MOST_GAIN) if loudness > _SILENT else 0.0


def _joined(places: Sequence[Place], fps: int) -> Iterator[str]:
    """The clips faded or cut into each other, one after the other, as [film]."""
    so_far = _seen(0)
    for number, (before, place) in enumerate(pairwise(places), start=1):
        # Of a clip of one frame concat does not know how long it lasts; its frames are counted anew.
        how = f"concat=n=2,settb=1/{fps},setpts=N,fps={fps}"
        if before.fade:
            how = f"xfade=transition=fade:duration={before.fade / fps:.6f}:offset={place.first / fps:.6f}"
        yield f"[{so_far}][{_seen(number)}]{how}[j{number}]"
        so_far = f"j{number}"
    yield f"[{so_far}]null[film]"


def _own_sounds(clips: Sequence[Probed], places: Sequence[Place], fps: int) -> Iterator[str]:
    """The clips' own sounds where they belong, and silence where there is none, as [sound]."""
    for number, (clip, place) in enumerate(zip(clips, places, strict=True)):
        samples = _samples(place.first + place.frames, fps) - _samples(place.first, fps)
        if clip.sound is None or clip.picture is None:
            yield f"anullsrc=sample_rate={RATE}:channel_layout=stereo,{_STEREO},atrim=end_sample={samples}[s{number}]"
        else:
            yield f"[{number}:{clip.sound.index}]{_placed(clip.picture.start, samples)}[s{number}]"
    yield "".join(f"[s{number}]" for number in range(len(clips))) + f"concat=n={len(clips)}:v=0:a=1[sound]"


def _placed(start: float, samples: int) -> str:
    """So many samples of a clip's sound from a second of the clip on."""
    end = max(0.0, samples / RATE - _SOFT_EDGE)
    edges = f"afade=t=in:d={_SOFT_EDGE},afade=t=out:st={end:.6f}:d={_SOFT_EDGE}"
    in_step = f"asetpts=PTS-{start:.6f}/TB,aresample={RATE}:async=1:first_pts=0"
    return f"{in_step},{_STEREO},{_exactly(samples)},{edges}"


def _exactly(samples: int) -> str:
    return f"apad=whole_len={samples},atrim=end_sample={samples}"


def _samples(frames: int, fps: int) -> int:
    return round(frames * RATE / fps)


def _even(wanted: float, most: int) -> int:
    return max(2, min(most, 2 * round(wanted / 2)))


def _seen(number: int) -> str:
    return f"v{number}"


def _probed_all(clips: Sequence[Path]) -> Iterator[tuple[Path, Probed]]:
    for number, clip in enumerate(clips, start=1):
        try:
            yield clip, probe(clip)
        except UnusableFile as error:
            raise UnusableFile(f"clip {number}: {error}") from None


def _picture(probed: Probed) -> PictureTrack:
    if probed.picture is None or probed.duration <= 0:
        raise UnusableFile("there are no moving pictures in the clip; film or send it again")
    return probed.picture


def _sound(probed: Probed) -> SoundTrack:
    if probed.sound is None or probed.sound.duration <= 0:
        raise UnusableFile("there is no sound in the track; send another one")
    return probed.sound


def _check(ran: Ran, frames: int) -> None:
    if ran.frames != frames:
        raise FfmpegFailed(f"{ran.frames} frames came out instead of {frames}; is one of the clips damaged?")


def _limit(seconds: float) -> timedelta:
    return timedelta(minutes=10, seconds=20 * seconds)


def _cut(ran: Ran, seconds: float, *, spent: float = 0.0) -> Cut:
    inside = round(ran.seconds + spent, 3)
    return Cut(metrics={"seconds": round(seconds, 6), "frames": ran.frames, "ffmpeg_seconds": inside})
