"""A newcomer finds the room of any line from the tree alone, and each room reaches only the rooms below it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.house.rooms import ROOT, SOURCE, cycles, drawing, floors, imports, modules, reach, room_of

FLOOR = {room: number for number, floor in enumerate(floors()) for room in floor}
OUTSIDE = {"", "__main__"}
"The package itself, which only gives names on, and the door for ``python -m penstock``."


def test_no_room_reaches_one_above_it_or_beside_it() -> None:
    upwards = [
        f"{each.importer}:{each.line} imports {each.imported}"
        for each in imports()
        if not OUTSIDE & {*each.rooms}
        and each.rooms[0] != each.rooms[1]
        and FLOOR[each.rooms[1]] <= FLOOR[each.rooms[0]]
    ]
    assert upwards == []


def is_upwards(room: str, other: str) -> bool:
    return room != other and FLOOR[other] <= FLOOR[room]


def test_no_room_below_the_doors_takes_names_from_the_package_itself() -> None:
    """Whoever imports ``penstock`` imports all of it."""
    doors = {"cli", "web", "testing", "domains"}
    assert [each for each in imports() if each.imported == "penstock" and room_of(each.importer) not in doors] == []


def test_there_is_no_way_back() -> None:
    assert cycles(reach()) == []


def test_imports_for_types_alone_are_few_and_say_why() -> None:
    found = [each for each in imports() if each.for_types]
    assert [f"{each.importer}:{each.line}" for each in found if not each.why] == []
    assert len({(each.importer, each.line) for each in found}) <= 5


def test_every_module_lies_in_a_room() -> None:
    loose = {m for m, path in modules().items() if path.parent == SOURCE} - {"penstock", "penstock.__main__"}
    assert loose == {"penstock.errors", "penstock.plugin"}


def test_the_contracts_are_few_and_make_no_exceptions() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    assert text.count("[[tool.importlinter.contracts]]") <= 6
    assert "ignore_imports" not in text


def test_the_page_on_architecture_shows_the_drawing() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert drawing() in page, "draw it anew: python -m tests.house.rooms"


def test_nothing_outside_the_domains_knows_one_by_name() -> None:
    names = sorted(folder.name for folder in (SOURCE / "domains").iterdir() if (folder / "__init__.py").exists())
    word = re.compile(rf"\b(?:penstock\.domains\.\w+|{'|'.join(n for n in names if n not in AMBIGUOUS)})\b")
    knowing = [
        f"{path.relative_to(SOURCE)}:{number}: {line.strip()}"
        for path in sorted(SOURCE.rglob("*"))
        if path.suffix in (".py", ".toml", ".html", ".js") and path.relative_to(SOURCE).parts[0] != "domains"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if word.search(line)
    ]
    assert knowing == []


AMBIGUOUS = {"novae", "speech", "videos"}
"Domains whose names are also plain words, which astronomy, media and texts need."


# Would they notice?


@pytest.fixture
def house(tmp_path: Path) -> Path:
    source = tmp_path / "penstock"
    for room in ("work", "kernel"):
        (source / room).mkdir(parents=True)
        (source / room / "__init__.py").write_text("")
    (source / "__init__.py").write_text("")
    return source


def test_an_import_for_types_is_an_edge_and_a_way_back_is_found(house: Path) -> None:
    (house / "work" / "task.py").write_text("from penstock.kernel import store\n")
    (house / "kernel" / "store.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from penstock.work.task import Task\n"
    )
    (only,) = [each for each in imports(house) if each.for_types]
    assert (only.importer, only.imported, only.why) == ("penstock.kernel.store", "penstock.work.task", "")
    assert cycles(reach(house)) == [["kernel", "work"]]


def test_an_import_within_a_function_is_an_edge(house: Path) -> None:
    (house / "kernel" / "store.py").write_text("def f():\n    # late: it is rarely needed\n    import penstock.work\n")
    (only,) = imports(house)
    assert only.rooms == ("kernel", "work")
    assert only.why == "late: it is rarely needed"
