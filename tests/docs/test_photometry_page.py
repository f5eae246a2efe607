"""The page about photometry says what is so: its program runs, and its tables are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.astronomy.photometry.band import BANDS
from penstock.astronomy.photometry.photometry_hints import PhotometryHints
from penstock.astronomy.photometry.unit import KNOWN_UNITS
from tests.docs.printed import run_page

PAGE = Path(__file__).parents[2] / "docs" / "photometry.md"
SOURCES = Path(__file__).parents[2] / "src" / "penstock" / "astronomy" / "photometry"
WORDS = {
    "QUARANTINED": "quarantined",
    "TERMINAL_INVALID": "terminal",
    "RETRYABLE_ERROR": "retryable",
}


def section(title: str) -> str:
    return PAGE.read_text().split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def rows(title: str) -> list[list[str]]:
    lines = [line for line in section(title).splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_program_of_the_page_runs_and_gives_what_it_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(PAGE)


def test_the_table_of_codes_has_each_code_that_the_source_gives_with_its_verdict() -> None:
    source = "\n".join(path.read_text() for path in sorted(SOURCES.glob("*.py")))
    given: dict[str, set[str]] = {}
    for verdict, code in re.findall(r"refused\(\s*FileVerdict\.(\w+),\s*\"([A-Z_]+)\"", source):
        given.setdefault(code, set()).add(WORDS[verdict])
    for verdict, code in re.findall(r"FileVerdict\.(\w+), FileFinding\(\s*\"([A-Z_]+)\"", source):
        given.setdefault(code, set()).add(WORDS[verdict])
    for verdict, code in re.findall(r"\(FileVerdict\.(\w+), \"([A-Z_]+)\"\)", source):
        given.setdefault(code, set()).add(WORDS[verdict])
    for code in re.findall(r"(?<!, )FileFinding\(\s*\"([A-Z_]+)\"", source):
        given.setdefault(code, {"retryable" if code == "MACHINE_FAILURE" else "quarantined"})
    told = {row[0].strip("`"): set(row[1].split(" or ")) for row in rows("Codes")}
    assert told == given


def test_the_tables_of_bands_and_units_and_hints_are_those_of_the_code() -> None:
    assert {row[0].strip("`"): row[1] for row in rows("Bands")} == BANDS
    units = section("Times, values, limits").split("Units:", 1)[1]
    assert re.findall(r"`([^`]+)`", units) == list(KNOWN_UNITS)
    hints = section("Tickets").split("`hints`", 1)[1]
    assert set(re.findall(r"`([a-z_]+)`", hints)) == set(PhotometryHints.__dataclass_fields__)


def test_the_table_of_forms_has_each_form_that_the_source_gives() -> None:
    source = "\n".join(path.read_text() for path in sorted(SOURCES.glob("*.py")))
    told = {form for row in rows("What is recognised") for form in re.findall(r"`([a-z_]+)`", row[0])}
    for form in told:
        assert f'"{form}"' in source or form.startswith("aavso_")
    assert told == {"ticket", "hints", "aavso_extended", "aavso_visual", "aavso_download", "names", "votable"}
