"""Thumbnails show what a film is about, upright and small."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from penstock.media.errors import UnusableFile
from penstock.media.ffmpeg import reading, run, writing
from penstock.media.frame_encoder import encode
from penstock.media.thumbnail import thumbnail
from tests.media.films import FPS, HEIGHT, WIDTH, film, grey_frames, tone


def test_it_is_from_the_middle_and_not_the_black_beginning(tmp_path: Path) -> None:
    levels = [0] * 40 + [170] * 40 + [0] * 40
    encode(grey_frames(levels), tmp_path / "film.mp4", width=WIDTH, height=HEIGHT, fps=FPS)
    thumbnail(tmp_path / "film.mp4", tmp_path / "small.jpg", longest=80)
    with Image.open(tmp_path / "small.jpg") as image:
        assert (image.format, image.size) == ("JPEG", (80, 45))
        assert image.convert("L").getpixel((40, 20)) == pytest.approx(170, abs=6)


def test_it_stands_upright(tmp_path: Path) -> None:
    film(tmp_path / "film.mp4", 0.5)
    run(["-display_rotation", "90", *reading(tmp_path / "film.mp4"), "-c", "copy", writing(tmp_path / "turned.mp4")])
    thumbnail(tmp_path / "turned.mp4", tmp_path / "small.jpg")
    with Image.open(tmp_path / "small.jpg") as image:
        assert image.size == (90, 160)


def test_one_frame_is_enough(tmp_path: Path) -> None:
    thumbnail(film(tmp_path / "film.mp4", 1 / FPS), tmp_path / "small.jpg")
    with Image.open(tmp_path / "small.jpg") as image:
        assert image.size == (WIDTH, HEIGHT)


def test_a_film_that_does_not_tell_its_times_is_shown_by_its_first_frame(tmp_path: Path) -> None:
    run([*reading(film(tmp_path / "film.mp4", 2)), "-c:v", "libx264", "-bf", "3", writing(tmp_path / "film.avi")])
    thumbnail(tmp_path / "film.avi", tmp_path / "small.jpg")
    with Image.open(tmp_path / "small.jpg") as image:
        assert image.size == (WIDTH, HEIGHT)


def test_sound_has_none(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match="no pictures"):
        thumbnail(tone(tmp_path / "tone.wav", 0.5), tmp_path / "small.jpg")
    assert not (tmp_path / "small.jpg").exists()
