"""A clip as it is put together: which way each joint is turned in the room, and where the root is, key by key."""

from __future__ import annotations

import numpy as np

from penstock.studio.modelling.geometry import inverse, matrices, multiplied, turn, turn_from, unit
from penstock.studio.modelling.model import Clip, Doubles, Model, Skeleton
from penstock.studio.modelling.posing import standing

UP = np.array([0.0, 1.0, 0.0])
_LOWEST = 0.12
"The part of the height, from the ground, in which all that can touch it is."
_MOST_LOOKED_AT = 4000


class Movement:
    """Keys of a clip, of which every joint follows its parent until it is turned.

    A turn is told as it is in the room, not against the parent: whoever lifts an arm need not know how the chest leans.
    """

    def __init__(self, skeleton: Skeleton, forward: Doubles, *, seconds: float, keys: int) -> None:
        self.skeleton, self.seconds, self.keys = skeleton, seconds, keys
        self.forward = unit(forward)
        self.left = np.cross(UP, self.forward)
        self.phase = np.linspace(0, 1, keys)
        "How much of the clip is over at each key; the last key is the first one again."
        self._numbers = {name: n for n, name in enumerate(skeleton.names)}
        self._turned: dict[int, Doubles] = {}
        self.shift = np.zeros((keys, 3))
        "How far the root is from where it rests."

    def rest(self, joint: str) -> Doubles:
        """Where a joint is at rest."""
        return np.asarray(self.skeleton.positions[self._numbers[joint]], dtype=np.float64)

    def wave(self, times: int = 1, delay: float = 0.0) -> Doubles:
        """A number for each key that goes up and down so many times, and ends as it began."""
        return np.sin(2 * np.pi * (times * self.phase - delay))

    def set(self, joint: str, turns: Doubles) -> None:
        """Turn a joint, as seen in the room."""
        self._turned[self._numbers[joint]] = np.broadcast_to(turns, (self.keys, 4))

    def add(self, joint: str, turns: Doubles) -> None:
        """Turn a joint further than its parent."""
        self.set(joint, multiplied(turns, self.world(joint)))

    def pitch(self, joint: str, angles: Doubles | float) -> None:
        """Lean a joint forward."""
        self.add(joint, turn(self.left, angles))

    def yaw(self, joint: str, angles: Doubles | float) -> None:
        """Turn a joint to the left."""
        self.add(joint, turn(UP, angles))

    def roll(self, joint: str, angles: Doubles | float) -> None:
        """Lean a joint to the right."""
        self.add(joint, turn(self.forward, angles))

    def point(self, joint: str, towards: str, direction: Doubles) -> None:
        """Turn a joint so that another one lies in that direction from it."""
        self.set(joint, turn_from(self.rest(towards) - self.rest(joint), direction))

    def world(self, joint: str) -> Doubles:
        """How a joint is turned in the room."""
        number = self._numbers[joint]
        while number >= 0:
            if number in self._turned:
                return self._turned[number]
            number = self.skeleton.parents[number]
        return np.tile(np.array([0.0, 0.0, 0.0, 1.0]), (self.keys, 1))

    def clip(self, name: str) -> Clip:
        """The clip. Its last key is its first one, so that it can go on for ever."""
        rotations = self._local()
        translations = self._moves()
        rotations[-1], translations[-1] = rotations[0], translations[0]
        moves = None if not np.abs(self.shift).max() > 0 else translations.astype(np.float32)
        times = (self.phase * self.seconds).astype(np.float32)
        return Clip(name, times, rotations.astype(np.float32), moves)

    def grounded(self, model: Model) -> None:
        """Raise or lower the root so that at each key something just touches the ground, as at rest."""
        lowest = self._lowest(model)
        self.shift[:, 1] -= lowest - lowest_at_rest(model)

    def _lowest(self, model: Model) -> Doubles:
        """How low the model reaches at each key."""
        assert model.joints is not None
        assert model.weights is not None
        height = float(np.ptp(model.positions[:, 1]))
        near = np.flatnonzero(model.positions[:, 1] < model.positions[:, 1].min() + _LOWEST * height)
        near = near[:: max(len(near) // _MOST_LOOKED_AT, 1)]
        world, places = standing(self.skeleton, self._local(), self._moves())
        turned = matrices(world)
        shift = places - np.einsum("kjab,jb->kja", turned, self.skeleton.positions.astype(np.float64))
        y = np.zeros((self.keys, len(near)))
        for n in range(model.joints.shape[1]):
            joints, weights = model.joints[near, n], model.weights[near, n]
            rows = turned[:, joints, 1, :]
            y += weights * ((rows * model.positions[near]).sum(axis=2) + shift[:, joints, 1])
        return np.asarray(y.min(axis=1))

    def _local(self) -> Doubles:
        turns = np.tile(np.array([0.0, 0.0, 0.0, 1.0]), (self.keys, len(self.skeleton.names), 1))
        for joint, name in enumerate(self.skeleton.names):
            if joint in self._turned:
                parent = self.skeleton.parents[joint]
                above = self.world(self.skeleton.names[parent]) if parent >= 0 else np.array([0.0, 0.0, 0.0, 1.0])
                turns[:, joint] = unit(multiplied(inverse(above), self.world(name)))
        return _steady(turns)

    def _moves(self) -> Doubles:
        moves = np.tile(self.skeleton.local.astype(np.float64), (self.keys, 1, 1))
        moves[:, 0] += self.shift
        return moves


def lowest_at_rest(model: Model) -> float:
    return float(model.positions[:, 1].min())


def _steady(turns: Doubles) -> Doubles:
    """The same turns, written so that none takes the long way round to the next."""
    signs = np.sign((turns[1:] * turns[:-1]).sum(axis=2))
    signs[signs == 0] = 1
    turns[1:] *= np.cumprod(signs, axis=0)[..., None]
    return turns
