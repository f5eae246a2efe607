"""Bodies built of capsules, as closed textured meshes: somebody who stands, an animal, a box."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from penstock.studio.modelling.geometry import vertex_normals
from penstock.studio.modelling.model import Model

Point = tuple[float, float, float]
Capsule = tuple[Point, Point, float]

HEAD: list[Capsule] = [((0, 1.62, 0), (0, 1.66, 0), 0.13)]
TRUNK: list[Capsule] = [
    ((0, 1.45, 0), (0, 1.6, 0), 0.055),
    ((-0.1, 1.35, 0), (0.1, 1.35, 0), 0.11),
    ((0, 1.3, 0), (0, 0.95, 0), 0.15),
]
LEGS: list[Capsule] = [
    *(((0.11 * s, 0.9, 0), (0.13 * s, 0.07, 0), 0.075) for s in (1, -1)),
    *(((0.13 * s, 0.06, 0), (0.14 * s, 0.06, 0.1), 0.06) for s in (1, -1)),
]


def arms(*, out: float, length: float = 0.6) -> list[Capsule]:
    """Both arms; ``out`` goes from 0, hanging, to 1, straight to the sides."""
    angle = np.radians(12 + 78 * out)
    x, y = float(np.sin(angle)) * length, float(np.cos(angle)) * length
    return [((0.22 * s, 1.36, 0), ((0.22 + x) * s, 1.36 - y, 0), 0.055) for s in (1, -1)]


def person(*, out: float = 0.25) -> Model:
    """Somebody of 1.8 metres."""
    return body([*HEAD, *TRUNK, *LEGS, *arms(out=out)])


def chibi() -> Model:
    """Somebody whose head is half of them."""
    return body(
        [
            ((0, 1.2, 0), (0, 1.3, 0), 0.42),
            ((0, 0.75, 0), (0, 0.45, 0), 0.2),
            *(((0.12 * s, 0.4, 0), (0.13 * s, 0.1, 0), 0.1) for s in (1, -1)),
            *(((0.2 * s, 0.7, 0), (0.42 * s, 0.45, 0), 0.075) for s in (1, -1)),
        ],
        rows=48,
    )


def robed() -> Model:
    """Somebody in a robe down to the ground, arms close to the body."""
    return body([*HEAD, *TRUNK, ((0, 1.1, 0), (0, 0.3, 0), 0.24), ((0, 0.26, 0), (0, 0.22, 0), 0.26)])


def animal(*, along: str = "x", apart: bool = True) -> Model:
    """Something on four legs that looks along +x or +z; its legs stand apart, or each pair is one."""
    wide = 0.14 if apart else 0.0
    parts: list[Capsule] = [
        ((-0.45, 0.62, 0), (0.4, 0.64, 0), 0.2),
        ((0.45, 0.7, 0), (0.68, 0.98, 0), 0.1),
        ((0.68, 1.0, 0), (0.86, 0.97, 0), 0.12),
        ((-0.6, 0.7, 0), (-0.85, 0.95, 0), 0.05),
    ]
    for x in (-0.42, 0.36):
        for z in (wide, -wide):
            parts.append(((x, 0.55, z), (x, 0.07, z), 0.07))
    if along == "z":
        parts = [((-a[2], a[1], a[0]), (-b[2], b[1], b[0]), r) for a, b, r in parts]
    return body(parts, rows=40)


def box(width: float = 0.6, height: float = 0.5, depth: float = 0.4) -> Model:
    """A box with its edges split, as its texture needs."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (0.0, 1.0) for z in (-0.5, 0.5)])
    corners = corners * [width, height, depth]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    positions = np.concatenate([corners[list(side)] for side in sides]).astype(np.float32)
    faces = np.concatenate([np.array([[0, 1, 2], [0, 2, 3]]) + 4 * n for n in range(6)]).astype(np.uint32)
    normal = np.cross(
        positions[faces[::2, 1]] - positions[faces[::2, 0]], positions[faces[::2, 2]] - positions[faces[::2, 0]]
    )
    normals = np.repeat(normal / np.linalg.norm(normal, axis=1, keepdims=True), 4, axis=0).astype(np.float32)
    tile = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) / [3, 2]
    uv = np.concatenate([tile + np.array([n % 3 / 3, n // 3 / 2]) for n in range(6)]).astype(np.float32)
    return Model(positions, normals, uv, faces, _squares())


def body(parts: Sequence[Capsule], *, rows: int = 64, blend: float = 0.025) -> Model:
    """The surface around capsules that flow into each other a little."""
    ends = np.array([(a, b) for a, b, _ in parts])
    radii = np.array([r for _, _, r in parts])
    low, high = (ends - radii[:, None, None]).min(axis=(0, 1)), (ends + radii[:, None, None]).max(axis=(0, 1))
    step = (high[1] - low[1]) / rows
    axes = [np.arange(low[n] - 2 * step, high[n] + 2 * step, step) for n in range(3)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    total = np.zeros(grid.shape[:3])
    for (a, b), radius in zip(ends, radii, strict=True):
        along = b - a
        share = np.clip(((grid - a) @ along) / max(along @ along, 1e-9), 0, 1)
        total += np.exp(-(np.linalg.norm(grid - a - share[..., None] * along, axis=-1) - radius) / blend)
    distance = -blend * np.log(np.maximum(total, 1e-30))
    positions, faces = surface(distance, axes)
    positions[:, 1] -= positions[:, 1].min()
    return dressed(positions, faces)


def surface(
    distance: NDArray[np.float64], axes: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The surface where a distance is 0: a vertex in each cell it goes through, a square across each edge it cuts."""
    inside = distance < 0
    origin, step = np.array([axis[0] for axis in axes]), axes[0][1] - axes[0][0]
    total = np.zeros((*(n - 1 for n in inside.shape), 3))
    count = np.zeros(total.shape[:3])
    cuts = []
    for axis in range(3):
        one, other = np.moveaxis(inside, axis, 0)[:-1], np.moveaxis(inside, axis, 0)[1:]
        first, second = np.moveaxis(distance, axis, 0)[:-1], np.moveaxis(distance, axis, 0)[1:]
        cut = np.argwhere(one != other)
        share = first[tuple(cut.T)] / (first[tuple(cut.T)] - second[tuple(cut.T)])
        flip = one[tuple(cut.T)]
        order = [axis, *(n for n in range(3) if n != axis)]
        cell = np.empty_like(cut)
        cell[:, order] = cut
        point = cell.astype(float)
        point[:, axis] += share
        cuts.append((axis, cell, flip))
        for da in (0, 1):
            for db in (0, 1):
                beside = cell.copy()
                beside[:, order[1]] -= da
                beside[:, order[2]] -= db
                np.add.at(total, tuple(beside.T), point)
                np.add.at(count, tuple(beside.T), 1)
    number = np.cumsum(count.ravel() > 0).reshape(count.shape) - 1
    positions = origin + total[count > 0] / count[count > 0][:, None] * step
    faces = []
    for axis, cell, flip in cuts:
        a, b = (n for n in range(3) if n != axis)
        around = []
        for da, db in ((0, 0), (1, 0), (1, 1), (0, 1)):
            beside = cell.copy()
            beside[:, a] -= da
            beside[:, b] -= db
            around.append(number[tuple(beside.T)])
        square = np.stack(around, axis=1)
        square = np.where((flip ^ (axis == 1))[:, None], square, square[:, ::-1])
        faces += [square[:, [0, 1, 2]], square[:, [0, 2, 3]]]
    return positions, np.concatenate(faces)


def dressed(positions: NDArray[np.float64], faces: NDArray[np.int64]) -> Model:
    """With a texture that has the front on its left half and the back on its right, and a seam between."""
    normals = vertex_normals(positions, faces)
    front = normals[faces].mean(axis=1)[:, 2] >= 0
    used = [np.unique(faces[side]) for side in (front, ~front)]
    new = [np.full(len(positions), -1) for _ in used]
    new[0][used[0]] = np.arange(len(used[0]))
    new[1][used[1]] = np.arange(len(used[1])) + len(used[0])
    every = np.concatenate(used)
    low, high = positions.min(axis=0), positions.max(axis=0)
    flat = (positions[every] - low) / (high - low)
    u = np.where(np.arange(len(every)) < len(used[0]), flat[:, 0] / 2, 1 - flat[:, 0] / 2)
    faces = np.concatenate([new[0][faces[front]], new[1][faces[~front]]])
    return Model(
        positions[every].astype(np.float32),
        normals[every].astype(np.float32),
        np.stack([u, 1 - flat[:, 1]], axis=1).astype(np.float32),
        faces.astype(np.uint32),
        _clothes(),
    )


def _clothes() -> bytes:
    """Skin, shirt, trousers and shoes, one above the other; a face in front only."""
    picture = Image.new("RGB", (256, 256), (214, 168, 132))
    draw = ImageDraw.Draw(picture)
    for top, colour in ((44, (46, 110, 160)), (128, (70, 66, 80)), (236, (120, 70, 40))):
        draw.rectangle((0, top, 255, 255), fill=colour)
    draw.rectangle((128, 0, 255, 30), fill=(90, 60, 40))
    for x in (60, 67):
        draw.ellipse((x - 1, 14, x + 1, 20), fill=(20, 20, 30))
    return _png(picture)


def _squares() -> bytes:
    picture = Image.new("RGB", (96, 64))
    for n, colour in enumerate(
        [(200, 60, 50), (60, 160, 80), (60, 90, 200), (230, 190, 60), (150, 80, 180), (80, 180, 200)]
    ):
        picture.paste(colour, (n % 3 * 32, n // 3 * 32, n % 3 * 32 + 32, n // 3 * 32 + 32))
    return _png(picture)


def _png(picture: Image.Image) -> bytes:
    into = io.BytesIO()
    picture.save(into, "PNG")
    return into.getvalue()
