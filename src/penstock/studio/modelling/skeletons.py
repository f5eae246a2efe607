"""The skeletons there are: their joints, and which hangs below which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from penstock.studio.modelling.model import Doubles, Skeleton

HUMANOID, QUADRUPED, STATIC = "HUMANOID", "QUADRUPED", "STATIC"
SIDES = ("left", "right")
ENDS = ("Front", "Hind")

Template = Mapping[str, str | None]
"Each joint after its parent, and that parent."


def _humanoid() -> dict[str, str | None]:
    joints: dict[str, str | None] = {"hips": None, "spine": "hips", "chest": "spine", "neck": "chest", "head": "neck"}
    for side in SIDES:
        joints[f"{side}Shoulder"] = "chest"
        joints[f"{side}UpperArm"] = f"{side}Shoulder"
        joints[f"{side}LowerArm"] = f"{side}UpperArm"
        joints[f"{side}Hand"] = f"{side}LowerArm"
    for side in SIDES:
        joints[f"{side}UpperLeg"] = "hips"
        joints[f"{side}LowerLeg"] = f"{side}UpperLeg"
        joints[f"{side}Foot"] = f"{side}LowerLeg"
    return joints


def _quadruped() -> dict[str, str | None]:
    joints: dict[str, str | None] = {"hips": None, "spine": "hips", "chest": "spine", "neck": "chest", "head": "neck"}
    joints |= {"tail": "hips", "tailTip": "tail"}
    for end, parent in zip(ENDS, ("chest", "hips"), strict=True):
        for side in SIDES:
            leg = f"{side}{end}"
            joints |= {f"{leg}UpperLeg": parent, f"{leg}LowerLeg": f"{leg}UpperLeg", f"{leg}Foot": f"{leg}LowerLeg"}
    return joints


TEMPLATES: Mapping[str, Template] = {HUMANOID: _humanoid(), QUADRUPED: _quadruped(), STATIC: {"root": None}}
"By the kind of rig; the names are those that engines know for a humanoid."


@dataclass
class FittedRig:
    """Where the joints of a template are in a body."""

    kind: str
    places: dict[str, Doubles]
    tips: dict[str, Doubles] = field(default_factory=dict)
    "Where the last bones end: the crown of the head, the fingertips, the toes."
    notes: dict[str, bool] = field(default_factory=dict)
    "What those who animate it should know."

    def skeleton(self) -> Skeleton:
        template = TEMPLATES[self.kind]
        names = list(template)
        parents = [-1 if parent is None else names.index(parent) for parent in template.values()]
        return Skeleton(names, parents, np.array([self.places[name] for name in names], dtype=np.float32))

    def bones(self) -> list[tuple[int, Doubles, Doubles]]:
        """Each bone: the joint it turns with, where it begins and where it ends."""
        template = TEMPLATES[self.kind]
        names = list(template)
        found = [
            (names.index(parent), self.places[parent], self.places[name])
            for name, parent in template.items()
            if parent is not None
        ]
        return found + [(names.index(name), self.places[name], tip) for name, tip in self.tips.items()]

    def continued(self) -> list[int]:
        """For each bone the one that leads to it, if it is a limb's last; else itself."""
        ends = list(self._between())
        found = list(range(len(ends)))
        return found + [next((n for n, end in enumerate(ends) if end == name), -1) for name in self.tips]

    def _between(self) -> list[str]:
        """The joints that bones from one joint to another end at."""
        return [name for name, parent in TEMPLATES[self.kind].items() if parent is not None]


def kind_of(names: Sequence[str]) -> str | None:
    """The kind of rig whose joints these are, all of them; None for a skeleton from elsewhere."""
    return next((kind for kind, template in TEMPLATES.items() if set(template) <= set(names)), None)
