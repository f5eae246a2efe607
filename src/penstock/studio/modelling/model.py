"""A textured mesh in memory, with its skeleton and clips if it has any.

The y axis points up, lengths are in metres; what stands, stands on y = 0 and looks along +z.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
Doubles: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
Triangles: TypeAlias = NDArray[np.uint32]
Mask: TypeAlias = NDArray[np.bool_]


@dataclass
class Skeleton:
    """Joints, each after its parent; at rest none of them is turned."""

    names: list[str]
    parents: list[int]
    "The number of each joint's parent; -1 for a root."
    positions: Floats
    "Where they are at rest, in model space: (joints, 3)."

    @property
    def local(self) -> Floats:
        """Where each is from its parent."""
        behind = np.array(self.parents)
        return np.where(behind[:, None] < 0, self.positions, self.positions - self.positions[behind]).astype(np.float32)


@dataclass
class Clip:
    """A movement, as keys between which everything goes evenly."""

    name: str
    times: Floats
    "Seconds, from 0 on: (keys,)."
    rotations: Floats
    "Of each joint against its parent, as quaternions x, y, z, w: (keys, joints, 4)."
    translations: Floats | None = None
    "Of each joint from its parent, (keys, joints, 3); None where all stay as they are at rest."

    @property
    def seconds(self) -> float:
        return float(self.times[-1])


@dataclass
class Model:
    """A mesh of triangles whose vertices are split where the texture has a seam."""

    positions: Floats
    "(vertices, 3)"
    normals: Floats
    "(vertices, 3), of length 1."
    uv: Floats
    "(vertices, 2); 0, 0 is the upper left corner of the texture."
    faces: Triangles
    "(triangles, 3), counterclockwise as seen from outside."
    texture: bytes | None = None
    "A PNG."
    skeleton: Skeleton | None = None
    joints: NDArray[np.uint8] | None = None
    "(vertices, 4)"
    weights: Floats | None = None
    "(vertices, 4), which sum to 1 at every vertex."
    clips: list[Clip] = field(default_factory=list)
    extras: dict[str, Any] = field(default_factory=dict)
    "What the file says about itself beside the mesh."
