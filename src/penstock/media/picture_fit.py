"""What a service has drawn, made what was ordered: a PNG with alpha, of one size, and with nothing else in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from penstock.media.cut_out import PillowPicture, without_ground
from penstock.media.errors import UnusableFile
from penstock.media.image import memory_of, opened
from penstock.media.probed import Probed
from penstock.media.room import room
from penstock.media.soundness import SoundnessLimits, sound_image
from penstock.media.whole import whole

MOST_PIXELS = 40_000_000
_LEAST = 64
"Pixels in each direction, from which something can be seen."
_MARGIN = 0.05
"Of a side, that is left free around a subject."
_SEEN = 24
"From so much alpha on there is something."
_LEAST_SUBJECT, _LEAST_GROUND = 0.002, 0.02
"Shares of a picture."
_FLAT = 8
"Colours that differ by less are one."
_NOTHING = "there is nothing in the picture"


class PictureGround(StrEnum):
    """What became of what a subject stands on."""

    TRANSPARENT = "transparent"
    "It was, as it came."
    CUT_OUT = "cut out"
    KEPT = "kept"
    "It is not plain, and cannot be told from the subject."


@dataclass(frozen=True, slots=True)
class FittedPicture:
    """What is known of a picture once it fits."""

    width: int
    height: int
    ground: PictureGround
    bytes: int


def sound_picture(path: Path) -> Probed:
    """What is known of a picture that is whole, and of a size that can be worked on."""
    found = sound_image(path, limits=SoundnessLimits(pixels=MOST_PIXELS))
    picture = found.picture
    assert picture is not None
    if min(picture.width, picture.height) < _LEAST:
        raise UnusableFile(
            f"the picture is {picture.width}x{picture.height}; it needs {_LEAST} pixels in each direction"
        )
    return found


def fit_subject(made: Path, into: Path, *, size: tuple[int, int]) -> FittedPicture:
    """The subject of a picture, whole and in the middle of another one, on a transparent ground if that can be had."""
    return _fit(made, into, lambda picture: _with_subject(picture, size))


def fit_background(made: Path, into: Path, *, size: tuple[int, int]) -> FittedPicture:
    """A picture that fills another one, and is nowhere transparent; what reaches beyond it is cut off."""
    return _fit(made, into, lambda picture: (_filled(picture, size), PictureGround.KEPT))


def _fit(
    made: Path, into: Path, fitted: Callable[[PillowPicture], tuple[PillowPicture, PictureGround]]
) -> FittedPicture:
    with room().taken(3 * memory_of(made)):
        picture, ground = fitted(_upright(made))
    with whole(into) as unfinished:
        picture.save(unfinished, "PNG", compress_level=6)
    return FittedPicture(picture.width, picture.height, ground, into.stat().st_size)


def _upright(path: Path) -> PillowPicture:
    """The first picture of a file as it is meant to be seen, without all else that the file says."""
    with opened(path, pixels=MOST_PIXELS) as image:
        from PIL import Image, ImageOps

        picture = ImageOps.exif_transpose(image).convert("RGBA")
        return Image.frombytes("RGBA", picture.size, picture.tobytes())


def _with_subject(picture: PillowPicture, size: tuple[int, int]) -> tuple[PillowPicture, PictureGround]:
    # Nothing is gained by cutting out what is too fine to be seen afterwards.
    small = _scaled(picture, size) if max(picture.size) > max(size) else picture
    cut, ground = small, PictureGround.TRANSPARENT
    if _share_seen(small) > 1 - _LEAST_GROUND:
        _check_drawn(small)
        found = without_ground(small)
        if found is None:
            return _centred(_scaled(picture, size), size), PictureGround.KEPT
        cut, ground = found, PictureGround.CUT_OUT
    box = _seen(cut).getbbox()
    if box is None or _share_seen(cut) < _LEAST_SUBJECT:
        raise UnusableFile(_NOTHING)
    inner = (round(size[0] * (1 - 2 * _MARGIN)), round(size[1] * (1 - 2 * _MARGIN)))
    return _centred(_scaled(cut.crop(box), inner), size), ground


def _seen(picture: PillowPicture) -> PillowPicture:
    return picture.getchannel("A").point([255 if alpha > _SEEN else 0 for alpha in range(256)])


def _share_seen(picture: PillowPicture) -> float:
    share: float = _seen(picture).histogram()[255] / (picture.width * picture.height)
    return share


def _check_drawn(picture: PillowPicture) -> None:
    if all(most - least < _FLAT for least, most in picture.convert("RGB").getextrema()):
        raise UnusableFile(_NOTHING)


def _scaled(picture: PillowPicture, size: tuple[int, int]) -> PillowPicture:
    """As large as it can be within a size."""
    from PIL import Image

    scale = min(size[0] / picture.width, size[1] / picture.height)
    within = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    return picture.resize(within, Image.Resampling.LANCZOS)


def _centred(picture: PillowPicture, size: tuple[int, int]) -> PillowPicture:
    from PIL import Image

    canvas = Image.new("RGBA", size, (0, 0, 0, 0))
    canvas.paste(picture, ((size[0] - picture.width) // 2, (size[1] - picture.height) // 2))
    return canvas


def _filled(picture: PillowPicture, size: tuple[int, int]) -> PillowPicture:
    from PIL import Image, ImageOps

    flat = Image.new("RGBA", picture.size, (255, 255, 255, 255))
    flat.alpha_composite(picture)
    return ImageOps.fit(flat, size, Image.Resampling.LANCZOS)
