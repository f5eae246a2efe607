"""Models as GLB files: glTF 2.0 in one file, its texture, skin and clips inside."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidValue
from penstock.media.whole import whole
from penstock.studio.modelling.glb_document import BINARY, JSON, MAGIC, open_document
from penstock.studio.modelling.glb_scene import merged
from penstock.studio.modelling.model import Clip, Model, Skeleton

__all__ = ["read_glb", "write_glb"]

_BYTE, _SHORT, _INT, _FLOAT = 5121, 5123, 5125, 5126
_VERTICES, _INDICES = 34962, 34963
"What a part of the buffer is for."
_STILL = 1e-6


def read_glb(path: Path) -> Model:
    """The model in a file, by whomever it was made, as one mesh with one texture.

    Its skin and clips are kept where no joint is turned at rest, as in files that are written here; elsewhere the mesh
    is as it stands at rest. UnusableFile says what is wrong with a file that is damaged, asks for what cannot be read,
    or is too much.
    """
    return merged(open_document(path))


def write_glb(model: Model, path: Path, *, extras: Mapping[str, Any] | None = None) -> None:
    """The model in one file; the same model gives the same bytes. ``extras`` are told beside the model's own."""
    document, binary = _document(model, {**model.extras, **(extras or {})})
    text = _encoded(document)
    text += b" " * (-len(text) % 4)
    total = 12 + 8 + len(text) + 8 + len(binary)
    with whole(path) as unfinished, unfinished.open("wb") as file:
        file.write(struct.pack("<4sII", MAGIC, 2, total))
        file.write(struct.pack("<II", len(text), JSON) + text)
        file.write(struct.pack("<II", len(binary), BINARY) + binary)


def _encoded(document: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False, sort_keys=True).encode()
    except (TypeError, ValueError) as error:
        raise InvalidValue(f"what is to be told in a GLB cannot be written as JSON: {error}") from None


