"""The embedded makers one after the other, as the production line asks them, and the orders they are tried with.

``python -m tests.studio.asset_chain <order> <folder>`` makes one of those orders in a process of its own.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from penstock.domains.assetcreator.asset_studio import asset_makers
from penstock.generation.asset_steps import AssetOrder, Made
from tests.generation.listening_reporter import ListeningReporter
from tests.studio.modelling.drawn import figure, ring

PROVENANCE: dict[str, Any] = {
    "generator": "penstock",
    "prompt": {"core_concept": "Ein Ding — ✓ 忍者", "style": "", "details": ""},
    "seed": 7,
    "steps": [{"step": "text-to-image", "run": 1, "maker": "penstock.concept-artist", "maker_version": "1"}],
}
_LONG = "a very old and very patient guardian of the northern lighthouse, who wears a green coat with golden buttons, "

MODELS: dict[str, AssetOrder] = {
    "ranger": AssetOrder("character", "Space ranger robot with a red scarf", poly_budget=1500),
    "dog": AssetOrder("character", "brown dog with a blue collar", rig="QUADRUPED", poly_budget=2000),
    "sword": AssetOrder("prop", "rusty iron sword", poly_budget=500, quads=True),
    "wizard": AssetOrder("character", "wizard with a grey beard and a blue hat", proportions="chibi", poly_budget=500),
    "knight": AssetOrder(
        "character", "knight in golden armour", proportions="heroic", poly_budget=20_000, quads=True, outline=0.8
    ),
    "horse": AssetOrder("character", "white horse", rig="QUADRUPED", poly_budget=8000, quads=True),
    "dragon": AssetOrder("character", "small green dragon with wings", rig="QUADRUPED", poly_budget=700, seed=3),
    "spider": AssetOrder("character", "giant black spider", rig="QUADRUPED", poly_budget=6000),
    "ghost": AssetOrder("character", "friendly ghost", rig="STATIC", poly_budget=800, style="pastel"),
    "statue": AssetOrder("character", "stone golem", rig="STATIC", poly_budget=1500, quads=True, platform="MOBILE"),
    "zombie": AssetOrder(
        "character", "zombie pirate", style="pixel art", palette=("#223344", "#88aa44", "#ddeecc"), poly_budget=2500
    ),
    "long": AssetOrder("character", (_LONG * 9)[:1000], details=_LONG * 8, style="ink", poly_budget=10_000),
    "ninja": AssetOrder("character", "忍者 赤いマフラー", details="ключ, סייף", poly_budget=4000),
    "shown": AssetOrder("character", "somebody like this", poly_budget=2500, reference=Path("figure.png")),
    "chest": AssetOrder("prop", "wooden treasure chest full of gold", poly_budget=1200, quads=True),
    "potion": AssetOrder("prop", "red potion in a round bottle", platform="MOBILE", poly_budget=700),
    "blade": AssetOrder("prop", "Волшебный меч с рубином", poly_budget=3000),
    "odd": AssetOrder("prop", "!!! ??? <script>alert(1)</script> \u202e 🐉 ' ; DROP", poly_budget=2000),
    "ring": AssetOrder("prop", "ring", poly_budget=900, quads=True, reference=Path("ring.png")),
    "coin": AssetOrder("prop", "golden coin", poly_budget=200),
}
SPRITES: dict[str, AssetOrder] = {
    "fox": AssetOrder("sprite", "orange fox with a green scarf"),
    "slime": AssetOrder("sprite", "slime with a crown", style="pixel art", seed=5),
    "bent": AssetOrder("sprite", "somebody like this", reference=Path("figure.png")),
    "machine": AssetOrder("sprite", "робот 机器人"),
}
BACKGROUNDS: dict[str, AssetOrder] = {
    "canyon": AssetOrder("background", "desert canyon at sunset"),
    "city": AssetOrder("background", "город ночью, city at night", style="dark"),
    "nowhere": AssetOrder("background", "qwertz", palette=("#112233", "#ffcc00")),
}
_REFERENCES = {"figure.png": figure, "ring.png": ring}


@dataclass(frozen=True)
class Chained:
    """What became of an order: a folder for each step."""

    order: AssetOrder
    folder: Path
    metrics: Mapping[str, Mapping[str, Any]]
    "What each step says it has made."

    @cached_property
    def files(self) -> dict[str, Path]:
        """All files by their name, with the step that made them."""
        found = (path for path in sorted(self.folder.rglob("*")) if path.is_file())
        return {str(path.relative_to(self.folder)): path for path in found}


def chained(order: AssetOrder, folder: Path) -> Chained:
    """An order, made from its words to all that goes to whoever asked."""
    makers, told, reporter = asset_makers(lambda name: None), {}, ListeningReporter()

    def made(step: str, make: Callable[[Path], Made]) -> Path:
        into = folder / step
        into.mkdir(parents=True)
        told[step] = make(into).metrics
        return into

    at = made("text-to-image", lambda into: makers.artist.draw(order, into / "concept.png", reporter))
    # Whoever draws has seen the reference; nobody else is shown it.
    order = replace(order, reference=None)
    picture = at / "concept.png"
    last = made("refine", lambda into: makers.refiner.refine(picture, order, into / "refined.png", reporter))
    last /= "refined.png"
    if order.kind in ("character", "prop"):
        refined = last
        mesh = made("3D", lambda into: makers.modeller.model(refined, order, into / "mesh.glb", reporter)) / "mesh.glb"
        at = made("retopo", lambda into: makers.retopologist.retopologise(mesh, order, into, reporter))
        last = low = at / "retopo.glb"
    if order.kind == "character":
        rig = made("rig", lambda into: makers.rigger.rig(low, order, into / "rig.glb", reporter)) / "rig.glb"
        last = made("anim", lambda into: makers.animator.animate(rig, order, into / "anim.glb", reporter)) / "anim.glb"
    exporter = makers.exporters[order.kind]
    made("export", lambda into: exporter.export(last, order, PROVENANCE, into, reporter))
    return Chained(order, folder, told)


def asked_for(name: str, folder: Path) -> AssetOrder:
    """One of the orders, with the picture it refers to."""
    order = {**MODELS, **SPRITES, **BACKGROUNDS}[name]
    if order.reference is None:
        return order
    path = folder / order.reference
    _REFERENCES[path.name]().save(path)
    return replace(order, reference=path)


if __name__ == "__main__":
    _name, _folder = sys.argv[1:]
    Path(_folder).mkdir(parents=True)
    _made = chained(asked_for(_name, Path(_folder)), Path(_folder) / "made")
    print(json.dumps(_made.metrics))
