"""The scene of a GLB as one model: its meshes where they stand, under one texture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.media.errors import TooMuchToDecode, UnusableFile
from penstock.studio.modelling.geometry import unit, vertex_normals
from penstock.studio.modelling.glb_document import GlbDocument, damaged
from penstock.studio.modelling.glb_skin import bound, clips, kept_skin
from penstock.studio.modelling.gltf import GltfNode, GltfPrimitive
from penstock.studio.modelling.material_atlas import Look, dressed, look_of
from penstock.studio.modelling.model import Doubles, Model, Whole

_MOST_NODES = 10_000
_MOST_VERTICES = 600_000
_MOST_TRIANGLES = 1_000_000
_MOST_PRIMITIVES = 2000
_AT_ONCE = 1 << 15
"Vertices that are put in their places together."


@dataclass
class _Piece:
    """One primitive, in the space of the whole model."""

    positions: Doubles
    normals: Doubles | None
    uv: Doubles
    faces: Whole
    look: Look
    joints: Whole | None = None
    weights: Doubles | None = None


def merged(document: GlbDocument) -> Model:
    """All that is seen of the scene."""
    worlds = _worlds(document)
    shown = _shown(document)
    skin = kept_skin(document, shown, worlds)
    pieces: list[_Piece] = []
    for number, primitive in list(_primitives(document, shown)):
        node = document.gltf.nodes[number]
        piece = _piece(document, primitive, skinned=node.skin is not None)
        pieces.append(_placed(document, piece, node.skin, worlds, worlds[number], kept=skin is not None))
    if not pieces:
        raise UnusableFile("the GLB shows no triangles; export it with its mesh in the scene")
    model = _joined(document, pieces)
    extras = document.gltf.asset.extras
    model.extras = extras if isinstance(extras, dict) else {}
    if skin is not None:
        model.skeleton = skin.skeleton
        model.clips = list(clips(document, skin))
    return model


def _worlds(document: GlbDocument) -> Doubles:
    """Where each node is; a node hangs below one other at most, and never below itself."""
    nodes = document.gltf.nodes
    if len(nodes) > _MOST_NODES:
        raise TooMuchToDecode(f"the GLB has {len(nodes)} nodes; send one of at most {_MOST_NODES}")
    parents = [-1] * len(nodes)
    for number, node in enumerate(nodes):
        for child in node.children:
            document.one("node", nodes, child)
            if parents[child] >= 0:
                raise damaged(f"node {child} hangs below two others")
            parents[child] = number
    worlds = np.zeros((len(nodes), 4, 4))
    waiting = [n for n, parent in enumerate(parents) if parent < 0]
    for number in waiting:
        local, parent = _matrix(nodes[number]), parents[number]
        worlds[number] = local if parent < 0 else worlds[parent] @ local
        waiting += nodes[number].children
    if len(waiting) < len(nodes):
        raise damaged("some of its nodes hang below themselves")
    if not np.isfinite(worlds).all():
        raise damaged("a node stands nowhere")
    return worlds


def _matrix(node: GltfNode) -> Doubles:
    if node.matrix is not None:
        return _listed(node.matrix, 16).reshape(4, 4).T
    matrix = np.eye(4)
    if node.translation is None and node.rotation is None and node.scale is None:
        return matrix
    x, y, z, w = unit(_listed(node.rotation or (0, 0, 0, 1), 4))
    matrix[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    matrix[:3, :3] *= _listed(node.scale or (1, 1, 1), 3)
    matrix[:3, 3] = _listed(node.translation or (0, 0, 0), 3)
    return matrix


def _listed(values: Any, count: int) -> Doubles:
    if len(values) != count or not all(abs(value) < 1e9 for value in values):
        raise damaged(f"a node is placed by {len(values)} numbers, where {count} are meant")
    return np.array(values, dtype=np.float64)


def _shown(document: GlbDocument) -> list[int]:
    """The nodes of the scene, or all of them where there is none."""
    gltf = document.gltf
    if not gltf.scenes:
        return list(range(len(gltf.nodes)))
    shown = list(document.one("scene", gltf.scenes, gltf.scene or 0).nodes)
    if len(set(shown)) < len(shown) or any(number >= len(gltf.nodes) for number in shown):
        raise damaged("its scene names a node twice, or one that is not there")
    for number in shown:
        shown += gltf.nodes[number].children
    return shown


@dataclass
class _Tally:
    """What has been taken so far; all of it together is bounded, however often a file names the same."""

    primitives: int = 0
    vertices: int = 0
    triangles: int = 0

    def take(self, document: GlbDocument, primitive: GltfPrimitive) -> None:
        count = document.count(primitive.attributes["POSITION"])
        self.primitives += 1
        self.vertices += count
        self.triangles += (count if primitive.indices is None else document.count(primitive.indices)) // 3
        if self.primitives > _MOST_PRIMITIVES:
            raise TooMuchToDecode(f"the GLB shows more than {_MOST_PRIMITIVES} meshes; join them, and send it again")
        if self.vertices > _MOST_VERTICES or self.triangles > _MOST_TRIANGLES:
            raise TooMuchToDecode(
                f"the GLB has more than {_MOST_TRIANGLES} triangles or {_MOST_VERTICES} vertices; send a simpler one"
            )


def _primitives(document: GlbDocument, shown: list[int]) -> Iterator[tuple[int, GltfPrimitive]]:
    """The triangles that are shown, and the node that shows them; counted before any is read."""
    tally = _Tally()
    for number in shown:
        mesh = document.gltf.nodes[number].mesh
        for primitive in document.one("mesh", document.gltf.meshes, mesh).primitives if mesh is not None else ():
            if primitive.mode < 4:
                continue  # points and lines are no part of a mesh
            if primitive.mode != 4 or "KHR_draco_mesh_compression" in primitive.extensions:
                raise UnusableFile("the GLB has strips, fans or packed meshes; export it as plain triangles")
            if "POSITION" not in primitive.attributes:
                raise damaged("a mesh has no positions")
            tally.take(document, primitive)
            yield number, primitive


def _piece(document: GlbDocument, primitive: GltfPrimitive, *, skinned: bool) -> _Piece:
    attributes = primitive.attributes
    positions = document.floats(attributes["POSITION"], "VEC3")
    look = look_of(document, primitive.material)

    def beside(name: str, *kinds: str) -> Doubles | None:
        if name not in attributes:
            return None
        if (count := document.count(attributes[name])) != len(positions):
            raise damaged(f"a mesh has {len(positions)} positions and {count} of {name[:20]}")
        return document.floats(attributes[name], *kinds)

    uv = beside(f"TEXCOORD_{look.coordinates}", "VEC2")
    piece = _Piece(
        positions,
        beside("NORMAL", "VEC3"),
        np.zeros((len(positions), 2)) if uv is None else uv * look.scale + look.offset,
        _triangles(document, primitive, len(positions)),
        look,
    )
    joints, weights = beside("JOINTS_0", "VEC4"), beside("WEIGHTS_0", "VEC4")
    if skinned and joints is not None and weights is not None:
        piece.joints, piece.weights = joints.astype(np.int64), weights
    return piece


def _triangles(document: GlbDocument, primitive: GltfPrimitive, vertices: int) -> Whole:
    """The corners of all triangles that have three of them."""
    if primitive.indices is None:
        flat = np.arange(vertices, dtype=np.int64)
    else:
        flat = document.values(primitive.indices, "SCALAR").ravel().astype(np.int64)
    if len(flat) and not 0 <= flat.min() <= flat.max() < vertices:
        raise damaged(f"a triangle names vertex {flat.max()}, and there are {vertices}")
    faces: Whole = flat[: len(flat) // 3 * 3].reshape(-1, 3)
    a, b, c = faces.T
    whole: Whole = faces[(a != b) & (b != c) & (c != a)]
    return whole


def _placed(
    document: GlbDocument, piece: _Piece, skin: int | None, worlds: Doubles, world: Doubles, *, kept: bool
) -> _Piece:
    """Where its node puts it; what has a skin is where its joints put it, wherever its node is."""
    if skin is not None and piece.joints is not None and piece.weights is not None:
        matrices = bound(document, document.one("skin", document.gltf.skins, skin), worlds)
        if not 0 <= piece.joints.min() <= piece.joints.max() < len(matrices):
            raise damaged(f"a vertex follows joint {piece.joints.max()}, and there are {len(matrices)}")
        if kept:
            return piece
        for start in range(0, len(piece.positions), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            shares = piece.weights[some] / np.maximum(piece.weights[some].sum(axis=1, keepdims=True), 1e-9)
            mixed = [matrices[piece.joints[some, n]] * shares[:, n, None, None] for n in range(4)]
            _put(piece, some, np.asarray(sum(mixed)))
        world = matrices[int(piece.joints[0, 0])]
    else:
        _put(piece, slice(None), world[None])
    piece.joints = piece.weights = None
    if np.linalg.det(world[:3, :3]) < 0:
        piece.faces = piece.faces[:, ::-1]
    return piece


def _put(piece: _Piece, some: slice, matrix: Doubles) -> None:
    """Move some vertices, and turn their normals with them."""
    a, b, c = (matrix[:, n, :3] for n in range(3))
    piece.positions[some] = np.einsum("nij,nj->ni", matrix[:, :3, :3], piece.positions[some]) + matrix[:, :3, 3]
    if piece.normals is not None:
        # Whatever stretches a surface along one axis turns its normals the other way.
        cofactors = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)
        sign = np.sign((a * np.cross(b, c)).sum(axis=1))[:, None]
        piece.normals[some] = np.einsum("nij,nj->ni", cofactors, piece.normals[some]) * sign


def _joined(document: GlbDocument, pieces: list[_Piece]) -> Model:
    texture, uvs = dressed(document, [(piece.look, piece.uv) for piece in pieces])
    starts = np.cumsum([0, *(len(piece.positions) for piece in pieces)])
    positions = np.concatenate([piece.positions for piece in pieces])
    faces = np.concatenate([piece.faces + start for piece, start in zip(pieces, starts, strict=False)])
    if not len(faces):
        raise UnusableFile("the GLB shows no triangles; export it with its mesh in the scene")
    own = [vertex_normals(piece.positions, piece.faces) if piece.normals is None else piece.normals for piece in pieces]
    model = Model(
        positions=positions.astype(np.float32),
        normals=unit(np.concatenate(own)).astype(np.float32),
        uv=np.concatenate(uvs).astype(np.float32),
        faces=faces.astype(np.uint32),
        texture=texture,
    )
    joints: list[NDArray[Any]] = [piece.joints for piece in pieces if piece.joints is not None]
    weights: list[NDArray[Any]] = [piece.weights for piece in pieces if piece.weights is not None]
    if len(joints) == len(pieces):
        model.joints = np.concatenate(joints).astype(np.uint8)
        model.weights = _normalised(np.concatenate(weights)).astype(np.float32)
    return model


def _normalised(weights: Doubles) -> Doubles:
    """Weights that sum to 1; those that do already stay as they are, to the last bit."""
    total = weights.sum(axis=1, keepdims=True)
    return np.where(np.abs(total - 1) > 1e-4, weights / np.maximum(total, 1e-9), weights)
