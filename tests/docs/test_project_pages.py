"""CONTRIBUTING, CHANGELOG and LICENSE say what is so."""

from __future__ import annotations

import re
import tomllib
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "penstock"
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()

ROOMS = set(re.findall(r"^\| .* \| `(\w+)/", CONTRIBUTING, re.MULTILINE))


def test_every_room_has_a_line_in_the_table() -> None:
    there = {folder.name for folder in SOURCE.iterdir() if (folder / "__init__.py").exists()}
    assert there - ROOMS == set()


def test_every_room_of_the_table_is_there() -> None:
    assert {room for room in ROOMS if not (SOURCE / room).is_dir()} == set()


def test_the_rooms_stand_in_their_order() -> None:
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]["layers"]
    floors = {room: floor for floor, rooms in enumerate(layers) for room in rooms.split(" | ")}
    told = re.findall(r"^\| .* \| `(\w+)(?:/|\.py)", CONTRIBUTING, re.MULTILINE)
    assert [floors[room] for room in told] == sorted(floors[room] for room in told)


def test_every_file_that_a_page_names_is_there() -> None:
    missing = []
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for name in re.findall(r"`((?:[\w-]+/)+[\w-]+\.(?:py|md|toml))`", page.read_text()):
            if not any((place / name).exists() for place in (ROOT, SOURCE, page.parent)):
                missing.append(f"{page.name}: {name}")
    assert missing == []


def test_every_make_target_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = set(re.findall(r"`make ([\w-]+)`", CONTRIBUTING))
    assert {target for target in named if not re.search(rf"^{target}:", makefile, re.MULTILINE)} == set()
    assert named == set(re.findall(r"[\w-]+", re.search(r"\.PHONY: (.*)", makefile)[1])) - {"clean"}  # type: ignore[index]


def test_every_requirement_that_is_named_is_proved() -> None:
    tests = "".join(file.read_text() for file in (ROOT / "tests").rglob("test_*.py") if file != Path(__file__))
    named = set(re.findall(r"\b(?:F-)?[A-Z]{2}-\d+\b", CONTRIBUTING))
    assert named
    assert {each for each in named if not re.search(rf"\b{each}\b", tests)} == set()


def test_the_changelog_is_in_its_form() -> None:
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)[0] == "[Unreleased]"
    assert set(re.findall(r"^### (.*)$", CHANGELOG, re.MULTILINE)) <= kinds


def test_the_license_is_the_one_that_is_declared() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["license"] == "Apache-2.0"
    apache = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    assert sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == apache, "its own text, unchanged"
