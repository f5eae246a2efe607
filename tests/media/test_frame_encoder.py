"""Frames become an MP4: exact, repeatable, whole or not there."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from penstock.errors import InvalidValue
from penstock.media.frame_encoder import encode
from penstock.media.probe import probe
from tests.media.films import FPS, HEIGHT, WIDTH, film, grey_frames, greys, moving_frames, samples, tone
from tests.media.processes import children


def test_every_frame_is_there_in_its_colour(tmp_path: Path) -> None:
    levels = [20, 60, 100, 140, 180, 220]
    encode(grey_frames(levels), tmp_path / "film.mp4", width=WIDTH, height=HEIGHT, fps=FPS)
    assert greys(tmp_path / "film.mp4") == pytest.approx(levels, abs=3)
    found = probe(tmp_path / "film.mp4").picture
    assert found is not None
    assert (found.codec, found.pixel_format, found.width, found.height) == ("h264", "yuv420p", WIDTH, HEIGHT)
    assert (found.frames, found.fps, found.duration, found.variable_rate) == (6, FPS, 0.5, False)


def test_red_stays_red(tmp_path: Path) -> None:
    red = np.zeros((HEIGHT, WIDTH, 3), dtype=np.uint8)
    red[:, :, 0] = 200
    encode([red] * 3, tmp_path / "film.mp4", width=WIDTH, height=HEIGHT, fps=FPS)
    import av

    with av.open(str(tmp_path / "film.mp4")) as container:
        shown = next(container.decode(video=0)).to_ndarray(format="rgb24")
    assert shown[45, 80].tolist() == pytest.approx([200, 0, 0], abs=6)


def test_the_same_frames_give_the_same_file(tmp_path: Path) -> None:
    heard = tone(tmp_path / "tone.wav", 0.4)
    first, second = (film(tmp_path / name, 1, sound=heard).read_bytes() for name in ("a.mp4", "b.mp4"))
    assert first == second
    assert first.index(b"moov") < first.index(b"mdat")


@pytest.mark.parametrize("seconds", [0.3, 3.0])
def test_sound_is_as_long_as_the_film(tmp_path: Path, seconds: float) -> None:
    made = probe(film(tmp_path / "film.mp4", 1.0, sound=tone(tmp_path / "tone.wav", seconds)))
    assert made.sound is not None
    assert made.duration == 1.0
    assert made.sound.duration == pytest.approx(1.0, abs=0.001)
    heard = np.abs(samples(tmp_path / "film.mp4"))
    assert heard[:9_600].max() > 0.1
    assert bool(heard[20_000:40_000].max() > 0.1) == (seconds > 1)


def test_a_rate_may_be_a_fraction(tmp_path: Path) -> None:
    frames = moving_frames(30)
    encode(frames, tmp_path / "film.mp4", width=WIDTH, height=HEIGHT, fps=Fraction(30_000, 1001))
    assert probe(tmp_path / "film.mp4").duration == pytest.approx(1.001)


def test_progress_counts_frames_and_may_stop_everything(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def stop(count: int) -> None:
        counts.append(count)
        if count:
            raise Enough

    def endless() -> Iterator[bytes]:
        while True:
            yield bytes(WIDTH * HEIGHT * 3)

    counts: list[int] = []
    before = children()
    with pytest.raises(Enough):
        encode(endless(), tmp_path / "film.mp4", width=WIDTH, height=HEIGHT, fps=FPS, progress=stop)
    assert counts[-1] > 0
    assert children() == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("frames", "width", "complaint"),
    [
        ([], 160, "no frames"),
        ([b"abc"], 160, "frame 0 has 3 bytes, not 43200"),
        ([], 161, "not 161x90"),
    ],
)
def test_what_cannot_be_encoded_is_refused(tmp_path: Path, frames: list[bytes], width: int, complaint: str) -> None:
    with pytest.raises(InvalidValue, match=complaint):
        encode(frames, tmp_path / "film.mp4", width=width, height=HEIGHT, fps=FPS)
    assert list(tmp_path.iterdir()) == []


def test_an_older_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    into = tmp_path / "film.mp4"
    into.write_bytes(b"older")
    with pytest.raises(InvalidValue):
        encode([b"abc"], into, width=WIDTH, height=HEIGHT, fps=FPS)
    assert into.read_bytes() == b"older"
    assert probe(film(into, 0.5)).duration == 0.5
