"""Draws the rooms of the house and who reaches whom, from the code: ``python -m tests.house.rooms``.

An import that only a type checker makes counts as one: whoever reads the file must know the other all the same.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.house.statements import Written, statements

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "penstock"


@dataclass(frozen=True)
class Import:
    """One module of ours that imports another."""

    importer: str
    imported: str
    line: int
    for_types: bool
    "Made by type checkers alone."
    why: str
    "The comment beside it, or above it."

    @property
    def rooms(self) -> tuple[str, str]:
        return room_of(self.importer), room_of(self.imported)


def room_of(module: str) -> str:
    """The room a module lies in: the part of its name behind ``penstock``."""
    return [*module.split("."), ""][1]


def modules(source: Path = SOURCE) -> dict[str, Path]:
    """Every module and where it is."""
    return {
        ".".join(path.relative_to(source.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in source.rglob("*.py")
    }


def imports(source: Path = SOURCE) -> Iterator[Import]:
    """Every import of one of our modules by another, wherever in the file it stands."""
    known = modules(source)
    for module, path in known.items():
        lines = path.read_text().splitlines()
        for written in statements(path).imports:
            for name in _imported(written, known):
                if name != module:
                    yield Import(module, name, written.line, written.for_types, _why(lines, written.line))


def _imported(written: Written, known: dict[str, Path]) -> Iterator[str]:
    if written.module is None:
        yield from (name for name in written.names if name in known)
    elif written.module in known:
        for name in written.names:
            inner = f"{written.module}.{name}"
            yield inner if inner in known else written.module


def _why(lines: list[str], number: int) -> str:
    """What stands behind an import, or in the lines of comment right above it."""
    _, _, beside = lines[number - 1].partition("#")
    above = lines[number - 2].strip()
    return beside.strip() or (above[1:].strip() if above.startswith("#") else "")


def floors() -> list[list[str]]:
    """The rooms from the top down, as the contract has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    return [floor.split(" | ") for floor in layers]


def reach(source: Path = SOURCE) -> dict[str, dict[str, int]]:
    """Which rooms each room reaches, and by how many imports."""
    found: dict[str, dict[str, int]] = {}
    for each in imports(source):
        above, below = each.rooms
        if above != below and above not in ("", "__main__") and below:
            row = found.setdefault(above, {})
            row[below] = row.get(below, 0) + 1
    return found


def cycles(graph: dict[str, dict[str, int]]) -> list[list[str]]:
    """Ways through the graph that come back to where they began, each once."""
    found: list[list[str]] = []

    def follow(way: list[str]) -> None:
        for room in graph.get(way[-1], {}):
            if room == way[0]:
                found.append(way)
            elif room > way[0] and room not in way:
                follow([*way, room])

    for room in sorted(graph):
        follow([room])
    return found


def drawing() -> str:
    """The floors from the top down, each room with the rooms it reaches."""
    graph = reach()
    width = max(len(room) for floor in floors() for room in floor)
    order = [room for floor in floors() for room in floor]
    lines = []
    for floor in floors():
        for room in floor:
            below = sorted(graph.get(room, {}), key=order.index)
            lines.append(f"{room:<{width}}  → {' '.join(below)}" if below else room)
    return "\n".join(lines)


if __name__ == "__main__":
    print(drawing())
