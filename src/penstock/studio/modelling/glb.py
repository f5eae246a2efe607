"""GLB files, written and read: one mesh with its texture."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from penstock.media.errors import UnusableFile
from penstock.studio.modelling.model import Model

_LARGEST = 256 << 20


def write_glb(model: Model, path: Path, *, extras: dict[str, Any] | None = None) -> None:
    """The model in one file."""
    blobs: list[bytes] = []
    views: list[dict[str, Any]] = []

    def view(data: bytes, **more: Any) -> int:
        blobs.append(data + bytes(-len(data) % 4))
        start = sum(len(blob) for blob in blobs[:-1])
        views.append({"buffer": 0, "byteOffset": start, "byteLength": len(data), **more})
        return len(views) - 1

    accessors = []
    for array, kind in ((model.positions, "VEC3"), (model.normals, "VEC3"), (model.uv, "VEC2")):
        number = view(array.astype("<f4").tobytes(), target=34962)
        accessors.append({"bufferView": number, "componentType": 5126, "count": len(array), "type": kind})
    accessors[0] |= {"min": model.positions.min(axis=0).tolist(), "max": model.positions.max(axis=0).tolist()}
    number = view(model.faces.astype("<u4").tobytes(), target=34963)
    accessors.append({"bufferView": number, "componentType": 5125, "count": model.faces.size, "type": "SCALAR"})
    attributes = {"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2}
    tree: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": attributes, "indices": 3, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"metallicFactor": 0.0}}],
    }
    if model.texture is not None:
        tree["images"] = [{"bufferView": view(model.texture), "mimeType": "image/png"}]
        tree["textures"] = [{"source": 0}]
        tree["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"] = {"index": 0}
    binary = b"".join(blobs)
    tree |= {"accessors": accessors, "bufferViews": views, "buffers": [{"byteLength": len(binary)}]}
    text = json.dumps(tree, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    head = struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(binary))
    path.write_bytes(
        head + struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
    )


def read_glb(path: Path) -> Model:
    """The model of a file."""
    if path.stat().st_size > _LARGEST:
        raise UnusableFile("the GLB is too large")
    data = path.read_bytes()
    try:
        (length,) = struct.unpack_from("<I", data, 12)
        tree = json.loads(data[20 : 20 + length])
        binary = data[28 + length :]
        primitive = tree["meshes"][0]["primitives"][0]

        def array(number: int) -> Any:
            accessor = tree["accessors"][number]
            view = tree["bufferViews"][accessor["bufferView"]]
            kind = {5126: "<f4", 5125: "<u4", 5123: "<u2"}[accessor["componentType"]]
            width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3}[accessor["type"]]
            found = np.frombuffer(binary, kind, accessor["count"] * width, view.get("byteOffset", 0))
            return found.reshape(-1, width)

        texture = None
        if "images" in tree:
            view = tree["bufferViews"][tree["images"][0]["bufferView"]]
            texture = binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
        positions, normals, uv = (array(primitive["attributes"][n]) for n in ("POSITION", "NORMAL", "TEXCOORD_0"))
        faces = array(primitive["indices"]).reshape(-1, 3).astype(np.uint32)
    except (struct.error, KeyError, ValueError, IndexError, TypeError) as error:
        raise UnusableFile(f"the GLB is damaged ({error})") from None
    return Model(positions, normals, uv, faces, texture)
