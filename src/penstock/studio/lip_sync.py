"""Lips that move: a mouth drawn over the one of a filmed character, in the shapes of what is sung."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from penstock.errors import InvalidValue
from penstock.generation.errors import for_good
from penstock.generation.steps import Made, StepReporter
from penstock.media.extra import need
from penstock.media.ffmpeg import GUARDS, H264, MP4, reading, run, writing
from penstock.media.frame_encoder import encode
from penstock.media.probe import PictureTrack, probe
from penstock.studio.faces import Faces, noted_faces
from penstock.studio.mouth import CLOSED, Mouth, smoothed

_HEARD = 0.1
"The part of the work that is done when it is known what the mouth does."
_WIDEST_PIXEL = 2.0

Paint = Callable[[Any, int], None]
"Whatever moves, put on a frame, an image of Pillow's, by its number."


class MouthLipSync:
    """Moves the mouth of a character that was filmed here; in any other film a small singer does it, in a corner.

    If the words are known and pocketsphinx is installed (the extra ``lipsync``), the shapes are those of the phones;
    otherwise the mouth is as open as the sound is loud.
    """

    def sync(
        self,
        clip: Path,
        audio: Path,
        into: Path,
        reporter: StepReporter,
        *,
        words: str | None = None,
        job: str | None = None,
        order: str = "",
    ) -> Made:
        """The clip with the sound, as long as before, and with lips that move to it."""
        for package in ("numpy", "PIL", "av"):
            need(package)
        reporter.progress(0.0, "listening")
        with for_good():
            given = _picture(clip)
        with _plain(clip, given, reporter) as film:
            with for_good():
                picture = _picture(film)
                fps = Fraction(picture.fps).limit_denominator(1001)
                mouths, how = _mouths(audio, picture.frames, float(fps), words)
            reporter.progress(_HEARD, "singing")
            paint = _painter(noted_faces(film), picture, mouths)
            frames = _painted(film, picture, paint, reporter)
            limit = timedelta(seconds=600 + 30 * picture.frames / float(fps))
            encode(frames, into, width=picture.width, height=picture.height, fps=fps, sound=audio, limit=limit)
        reporter.progress(1.0)
        return Made(metrics={"frames": picture.frames, "mouth": how, "open": sum(m.open > 0 for m in mouths)})


def _mouths(audio: Path, frames: int, fps: float, words: str | None) -> tuple[list[Mouth], str]:
    """The mouth of each frame, and whether it was told by words or by loudness."""
    from penstock.studio.phones import spoken
    from penstock.studio.voice import heard, quiet, samples

    sound = samples(audio, frames / fps)
    if words and (shapes := spoken(sound, words, frames, fps)):
        silent = quiet(sound, frames, fps)
        return smoothed([CLOSED if s else m for m, s in zip(shapes, silent, strict=True)]), "words"
    return smoothed(heard(sound, frames, fps)), "loudness"


def _painter(faces: Faces | None, picture: PictureTrack, mouths: list[Mouth]) -> Paint:
    from penstock.studio.drawing.lips import Lips, Singer

    if faces is not None and len(faces.frames) == picture.frames:
        lips = Lips(faces.kind, max(face.head for face in faces.frames))
        return lambda frame, n: lips.draw(frame, faces.frames[n], mouths[n])
    singer = Singer(picture.width, picture.height)
    return lambda frame, n: singer.draw(frame, mouths[n])


def _painted(film: Path, picture: PictureTrack, paint: Paint, reporter: StepReporter) -> Iterator[bytes]:
    """The frames of a film, each with its mouth; the reporter is told of every half second, and may stop it there."""
    import av
    from PIL import Image

    every = max(round(picture.fps / 2), 1)
    with av.open(writing(film), container_options=dict(GUARDS)) as container:
        stream = container.streams[picture.index]
        # As many as when its soundness was looked at: each keeps frames of its own.
        stream.codec_context.thread_type, stream.codec_context.thread_count = "AUTO", 2
        for n, decoded in enumerate(container.decode(stream)):
            if n >= picture.frames:
                break
            if n % every == 0:
                reporter.progress(_HEARD + (1 - _HEARD) * n / picture.frames, "singing")
            frame = Image.fromarray(_pixels(decoded))
            paint(frame, n)
            yield frame.tobytes()


def _pixels(decoded: Any) -> Any:
    return decoded.to_ndarray(format="rgb24")


def _picture(film: Path) -> PictureTrack:
    picture = probe(film).picture
    if picture is None or picture.frames < 1 or picture.fps <= 0:
        raise InvalidValue(f"{film.name} shows no moving pictures that lips could be put on")
    return picture


@contextmanager
def _plain(clip: Path, picture: PictureTrack, reporter: StepReporter) -> Iterator[Path]:
    """A film as it is seen, frame by frame: turned, with square pixels, an even size and an even rate. Most are so."""
    size = _even_size(picture)
    if not (picture.rotation or picture.variable_rate) and size == (picture.width, picture.height):
        yield clip
        return
    with TemporaryDirectory(prefix="penstock-lips-") as folder:
        plain = Path(folder, "plain.mp4")
        rate = min(max(picture.fps, 1.0), 60.0)
        even = f"fps={rate:.6f},scale={size[0]}:{size[1]},setsar=1,format=yuv420p"
        command = [*reading(clip), "-map", f"0:{picture.index}", "-vf", even, *H264, *MP4, writing(plain)]
        run(command, progress=lambda _: reporter.progress(_HEARD / 2, "listening"))
        yield plain


def _even_size(picture: PictureTrack) -> tuple[int, int]:
    """How large it is with square pixels: never more than twice as wide, for a header may claim any aspect."""
    shrink = min(1.0, _WIDEST_PIXEL / picture.pixel_aspect)
    width, height = picture.width * picture.pixel_aspect * shrink, picture.height * shrink
    return max(2, 2 * math.ceil(round(width) / 2)), max(2, 2 * math.ceil(round(height) / 2))
