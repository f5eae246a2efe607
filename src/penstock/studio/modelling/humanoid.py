"""Where the joints of somebody who stands upright are, told from the outline: legs, neck, arms.

Whatever cannot be told, because a robe hides the legs or an arm lies close to the body, is where it usually is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penstock.studio.modelling.model import Doubles, Mask
from penstock.studio.modelling.occupancy import Occupancy
from penstock.studio.modelling.outline import Run, Silhouette, along, length, reached, way
from penstock.studio.modelling.skeletons import HUMANOID, FittedRig

_CHIBI = "chibi"
_NECKS = {_CHIBI: 0.6, "heroic": 0.84, "realistic": 0.83}
"How high the neck usually is, as a share of the whole height."
_CROTCHES = {_CHIBI: 0.2, "heroic": 0.48, "realistic": 0.46}
_LONGEST_ARM = 0.44
_SHORTEST_ARM = 0.1
"From the shoulder to the fingertips, as shares of the height; what is longer holds something."


def fit_humanoid(body: Occupancy, *, proportions: str | None = None) -> FittedRig:
    """The joints of a humanoid in a body that looks along +z."""
    outline = FrontView(body, proportions)
    places, tips = outline.trunk()
    notes = {}
    for side, sign in (("left", 1), ("right", -1)):
        leg = outline.leg(sign)
        for joint, place in zip(("UpperLeg", "LowerLeg", "Foot"), leg, strict=True):
            places[side + joint] = place
        tips[f"{side}Foot"] = outline.toes(leg[2])
        arm, notes[f"{side}ArmFree"], notes[f"{side}Holds"] = outline.arm(sign)
        for joint, place in zip(("Shoulder", "UpperArm", "LowerArm", "Hand"), arm, strict=False):
            places[side + joint] = place
        tips[f"{side}Hand"] = arm[4]
    notes["legsFree"] = outline.gap is not None
    return FittedRig(HUMANOID, places, tips, notes)


@dataclass(frozen=True)
class _Gap:
    """The empty space between the legs: its rows, and where it begins and ends in each."""

    rows: list[int]
    edges: list[tuple[int, int]]

    @property
    def top(self) -> int:
        return self.rows[-1] + 1


class FrontView:
    """A body as seen from the front, in cells, and what can be told from that."""

    def __init__(self, body: Occupancy, proportions: str | None) -> None:
        self.body = body
        self.seen = Silhouette(np.asarray(body.filled.any(axis=2)).T)
        filled_rows = np.flatnonzero(self.seen.filled.any(axis=1))
        self.bottom, self.top = int(filled_rows[0]), int(filled_rows[-1]) + 1
        self.height = self.top - self.bottom
        self._usual = proportions if proportions in _NECKS else "realistic"
        self.middle = self._middle()
        self.gap = self._gap()
        if self.gap is not None:
            self.middle = (self.gap.edges[-1][0] + self.gap.edges[-1][1]) / 2
        self.crotch = self.gap.top if self.gap else self._row(_CROTCHES[self._usual])
        self.widths = self._widths()
        self.neck = self._neck(known=proportions in _NECKS)
        self.crotch = min(self.crotch, self.bottom + int(0.75 * (self.neck - self.bottom)))
        self.half = self._half_width()
        self.shoulder = self.neck - max(0.12 * (self.neck - self.crotch), 1.0)

    def _row(self, share: float) -> int:
        return self.bottom + round(share * self.height)

    def _middle(self) -> float:
        """The column the body stands over: half of its middle is on either side."""
        trunk = self.seen.filled[self._row(0.3) : self._row(0.7)].sum(axis=0)
        total = np.cumsum(trunk) / max(trunk.sum(), 1)
        return float(np.searchsorted(total, 0.5)) + 0.5

    def _gap(self) -> _Gap | None:
        """The longest gap that goes up between two legs; None if there is none worth the name."""
        found: list[_Gap] = []
        for start in range(self.bottom, self._row(0.3)):
            for gap in self.seen.gaps(start):
                if abs((gap[0] + gap[1]) / 2 - self.middle) < 0.1 * self.height:
                    found.append(self._traced(start, gap))
        # A leg has a leg beside it, not a staff.
        alike = [gap for gap in found if len(gap.rows) > 0.05 * self.height and self._alike(gap)]
        return max(alike, key=lambda gap: len(gap.rows), default=None)

    def _alike(self, gap: _Gap) -> bool:
        """Does about as much stand on the ground on both sides of a gap?"""
        ground = self.seen.filled[self.bottom : self._row(0.12)].sum(axis=0)
        middle = (gap.edges[0][0] + gap.edges[0][1]) // 2
        one, other = int(ground[:middle].sum()), int(ground[middle:].sum())
        return min(one, other) > 0.35 * max(one, other)

    def _traced(self, row: int, gap: tuple[int, int]) -> _Gap:
        rows, edges = [row], [gap]
        while row + 1 < self._row(0.62):
            over = [g for g in self.seen.gaps(row + 1) if g[0] < gap[1] and g[1] > gap[0]]
            if not over:
                break
            row, gap = row + 1, min(over, key=lambda g: abs((g[0] + g[1]) / 2 - self.middle))
            rows.append(row)
            edges.append(gap)
        return _Gap(rows, edges)

    def _widths(self) -> Doubles:
        """How wide the body is around its middle, row by row."""
        widths, column = np.zeros(self.seen.rows), self.middle
        for row in range(self.crotch, self.top):
            run = self.seen.run_at(row, column)
            if run is not None:
                widths[row] = run[1] - run[0]
        return widths

    def _armpit(self) -> int | None:
        """The row in which the gaps between arms and trunk close; None if no arm stands off."""
        tops = []
        for sign in (1, -1):
            longest: list[int] = []
            for start in range(self.crotch, self._row(0.75), 2):
                gap = self._beside(start, sign)
                if gap is not None and start not in longest:
                    traced = self._gap_rows(start, gap, sign)
                    longest = max(longest, traced, key=len)
            if len(longest) > 0.04 * self.height:
                tops.append(longest[-1] + 1)
        return max(tops, default=None)

    def _beside(self, row: int, sign: int) -> Run | None:
        """The gap next to the trunk in a row, on one side."""
        trunk = self.seen.run_at(row, self.middle)
        gaps = [
            gap for gap in self.seen.gaps(row) if trunk and gap[0 if sign > 0 else 1] == trunk[1 if sign > 0 else 0]
        ]
        return gaps[0] if gaps else None

    def _gap_rows(self, row: int, gap: Run, sign: int) -> list[int]:
        """The rows through which a gap beside the trunk goes up."""
        rows = [row]
        while row + 1 < self._row(0.9):
            over = self._beside(row + 1, sign)
            if over is None or over[0] >= gap[1] or over[1] <= gap[0]:
                break
            row, gap = row + 1, over
            rows.append(row)
        return rows

    def _neck(self, *, known: bool) -> int:
        """The row above which the body is narrow, right over wide shoulders, near to where a neck usually is."""
        low, high = max(self.crotch + round(0.1 * self.height), self._row(0.35)), self._row(0.93)
        usual, spread = float(self._row(_NECKS[self._usual])), (0.12 if known else 0.2) * self.height
        if (armpit := self._armpit()) is not None:
            low, high = max(low, armpit + 1), min(high, armpit + round(0.26 * self.height))
            usual, spread = armpit + 0.1 * self.height, 0.08 * self.height
        reach = max(round(0.1 * self.height), 2)
        best, neck = 0.05, min(round(usual), self._row(0.93))
        for row in range(low, high):
            width, above = self.widths[row], self.widths[row + 1 : self.top].max(initial=0)
            if above < 0.07 * self.height or not width:
                continue
            # A brim or an ear makes a notch, too, but no shoulders follow below it.
            shoulders = min(self.widths[row - reach : row].max(initial=0) / width, 2.2) - 1
            likely = np.exp(-0.5 * ((row - usual) / spread) ** 2)
            if (score := shoulders * min(above / width, 1.6) * likely) > best:
                best, neck = score, row
        return neck

    def _half_width(self) -> float:
        """Half the width of the trunk, without arms that stand off."""
        length = self.neck - self.crotch
        rows = self.widths[self.crotch + round(0.05 * length) : self.neck - round(0.2 * length)]
        rows = rows[rows > 0]
        return float(np.percentile(rows, 35)) / 2 if len(rows) else 0.1 * self.height

    def _nape(self) -> float:
        """The column the neck is in."""
        run = self.seen.run_at(self.neck, self.middle)
        return self.middle if run is None else self._near((run[0] + run[1]) / 2)

    def _near(self, column: float) -> float:
        """Not beyond the trunk, should something stick out to one side."""
        return float(np.clip(column, self.middle - 0.6 * self.half, self.middle + 0.6 * self.half))

    def place(self, row: float, column: float) -> Doubles:
        """A point of the outline in space, halfway between the front and the back of the body."""
        x, y = int(np.clip(column, 1, self.seen.columns - 2)), int(np.clip(row, 1, self.seen.rows - 2))
        cells = np.argwhere(self.body.filled[x - 1 : x + 2, y - 1 : y + 2])
        if not len(cells):
            cells = np.argwhere(self.body.filled)
        z = float(cells[:, 2].mean()) + 0.5
        return np.asarray(self.body.origin + np.array([column, row, z]) * self.body.cell)

    def trunk(self) -> tuple[dict[str, Doubles], dict[str, Doubles]]:
        """The joints from the hips to the head, and the crown."""
        hips = min(self.crotch + 0.05 * self.height, self.crotch + 0.3 * (self.neck - self.crotch))
        rows = {share: hips + share * (self.neck - hips) for share in (0.0, 0.25, 0.58)}
        head = self.seen.run_at(int(self.neck + 0.4 * (self.top - self.neck)), self.middle)
        nape = self._nape()
        over = self._near((head[0] + head[1]) / 2) if head else nape
        # A trunk goes straight from between the legs to the neck, whatever is worn or held beside it.
        places = {
            name: self.place(row, self.middle + share * (nape - self.middle))
            for name, (share, row) in zip(("hips", "spine", "chest"), rows.items(), strict=True)
        }
        places["neck"] = self.place(self.neck - 0.5, nape)
        places["head"] = self.place(self.neck + 0.14 * (self.top - self.neck), over)
        return places, {"head": self.place(self.top - 1, over)}

    def leg(self, sign: int) -> list[Doubles]:
        """Hip, knee and ankle."""
        length = self.crotch - self.bottom
        # Thick legs end in thick feet.
        thick = 0.5 * self._leg_width if self.gap is not None else 0.0
        ankle = self.bottom + max(0.11 * length, min(thick, 0.25 * length), 1.0)
        hip = min(self.crotch + 0.03 * self.height, self.crotch + 0.15 * (self.neck - self.crotch))
        rows = (hip, ankle + 0.53 * (hip - ankle), ankle)
        return [self.place(row, self._leg_middle(min(row, self.crotch - 1), sign)) for row in rows]

    def _leg_middle(self, row: float, sign: int) -> float:
        """The middle of a leg in a row; without a gap the legs stand a quarter of the width apart from the middle."""
        if self.gap is None:
            whole = self.seen.run_at(int(row), self.middle) or (int(self.middle - 1), int(self.middle + 1))
            return self.middle + sign * 0.22 * min(whole[1] - whole[0], 2.4 * self.half)
        rows = self.gap.rows
        nearest = int(np.clip(round(row) - rows[0], 0, len(rows) - 1))
        edge = self.gap.edges[nearest]
        run = self.seen.run_at(self.gap.rows[nearest], edge[1] if sign > 0 else edge[0] - 1)
        width = min(run[1] - run[0] if run else 2, 1.3 * self._leg_width)
        return edge[1] + width / 2 if sign > 0 else edge[0] - width / 2

    @property
    def _leg_width(self) -> float:
        """How wide a leg usually is; a hand that touches it is no part of it."""
        assert self.gap is not None
        widths = []
        for row, edge in zip(self.gap.rows, self.gap.edges, strict=True):
            for column in (edge[0] - 1, edge[1]):
                run = self.seen.run_at(row, column)
                widths.append(run[1] - run[0] if run else 1)
        return float(np.median(widths))

    def toes(self, ankle: Doubles) -> Doubles:
        """The front of the foot below an ankle."""
        near = self.body.centres
        foot = near[(np.abs(near[:, 0] - ankle[0]) < 0.06 * self.height * self.body.cell) & (near[:, 1] <= ankle[1])]
        front = foot[:, 2].max() if len(foot) else ankle[2]
        low = self.body.origin[1] + (self.bottom + 0.5) * self.body.cell
        return np.array([ankle[0], low, max(front - self.body.cell, ankle[2])])

    def arm(self, sign: int) -> tuple[list[Doubles], bool, bool]:
        """Collar, shoulder, elbow, wrist and fingertips; whether the arm stands off; whether it holds something."""
        width = self.widths[min(int(self.shoulder), self.seen.rows - 1)] / 2 or self.half
        outward = min(self.half * 0.82, width * 0.8)
        collar = self.place(self.shoulder, self.middle + sign * 0.35 * outward)
        line = self._arm_line(sign, outward)
        free = line is not None
        if line is None:
            line = self._close_arm(sign, outward)
        longest, whole = _LONGEST_ARM * self.height, length(line)
        if whole > longest:
            line = np.array([along(line, share) for share in np.linspace(0, longest / whole, 24)])
        points = [along(line, share) for share in (0.0, 0.45, 0.8, 1.0)]
        return [collar, *(self.place(row, column) for row, column in points)], free, whole > 1.3 * longest

    def _close_arm(self, sign: int, outward: float) -> Doubles:
        """An arm that lies close to the body: it hangs down along the side."""
        wrist = max(self.crotch - 0.02 * self.height, self.shoulder - 0.36 * self.height)
        run = self.seen.run_at(int(wrist), self.middle)
        edge = self.half if run is None else min((run[1] - run[0]) / 2, 1.5 * self.half)
        low = [wrist, self.middle + sign * 0.82 * edge]
        return np.array([[self.shoulder, self.middle + sign * outward], low])

    def _arm_line(self, sign: int, outward: float) -> Doubles | None:
        """The middle of an arm from the shoulder on; None if nothing stands off from the trunk."""
        region = self._without_legs_and_head()
        columns = np.arange(self.seen.columns) + 0.5 - self.middle
        region[:, sign * columns < 0] = False
        seeds = np.zeros_like(region)
        rows = slice(max(int(self.shoulder - 0.04 * self.height), 0), int(self.shoulder + 0.02 * self.height) + 1)
        seeds[rows, np.abs(columns) <= outward] = True
        steps = reached(region, seeds)
        beside = np.where((sign * columns > 1.2 * self.half)[None], steps, -1)
        if (beside > 0).sum() < 0.003 * self.seen.filled.sum():
            return None
        row, column = np.unravel_index(int(beside.argmax()), beside.shape)
        line = way(steps, (int(row), int(column)), width=0.07 * self.height)
        start = np.array([[self.shoulder, self.middle + sign * outward]])
        line = np.concatenate([start, line[sign * (line[:, 1] - self.middle) > outward]])
        whole = length(line)
        if whole < _SHORTEST_ARM * self.height or len(line) < 3:
            return None
        return line

    def _without_legs_and_head(self) -> Mask:
        region = self.seen.filled.copy()
        region[self.neck + 1 :] &= ~self._head()[self.neck + 1 :]
        if self.gap is None:
            region[: self.crotch, :] = False
            return region
        wide, rows = 1.3 * self._leg_width, self.gap.rows
        for row in range(self.bottom, self.crotch):
            nearest = int(np.clip(row - rows[0], 0, len(rows) - 1))
            edge = self.gap.edges[nearest]
            region[row, max(int(edge[0] - wide), 0) : int(edge[1] + wide)] = False
        return region

    def _head(self) -> Mask:
        """What is above the neck and goes on from it."""
        above = self.seen.filled.copy()
        above[: self.neck + 1] = False
        seeds = np.zeros_like(above)
        run = self.seen.run_at(min(self.neck + 2, self.top - 1), self.middle)
        if run is not None:
            seeds[self.neck + 1 : self.neck + 4, run[0] : run[1]] = True
        return reached(above, seeds) >= 0
