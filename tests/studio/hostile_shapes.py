"""Meshes that nobody models on purpose, and pictures that nobody draws."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from penstock.studio.modelling.geometry import vertex_normals
from penstock.studio.modelling.model import Model
from tests.studio.modelling.bodies import box, person


def soup(points: Any, faces: Any) -> Model:
    """Triangles without a texture."""
    places, corners = np.asarray(points, dtype=np.float64), np.asarray(faces, dtype=np.int64)
    normals = vertex_normals(places, corners).astype(np.float32)
    uv = np.zeros((len(places), 2), dtype=np.float32)
    return Model(places.astype(np.float32), normals, uv, corners.astype(np.uint32), None)


def changed(model: Model, change: Callable[[NDArray[np.float32]], Any]) -> Model:
    model.positions = np.asarray(change(model.positions), dtype=np.float32)
    return model


def repeated(model: Model, places: NDArray[np.float64]) -> Model:
    """The same thing at many places."""
    count = len(model.positions)
    points = np.concatenate([model.positions + place for place in places])
    return soup(points, np.concatenate([model.faces.astype(np.int64) + n * count for n in range(len(places))]))


def scattered(count: int) -> Model:
    points = np.random.default_rng(1).random((count, 1, 3)) + np.random.default_rng(2).random((count, 3, 3)) * 0.02
    return soup(points.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


def sheet(side: int = 30, *, lying: bool = False) -> Model:
    x, y = (n.ravel() / side for n in np.meshgrid(np.arange(side), np.arange(side)))
    points = np.stack([x, np.zeros_like(x), y] if lying else [x, y, np.zeros_like(x)], axis=1)
    first = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    corners = [first, first + 1, first + side + 1, first, first + side + 1, first + side]
    return soup(points, np.stack(corners, axis=1).reshape(-1, 3))


def band(turns: int = 60) -> Model:
    """A strip with one half turn: it has no outside."""
    around = np.linspace(0, 2 * np.pi, turns, endpoint=False)
    points = [
        ((1 + s * np.cos(a / 2)) * np.cos(a), 1 + s * np.sin(a / 2), (1 + s * np.cos(a / 2)) * np.sin(a))
        for a in around
        for s in (-0.3, 0.3)
    ]
    faces = []
    for n in range(turns):
        a, b = 2 * n, 2 * n + 1
        c, d = (1, 0) if n == turns - 1 else (a + 2, b + 2)
        faces += [(a, b, c), (b, d, c)]
    return soup(points, faces)


def fan() -> Model:
    """Three leaves on one edge."""
    return soup([(0, 0, 0), (0, 1, 0), (1, 0, 0), (-1, 0, 0.5), (0, 0, -1)], [(0, 1, 2), (0, 1, 3), (0, 1, 4)])


def star(count: int) -> Model:
    """Needles that all have their middle at one place."""
    ends = np.random.default_rng(6).normal(size=(count, 3))
    aside = np.random.default_rng(7).normal(size=(count, 3)) * 1e-3
    points = np.stack([ends, -ends + aside, -aside], axis=1)
    return soup(points.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


def doubled(model: Model) -> Model:
    model.faces = np.concatenate([model.faces, model.faces])
    return model


def turned_inside_out(model: Model) -> Model:
    model.faces, model.normals = model.faces[:, ::-1].copy(), -model.normals
    return model


SHAPES: dict[str, Callable[[], Model]] = {
    "one triangle": lambda: soup([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]),
    "triangles without an area": lambda: soup([(0, n, 0) for n in range(9)], [(n, n + 1, n + 2) for n in range(7)]),
    "one point": lambda: soup([(0.5, 0.5, 0.5)] * 9, [(0, 1, 2), (3, 4, 5), (6, 7, 8)]),
    "a needle": lambda: changed(box(), lambda p: p * [1e-6, 3, 1e-6]),
    "a beam": lambda: changed(box(), lambda p: p * [3000, 0.01, 0.01]),
    "a sheet": sheet,
    "a sheet that lies": lambda: sheet(lying=True),
    "far away": lambda: changed(person(), lambda p: p + np.array([9e7, -9e7, 9e7])),
    "as large as a planet": lambda: changed(person(), lambda p: p * 1e8),
    "as small as a cell": lambda: changed(person(), lambda p: p * 1e-6),
    "leaves on one edge": fan,
    "scattered triangles": lambda: scattered(4000),
    "needles through one place": lambda: star(3000),
    "a hundred boxes": lambda: repeated(box(), np.random.default_rng(3).random((100, 3)) * 9),
    "inside out": lambda: turned_inside_out(person()),
    "everything twice": lambda: doubled(person()),
    "a band without an outside": band,
    "two who stand far apart": lambda: repeated(box(), np.array([[-50.0, 0, 0], [50.0, 0, 0]])),
    "upside down": lambda: changed(person(), lambda p: p * [1, -1, -1]),
    "on its side": lambda: changed(person(), lambda p: p[:, [1, 0, 2]] * [1, -1, 1]),
}


def png(picture: Image.Image, form: str = "PNG", **more: Any) -> bytes:
    into = io.BytesIO()
    picture.save(into, form, **more)
    return into.getvalue()


def claimed(width: int, height: int) -> bytes:
    """A small PNG that says it is large."""
    whole = png(Image.new("L", (8, 8)))
    header = b"IHDR" + struct.pack(">II", width, height) + whole[24:29]
    return whole[:12] + header + struct.pack(">I", zlib.crc32(header)) + whole[33:]


def unfolding(side: int) -> bytes:
    """A PNG of few bytes that really is large: black and white, and all black."""
    row, packer, content = bytes(1 + side // 8), zlib.compressobj(9), b""
    for _ in range(side // 1000):
        content += packer.compress(row * 1000)
    content += packer.flush()
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)), (b"IDAT", content), (b"IEND", b"")]
    told = [struct.pack(">I", len(c)) + kind + c + struct.pack(">I", zlib.crc32(kind + c)) for kind, c in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(told)


def disc(mode: str = "RGB", size: tuple[int, int] = (300, 300)) -> Image.Image:
    """A red disc on a plain ground."""
    there = Image.radial_gradient("L").resize(size).point([255 if n < 120 else 0 for n in range(256)])
    return Image.composite(
        Image.new("RGB", size, (200, 40, 40)), Image.new("RGB", size, (240, 240, 240)), there
    ).convert(mode)


def noise(side: int = 256) -> Image.Image:
    return Image.fromarray(np.random.default_rng(4).integers(0, 256, (side, side, 3)).astype(np.uint8))


def _turned_photo() -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6
    return png(disc(size=(300, 200)), "JPEG", exif=exif)


def _film() -> bytes:
    first, *others = (disc("RGB", (120, 90 + n)).resize((120, 90)) for n in range(20))
    return png(first, "GIF", save_all=True, append_images=others)


PICTURES: dict[str, Callable[[], bytes]] = {
    "says it is large": lambda: claimed(60_000, 60_000),
    "says it is long": lambda: claimed(2**31 - 1, 1),
    "is large": lambda: unfolding(32_000),
    "is rather large": lambda: unfolding(8000),
    "one pixel": lambda: png(Image.new("RGBA", (1, 1), (9, 9, 9, 255))),
    "a row of pixels": lambda: png(Image.new("RGBA", (4000, 1), (9, 99, 9, 255))),
    "a column of pixels": lambda: png(Image.new("RGB", (1, 4000), (9, 99, 9))),
    "nothing to be seen": lambda: png(Image.new("RGBA", (200, 200), (90, 90, 90, 0))),
    "one colour": lambda: png(Image.new("RGB", (200, 200), (90, 10, 90))),
    "noise": lambda: png(noise()),
    "a speck": lambda: png(_with_speck()),
    "sixteen bits": lambda: png(Image.fromarray((np.arange(40_000) % 65_535).astype(np.uint16).reshape(200, 200))),
    "few colours, one of them transparent": lambda: png(disc().quantize(8), transparency=0),
    "grey with alpha": lambda: png(disc("LA")),
    "for a printer": lambda: png(disc("CMYK"), "JPEG"),
    "turned by its camera": _turned_photo,
    "a film": _film,
    "cut off": lambda: png(noise())[:20_000],
    "a page": lambda: b"<!doctype html><title>Sign in</title>",
    "nothing": lambda: b"",
    "half of a header": lambda: b"\x89PNG\r\n\x1a\n\0\0",
    "a script": lambda: b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>",
}


def _with_speck() -> Image.Image:
    picture = Image.new("RGBA", (1500, 1500), (0, 0, 0, 0))
    picture.putpixel((700, 3), (255, 0, 0, 255))
    return picture


def with_texture(content: bytes) -> Model:
    model = box()
    model.texture = content
    return model


def spoilt() -> bytes:
    """A PNG whose checksums are right, and whose pixels are none."""
    whole, junk = png(noise(32)), b"IDAT" + bytes(range(256)) * 4
    at = whole.index(b"IDAT") - 4
    return whole[:at] + struct.pack(">I", len(junk) - 4) + junk + struct.pack(">I", zlib.crc32(junk)) + whole[-12:]


TEXTURES: dict[str, Callable[[], bytes]] = {
    "pixels that are none": spoilt,
    "large": lambda: unfolding(16_000),
    "many pixels in few bytes": lambda: unfolding(4000),
    "one pixel": lambda: png(Image.new("RGB", (1, 1))),
    "a row": lambda: png(Image.new("RGB", (4000, 1))),
    "sixteen bits": lambda: png(Image.fromarray(np.zeros((64, 64), dtype=np.uint16))),
    "few colours": lambda: png(disc().quantize(8)),
    "a photograph": lambda: png(noise(), "JPEG"),
    "for a printer": lambda: png(disc("CMYK"), "JPEG"),
    "half transparent": lambda: png(Image.new("RGBA", (64, 64), (200, 30, 30, 90))),
    "a film": _film,
    "a page": lambda: b"<!doctype html>",
}
