"""Every long test belongs to one part of `make test-long`, and every part has something that there is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.long_parts import PARTS, main, part_of

ROOT = Path(__file__).parents[2]
BEGINNINGS = [beginning for beginnings in PARTS.values() for beginning in beginnings]


def test_every_test_belongs_to_a_part() -> None:
    files = [str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")]
    assert len(files) > 100
    assert [file for file in files if part_of(file) is None] == []


def test_no_beginning_is_of_two_parts() -> None:
    assert len(set(BEGINNINGS)) == len(BEGINNINGS)


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_what_a_part_names_is_there(beginning: str) -> None:
    path, _, name = beginning.partition("::")
    assert (ROOT / path).exists()
    assert not name or re.search(rf"def {name.partition('[')[0]}\b", (ROOT / path).read_text())


def test_the_most_exact_name_decides() -> None:
    assert part_of("tests/kernel/test_lease.py::test_a") == "kernel"
    assert part_of("tests/kernel/test_histories.py::test_a[1]") == "histories"
    assert part_of("elsewhere/test_a.py") is None


def test_a_part_has_its_own_tests_and_no_others() -> None:
    """Of two files in one folder, each of another part."""
    command = [sys.executable, "-m", "pytest", "-p", "tests.long_parts", "-m", "long", "--collect-only", "-qq"]
    files = ["tests/simulation/test_full_cast.py", "tests/simulation/test_exploration.py"]
    told = subprocess.run([*command, "--part", "full-cast", *files], cwd=ROOT, capture_output=True, text=True)
    assert {line.partition(":")[0] for line in told.stdout.split("\n") if line} == {files[0]}


def test_a_part_that_is_none_is_refused_with_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["films"]) == 2
    told = capsys.readouterr().err
    assert "no part films" in told
    assert all(part in told for part in PARTS)