class _Buffer:
    """The binary part, as it grows."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def view(self, content: bytes, target: int | None = None) -> int:
        """A part of it; each begins at a multiple of four."""
        at = len(self.content)
        self.content += content + b"\0" * (-len(content) % 4)
        part: dict[str, Any] = {"buffer": 0, "byteOffset": at, "byteLength": len(content)}
        self.views.append(part if target is None else {**part, "target": target})
        return len(self.views) - 1

    def accessor(
        self, values: NDArray[Any], component: int, kind: str, *, target: int | None = None, limits: bool = False
    ) -> int:
        """Values of one type, written as they lie in memory."""
        told: dict[str, Any] = {
            "bufferView": self.view(np.ascontiguousarray(values).tobytes(), target),
            "componentType": component,
            "count": len(values),
            "type": kind,
        }
        if limits:
            flat = values.reshape(len(values), -1)
            told |= {"min": flat.min(axis=0).tolist(), "max": flat.max(axis=0).tolist()}
        self.accessors.append(told)
        return len(self.accessors) - 1


def _document(model: Model, extras: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    buffer = _Buffer()
    mesh: dict[str, Any] = {"name": "mesh", "mesh": 0}
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "penstock", **({"extras": dict(extras)} if extras else {})},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [mesh],
        "meshes": [{"name": "mesh", "primitives": [_primitive(model, buffer)]}],
    }
    document |= _material(model, buffer)
    if model.skeleton is not None:
        mesh["skin"] = 0
        document["scenes"][0]["nodes"] += [1 + n for n, parent in enumerate(model.skeleton.parents) if parent < 0]
        document["nodes"] += _joint_nodes(model.skeleton)
        document["skins"] = [_skin(model.skeleton, buffer)]
        clips = [_animation(clip, model.skeleton, buffer) for clip in model.clips]
        if clips:
            document["animations"] = clips
    document |= {
        "accessors": buffer.accessors,
        "bufferViews": buffer.views,
        "buffers": [{"byteLength": len(buffer.content)}],
    }
    return document, bytes(buffer.content)


def _primitive(model: Model, buffer: _Buffer) -> dict[str, Any]:
    def vertices(values: NDArray[Any], kind: str, *, limits: bool = False) -> int:
        return buffer.accessor(values.astype(np.float32), _FLOAT, kind, target=_VERTICES, limits=limits)

    attributes = {
        "POSITION": vertices(model.positions, "VEC3", limits=True),
        "NORMAL": vertices(model.normals, "VEC3"),
        "TEXCOORD_0": vertices(model.uv, "VEC2"),
    }
    if model.skeleton is not None:
        if model.joints is None or model.weights is None:
            raise InvalidValue("a model with a skeleton has joints and weights for every vertex")
        attributes["JOINTS_0"] = buffer.accessor(model.joints.astype(np.uint8), _BYTE, "VEC4", target=_VERTICES)
        attributes["WEIGHTS_0"] = vertices(model.weights, "VEC4")
    small = len(model.positions) < 65535
    indices = model.faces.astype(np.uint16 if small else np.uint32).ravel()
    told = buffer.accessor(indices, _SHORT if small else _INT, "SCALAR", target=_INDICES)
    return {"attributes": attributes, "indices": told, "material": 0}


def _material(model: Model, buffer: _Buffer) -> dict[str, Any]:
    surface: dict[str, Any] = {"metallicFactor": 0.0, "roughnessFactor": 0.85}
    if model.texture is None:
        surface["baseColorFactor"] = [0.72, 0.72, 0.72, 1.0]
        return {"materials": [{"name": "surface", "pbrMetallicRoughness": surface}]}
    surface["baseColorTexture"] = {"index": 0}
    return {
        "materials": [{"name": "surface", "pbrMetallicRoughness": surface}],
        "textures": [{"sampler": 0, "source": 0}],
        "samplers": [{"magFilter": 9729, "minFilter": 9987, "wrapS": 33071, "wrapT": 33071}],
        "images": [{"name": "texture", "mimeType": "image/png", "bufferView": buffer.view(model.texture)}],
    }


def _joint_nodes(skeleton: Skeleton) -> list[dict[str, Any]]:
    """The joints as nodes, behind the node of the mesh."""
    local = skeleton.local
    nodes: list[dict[str, Any]] = []
    for n, name in enumerate(skeleton.names):
        node: dict[str, Any] = {"name": name, "translation": local[n].tolist()}
        children = [1 + other for other, parent in enumerate(skeleton.parents) if parent == n]
        nodes.append({**node, "children": children} if children else node)
    return nodes


def _skin(skeleton: Skeleton, buffer: _Buffer) -> dict[str, Any]:
    count = len(skeleton.names)
    inverse = np.tile(np.eye(4, dtype=np.float32), (count, 1, 1))
    # The file has matrices column by column, so that the way back to the origin is the last row here.
    inverse[:, 3, :3] = -skeleton.positions
    told = buffer.accessor(inverse.reshape(count, 16), _FLOAT, "MAT4")
    return {"inverseBindMatrices": told, "joints": list(range(1, count + 1)), "skeleton": 1}


def _animation(clip: Clip, skeleton: Skeleton, buffer: _Buffer) -> dict[str, Any]:
    """The channels of those joints that move; of the root at least, so that no clip is empty."""
    times = buffer.accessor(clip.times.astype(np.float32), _FLOAT, "SCALAR", limits=True)
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []

    def channel(joint: int, path: str, values: NDArray[Any]) -> None:
        told = buffer.accessor(values.astype(np.float32), _FLOAT, "VEC4" if path == "rotation" else "VEC3")
        channels.append({"sampler": len(samplers), "target": {"node": 1 + joint, "path": path}})
        samplers.append({"input": times, "interpolation": "LINEAR", "output": told})

    rest = skeleton.local
    for joint in range(len(skeleton.names)):
        turned = clip.rotations[:, joint]
        if joint == 0 or np.abs(turned[:, :3]).max() > _STILL:
            channel(joint, "rotation", turned)
        if clip.translations is not None and np.abs(clip.translations[:, joint] - rest[joint]).max() > _STILL:
            channel(joint, "translation", clip.translations[:, joint])
    return {"name": clip.name, "samplers": samplers, "channels": channels}
