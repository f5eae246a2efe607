"""How much each vertex follows each joint: by the way to its bones, which leads through the body and not past it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.studio.modelling.geometry import summed, welded
from penstock.studio.modelling.model import Doubles, Floats, Mask, Model, Whole
from penstock.studio.modelling.occupancy import Occupancy
from penstock.studio.modelling.outline import Silhouette
from penstock.studio.modelling.skeletons import QUADRUPED, FittedRig

MOST = 4
"Joints that one vertex follows."
_SOFT = 0.45
"How soon a bone yields to the next, in thicknesses of the thinner one: joints bend within about a limb's breadth."
_LOOSE = 0.92
"Steps from cell to cell are longer than the straight way by about this."
_LEAST = 0.03
"A share below this is none, so that nobody follows a joint that is far away."
_FOLLOWED, _FEW = 0.3, 3
"A joint of which no vertex has at least such a share has no followers yet, and gets so many."
_SMOOTH_OVER = 0.012
"Shares are evened out over about this part of the height."


def skin(model: Model, fit: FittedRig, body: Occupancy) -> None:
    """Give a model the skeleton, and every vertex its joints; those that were split at a seam have the same."""
    skeleton = fit.skeleton()
    model.skeleton, count = skeleton, len(skeleton.names)
    if count == 1:
        model.joints = np.zeros((len(model.positions), MOST), dtype=np.uint8)
        model.weights = np.tile(np.array([1, 0, 0, 0], dtype=np.float32), (len(model.positions), 1))
        return
    places = welded(model.positions)
    total = int(places.max()) + 1
    shared = np.bincount(places, minlength=total)[:, None]
    points = summed(model.positions.astype(np.float64), places, total) / shared
    inward = -summed(model.normals.astype(np.float64), places, total) / shared
    shares = _shares(body.beneath(points, inward), fit, body, count)
    edges = _edges(places[model.faces.astype(np.int64)])
    height = float(np.ptp(points[:, 1]))
    shares = _evened(shares, edges, points, _SMOOTH_OVER * height)
    joints, weights = _strongest(_all_followed(shares, fit, points))
    model.joints, model.weights = joints[places], weights[places]


def _shares(points: Doubles, fit: FittedRig, body: Occupancy, count: int) -> Doubles:
    """What each joint has of each point, by how much farther its bones are than the nearest one."""
    bones = fit.bones()
    starts, ends = (np.array([bone[n] for bone in bones]) for n in (1, 2))
    wide, _, deep = body.filled.shape
    radii = _radii(starts, ends, body, from_side=fit.kind == QUADRUPED and deep > wide)
    for n, before in enumerate(fit.continued()):
        # At its very end a limb is as thick as before, whatever is measured there.
        radii[n] = max(radii[n], 0.85 * radii[before])
    steps = body.steps(points, [_along(start, end, body.cell) for start, end in zip(starts, ends, strict=True)])
    shares = np.zeros((len(points), count))
    for some in np.array_split(np.arange(len(points)), max(len(points) // 4096, 1)):
        straight = np.linalg.norm(points[some][:, None] - _nearest(points[some], starts, ends), axis=2)
        # What is not reached through the body is as far as the straight way and once around everything.
        through = np.where(
            steps[some] < 0, straight + len(body.filled) * body.cell, (steps[some] * _LOOSE - 1) * body.cell
        )
        away = np.maximum(straight, through) - radii
        nearest = away.argmin(axis=1)
        soft = _SOFT * np.minimum(radii, radii[nearest][:, None])
        strength = np.exp(np.maximum((away.min(axis=1, keepdims=True) - away) / soft, -50))
        for n, (joint, _, _) in enumerate(bones):
            # Of the bones of one joint only the nearest counts, or a joint with many would have all.
            shares[some, joint] = np.maximum(shares[some, joint], strength[:, n])
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _all_followed(shares: Doubles, fit: FittedRig, points: Doubles) -> Doubles:
    """No joint at the end of a limb is left without followers: what is nearest to its tip goes half with it.

    Of a mesh with few vertices none may lie beyond an ankle.
    """
    names = fit.skeleton().names
    for name, tip in fit.tips.items():
        joint = names.index(name)
        if shares[:, joint].max() < _FOLLOWED:
            near = np.argsort(((points - tip) ** 2).sum(axis=1), kind="stable")[:_FEW]
            shares[near] /= 2
            shares[near, joint] += 0.5
    return shares


def _along(start: Doubles, end: Doubles, cell: float) -> Doubles:
    """Points on a bone, so close that no cell between them is left out."""
    count = int(np.ceil(np.linalg.norm(end - start) / cell)) + 1
    return np.asarray(start + np.linspace(0, 1, count)[:, None] * (end - start))


def _nearest(points: Doubles, starts: Doubles, ends: Doubles) -> Doubles:
    """The nearest place on each bone, (points, bones, 3)."""
    along = ends - starts
    squared = np.maximum((along**2).sum(axis=1), 1e-12)
    share = np.clip(((points[:, None] - starts) * along).sum(axis=2) / squared, 0, 1)
    return np.asarray(starts + share[..., None] * along)


def _radii(starts: Doubles, ends: Doubles, body: Occupancy, *, from_side: bool) -> Doubles:
    """How thick the body is around each bone, as seen from where its limbs stand apart."""
    samples = (starts[None] + np.linspace(0.1, 0.9, 5)[:, None, None] * (ends - starts)[None] - body.origin) / body.cell
    flat = np.asarray(body.filled.any(axis=0 if from_side else 2))
    seen = Silhouette(flat if from_side else flat.T)
    places = samples[..., [1, 2]] if from_side else samples[..., [1, 0]]
    clear = seen.clearance(places.reshape(-1, 2)).reshape(samples.shape[:2])
    return np.asarray(np.maximum(clear.mean(axis=0), 1.5) * body.cell)


def _edges(faces: Whole) -> Whole:
    """Each edge of a mesh once, (edges, 2)."""
    one, other = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).T
    count = int(faces.max()) + 1
    found = np.unique(np.minimum(one, other) * count + np.maximum(one, other))
    pairs = np.stack([found // count, found % count], axis=1)
    return np.asarray(pairs[pairs[:, 0] != pairs[:, 1]])


def _evened(shares: Doubles, edges: Whole, points: Doubles, reach: float) -> Doubles:
    """Evened out among neighbours: a few times where vertices are far apart, more often where they are close."""
    if not len(edges):
        return shares
    step = float(np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1).mean())
    one, other = edges.T
    degree = np.bincount(edges.ravel(), minlength=len(points))[:, None]
    for _ in range(int(np.clip(round((reach / max(step, 1e-9)) ** 2 * 4), 1, 12))):
        beside = summed(shares[other], one, len(points)) + summed(shares[one], other, len(points))
        shares = np.where(degree > 0, 0.5 * shares + 0.5 * beside / np.maximum(degree, 1), shares)
    return shares


def _strongest(shares: Doubles) -> tuple[NDArray[np.uint8], Floats]:
    """The few joints that matter to each vertex, strongest first, and weights that sum to 1 as they are stored."""
    joints = np.argsort(-shares, axis=1, kind="stable")[:, :MOST]
    if joints.shape[1] < MOST:
        joints = np.pad(joints, ((0, 0), (0, MOST - joints.shape[1])))
    kept = np.take_along_axis(shares, joints, axis=1)
    small: Mask = kept < _LEAST
    small[:, 0] = False
    kept = np.where(small, 0, kept)
    weights = (kept / kept.sum(axis=1, keepdims=True)).astype(np.float32)
    weights[:, 0] = 1 - weights[:, 1:].sum(axis=1, dtype=np.float32)
    # Whoever checks a file wants no joint named where nothing follows it.
    used: NDArray[Any] = np.where(weights > 0, joints, 0)
    return used.astype(np.uint8), weights
