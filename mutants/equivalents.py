"""Mutants that change nothing anybody could notice, each with the reason why."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from mutants.mutant import Gone, Mutant
from mutants.tree import Tree

EQUIVALENTS = Path(__file__).parent / "equivalents.toml"
_SHORTEST = 20


@dataclass(frozen=True)
class Equivalent:
    """One of them."""

    mutant: Mutant
    reason: str


def equivalents(path: Path = EQUIVALENTS) -> dict[str, Equivalent]:
    """By the mutant's id."""
    told = tomllib.loads(path.read_text()).get("equivalent", []) if path.exists() else []
    found = [
        Equivalent(
            Mutant(each["file"], each["function"], each["before"], each["after"], nth=each.get("nth", 0)),
            each["reason"],
        )
        for each in told
    ]
    return {each.mutant.id: each for each in found}


def complaints(tree: Tree, known: dict[str, Equivalent]) -> list[str]:
    """Those that argue about a line that is gone, or do not argue."""
    found = []
    for each in known.values():
        if len(each.reason) < _SHORTEST:
            found.append(f"{each.mutant}: {each.reason!r} is no reason")
        try:
            each.mutant.applied(tree.text(each.mutant.path))
        except (Gone, FileNotFoundError) as gone:
            found.append(str(gone))
    return found
