"""Images are looked at and decoded with bounds."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from PIL.GifImagePlugin import GifImageFile

from penstock.media import image as image_module
from penstock.media.errors import UnusableFile
from penstock.media.image import opened, probe_image_here
from penstock.media.probe import probe
from penstock.media.soundness import SoundnessLimits, sound_image, sound_video
from tests.media.heics import heic


def picture(size: tuple[int, int] = (64, 48)) -> Image.Image:
    return Image.radial_gradient("L").resize(size).convert("RGB")


@pytest.mark.parametrize("form", ["png", "jpeg", "webp", "gif", "avif"])
def test_images_are_known_by_their_content(tmp_path: Path, form: str) -> None:
    picture().save(tmp_path / "image.bin", format=form)
    found = sound_image(tmp_path / "image.bin")
    assert found.picture is not None
    assert (found.kind, found.container, found.duration) == ("image", form, 0.0)
    assert (found.picture.width, found.picture.height, found.picture.frames) == (64, 48, 1)


def test_an_avif_is_as_large_as_it_is_shown_and_may_be_transparent(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    clear = picture().convert("RGBA")
    clear.putalpha(100)
    clear.save(tmp_path / "photo.avif", exif=exif)
    found = sound_image(tmp_path / "photo.avif").picture
    assert found is not None
    assert (found.width, found.height, found.has_alpha) == (48, 64, True)


@pytest.mark.parametrize(
    ("written", "size"),
    [({}, (320, 200)), ({"turned": 1}, (200, 320)), ({"brand": b"mif1"}, (320, 200)), ({"tile": 128}, (320, 200))],
    ids=["plain", "turned", "under the name of all", "in tiles"],
)
def test_a_heic_is_a_picture_as_it_is_shown(tmp_path: Path, written: dict[str, Any], size: tuple[int, int]) -> None:
    found = sound_image(heic(tmp_path / "photo", picture((320, 200)), **written))
    assert found.picture is not None
    assert (found.kind, found.container, found.picture.frames) == ("image", "heic", 1)
    assert (found.picture.width, found.picture.height) == size
    with opened(tmp_path / "photo") as image:
        assert np.abs(np.asarray(image.convert("L"), int)[8:-8, 8:-8].mean() - 120) < 30, "and has its pixels"


def test_stills_are_no_films(tmp_path: Path) -> None:
    """Their container is that of films, and a decoder of films would show them for a while."""
    picture().save(tmp_path / "still.avif")
    heic(tmp_path / "still.heic", picture())
    for name in ("avif", "heic"):
        with pytest.raises(UnusableFile, match=rf"the file is an image \({name}\), not a video; send a video"):
            sound_video(tmp_path / f"still.{name}")


@pytest.mark.parametrize("form", ["avif", "heic"])
def test_a_still_that_is_cut_or_too_large_is_refused(tmp_path: Path, form: str) -> None:
    whole = tmp_path / "whole"
    heic(whole, picture((200, 200))) if form == "heic" else picture((200, 200)).save(whole, format=form)
    content = whole.read_bytes()
    (tmp_path / "cut").write_bytes(content[: len(content) * 2 // 3])
    with pytest.raises(UnusableFile, match="damaged"):
        sound_image(tmp_path / "cut")
    size = struct.pack(">4xII", 200, 200)
    assert size in content
    (tmp_path / "huge").write_bytes(content.replace(size, struct.pack(">4xII", 20_000, 20_000)))
    with pytest.raises(UnusableFile, match="more pixels than can be handled"):
        sound_image(tmp_path / "huge")


def test_where_no_heic_can_be_read_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heic(tmp_path / "photo", picture())
    monkeypatch.setattr(image_module, "find_spec", lambda name: None)
    with pytest.raises(UnusableFile, match=r"pip install 'penstock\[heic\]'.*send it as JPEG or PNG"):
        probe_image_here(tmp_path / "photo", pixels=10**6, frames=1)


@pytest.mark.parametrize("form", ["tiff", "bmp", "ppm", "ico"])
def test_other_forms_are_refused(tmp_path: Path, form: str) -> None:
    picture().save(tmp_path / "image.png", format=form)
    with pytest.raises(UnusableFile):
        sound_image(tmp_path / "image.png")


@pytest.mark.parametrize("form", ["png", "jpeg", "webp", "gif"])
def test_a_cut_image_is_refused(tmp_path: Path, form: str) -> None:
    picture((200, 200)).save(tmp_path / "whole", format=form)
    whole = (tmp_path / "whole").read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UnusableFile, match="damaged"):
        sound_image(tmp_path / "cut")


def test_a_png_without_its_end_is_refused(tmp_path: Path) -> None:
    """All its pixels are there, and yet something is missing."""
    picture().save(tmp_path / "image.png")
    (tmp_path / "image.png").write_bytes((tmp_path / "image.png").read_bytes()[:-12])
    with pytest.raises(UnusableFile, match="damaged"):
        sound_image(tmp_path / "image.png")


def test_a_photograph_with_another_behind_it_is_a_jpeg(tmp_path: Path) -> None:
    picture().save(tmp_path / "photo.jpg", format="MPO", save_all=True, append_images=[picture()])
    found = sound_image(tmp_path / "photo.jpg")
    assert found.picture is not None
    assert (found.container, found.picture.frames) == ("jpeg", 2)


def test_flipped_bits_in_a_png_are_refused(tmp_path: Path) -> None:
    picture().save(tmp_path / "image.png")
    damaged = bytearray((tmp_path / "image.png").read_bytes())
    damaged[len(damaged) // 2] ^= 4
    (tmp_path / "image.png").write_bytes(damaged)
    with pytest.raises(UnusableFile, match="damaged"):
        sound_image(tmp_path / "image.png")


def test_a_photograph_is_as_large_as_it_is_shown(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    picture().save(tmp_path / "photo.jpg", exif=exif)
    found = probe(tmp_path / "photo.jpg").picture
    assert found is not None
    assert (found.width, found.height, found.rotation) == (48, 64, 270)


def png_header(width: int, height: int) -> bytes:
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    start = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    rows = zlib.compress(bytes(1000))
    return b"\x89PNG\r\n\x1a\n" + start + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize("size", [(9000, 9000), (100_000, 100_000)])
def test_a_bomb_is_not_decoded(tmp_path: Path, size: tuple[int, int]) -> None:
    (tmp_path / "bomb.png").write_bytes(png_header(*size))
    with pytest.raises(UnusableFile, match="more pixels than can be handled"):
        sound_image(tmp_path / "bomb.png")


def test_all_frames_of_an_animation_count(tmp_path: Path) -> None:
    frames = [picture().rotate(10 * n) for n in range(6)]
    frames[0].save(tmp_path / "moving.gif", save_all=True, append_images=frames[1:])
    found = sound_image(tmp_path / "moving.gif").picture
    assert found is not None
    assert found.frames == 6
    with pytest.raises(UnusableFile, match="more pixels"):
        sound_image(tmp_path / "moving.gif", limits=SoundnessLimits(pixels=6 * 64 * 48 - 1))


def test_an_animation_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.media.image._MOST_FRAMES", 5)
    frames = [picture().rotate(10 * n) for n in range(6)]
    frames[0].save(tmp_path / "moving.gif", save_all=True, append_images=frames[1:])
    with pytest.raises(UnusableFile, match="more than 5 frames"):
        sound_image(tmp_path / "moving.gif")


def tiny_frames(into: Path, *places: int, canvas: int) -> Path:
    """A GIF whose frames change one pixel each, so many to the right and down; what is shown may be large."""
    header = b"GIF89a" + struct.pack("<HHBBB", canvas, canvas, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    frames = [b"\x2c" + struct.pack("<HHHHB", place, place, 1, 1, 0) + b"\x02\x02\x44\x01\0" for place in places]
    into.write_bytes(header + b"".join(frames) + b"\x3b")
    return into


@pytest.fixture
def sought(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The frames of GIFs that were gone to, and so composed."""
    gone_to: list[int] = []
    seek = GifImageFile.seek

    def noted(image: GifImageFile, frame: int) -> None:
        gone_to.append(frame)
        seek(image, frame)

    monkeypatch.setattr(GifImageFile, "seek", noted)
    return gone_to


@pytest.mark.parametrize(("places", "canvas"), [([0] * 100, 50), ([0, 0, 0, 99, 0], 1)], ids=["large", "grows"])
def test_no_frame_is_composed_beyond_the_pixels_that_can_be_handled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sought: list[int], places: list[int], canvas: int
) -> None:
    monkeypatch.setattr("penstock.media.image.MOST_PIXELS", 3 * 50 * 50)
    bomb = tiny_frames(tmp_path / "bomb.gif", *places, canvas=canvas)
    with pytest.raises(UnusableFile, match="more pixels than can be handled"):
        sound_image(bomb)
    with pytest.raises(UnusableFile, match="more pixels than can be handled"):
        probe_image_here(bomb, pixels=3 * 50 * 50, frames=1000)
    assert max(sought) == 3, "the first one that is too much"


def test_as_many_frames_as_can_be_handled_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.media.image.MOST_PIXELS", 3 * 50 * 50)
    found = sound_image(tiny_frames(tmp_path / "moving.gif", 0, 0, 0, canvas=50)).picture
    assert found is not None
    assert found.frames == 3
