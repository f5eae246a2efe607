"""Types are checked before anything runs: mypy finds every mistake in `typing_tests`, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mypy import api

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "typing_tests"
_FOUND = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+): error: .*\[(?P<code>[a-z-]+)\]$")
_EXPECTED = re.compile(r"# E: (?P<codes>[a-z -]+)$")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], set[str]]:
    """What mypy finds, by file and line."""
    config = tmp_path_factory.mktemp("mypy") / "mypy.ini"
    config.write_text(
        f"[mypy]\nstrict = True\npython_version = 3.11\nmypy_path = {ROOT}:{ROOT / 'src'}\n"
        f"explicit_package_bases = True\nnamespace_packages = True\n"
    )
    files = sorted(str(f) for f in FOLDER.glob("*.py"))
    cache = ["--cache-dir", str(config.parent / "cache")]
    out, errors, _ = api.run(["--config-file", str(config), *cache, "--no-error-summary", *files])
    assert not errors, errors
    mistakes: dict[tuple[str, int], set[str]] = {}
    for line in out.splitlines():
        if match := _FOUND.match(line):
            mistakes.setdefault((Path(match["file"]).name, int(match["line"])), set()).add(match["code"])
        else:
            assert ": note: " in line, line
    return mistakes


def _lines(name: str) -> list[tuple[int, str]]:
    return list(enumerate((FOLDER / name).read_text().splitlines(), start=1))


@pytest.mark.parametrize("name", ["model.py", "right.py"])
def test_correct_code_passes(found: dict[tuple[str, int], set[str]], name: str) -> None:
    assert {place: codes for place, codes in found.items() if place[0] == name} == {}


def test_every_mistake_is_found_where_it_is(found: dict[tuple[str, int], set[str]]) -> None:
    for number, line in _lines("wrong.py"):
        codes = found.get(("wrong.py", number), set())
        expected = _EXPECTED.search(line)
        if expected is None:
            assert not codes, f"line {number} is right, but mypy finds {codes}: {line}"
        else:
            assert codes, f"line {number} is a mistake that mypy does not find: {line}"
            assert codes <= set(expected["codes"].split()), f"line {number}: {codes}: {line}"


def test_there_is_a_mistake_of_each_kind() -> None:
    text = (FOLDER / "wrong.py").read_text()
    kinds = re.findall(r"^def (\w+)", text, flags=re.MULTILINE)
    assert kinds == [
        "a_wrong_constructor_type",
        "an_unknown_field",
        "a_wrong_key_part",
        "a_wrong_update_value",
        "an_unknown_name_in_a_pattern",
        "a_wrong_choice_of_fields",
        "a_wrong_type_in_a_condition",
        "a_wrong_move",
    ]
