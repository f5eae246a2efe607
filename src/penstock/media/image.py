"""Images: PNG, JPEG, WebP, GIF, AVIF, HEIC."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from penstock.media.apart import apart
from penstock.media.content_type import SNIFFED_BYTES, sniff
from penstock.media.errors import TooMuchToDecode, UnusableFile
from penstock.media.extra import need
from penstock.media.ffmpeg import MOST_PIXELS
from penstock.media.header import header_of
from penstock.media.probed import MediaKind, PictureTrack, Probed
from penstock.media.room import MEGABYTE

PillowImage: TypeAlias = Any
"An image of Pillow's, which is an extra."

IMAGE_TYPES = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/heic", "image/heif"}
)
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "AVIF", "HEIF")
"Pillow's names of them."
_THREADS = 1
"Of a HEIC's decoder: each more takes memory that no header tells of."
_MOST_FRAMES = 1000
_MOST_MEMORY = 448 * MEGABYTE
_BESIDES = 32 * MEGABYTE
"What a decoder needs for any file, and has of it in its hands."
_LIMIT = timedelta(minutes=1)
_ORIENTATION = 0x0112
_ROTATIONS = {3: 180, 4: 180, 5: 270, 6: 270, 7: 90, 8: 90}
"Counterclockwise, by the number EXIF has for it; mirrored ones lie the same way."


def is_image(beginning: bytes) -> bool:
    """Whether a file that begins like this says it is one."""
    return sniff(beginning) in IMAGE_TYPES


def readable_formats() -> tuple[str, ...]:
    """Pillow's names of the formats that are taken, once it can read them; whoever opens an image gives it these."""
    if find_spec("pi_heif") is None:
        return _FORMATS[:-1]
    from pi_heif import register_heif_opener

    register_heif_opener(thumbnails=False, decode_threads=_THREADS)
    return _FORMATS


def probe_image(path: Path) -> Probed:
    """What its header says."""
    need("PIL")
    found = apart("probe_image", path, memory=memory_of(path), limit=_LIMIT, pixels=MOST_PIXELS, frames=_MOST_FRAMES)
    return Probed.of(found)


def decode_image(path: Path, *, pixels: int) -> None:
    """Decode all of it, as long as it has no more pixels than this, all its frames together."""
    need("PIL")
    apart("decode_image", path, memory=memory_of(path), limit=_LIMIT, pixels=pixels, frames=_MOST_FRAMES)


def memory_of(path: Path) -> int:
    """What decoding takes, by the header; refused at once if that is too much."""
    header = header_of(path)
    if header is None:
        return _MOST_MEMORY
    if header.width * header.height > MOST_PIXELS:
        raise _too_large()
    if header.memory > _MOST_MEMORY:
        size, most = f"{header.width}x{header.height}", _MOST_MEMORY // header.bytes_per_pixel
        raise TooMuchToDecode(
            f"the image is {size}, and a {header.format} like it can have at most {most} pixels; send a smaller one"
        )
    return header.memory + _BESIDES


def probe_image_here(path: Path, *, pixels: int, frames: int) -> Probed:
    """The same, in this process: for decoders."""
    with opened(path, pixels=pixels) as image:
        return _probed(image, pixels=pixels, frames=frames)


def decode_image_here(path: Path, *, pixels: int, frames: int) -> None:
    """The same, in this process: for decoders."""
    with opened(path) as image:
        image.verify()
    with opened(path) as image:
        for _ in _frames(image, pixels=pixels, most=frames):
            image.load()


@contextmanager
def opened(path: Path, *, pixels: int = MOST_PIXELS) -> Iterator[PillowImage]:
    """The image; whatever is wrong with it is an UnusableFile."""
    need("PIL")
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path, formats=readable_formats()) as image:
            if image.width * image.height > pixels:
                raise _too_large()
            yield image
    except (UnusableFile, MemoryError):
        raise
    except UnidentifiedImageError:
        if (lacking := _lacking(path)) is not None:
            raise UnusableFile(lacking) from None
        raise UnusableFile("the image is damaged: its header cannot be read; save it anew and send it again") from None
    except Image.DecompressionBombError:
        raise _too_large() from None
    except Exception as error:
        # Its readers fail in many ways when the bytes are not what they expect.
        raise UnusableFile(f"the image is damaged ({error}); save it anew and send it again") from error


def _lacking(path: Path) -> str | None:
    """What is missing here for an image that may be sound elsewhere."""
    with path.open("rb") as file:
        is_heif = sniff(file.read(SNIFFED_BYTES)) in ("image/heic", "image/heif")
    if not is_heif or find_spec("pi_heif") is not None:
        return None
    return "a HEIC can be read only where pi-heif is installed (pip install 'penstock[heic]'); send it as JPEG or PNG"


def _probed(image: PillowImage, *, pixels: int, frames: int) -> Probed:
    # A PNG would be decoded for it, and hardly ever has one.
    orientation = image.getexif().get(_ORIENTATION, 1) if image.format != "PNG" else 1
    width, height = (image.height, image.width) if orientation in (5, 6, 7, 8) else (image.width, image.height)
    # A photograph may have a second one behind it, and a name of its own then.
    container = {"MPO": "jpeg", "HEIF": "heic"}.get(str(image.format), str(image.format).lower())
    picture = PictureTrack(
        index=0,
        codec=container,
        pixel_format=image.mode.lower(),
        width=width,
        height=height,
        rotation=_ROTATIONS.get(orientation, 0),
        has_alpha=image.has_transparency_data,
        frames=sum(1 for _ in _frames(image, pixels=pixels, most=frames)),
    )
    return Probed(MediaKind.IMAGE, container, 0.0, picture=picture)


def _frames(image: PillowImage, *, pixels: int, most: int) -> Iterator[None]:
    """Go from frame to frame, as long as they have no more pixels than this together.

    Going on composes what is shown at its full size, which a frame of a few bytes may even enlarge, so that pixels are
    counted on the way; and an animation may have more frames than anybody wants to wait for.
    """
    for number in count():
        try:
            image.seek(number)
        except EOFError:
            return
        if number == most:
            raise UnusableFile(f"the image has more than {most} frames; send a shorter animation")
        pixels -= image.width * image.height
        if pixels < 0:
            raise _too_large()
        yield


def _too_large() -> UnusableFile:
    return UnusableFile("the image has more pixels than can be handled; send a smaller one")
