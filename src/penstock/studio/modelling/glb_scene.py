"""The scene of a GLB as one model: its meshes where they stand, under one texture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.media.errors import TooMuchToDecode, UnusableFile
from penstock.studio.modelling.geometry import unit, vertex_normals
from penstock.studio.modelling.glb_document import GlbDocument, damaged
from penstock.studio.modelling.gltf import GltfAnimation, GltfNode, GltfPrimitive, GltfSkin
from penstock.studio.modelling.material_atlas import Look, dressed, look_of
from penstock.studio.modelling.model import Clip, Doubles, Model, Skeleton, Whole

_MOST_NODES = 10_000
_MOST_VERTICES = 1_000_000
_MOST_TRIANGLES = 2_000_000
_MOST_PRIMITIVES = 2000
_MOST_JOINTS = 256
_MOST_KEYS = 2_000_000
_NEAR = 1e-4


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
    skin = _kept_skin(document, shown, worlds)
    pieces: list[_Piece] = []
    for number in shown:
        node = document.gltf.nodes[number]
        if node.mesh is not None:
            pieces += _pieces(document, node, worlds, worlds[number], kept=skin is not None, so_far=pieces)
    if not pieces:
        raise UnusableFile("the GLB shows no triangles; export it with its mesh in the scene")
    model = _joined(document, pieces)
    extras = document.gltf.asset.extras
    model.extras = extras if isinstance(extras, dict) else {}
    if skin is not None:
        model.skeleton = skin.skeleton
        model.clips = [clip for told in document.gltf.animations if (clip := _clip(document, told, skin)) is not None]
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


def _pieces(
    document: GlbDocument, node: GltfNode, worlds: Doubles, world: Doubles, *, kept: bool, so_far: list[_Piece]
) -> list[_Piece]:
    primitives = document.one("mesh", document.gltf.meshes, node.mesh or 0).primitives
    if len(so_far) + len(primitives) > _MOST_PRIMITIVES:
        raise TooMuchToDecode(f"the GLB shows more than {_MOST_PRIMITIVES} meshes; join them, and send it again")
    vertices, triangles = (sum(map(len, of)) for of in ([p.positions for p in so_far], [p.faces for p in so_far]))
    found = []
    for primitive in primitives:
        if primitive.mode < 4:
            continue  # points and lines are no part of a mesh
        if primitive.mode != 4 or "KHR_draco_mesh_compression" in primitive.extensions:
            raise UnusableFile("the GLB has strips, fans or packed meshes; export it as plain triangles")
        if "POSITION" not in primitive.attributes:
            raise damaged("a mesh has no positions")
        count = document.count(primitive.attributes["POSITION"])
        vertices += count
        triangles += (count if primitive.indices is None else document.count(primitive.indices)) // 3
        if vertices > _MOST_VERTICES or triangles > _MOST_TRIANGLES:
            raise TooMuchToDecode(
                f"the GLB has more than {_MOST_TRIANGLES} triangles or {_MOST_VERTICES} vertices; send a simpler one"
            )
        piece = _piece(document, primitive, skinned=node.skin is not None)
        found.append(_placed(document, piece, node.skin, worlds, world, kept=kept))
    return found


def _piece(document: GlbDocument, primitive: GltfPrimitive, *, skinned: bool) -> _Piece:
    attributes = primitive.attributes
    positions = document.floats(attributes["POSITION"], "VEC3")
    look = look_of(document, primitive.material)

    def beside(name: str, *kinds: str) -> Doubles | None:
        if name not in attributes:
            return None
        values = document.floats(attributes[name], *kinds)
        if len(values) != len(positions):
            raise damaged(f"a mesh has {len(positions)} positions and {len(values)} of {name[:20]}")
        return values

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
    if kept:
        return piece
    if skin is not None and piece.joints is not None and piece.weights is not None:
        matrices = _bound(document, document.one("skin", document.gltf.skins, skin), worlds)
        if piece.joints.max() >= len(matrices):
            raise damaged(f"a vertex follows joint {piece.joints.max()}, and there are {len(matrices)}")
        shares = piece.weights / np.maximum(piece.weights.sum(axis=1, keepdims=True), 1e-9)
        turned = sum(matrices[piece.joints[:, n]] * shares[:, n, None, None] for n in range(4))
        matrix: Any = turned
    else:
        matrix = world[None]
    piece.joints = piece.weights = None
    piece.positions = np.einsum("nij,nj->ni", matrix[:, :3, :3], piece.positions) + matrix[:, :3, 3]
    linear = matrix[:, :3, :3]
    if np.linalg.det(linear[0]) < 0:
        piece.faces = piece.faces[:, ::-1]
    if piece.normals is not None:
        # Whatever stretches a surface along one axis turns its normals the other way.
        cofactors = np.stack(
            [
                np.cross(linear[:, 1], linear[:, 2]),
                np.cross(linear[:, 2], linear[:, 0]),
                np.cross(linear[:, 0], linear[:, 1]),
            ],
            axis=1,
        )
        piece.normals = np.einsum("nij,nj->ni", cofactors, piece.normals) * np.sign(np.linalg.det(linear))[:, None]
    return piece


def _bound(document: GlbDocument, skin: GltfSkin, worlds: Doubles) -> Doubles:
    """What each joint does at rest with the vertices that follow it."""
    if not 0 < len(skin.joints) <= _MOST_JOINTS:
        raise TooMuchToDecode(f"the GLB has a skin of {len(skin.joints)} joints; send one of at most {_MOST_JOINTS}")
    for joint in skin.joints:
        document.one("node", document.gltf.nodes, joint)
    inverse = np.tile(np.eye(4), (len(skin.joints), 1, 1))
    if skin.inverse_bind_matrices is not None:
        stored = document.floats(skin.inverse_bind_matrices, "MAT4")
        if len(stored) < len(inverse):
            raise damaged(f"a skin has {len(inverse)} joints and {len(stored)} matrices")
        inverse = stored[: len(inverse)].reshape(-1, 4, 4).transpose(0, 2, 1)
    return worlds[skin.joints] @ inverse


@dataclass
class _Skin:
    """The skeleton of the whole model, and which node each joint is."""

    skeleton: Skeleton
    joints: list[int]


def _kept_skin(document: GlbDocument, shown: list[int], worlds: Doubles) -> _Skin | None:
    """The skin, if all that is shown has this one, and no joint is turned or moved at rest."""
    gltf = document.gltf
    skins = {gltf.nodes[n].skin for n in shown if gltf.nodes[n].mesh is not None}
    (index,) = skins if len(skins) == 1 else (None,)
    if index is None:
        return None
    told = document.one("skin", gltf.skins, index)
    if np.abs(_bound(document, told, worlds) - np.eye(4)).max() > _NEAR:
        return None
    if np.abs(worlds[told.joints][:, :3, :3] - np.eye(3)).max() > _NEAR or len(set(told.joints)) < len(told.joints):
        return None
    places = {node: n for n, node in enumerate(told.joints)}
    parents = [-1] * len(told.joints)
    for node, place in places.items():
        for child in gltf.nodes[node].children:
            if child in places:
                parents[places[child]] = place
    if any(parent >= n for n, parent in enumerate(parents)):
        return None
    names = [gltf.nodes[joint].name or f"joint{n}" for n, joint in enumerate(told.joints)]
    return _Skin(Skeleton(names, parents, worlds[told.joints][:, :3, 3].astype(np.float32)), told.joints)


def _clip(document: GlbDocument, told: GltfAnimation, skin: _Skin) -> Clip | None:
    """A movement whose channels all have the same keys; None for any other."""
    if len({sampler.input for sampler in told.samplers}) != 1 or not told.channels:
        return None
    if any(sampler.interpolation != "LINEAR" for sampler in told.samplers):
        return None
    times = document.floats(told.samplers[0].input, "SCALAR").ravel()
    if times[0] < 0 or (np.diff(times) <= 0).any():
        raise damaged(f"the moments of its clip {told.name[:40]!r} do not follow each other")
    if len(times) * len(skin.joints) > _MOST_KEYS:
        raise TooMuchToDecode(f"the clip {told.name[:40]!r} has {len(times)} keys; send one with fewer")
    rotations = np.tile(np.array([0, 0, 0, 1.0]), (len(times), len(skin.joints), 1))
    translations = np.tile(skin.skeleton.local.astype(np.float64), (len(times), 1, 1))
    places = {node: n for n, node in enumerate(skin.joints)}
    moved = False
    for channel in told.channels:
        joint = places.get(channel.target.node if channel.target.node is not None else -1)
        if joint is None or channel.target.path not in ("rotation", "translation"):
            continue
        turns = channel.target.path == "rotation"
        sampler = document.one("sampler", told.samplers, channel.sampler)
        values = document.floats(sampler.output, "VEC4" if turns else "VEC3")
        if len(values) != len(times):
            raise damaged(f"the clip {told.name[:40]!r} has {len(times)} keys and {len(values)} values")
        moved = moved or not turns
        (rotations if turns else translations)[:, joint] = unit(values) if turns else values
    moves = translations.astype(np.float32) if moved else None
    return Clip(told.name, times.astype(np.float32), rotations.astype(np.float32), moves)


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
        model.weights = np.concatenate(weights).astype(np.float32)
    return model
