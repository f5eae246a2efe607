"""Where the joints of an animal on four legs are, told from its outline as seen from the side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from penstock.studio.modelling.model import Doubles, Mask, Whole
from penstock.studio.modelling.occupancy import Occupancy
from penstock.studio.modelling.outline import Silhouette, along, length, reached, way
from penstock.studio.modelling.skeletons import ENDS, QUADRUPED, SIDES, FittedRig


def fit_quadruped(body: Occupancy) -> FittedRig:
    """The joints of an animal, whichever way it looks: along z as others do, or along x as if seen from the side."""
    profile = _Profile(body)
    places, tips = profile.trunk()
    notes = {}
    for end in ENDS:
        for side, leg in zip(SIDES, profile.legs(end), strict=True):
            for joint, place in zip(("UpperLeg", "LowerLeg", "Foot"), leg, strict=False):
                places[f"{side}{end}{joint}"] = place
            tips[f"{side}{end}Foot"] = leg[3]
        notes[f"{end.lower()}LegsFree"] = profile.apart(end)
    return FittedRig(QUADRUPED, places, tips, notes)


@dataclass(frozen=True)
class _Foot:
    """Where a leg stands: columns of the outline, and a share of the depth, 0 in the middle."""

    left: float
    right: float
    across: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


class _Profile:
    """An animal from the side; columns run towards its head."""

    def __init__(self, body: Occupancy) -> None:
        extent = body.centres.max(axis=0) - body.centres.min(axis=0)
        self.body = body
        self.axis = 2 if extent[2] > 1.2 * extent[0] else 0
        flat = np.asarray(body.filled.any(axis=2 - self.axis))
        seen = flat.T if self.axis == 0 else flat
        self.flipped = self._looks_back(seen)
        self.seen = Silhouette(seen[:, ::-1] if self.flipped else seen)
        rows = np.flatnonzero(self.seen.filled.any(axis=1))
        columns = np.flatnonzero(self.seen.filled.any(axis=0))
        self.bottom, self.top = int(rows[0]), int(rows[-1]) + 1
        self.rear, self.front = int(columns[0]), int(columns[-1]) + 1
        self.height, self.length = self.top - self.bottom, self.front - self.rear
        self.standing = self._standing()
        self.belly = self._belly()
        self.back = self._back()

    def _looks_back(self, seen: Mask) -> bool:
        """Is there more above the back at the end where the columns begin? A head is larger than a tail."""
        rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
        third = max((columns[-1] + 1 - columns[0]) // 3, 1)
        high = seen[int(rows[0] + 0.55 * (rows[-1] + 1 - rows[0])) :]
        begin, end = high[:, : columns[0] + third].sum(), high[:, columns[-1] + 1 - third :].sum()
        return bool(begin > end)

    def _standing(self) -> dict[str, list[_Foot]]:
        """The feet of each end: two that are seen apart, or one that both legs share."""
        least = max(0.02 * self.length, 1)
        rows = range(self.bottom + 1, self.bottom + max(round(0.3 * self.height), 3))
        # A tail may hang down between legs, but does not stand on the ground.
        low = self.bottom + max(round(0.12 * self.height), 2)
        ground = np.asarray(self.seen.filled[self.bottom : low].any(axis=0))
        found = [
            [run for run in self.seen.runs(row) if run[1] - run[0] >= least and ground[slice(*run)].any()]
            for row in rows
        ]
        most = max(map(len, found))
        alike = [runs for runs in found if len(runs) == most]
        # Halfway up: paws are round below, and legs flow into the body above.
        runs = alike[len(alike) // 2]
        middle = (self.rear + self.front) / 2
        if len(runs) < 2:
            quarter = self.length / 4
            runs = [(round(at - quarter / 3), round(at + quarter / 3)) for at in (middle - quarter, middle + quarter)]
        split = max(range(1, len(runs)), key=lambda n: runs[n][0] - runs[n - 1][1] - 0.2 * abs(2 * n - len(runs)))
        return {"Hind": self._feet(runs[:split]), "Front": self._feet(runs[split:])}

    def _feet(self, runs: list[tuple[int, int]]) -> list[_Foot]:
        if len(runs) == 1:
            return [_Foot(*runs[0], across) for across in (0.5, -0.5)]
        return [_Foot(*runs[-1], 0.0), _Foot(*runs[0], 0.0)]

    def apart(self, end: str) -> bool:
        """Are the two legs of an end seen apart, in the outline or from the front?"""
        one, other = self.standing[end]
        if one.middle != other.middle:
            # Paws that touch each other cannot go different ways.
            low = self.seen.filled[self.bottom : self.bottom + max(round(0.06 * self.height), 2)]
            ground = np.asarray(low.any(axis=0))
            between = ground[int(min(one.right, other.right)) : int(max(one.left, other.left)) + 1]
            return not between.all()
        row = self.bottom + max(round(0.1 * self.height), 1)
        depth = self._depth(row, one.middle)
        return bool(len(depth) and not depth.all())

    def _depth(self, row: int, column: float) -> Mask:
        """What is filled across the body at a place, from the first cell that is to the last."""
        filled = self._across(row, column)
        there = np.flatnonzero(filled)
        return filled[there[0] : there[-1] + 1] if len(there) else filled[:0]

    def _across(self, row: float, column: float) -> Mask:
        at = int(np.clip(column, 0, self.seen.columns - 1))
        at = self.seen.columns - 1 - at if self.flipped else at
        y = int(np.clip(row, 0, self.seen.rows - 1))
        return self.body.filled[at, y, :] if self.axis == 0 else self.body.filled[:, y, at]

    def _belly(self) -> int:
        """The row in which the widest gap between the ends closes."""
        hind, front = self.standing["Hind"], self.standing["Front"]
        left, right = max(foot.right for foot in hind), min(foot.left for foot in front)
        for row in range(self.bottom + 1, self.bottom + round(0.75 * self.height)):
            between = self.seen.filled[row, int(left) : max(int(right), int(left) + 1)]
            if between.mean() > 0.8:
                return row
        return self.bottom + round(0.35 * self.height)

    def _back(self) -> float:
        """How high the back is, halfway between the legs."""
        hind, front = (np.mean([foot.middle for foot in self.standing[end]]) for end in ("Hind", "Front"))
        columns = range(int(hind + 0.2 * (front - hind)), int(hind + 0.7 * (front - hind)) + 1)
        tops = [np.flatnonzero(self.seen.filled[:, c])[-1] + 1 for c in columns if self.seen.filled[:, c].any()]
        return float(np.median(tops)) if tops else self.belly + 0.3 * self.height

    def place(self, row: float, column: float, across: float = 0.0) -> Doubles:
        """A point of the outline in space; ``across`` goes from the middle of the body to its left, 1, or right, -1."""
        there = np.flatnonzero(self._across(row, column))
        if not len(there):
            there = np.flatnonzero(self.body.filled.any(axis=(0, 1) if self.axis == 0 else (1, 2)))
        low, high = float(there[0]), float(there[-1]) + 1
        at = self.seen.columns - column if self.flipped else column
        # The left is where +x is for whoever looks along +z.
        sign = (-1 if self.axis == 0 else 1) * (-1 if self.flipped else 1)
        middle = (low + high) / 2 + sign * across * (high - low) / 2
        cells = (at, row, middle) if self.axis == 0 else (middle, row, at)
        return np.asarray(self.body.origin + np.array(cells) * self.body.cell)

    def trunk(self) -> tuple[dict[str, Doubles], dict[str, Doubles]]:
        """The joints from the rump to the head and to the tail, and where those end."""
        hind, front = (float(np.mean([foot.middle for foot in self.standing[end]])) for end in ("Hind", "Front"))
        level = self.belly + 0.6 * (self.back - self.belly)
        region = self._without_legs()
        middle = (hind + front) / 2
        head = self._limb(
            region,
            (level, front),
            lambda rows, columns: (columns > front) | ((rows > self.back) & (columns > middle)),
        )
        tail = self._limb(region, (level, hind), lambda rows, columns: columns < hind)
        points = {
            "hips": np.array([level, hind]),
            "spine": np.array([level, (hind + front) / 2]),
            "chest": np.array([level, hind + 0.88 * (front - hind)]),
            "neck": along(head, 0.25),
            "head": along(head, 0.62),
            "tail": along(tail, 0.35),
            "tailTip": along(tail, 0.7),
        }
        places = {name: self.place(*point) for name, point in points.items()}
        return places, {"head": self.place(*along(head, 1.0)), "tailTip": self.place(*along(tail, 1.0))}

    def _without_legs(self) -> Mask:
        region = self.seen.filled.copy()
        for feet in self.standing.values():
            for foot in feet:
                region[: self.belly, max(int(foot.left) - 1, 0) : int(foot.right) + 1] = False
        return region

    def _limb(self, region: Mask, start: tuple[float, float], where: Callable[[Whole, Whole], Mask]) -> Doubles:
        """The middle of what reaches farthest from a place, among the cells of that side."""
        seeds = np.zeros_like(region)
        row, column = int(start[0]), int(start[1])
        seeds[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2] = True
        steps = reached(region, seeds)
        rows, columns = np.mgrid[: region.shape[0], : region.shape[1]]
        # What reaches outward counts more than what reaches up: a snout is an end, an ear is not.
        outward = np.abs(columns - start[1])
        there = np.where(where(rows, columns) & (steps >= 0), steps + outward, -1)
        if there.max() < 2:
            return np.array([start, start], dtype=np.float64)
        end = np.unravel_index(int(there.argmax()), there.shape)
        line = way(steps, (int(end[0]), int(end[1])), width=0.12 * self.height)
        return line if length(line) > 1 else np.array([start, start], dtype=np.float64)

    def legs(self, end: str) -> list[list[Doubles]]:
        """The joints of the left leg and of the right one: shoulder or hip, knee, ankle, toes."""
        feet = self.standing[end]
        top = self.belly + 0.3 * (self.back - self.belly)
        low = self.bottom + max(0.12 * (top - self.bottom), 1.0)
        found = []
        for foot in feet:
            legs = []
            for row in (top, low + 0.5 * (top - low), low, self.bottom + 0.5):
                legs.append(self.place(row, self._leg_middle(foot, row), foot.across))
            found.append(legs)
        if feet[0].middle == feet[1].middle:
            return found
        # Of two that are seen side by side the one farther to the left is the left one.
        leftness = [float((leg[2] - found[1][2]) @ self._left()) for leg in found]
        return found if leftness[0] >= leftness[1] else found[::-1]

    def _left(self) -> Doubles:
        sign = -1.0 if self.flipped else 1.0
        return np.array([0.0, 0.0, -sign]) if self.axis == 0 else np.array([sign, 0.0, 0.0])

    def _leg_middle(self, foot: _Foot, row: float) -> float:
        """The middle of a leg in a row, as long as it is seen apart from the body."""
        run = self.seen.run_at(int(min(row, self.belly - 1)), foot.middle)
        if run is None or run[1] - run[0] > 2.2 * (foot.right - foot.left):
            return foot.middle
        return (run[0] + run[1]) / 2
