"""Somebody who can be filmed: a figure, what it does and what it has in hand; drawn in any moment of that."""

from __future__ import annotations

from dataclasses import dataclass, field

from PIL import Image

from penstock.studio.concept.draft import Anchor, Draft
from penstock.studio.concept.joints import bent, bones
from penstock.studio.concept.painter import Fit, painted
from penstock.studio.concept.poses import MOVEMENTS, posed
from penstock.studio.concept.somebody import Figure
from penstock.studio.drawing.canvas import Point
from penstock.studio.drawing.handheld_things import RIDDEN, Prop, put, reached
from penstock.studio.drawing.pose import CYCLES, MOST_STEPS, STEPS, TRAVELS, pose

_LIVELY = TRAVELS | {"dance", "jump"}
HEAD = 7.7
"Heights of a head in half a mouth's width."


@dataclass(slots=True)
class Puppet:
    """A figure with its movement and props."""

    figure: Figure
    blinking: Draft
    "The same with its eyes closed."
    action: str
    props: tuple[Prop, ...] = ()
    _drafts: dict[tuple[int, bool], Draft] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        return STEPS.get(self.action, MOST_STEPS)

    @property
    def cycle(self) -> float:
        return CYCLES[self.action]

    @property
    def upright(self) -> bool:
        return self.figure.stance == "biped"

    @property
    def grounded(self) -> bool:
        """Is the lowest of it on the ground?"""
        return self.action not in {"fly", "swim"}

    def draft(self, step: int, *, blink: bool = False) -> Draft:
        """A moment of the movement."""
        found = self._drafts.get((step, blink))
        if found is None:
            rest = self.blinking if blink else self.figure.draft
            found = self._drafts[step, blink] = self._moved(rest, step / self.steps)
        return found

    def _moved(self, rest: Draft, part: float) -> Draft:
        hands = self._hands()
        if self.upright:
            limbs = bones(rest)
            bend = pose(self.action, part, limbs)
            for prop, hand in hands:
                bend = reached(bend, rest, limbs, prop, hand)
            moved = bent(rest, bend)
        else:
            moved = posed(rest, MOVEMENTS[self.figure.stance][self.action in _LIVELY](part))
        if self.action == "sit" and self.upright:
            _seat(moved)
        for prop, hand in hands:
            put(moved, rest, prop, hand)
        return moved

    def _hands(self) -> list[tuple[Prop, str]]:
        """Which hand has what: a microphone is in the left, so that the right is free to move."""
        hands, given = ["arm_r", "arm_l"], []
        for prop in self.props:
            if prop.word in RIDDEN:
                given.append((prop, "feet"))
                continue
            wanted = "arm_l" if prop.grip.where.startswith("mouth") else hands[0] if hands else None
            if wanted in hands:
                hands.remove(wanted)
                given.append((prop, wanted))
        return given

    @property
    def mouth(self) -> Anchor:
        """Where the mouth is at rest."""
        return mouth_of(self.figure.draft)

    @property
    def head(self) -> float:
        """Height of the head, in units of the draft."""
        return HEAD * self.mouth.size

    def bounds(self) -> tuple[float, float, float, float]:
        """What all moments take together."""
        every = [self.draft(step).bounds() for step in range(self.steps)]
        lefts, tops, rights, bottoms = zip(*every, strict=True)
        return min(lefts), min(tops), max(rights), max(bottoms)

    def rest(self) -> tuple[float, float, float, float]:
        """What it takes while it stands, without what it holds."""
        return self.figure.draft.bounds()

    def painted(
        self, step: int, scale: float, box: tuple[float, float, float, float], *, blink: bool, fine: int | None = None
    ) -> Image.Image:
        """A moment as a picture of a part of the draft, ``scale`` pixels a unit."""
        left, top, right, bottom = box
        size = (max(round((right - left) * scale), 1), max(round((bottom - top) * scale), 1))
        fine = fine or 2
        return painted(
            self.draft(step, blink=blink),
            size,
            self.figure.finish,
            Fit(scale, -left * scale, -top * scale),
            fine=fine,
        )


def _seat(moved: Draft) -> None:
    """Something to sit on, behind the legs."""
    at, low = moved.anchors.get("seat"), moved.bounds()[3]
    if at is None:
        return
    half, top = at.size * 2.1, at.y + 3
    with moved.behind(-2):
        for x in (-0.72, 0.72):
            moved.block("brown-", at.x + x * half, (top + low) / 2, 2.4, (low - top) / 2, 1)
        moved.block("brown", at.x, top + 2, half, 3, 1.4)


def mouth_of(draft: Draft) -> Anchor:
    """Where a mouth is, or would be."""
    found = draft.anchors.get("mouth")
    if found is not None:
        return found
    face, head = draft.anchors.get("face"), draft.anchors.get("head")
    if face is not None:
        return Anchor(face.x, face.y + 1.3 * face.size, 0.6 * face.size, face.part)
    if head is not None:
        return Anchor(head.x, head.y + 1.4 * head.size, 0.3 * head.size, head.part)
    left, top, right, bottom = draft.bounds()
    return Anchor((left + right) / 2, top + 0.3 * (bottom - top), 0.03 * (bottom - top))


def point_of(anchor: Anchor) -> Point:
    return anchor.x, anchor.y
