"""GLB files made by hand, so that one can be made wrong in any way."""

from __future__ import annotations

import json
import struct
from copy import deepcopy
from io import BytesIO
from typing import Any

from PIL import Image

POSITIONS = struct.pack("<12f", 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1)
INDICES = struct.pack("<12H", 0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3)


def texture(size: tuple[int, int] = (8, 4), form: str = "PNG") -> bytes:
    into = BytesIO()
    Image.radial_gradient("L").resize(size).convert("RGB").save(into, form)
    return into.getvalue()


def tetrahedron(picture: bytes | None = None) -> tuple[dict[str, Any], bytes]:
    """A document and its bytes: four faces, and a texture if there is one."""
    views = [
        {"buffer": 0, "byteOffset": 0, "byteLength": len(POSITIONS)},
        {"buffer": 0, "byteOffset": len(POSITIONS), "byteLength": len(INDICES)},
    ]
    binary = POSITIONS + INDICES
    document: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 1]},
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
        "bufferViews": views,
    }
    if picture is not None:
        views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": len(picture)})
        binary += picture
        document["images"] = [{"bufferView": 2, "mimeType": "image/png"}]
        document["textures"] = [{"source": 0}]
        document["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
        document["meshes"][0]["primitives"][0]["material"] = 0
    document["buffers"] = [{"byteLength": len(binary)}]
    return document, binary


def glb(document: Any, binary: bytes = b"") -> bytes:
    """One file of both."""
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    parts = struct.pack("<I4s", len(text), b"JSON") + text
    if binary:
        parts += struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(parts)) + parts


def changed(changes: dict[str, Any], *, picture: bytes | None = None) -> bytes:
    """A tetrahedron whose document says otherwise, by paths: ``accessors.0.count``."""
    document, binary = tetrahedron(picture)
    document = deepcopy(document)
    for path, value in changes.items():
        *way, last = path.split(".")
        place: Any = document
        for name in way:
            place = place[int(name)] if isinstance(place, list) else place.setdefault(name, {})
        if isinstance(place, list):
            place[int(last)] = value
        else:
            place[last] = value
    return glb(document, binary)
