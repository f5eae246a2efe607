"""The materials of a GLB as one texture: as it is where there is one, side by side where there are several."""

from __future__ import annotations

import io
import math
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, UnidentifiedImageError

from penstock.media.errors import TooMuchToDecode, UnusableFile
from penstock.media.room import room
from penstock.studio.modelling.glb_document import GlbDocument, damaged
from penstock.studio.modelling.model import Doubles

_MOST_PIXELS = 4096 * 4096
_MOST_LOOKS = 256
_TILE, _PLAIN = 1024, 16
"How large a picture is beside others at most, and how large one colour is."
_FORMATS = ("PNG", "JPEG", "WEBP")
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PLAIN_CHUNKS = {b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND", b"tEXt", b"iTXt", b"zTXt"}
"Those that make a PNG look the same everywhere."
_WHITE = (1.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Look:
    """A material, as plainly as it is shown here."""

    image: int | None = None
    colour: tuple[float, float, float, float] = _WHITE
    coordinates: int = 0
    "Which of a mesh's texture coordinates it uses, and how they lie on it."
    offset: tuple[float, float] = (0.0, 0.0)
    scale: tuple[float, float] = (1.0, 1.0)

    @property
    def seen(self) -> tuple[int | None, tuple[float, float, float, float]]:
        """What makes it look as it does."""
        return self.image, self.colour


def look_of(document: GlbDocument, material: int | None) -> Look:
    """What a material looks like."""
    if material is None:
        return Look()
    surface = document.one("material", document.gltf.materials, material).pbr_metallic_roughness
    use = surface.base_color_texture
    if use is None:
        return Look(colour=surface.base_color_factor)
    texture = document.one("texture", document.gltf.textures, use.index)
    source = texture.source if texture.extensions.webp is None else texture.extensions.webp.source
    if source is None:
        raise UnusableFile("the GLB has a texture of a kind that is not read here; export it with PNG or JPEG")
    placed = use.extensions.placement
    if placed is None:
        return Look(source, surface.base_color_factor, use.tex_coord)
    if not all(abs(value) < 1e4 for value in (*placed.offset, *placed.scale)):
        raise damaged("a texture lies nowhere")
    return Look(source, surface.base_color_factor, use.tex_coord, placed.offset, placed.scale)


def dressed(document: GlbDocument, pieces: Sequence[tuple[Look, Doubles]]) -> tuple[bytes | None, list[Doubles]]:
    """One texture for all of them, and the texture coordinates of each on it."""
    seen = list(dict.fromkeys(look.seen for look, _ in pieces))
    if len(seen) > _MOST_LOOKS:
        raise TooMuchToDecode(f"the GLB has {len(seen)} materials; join them, and send it again")
    if seen == [(None, _WHITE)]:
        return None, [uv for _, uv in pieces]
    if len(seen) == 1 and seen[0][0] is not None and seen[0][1][:3] == _WHITE[:3]:
        return _as_it_is(_encoded(document, seen[0][0])), [uv for _, uv in pieces]
    columns = math.ceil(math.sqrt(len(seen)))
    rows = math.ceil(len(seen) / columns)
    tiles = [_tile(document, *each) for each in seen]
    side = max(tile.width for tile in tiles)
    atlas = Image.new("RGB", (columns * side, rows * side))
    for n, tile in enumerate(tiles):
        atlas.paste(tile.resize((side, side), Image.Resampling.BILINEAR), (n % columns * side, n // columns * side))
    placed = []
    for look, uv in pieces:
        n = seen.index(look.seen)
        # A texel away from the edge, so that no neighbour shines through.
        inside = np.clip(uv - np.floor(uv.min(axis=0)), 1 / side, 1 - 1 / side)
        placed.append((inside + np.array([n % columns, n // columns])) / [columns, rows])
    return _png(atlas), placed


def _tile(document: GlbDocument, image: int | None, colour: tuple[float, float, float, float]) -> Image.Image:
    shown = np.clip(np.nan_to_num(np.array(colour[:3])), 0, 1) ** (1 / 2.2)
    if image is None:
        return Image.new("RGB", (_PLAIN, _PLAIN), tuple(round(float(part) * 255) for part in shown))
    picture = decoded(_encoded(document, image))
    picture.thumbnail((_TILE, _TILE))
    side = max(picture.size)
    picture = picture.resize((side, side))
    if colour[:3] == _WHITE[:3]:
        return picture
    return Image.fromarray((np.asarray(picture) * shown).astype(np.uint8))


def _encoded(document: GlbDocument, image: int) -> bytes:
    view = document.one("image", document.gltf.images, image).buffer_view
    if view is None:
        raise UnusableFile("the GLB keeps its texture outside the file; export it with all in one file")
    return document.content(view)


def _as_it_is(content: bytes) -> bytes:
    """A sound PNG that looks the same everywhere, untouched; any other picture as such a PNG."""
    if content[:8] != _SIGNATURE or not _plain(content):
        return _png(decoded(content))
    return content


def _plain(content: bytes) -> bool:
    """Is it whole, of a size that can be handled, and without chunks that some viewers pass over?"""
    width, height = struct.unpack_from(">II", content, 16) if len(content) > 33 else (0, 0)
    _check_size(width, height)
    at = 8
    while at + 12 <= len(content):
        (length,), kind = struct.unpack_from(">I", content, at), content[at + 4 : at + 8]
        end = at + 12 + length
        if end > len(content) or zlib.crc32(content[at + 4 : end - 4]) != struct.unpack_from(">I", content, end - 4)[0]:
            raise damaged("its texture is not whole")
        if kind == b"IEND":
            return bool(end == len(content))
        if kind not in _PLAIN_CHUNKS:
            return False
        at = end
    raise damaged("its texture is not whole")


def _check_size(width: int, height: int) -> None:
    if width * height > _MOST_PIXELS:
        raise TooMuchToDecode(f"the GLB has a texture of {width}x{height} pixels; send one of at most 4096x4096")
    if not width * height:
        raise damaged("its texture has no pixels")


def decoded(content: bytes) -> Image.Image:
    """The pixels of a texture; UnusableFile if it has none that can be read."""
    try:
        with Image.open(io.BytesIO(content), formats=_FORMATS) as picture:
            _check_size(*picture.size)
            with room().taken(8 * picture.width * picture.height):
                return picture.convert("RGB")
    except UnusableFile:
        raise
    except UnidentifiedImageError:
        raise damaged(f"its texture is none of {', '.join(_FORMATS)}") from None
    except Exception as error:
        # Its readers fail in many ways when the bytes are not what they expect.
        raise damaged(f"its texture cannot be read ({str(error)[:80]})") from None


def _png(picture: Image.Image) -> bytes:
    into = io.BytesIO()
    picture.save(into, "PNG", compress_level=6)
    return into.getvalue()
