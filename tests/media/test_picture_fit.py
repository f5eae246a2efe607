"""What was drawn elsewhere becomes a PNG of one size, with its subject in the middle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

from penstock.media.cut_out import without_ground
from penstock.media.errors import UnusableFile
from penstock.media.picture_fit import PictureGround, fit_background, fit_subject, sound_picture

SIZE = (256, 256)


def subject(size: tuple[int, int] = (300, 200), ground: Any = "white") -> Image.Image:
    """A blue ring, off the middle, through which the ground is seen."""
    picture = Image.new("RGBA", size, ground)
    draw, (width, height) = ImageDraw.Draw(picture), size
    draw.ellipse((width * 0.1, height * 0.2, width * 0.5, height * 0.7), fill=(30, 60, 200, 255))
    draw.ellipse((width * 0.25, height * 0.4, width * 0.35, height * 0.5), fill=ground)
    return picture


def noise(size: tuple[int, int] = (300, 200)) -> Image.Image:
    return Image.fromarray(np.random.default_rng(1).integers(0, 255, (size[1], size[0], 3), np.uint8))


def alpha_of(path: Path) -> Any:
    return np.asarray(Image.open(path).getchannel("A"))


@pytest.mark.parametrize(
    ("form", "size"), [("PNG", (300, 200)), ("JPEG", (90, 140)), ("WEBP", (700, 300)), ("PNG", (64, 64))]
)
def test_a_subject_on_a_plain_ground_is_cut_out_and_centred(tmp_path: Path, form: str, size: tuple[int, int]) -> None:
    subject(size).convert("RGB").save(tmp_path / "made", form)
    found = fit_subject(tmp_path / "made", tmp_path / "fit.png", size=SIZE)
    assert (found.width, found.height, found.ground) == (*SIZE, PictureGround.CUT_OUT)
    assert found.bytes == (tmp_path / "fit.png").stat().st_size
    with Image.open(tmp_path / "fit.png") as fitted:
        assert (fitted.format, fitted.mode, fitted.size, fitted.info) == ("PNG", "RGBA", SIZE, {})
    alpha = alpha_of(tmp_path / "fit.png")
    rows, columns = np.nonzero(alpha.max(axis=1) > 24)[0], np.nonzero(alpha.max(axis=0) > 24)[0]
    assert alpha[0].max() == alpha[-1].max() == alpha[:, 0].max() == alpha[:, -1].max() == 0
    assert abs(int(rows[0]) + int(rows[-1]) - 255) <= 4
    assert abs(int(columns[0]) + int(columns[-1]) - 255) <= 4
    assert max(len(rows), len(columns)) > 200, "as large as it can be"


def test_what_is_within_the_subject_stays(tmp_path: Path) -> None:
    """The hole of the ring cannot be reached from outside, and may be a white shirt."""
    subject().save(tmp_path / "made.png")
    fit_subject(tmp_path / "made.png", tmp_path / "fit.png", size=SIZE)
    assert alpha_of(tmp_path / "fit.png")[128, 128] == 255


def test_a_ground_that_is_transparent_already_is_left_so(tmp_path: Path) -> None:
    subject(ground=(0, 0, 0, 0)).save(tmp_path / "made.png")
    found = fit_subject(tmp_path / "made.png", tmp_path / "fit.png", size=SIZE)
    assert found.ground is PictureGround.TRANSPARENT
    assert alpha_of(tmp_path / "fit.png")[128, 128] == 0


def test_a_ground_that_is_not_plain_is_kept(tmp_path: Path) -> None:
    noise().save(tmp_path / "made.png")
    found = fit_subject(tmp_path / "made.png", tmp_path / "fit.png", size=SIZE)
    assert found.ground is PictureGround.KEPT
    alpha = alpha_of(tmp_path / "fit.png")
    assert (alpha[128, 0], alpha[128, 255], alpha[2, 128]) == (255, 255, 0), "whole, between empty stripes"


def test_a_background_fills_the_picture_and_is_nowhere_transparent(tmp_path: Path) -> None:
    noise().convert("RGBA").save(tmp_path / "made.png")
    subject(ground=(0, 0, 0, 0)).save(tmp_path / "clear.png")
    for name in ("made", "clear"):
        found = fit_background(tmp_path / f"{name}.png", tmp_path / "fit.png", size=(320, 180))
        assert (found.width, found.height, found.ground) == (320, 180, PictureGround.KEPT)
        assert alpha_of(tmp_path / "fit.png").min() == 255


def test_a_photograph_on_its_side_is_put_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    noise((300, 200)).save(tmp_path / "made.jpg", exif=exif)
    fit_subject(tmp_path / "made.jpg", tmp_path / "fit.png", size=SIZE)
    alpha = alpha_of(tmp_path / "fit.png")
    assert (alpha[0, 128], alpha[128, 2]) == (255, 0)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "CMYK", "I;16"])
def test_every_kind_of_pixels_is_taken(tmp_path: Path, mode: str) -> None:
    picture = subject().convert("L").convert(mode) if mode != "CMYK" else subject().convert("RGB").convert(mode)
    picture.save(tmp_path / "made", "JPEG" if mode == "CMYK" else "PNG")
    fit_subject(tmp_path / "made", tmp_path / "fit.png", size=SIZE)
    assert alpha_of(tmp_path / "fit.png").shape == SIZE


@pytest.mark.parametrize("ground", ["white", (0, 0, 0, 0), "#7f8081"])
def test_a_picture_of_nothing_is_refused(tmp_path: Path, ground: Any) -> None:
    Image.new("RGBA", (300, 200), ground).save(tmp_path / "made.png")
    with pytest.raises(UnusableFile, match="nothing in the picture"):
        fit_subject(tmp_path / "made.png", tmp_path / "fit.png", size=SIZE)
    assert not (tmp_path / "fit.png").exists()


def test_a_picture_is_neither_too_small_nor_too_large(tmp_path: Path) -> None:
    noise((300, 63)).save(tmp_path / "small.png")
    with pytest.raises(UnusableFile, match="is 300x63; it needs 64 pixels"):
        sound_picture(tmp_path / "small.png")
    Image.new("1", (8000, 5001)).save(tmp_path / "large.png")
    with pytest.raises(UnusableFile, match="more pixels"):
        sound_picture(tmp_path / "large.png")


def test_the_same_picture_gives_the_same_bytes(tmp_path: Path) -> None:
    subject().save(tmp_path / "made.png", pnginfo=None, dpi=(72, 72))
    for name in ("one.png", "two.png"):
        fit_subject(tmp_path / "made.png", tmp_path / name, size=SIZE)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


def test_the_ground_is_found_around_corners() -> None:
    """A passage that winds into the subject belongs to the ground, to its end."""
    picture = Image.new("RGB", (120, 120), "white")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((20, 20, 99, 99), fill="navy")
    draw.line([(60, 19), (60, 40), (30, 40), (30, 80), (90, 80), (90, 60), (50, 60)], fill="white", width=9)
    cut = without_ground(picture.convert("RGBA"))
    assert cut is not None
    alpha = np.asarray(cut.getchannel("A"))
    assert (alpha[60, 52], alpha[80, 60], alpha[30, 30]) == (0, 0, 255)
