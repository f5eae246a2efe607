"""A model at a moment of one of its clips: where its joints are, and where they take its vertices."""

from __future__ import annotations

import numpy as np

from penstock.errors import InvalidValue
from penstock.studio.modelling.geometry import between, matrices, multiplied, rotated
from penstock.studio.modelling.model import Clip, Doubles, Floats, Model, Skeleton


def sampled(skeleton: Skeleton, clip: Clip, seconds: float) -> tuple[Doubles, Doubles]:
    """The turns and places of all joints against their parents at a moment; a clip begins anew when it is over."""
    at = seconds % clip.seconds if clip.seconds > 0 else 0.0
    after = int(np.clip(np.searchsorted(clip.times, at, side="right"), 1, max(len(clip.times) - 1, 1)))
    if len(clip.times) == 1:
        after, before, share = 0, 0, 0.0
    else:
        before = after - 1
        share = float((at - clip.times[before]) / (clip.times[after] - clip.times[before]))
    turns = between(clip.rotations[before], clip.rotations[after], min(max(share, 0.0), 1.0))
    if clip.translations is None:
        return turns, skeleton.local.astype(np.float64)
    moved = (1 - share) * clip.translations[before] + share * clip.translations[after]
    return turns, moved.astype(np.float64)


def standing(skeleton: Skeleton, turns: Doubles, moves: Doubles) -> tuple[Doubles, Doubles]:
    """The turns and places of all joints in model space, from those against their parents."""
    world, places = np.array(turns, dtype=np.float64), np.array(moves, dtype=np.float64)
    for n, parent in enumerate(skeleton.parents):
        if parent >= 0:
            places[..., n, :] = places[..., parent, :] + rotated(world[..., parent, :], moves[..., n, :])
            world[..., n, :] = multiplied(world[..., parent, :], turns[..., n, :])
    return world, places


def posed(model: Model, clip: Clip | None, seconds: float) -> tuple[Floats, Floats]:
    """The positions and normals of a model at a moment."""
    if clip is None or model.skeleton is None:
        return model.positions, model.normals
    if model.joints is None or model.weights is None:
        raise InvalidValue("a model with a skeleton has joints and weights for every vertex")
    world, places = standing(model.skeleton, *sampled(model.skeleton, clip, seconds))
    turn = matrices(world).astype(np.float32)
    shift = (places - np.einsum("jab,jb->ja", turn, model.skeleton.positions)).astype(np.float32)
    whole = np.concatenate([turn, shift[:, :, None]], axis=2)
    mixed = np.zeros((len(model.positions), 3, 4), dtype=np.float32)
    for n in range(model.joints.shape[1]):
        mixed += whole[model.joints[:, n]] * model.weights[:, n, None, None]
    positions = np.einsum("nab,nb->na", mixed[:, :, :3], model.positions) + mixed[:, :, 3]
    normals = np.einsum("nab,nb->na", mixed[:, :, :3], model.normals)
    lengths = np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-6)
    return positions.astype(np.float32), (normals / lengths).astype(np.float32)
