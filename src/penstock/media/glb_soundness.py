"""Whether a GLB that somebody sent is whole, holds all that it needs, and is no more than can be handled.

Counts are believed only as far as there are bytes for them; what is beyond a limit is refused before it is looked at.
Nothing outside the file is ever read for it: a model that needs another file is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from penstock.media.errors import UnusableFile
from penstock.media.glb_chunks import Bytes, GlbChunks, glb_chunks
from penstock.media.soundness import SoundnessLimits, sound_image


@dataclass(frozen=True, slots=True)
class GlbLimits:
    """The most that is taken."""

    bytes: int = 100_000_000
    json: int = 4_000_000
    entries: int = 20_000
    "Of each of its lists."
    faces: int = 2_000_000
    vertices: int = 4_000_000
    "All as often as they are shown."
    textures: int = 16
    pixels: int = 8192 * 8192
    "Of all textures together."
    reach: float = 1e6
    "How far from the origin anything may be, and how much larger or smaller it may be made."


@dataclass(frozen=True, slots=True)
class GlbContents:
    """What was found in a model."""

    bytes: int
    faces: int
    vertices: int
    textures: int
    texture_size: int
    "Pixels on the longest side of any."
    joints: int
    clips: int


GLB_LIMITS = GlbLimits()

_COMPONENTS = {"5120": "<i1", "5121": "<u1", "5122": "<i2", "5123": "<u2", "5125": "<u4", "5126": "<f4"}
_TYPES = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_INDICES, _FLOAT = (5121, 5123, 5125), 5126
_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_LISTS = ("accessors", "bufferViews", "buffers", "meshes", "nodes", "scenes", "materials", "textures", "images")
_MORE_LISTS = ("skins", "animations", "samplers", "cameras")
_PICTURES = {"image/png": "png", "image/jpeg": "jpeg"}
_UNDERSTOOD = ("KHR_materials_", "KHR_texture_transform", "KHR_lights_punctual")
"How extensions begin without which a model cannot be shown, and yet its mesh and textures can be read."


def sound_glb(path: Path, *, limits: GlbLimits = GLB_LIMITS) -> GlbContents:
    """What is known of a model that is whole."""
    chunks = glb_chunks(path, most_bytes=limits.bytes, most_json=limits.json)
    model = _Model(chunks, limits)
    faces, vertices = model.shown()
    sides = [max(size) for size in model.pictures(beside=path)]
    return GlbContents(
        bytes=path.stat().st_size,
        faces=faces,
        vertices=vertices,
        textures=len(sides),
        texture_size=max(sides, default=0),
        joints=model.joints(),
        clips=len(model.lists["animations"]),
    )


@dataclass(frozen=True, slots=True)
class _Primitive:
    vertices: int
    faces: int
    points: int
    "Which accessor has them."
    indices: int | None


class _Model:
    """A document and its bytes, while they are looked through."""

    def __init__(self, chunks: GlbChunks, limits: GlbLimits) -> None:
        self._document, self._binary, self._limits = chunks.document, chunks.binary, limits
        self.lists: dict[str, list[dict[str, Any]]] = {name: self._entries(name) for name in (*_LISTS, *_MORE_LISTS)}
        self._check_version()
        self._check_buffer()
        # Also those that nothing here needs: whoever reads the file next may read all of them.
        self._values = [self._values_of(accessor) for accessor in self.lists["accessors"]]

    def shown(self) -> tuple[int, int]:
        """Its faces and vertices, as often as nodes show them; all of them can be used."""
        meshes = [list(self._primitives(mesh)) for mesh in self.lists["meshes"]]
        of_mesh = [(sum(each.faces for each in mesh), sum(each.vertices for each in mesh)) for mesh in meshes]
        seen = [of_mesh[mesh] for mesh in self._nodes() if mesh is not None]
        faces, vertices = sum(each[0] for each in seen), sum(each[1] for each in seen)
        most = self._limits
        if faces > most.faces or vertices > most.vertices:
            raise UnusableFile(
                f"the model has {faces} faces and {vertices} vertices; "
                f"send one of at most {most.faces} and {most.vertices}"
            )
        if not faces:
            raise UnusableFile("the model shows no faces; export it with its mesh")
        if sum(each.vertices + 3 * each.faces for mesh in meshes for each in mesh) > most.vertices + 3 * most.faces:
            raise UnusableFile("the model has more in it than it shows; export only what is to be seen")
        for points, indices in {(each.points, each.indices) for mesh in meshes for each in mesh}:
            self._check_shape(self._values[points], None if indices is None else self._values[indices])
        return faces, vertices

    def pictures(self, *, beside: Path) -> Iterator[tuple[int, int]]:
        """The sizes of its textures, each decoded from end to end."""
        images, pixels = self.lists["images"], self._limits.pixels
        if len(images) > self._limits.textures:
            raise UnusableFile(f"the model has {len(images)} textures; send one of at most {self._limits.textures}")
        for texture in self.lists["textures"]:
            if "source" in texture:
                self._entry("images", texture["source"])
        for image in images:
            if "uri" in image or "bufferView" not in image:
                raise UnusableFile("a texture of the model is not within its file; export it with textures embedded")
            form = _PICTURES.get(str(image.get("mimeType")))
            with TemporaryDirectory(dir=beside.parent, prefix=".texture-") as folder:
                file = Path(folder) / "texture"
                file.write_bytes(self._view(image["bufferView"])[0].tobytes())
                found = sound_image(file, limits=SoundnessLimits(pixels=pixels))
            picture = found.picture
            if picture is None or found.container != form:
                raise UnusableFile("a texture of the model is not the PNG or JPEG that it says; export it anew")
            pixels -= picture.width * picture.height
            yield picture.width, picture.height

    def joints(self) -> int:
        """How many nodes move its skins."""
        most = len(self.lists["nodes"])
        return len({_count(at, "skins", below=most) for skin in self.lists["skins"] for at in _list(skin, "joints")})

    # What it is made of

    def _entries(self, name: str) -> list[dict[str, Any]]:
        entries = _list(self._document, name)
        if len(entries) > self._limits.entries:
            raise UnusableFile(f"the model has {len(entries)} {name}; send one of at most {self._limits.entries}")
        if not all(isinstance(entry, dict) for entry in entries):
            raise _damaged(name)
        return entries

    def _entry(self, name: str, at: Any) -> dict[str, Any]:
        entries = self.lists[name]
        return entries[_count(at, name, below=len(entries))]

    def _check_version(self) -> None:
        asset = self._document.get("asset")
        version = asset.get("version") if isinstance(asset, dict) else None
        if not isinstance(version, str) or not version.startswith("2."):
            raise UnusableFile("the model does not say that it is glTF 2.0; export it anew")
        for name in _list(self._document, "extensionsRequired"):
            if not str(name).startswith(_UNDERSTOOD):
                raise UnusableFile(
                    f"the model needs {str(name)[:60]!r}, which is not read here; export it without that"
                )

    def _check_buffer(self) -> None:
        buffers = self.lists["buffers"]
        if len(buffers) > 1 or any("uri" in buffer for buffer in buffers):
            raise UnusableFile("parts of the model are not within its file; export it as one GLB")
        for buffer in buffers:
            _count(buffer.get("byteLength"), "buffers", below=len(self._binary) + 1)

    def _view(self, at: Any) -> tuple[Bytes, int | None]:
        """The bytes of a view, and how far apart its values are."""
        view = self._entry("bufferViews", at)
        self._entry("buffers", view.get("buffer"))
        begin = _count(view.get("byteOffset", 0), "bufferViews")
        length = _count(view.get("byteLength"), "bufferViews")
        if begin + length > len(self._binary):
            raise UnusableFile("the model is cut: it names more bytes than it has; send it whole")
        stride = view.get("byteStride")
        return self._binary[begin : begin + length], None if stride is None else _count(stride, "bufferViews", least=1)

    def _values_of(self, accessor: dict[str, Any]) -> Any:
        """The values of an accessor, for which there are bytes."""
        import numpy as np

        if "sparse" in accessor or "bufferView" not in accessor:
            raise UnusableFile("the model leaves out some of its values; export it with all of them")
        kind = _COMPONENTS.get(str(accessor.get("componentType")))
        width = _TYPES.get(str(accessor.get("type")))
        if kind is None or width is None:
            raise _damaged("accessors")
        count = _count(accessor.get("count"), "accessors", least=1)
        begin = _count(accessor.get("byteOffset", 0), "accessors")
        held, told = self._view(accessor["bufferView"])
        one = np.dtype(kind).itemsize
        stride = told or one * width
        if begin + stride * (count - 1) + one * width > len(held):
            raise UnusableFile(
                f"the model is damaged: it says {count} values and has no bytes for them; export it anew"
            )
        return np.ndarray((count, width), kind, held, begin, (stride, one))

    # What it shows

    def _primitives(self, mesh: dict[str, Any]) -> Iterator[_Primitive]:
        for told in _list(mesh, "primitives"):
            attributes = told.get("attributes") if isinstance(told, dict) else None
            if not isinstance(attributes, dict):
                raise _damaged("meshes")
            self._entry("accessors", attributes.get("POSITION"))
            points: int = attributes["POSITION"]
            if self._kind(points) != ("VEC3", _FLOAT):
                raise UnusableFile("a part of the model has no points in three directions; export it anew")
            vertices = len(self._values[points])
            for at in attributes.values():
                self._entry("accessors", at)
                if len(self._values[at]) != vertices:
                    raise UnusableFile("the model is damaged: a part of it says less of some points than of others")
            if "material" in told:
                self._entry("materials", told["material"])
            indices = self._corners(told["indices"]) if "indices" in told else None
            corners = vertices if indices is None else len(self._values[indices])
            yield _Primitive(vertices, _faces(told.get("mode", _TRIANGLES), corners), points, indices)

    def _kind(self, accessor: int) -> tuple[Any, Any]:
        told = self.lists["accessors"][accessor]
        return told.get("type"), told.get("componentType")

    def _corners(self, at: Any) -> int:
        self._entry("accessors", at)
        if self._kind(at) not in [("SCALAR", component) for component in _INDICES]:
            raise _damaged("accessors")
        return int(at)

    def _check_shape(self, points: Any, indices: Any | None) -> None:
        import numpy as np

        # Of what is no number every comparison is false.
        if not bool((np.abs(points) <= self._limits.reach).all()):
            raise UnusableFile("the model has points that are nowhere, or too far away; export it anew")
        if indices is not None and int(indices.max()) >= len(points):
            raise UnusableFile(
                "the model is damaged: it has faces between points that it does not have; export it anew"
            )

    def _nodes(self) -> Iterator[int | None]:
        """For each node the number of the mesh it shows; a node that is within two others, or itself, is refused."""
        nodes, parents = self.lists["nodes"], set()
        for node in nodes:
            for child in _list(node, "children"):
                if _count(child, "nodes", below=len(nodes)) in parents:
                    raise UnusableFile("the model is damaged: a part of it is within two others; export it anew")
                parents.add(child)
            self._check_place(node)
        if nodes and not self._reaches_all(len(parents)):
            raise UnusableFile("the model is damaged: a part of it is within itself; export it anew")
        for node in nodes:
            yield _count(node["mesh"], "meshes", below=len(self.lists["meshes"])) if "mesh" in node else None

    def _reaches_all(self, within: int) -> bool:
        """Whether each node that is within another is found from one that is not."""
        nodes = self.lists["nodes"]
        children = [_list(node, "children") for node in nodes]
        inner = {child for each in children for child in each}
        found, next_ones = 0, [at for at in range(len(nodes)) if at not in inner]
        while next_ones:
            below = children[next_ones.pop()]
            found += len(below)
            next_ones += below
        return found == within

    def _check_place(self, node: dict[str, Any]) -> None:
        for name, length in (("matrix", 16), ("translation", 3), ("rotation", 4), ("scale", 3)):
            if name in node:
                numbers = _list(node, name)
                if len(numbers) != length or not all(_within(number, self._limits.reach) for number in numbers):
                    raise UnusableFile("the model has parts that are nowhere, or too large; export it anew")


def _faces(mode: Any, corners: int) -> int:
    """How many there are between so many corners; points and lines have none."""
    if mode == _TRIANGLES:
        return corners // 3
    return max(corners - 2, 0) if mode in (_STRIP, _FAN) else 0


def _list(told: dict[str, Any], name: str) -> list[Any]:
    found = told.get(name, [])
    if not isinstance(found, list):
        raise _damaged(name)
    return found


def _count(value: Any, name: str, *, least: int = 0, below: int = 1 << 40) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < below:
        raise _damaged(name)
    return value


def _within(number: Any, reach: float) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and abs(number) <= reach


def _damaged(name: str) -> UnusableFile:
    return UnusableFile(f"the model is damaged: what it says of its {name} cannot be; export it anew")
