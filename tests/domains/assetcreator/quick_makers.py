"""Makers that take no time: each writes small files that tell what went into them.

They stand in for whoever draws and models, where a test is about the pipeline.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from penstock.domains.assetcreator.asset_studio import AssetMakers
from penstock.domains.assetcreator.orders import KINDS
from penstock.generation.asset_steps import AssetOrder, Made, StepReporter


class QuickMakers:
    """Everybody at once. What is asked is kept; ``meanwhile`` is called while something is made."""

    name, version = "quick", "1"

    def __init__(self) -> None:
        self.asked: list[tuple[str, AssetOrder]] = []
        self.meanwhile: Callable[[str, AssetOrder], None] = lambda step, order: None
        self.cost: dict[str, float] = {}
        self.differs = False
        "Does it make something else each time it is asked?"

    def makers(self) -> AssetMakers:
        return AssetMakers(self, self, self, self, self, self, dict.fromkeys(KINDS.values(), self))

    def draw(self, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        return self._make("draw", order, into, reporter, concept=order.concept, details=order.details, seed=order.seed)

    def refine(self, picture: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        return self._make("refine", order, into, reporter, of=told(picture))

    def model(self, picture: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        return self._make("model", order, into, reporter, of=told(picture))

    def retopologise(self, mesh: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        if order.quads:
            (into / "retopo.obj").write_text("o quads")
        return self._make("retopo", order, into / "retopo.glb", reporter, of=told(mesh), budget=order.poly_budget)

    def rig(self, mesh: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        return self._make("rig", order, into, reporter, of=told(mesh), rig=order.rig)

    def animate(self, rigged: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        return self._make("anim", order, into, reporter, of=told(rigged))

    def export(
        self, made: Path, order: AssetOrder, provenance: Mapping[str, Any], into: Path, reporter: StepReporter
    ) -> Made:
        name = {"sprite": "sprites.png", "background": "background.png"}.get(order.kind, "asset.glb")
        (into / "thumbnail.png").write_text("thumbnail")
        return self._make("export", order, into / name, reporter, of=told(made), provenance=dict(provenance))

    def _make(self, step: str, order: AssetOrder, into: Path, reporter: StepReporter, **history: Any) -> Made:
        self.asked.append((step, order))
        reporter.progress(0.5, "half way")
        self.meanwhile(step, order)
        turn = {"turn": len(self.asked)} if self.differs else {}
        into.write_text(json.dumps({"step": step, **turn, **history}))
        return Made(cost=self.cost.get(step), metrics={"faces": 12})


def told(path: Path) -> Any:
    """What is written in a file that was made here."""
    return json.loads(path.read_text())
