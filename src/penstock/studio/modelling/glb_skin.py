"""The skin of a GLB, and its clips: kept as they are where that can be, and taken at rest where not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from penstock.media.errors import TooMuchToDecode
from penstock.studio.modelling.geometry import unit
from penstock.studio.modelling.glb_document import GlbDocument, damaged
from penstock.studio.modelling.gltf import GltfAnimation, GltfSkin
from penstock.studio.modelling.model import Clip, Doubles, Skeleton

_MOST_JOINTS = 256
_MOST_CLIPS = 64
_MOST_KEYS = 1_000_000
"Of all clips together, one for each joint."
_NEAR = 1e-4


def bound(document: GlbDocument, skin: GltfSkin, worlds: Doubles) -> Doubles:
    """What each joint does at rest with the vertices that follow it."""
    if not 0 < len(skin.joints) <= _MOST_JOINTS:
        raise TooMuchToDecode(f"the GLB has a skin of {len(skin.joints)} joints; send one of at most {_MOST_JOINTS}")
    for joint in skin.joints:
        document.one("node", document.gltf.nodes, joint)
    inverse = np.tile(np.eye(4), (len(skin.joints), 1, 1))
    if skin.inverse_bind_matrices is not None:
        count = document.count(skin.inverse_bind_matrices)
        if not len(inverse) <= count <= _MOST_JOINTS:
            raise damaged(f"a skin has {len(inverse)} joints and {count} matrices")
        stored = document.floats(skin.inverse_bind_matrices, "MAT4")
        inverse = stored[: len(inverse)].reshape(-1, 4, 4).transpose(0, 2, 1)
    return worlds[skin.joints] @ inverse


@dataclass
class KeptSkin:
    """The skeleton of the whole model, and which node each joint is."""

    skeleton: Skeleton
    joints: list[int]


def kept_skin(document: GlbDocument, shown: list[int], worlds: Doubles) -> KeptSkin | None:
    """The skin, if all that is shown has this one, and no joint is turned or moved at rest."""
    gltf = document.gltf
    meshes = {gltf.nodes[n].mesh: gltf.nodes[n].skin for n in shown if gltf.nodes[n].mesh is not None}
    (index,) = set(meshes.values()) if len(set(meshes.values())) == 1 else (None,)
    followed = all(
        {"JOINTS_0", "WEIGHTS_0"} <= set(primitive.attributes)
        for mesh in meshes
        for primitive in document.one("mesh", gltf.meshes, mesh or 0).primitives
    )
    if index is None or not followed:
        return None
    told = document.one("skin", gltf.skins, index)
    moved = np.abs(bound(document, told, worlds) - np.eye(4))
    # Far from the origin numbers are as much coarser.
    far = max(1.0, float(np.abs(worlds[told.joints][:, :3, 3]).max()))
    if moved[:, :, :3].max() > _NEAR or moved[:, :, 3].max() > _NEAR * far:
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
    return KeptSkin(Skeleton(names, parents, worlds[told.joints][:, :3, 3].astype(np.float32)), told.joints)


def clips(document: GlbDocument, skin: KeptSkin) -> Iterator[Clip]:
    """The movements that can be kept."""
    told = document.gltf.animations
    keys = sum(document.count(each.samplers[0].input) for each in told if each.samplers) * len(skin.joints)
    if len(told) > _MOST_CLIPS or keys > _MOST_KEYS:
        raise TooMuchToDecode(f"the GLB has {len(told)} clips with {keys} keys; send one with fewer")
    for each in told:
        clip = _clip(document, each, skin)
        if clip is not None:
            yield clip


def _clip(document: GlbDocument, told: GltfAnimation, skin: KeptSkin) -> Clip | None:
    """A movement whose channels all have the same keys; None for any other."""
    if len({sampler.input for sampler in told.samplers}) != 1 or not told.channels:
        return None
    if any(sampler.interpolation != "LINEAR" for sampler in told.samplers):
        return None
    times = document.floats(told.samplers[0].input, "SCALAR").ravel()
    if times[0] < 0 or (np.diff(times) <= 0).any():
        raise damaged(f"the moments of its clip {told.name[:40]!r} do not follow each other")
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
        if document.count(sampler.output) != len(times):
            raise damaged(f"the clip {told.name[:40]!r} has {len(times)} keys, and not as many values")
        values = document.floats(sampler.output, "VEC4" if turns else "VEC3")
        moved = moved or not turns
        (rotations if turns else translations)[:, joint] = unit(values) if turns else values
    moves = translations.astype(np.float32) if moved else None
    return Clip(told.name, times.astype(np.float32), rotations.astype(np.float32), moves)
