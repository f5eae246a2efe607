"""Lines that were once broken and nobody noticed: for each, the test that has noticed it since."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mutants.mutant import Gone, Mutant
from mutants.tree import Tree

SURVIVORS = Path(__file__).parent / "survivors.toml"
_INHERITED = "src/penstock/testing"
"Where tests stand that others take over."


@dataclass(frozen=True)
class Survivor:
    """One of them, and what it would break."""

    name: str
    breaks: str
    "What became of records, or of whom, while nobody noticed."
    test: str
    engine: str
    mutant: Mutant


def survivors(path: Path = SURVIVORS) -> Mapping[str, Survivor]:
    """By name, as they stand in the file."""
    return {name: _survivor(name, told) for name, told in tomllib.loads(path.read_text()).items()}


def _survivor(name: str, told: Mapping[str, str]) -> Survivor:
    mutant = Mutant(told["file"], told["function"], told["before"], told["after"], nth=int(told.get("nth", 0)))
    return Survivor(name, told["breaks"], told["test"], told.get("engine", "sqlite"), mutant)


def complaints(tree: Tree, known: Mapping[str, Survivor]) -> list[str]:
    """Those whose line or test is gone."""
    found = []
    for each in known.values():
        file, _, test = each.test.partition("::")
        places = [file, *tree.files(_INHERITED)] if (tree.root / file).is_file() else []
        if not any(f"def {test.rpartition('::')[2]}(" in tree.text(place) for place in places):
            found.append(f"{each.name}: there is no test {each.test}")
        try:
            each.mutant.applied(tree.text(each.mutant.path))
        except (Gone, FileNotFoundError) as gone:
            found.append(f"{each.name}: {gone}")
    return found
