"""Areas of the source: how much each weighs, and whose tests judge it."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path

from mutants.candidates import candidates
from mutants.mutant import Mutant
from mutants.tree import Tree

AREAS = Path(__file__).parent / "areas.toml"
_SELDOM = {"answer dropped": 0.3, "early return": 0.3, "off by one": 0.5, "wrong value": 0.5, "condition turned": 0.6}
"Kinds that nearly every test notices, or hardly any has to."
_OFTEN = {"lock dropped": 4.0, "lock or order dropped": 4.0, "argument dropped": 2.0, "recovery dropped": 2.0}


@dataclass(frozen=True)
class Area:
    """Some folders of the source."""

    name: str
    sources: tuple[str, ...]
    weight: float
    tests: tuple[str, ...]
    engines: str = "sqlite"
    "Those that its tests run on; every one where nothing is said."

    def mutants(self, tree: Tree) -> list[Mutant]:
        """All that it has."""
        files = [file for source in self.sources for file in tree.files(source)]
        return [mutant for file in files for mutant in candidates(file, tree.text(file))]

    def test_files(self, tree: Tree) -> list[str]:
        """The files that may judge it, the nearest first."""
        return list(dict.fromkeys(file for folder in self.tests for file in tree.files(folder, "test_*.py")))


def areas(path: Path = AREAS) -> list[Area]:
    """As the table has them."""
    told = tomllib.loads(path.read_text())["area"]
    return [Area(**{**each, "sources": tuple(each["sources"]), "tests": tuple(each["tests"])}) for each in told]


def chosen(tree: Tree, among: Sequence[Area], *, count: int, seed: int) -> list[tuple[Area, Mutant]]:
    """So many mutants, each area's share by its weight: the same ones for a seed as long as their text stands."""
    ranked = [
        (_rank(mutant, area.weight / max(1, len(found)), seed), number, area, mutant)
        for number, area in enumerate(among)
        for found in [area.mutants(tree)]
        for mutant in found
    ]
    ranked.sort(key=lambda each: (each[0], each[3].id))
    taken: list[tuple[Area, Mutant]] = []
    for _, _, area, mutant in ranked:
        if len(taken) == count:
            break
        if mutant.is_python(tree.text(mutant.path)):
            taken.append((area, mutant))
    return taken


def _rank(mutant: Mutant, weight: float, seed: int) -> float:
    """Small for what is chosen first: a draw without putting back, in which each has a weight."""
    digest = hashlib.sha256(f"{seed}:{mutant.id}".encode()).digest()
    drawn = (int.from_bytes(digest[:8], "big") + 1) / 2**64
    often = _SELDOM.get(mutant.kind, _OFTEN.get(mutant.kind, 1.0))
    return -log(drawn) / (weight * often)
