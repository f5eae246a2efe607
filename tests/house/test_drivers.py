"""Each third-party driver is imported in the folders that the one table names for it, and nowhere else."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator

from tests.house.rooms import ROOT, SOURCE
from tests.house.statements import statements

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOUNDATIONS: list[str] = PROJECT["tool"]["penstock"]["foundations"]
"What every room is built of."
DRIVERS: dict[str, list[str]] = PROJECT["tool"]["penstock"]["drivers"]


def test_every_third_party_package_stands_in_the_table() -> None:
    assert {package for _, package in third_party()} - DRIVERS.keys() - {*FOUNDATIONS} == set()


def test_no_driver_is_imported_outside_its_folders() -> None:
    strays = [
        f"{place} imports {package}, which is for {', '.join(DRIVERS[package])}"
        for place, package in third_party()
        if package in DRIVERS and not any(_within(place, folder) for folder in DRIVERS[package])
    ]
    assert strays == []


def test_the_table_names_nothing_that_is_not_used() -> None:
    used = {
        (package, folder)
        for place, package in third_party()
        for folder in DRIVERS.get(package, ())
        if _within(place, folder)
    }
    assert {(package, folder) for package, folders in DRIVERS.items() for folder in folders} == used


def _within(place: str, folder: str) -> bool:
    return f"{place}/".startswith(f"{folder}/")


def third_party() -> Iterator[tuple[str, str]]:
    """Each import of a package that is neither ours nor Python's, and the file it stands in.

    Of Python's own, those that open databases and connections are drivers too.
    """
    for path in sorted(SOURCE.rglob("*.py")):
        for name in (name for written in statements(path).imports for name in written.modules):
            package = name.partition(".")[0]
            if package in OPENING or (package not in sys.stdlib_module_names and package != "penstock"):
                yield path.relative_to(SOURCE).as_posix(), package


OPENING = {"sqlite3", "http", "smtplib", "ftplib"}
"Modules of Python that open files of a database, or connections."
