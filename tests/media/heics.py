"""HEIC pictures as telephones write them: one picture, or tiles in a grid; upright, or lying on their side."""

from __future__ import annotations

import struct
from io import BytesIO
from itertools import pairwise, product
from pathlib import Path

import av
import numpy as np
from PIL import Image


def heic(into: Path, picture: Image.Image, *, brand: bytes = b"heic", turned: int = 0, tile: int = 0) -> Path:
    """A picture, ``turned`` by so many quarters counterclockwise when shown, in tiles of so many pixels or in one."""
    tiles = [_coded(picture.crop(box)) for box in _boxes(picture, tile)]
    coded = [data for _, data in tiles]
    columns, rows = (-(-side // (tile or side)) for side in picture.size)
    grid = struct.pack(">BBBBHH", 0, 0, rows - 1, columns - 1, *picture.size) if len(tiles) > 1 else b""
    items = [*coded, grid] if grid else coded
    kinds = [b"hvc1"] * len(coded) + [b"grid"] * bool(grid)
    sizes = [(tile, tile)] * len(coded) + [picture.size] if grid else [picture.size]
    ftyp = _box(b"ftyp", brand + bytes(4) + b"mif1" + b"heic" + b"miaf")
    meta = _meta(kinds, sizes, items, tiles[0][0], turned=turned, start=0)
    start = len(ftyp) + len(meta) + 8
    meta = _meta(kinds, sizes, items, tiles[0][0], turned=turned, start=start)
    into.write_bytes(ftyp + meta + _box(b"mdat", b"".join(items)))
    return into


def _boxes(picture: Image.Image, tile: int) -> list[tuple[int, int, int, int]]:
    if not tile:
        return [(0, 0, *picture.size)]
    corners = product(range(0, picture.height, tile), range(0, picture.width, tile))
    return [(x, y, x + tile, y + tile) for y, x in corners]


def _coded(picture: Image.Image) -> tuple[bytes, bytes]:
    """The parameters of the codec, and one picture."""
    file = BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("libx265", rate=1)
        stream.width, stream.height, stream.pix_fmt = (*picture.size, "yuv420p")
        stream.options = {"preset": "ultrafast", "x265-params": "log-level=none:keyint=1"}
        frame = av.VideoFrame.from_ndarray(np.asarray(picture.convert("RGB")), format="rgb24")
        for packet in (*stream.encode(frame), *stream.encode()):
            container.mux(packet)
    file.seek(0)
    with av.open(file, "r") as container:
        packet = next(p for p in container.demux() if p.size)
        return bytes(container.streams.video[0].codec_context.extradata or b""), bytes(packet)


def _meta(
    kinds: list[bytes], sizes: list[tuple[int, int]], items: list[bytes], hvcc: bytes, *, turned: int, start: int
) -> bytes:
    numbers = range(1, len(items) + 1)
    ends = [start + sum(len(item) for item in items[:n]) for n in range(len(items) + 1)]
    places = [struct.pack(">HHHII", n, 0, 1, a, b - a) for n, (a, b) in zip(numbers, pairwise(ends), strict=True)]
    infos = [_info(n, kind, hidden=n < len(items)) for n, kind in zip(numbers, kinds, strict=True)]
    told = [_full(b"ispe", struct.pack(">II", *size)) for size in sizes]
    properties = _box(b"hvcC", hvcc) + b"".join(told) + _box(b"irot", bytes([turned]))
    turn = len(sizes) + 2
    linked = [[0x80 | 1, 1 + n] if kind == b"hvc1" else [1 + n] for n, kind in zip(numbers, kinds, strict=True)]
    linked[-1].append(0x80 | turn)
    joined = b"".join(struct.pack(">HB", n, len(each)) + bytes(each) for n, each in zip(numbers, linked, strict=True))
    boxes = [
        _full(b"hdlr", bytes(4) + b"pict" + bytes(13)),
        _full(b"pitm", struct.pack(">H", len(items))),
        _full(b"iloc", b"\x44\0" + struct.pack(">H", len(items)) + b"".join(places)),
        _full(b"iinf", struct.pack(">H", len(items)) + b"".join(infos)),
        _box(b"iprp", _box(b"ipco", properties) + _full(b"ipma", struct.pack(">I", len(items)) + joined)),
    ]
    if b"grid" in kinds:
        parts = [*numbers][:-1]
        boxes.append(_full(b"iref", _box(b"dimg", struct.pack(f">HH{len(parts)}H", len(items), len(parts), *parts))))
    return _full(b"meta", b"".join(boxes))


def _info(number: int, kind: bytes, *, hidden: bool) -> bytes:
    return _full(b"infe", struct.pack(">HH", number, 0) + kind + b"\0", version=2, flags=int(hidden))


def _box(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", 8 + len(content)) + kind + content


def _full(kind: bytes, content: bytes, *, version: int = 0, flags: int = 0) -> bytes:
    return _box(kind, bytes([version, 0, 0, flags]) + content)
