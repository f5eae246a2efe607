"""Two packages of three modules with tests of their own: which of its mutants survive is known."""

from __future__ import annotations

from pathlib import Path

from mutants.area import Area
from mutants.tree import Tree

_SOURCE = '''
"""A gate."""

LIMIT = 3


def counted() -> int:
    return 7


BOARDS = counted()


def opens(age: int, member: bool) -> bool:
    if age < 0:
        raise ValueError(age)
    return age >= 18 and member


def waited(times: int) -> int:
    passed = 0
    while passed < times:
        passed += 1
    return passed


def unseen(word: str) -> str:
    return word or "nothing"


def forked() -> int:
    return 11


def started() -> int:
    return 21


def rare() -> int:
    return 31


def written() -> int:
    return 41
'''
_LIMITS = """
MOST = 5
"""
_PLAIN = """
class Plain:
    least = 1
"""
_TESTS = """
import os
import subprocess
import sys

import pytest

from toy.gate import BOARDS, opens, waited
from toy.limits import MOST
from plain.values import Plain


def test_members_of_age() -> None:
    assert opens(18, True)
    assert not opens(18, False)
    assert not opens(17, True)


def test_nobody_is_younger_than_nothing() -> None:
    with pytest.raises(ValueError):
        opens(-1, True)


def test_boards() -> None:
    assert not opens(10 + BOARDS, True)


def test_waiting() -> None:
    assert waited(2) == 2


def test_in_a_process_of_its_own() -> None:
    assert waited(0) == 0
    told = "import sys; sys.path.append('src'); from toy.gate import LIMIT; print(LIMIT)"
    assert subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout == "3\\n"


@pytest.mark.parametrize("member", [True, False])
def test_one_variant_alone_calls_it(member: bool) -> None:
    from toy.gate import rare
    assert opens(18, member) or rare() == 31


@pytest.fixture(scope="module")
def book():
    return {}


def page(book):
    from toy.gate import written
    return book["page"] if "page" in book else book.setdefault("page", written())


def test_opening(book) -> None:
    assert page(book)


def test_reading(book) -> None:
    assert page(book) == 41


def test_the_most() -> None:
    assert opens(18, True) and MOST == 5


def test_the_least() -> None:
    assert Plain.least == 1


def test_what_is_called_elsewhere() -> None:
    from toy.gate import forked
    child = os.fork()
    if child == 0:
        os._exit(forked())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 11
    told = "import sys; sys.path.append('src'); from toy.gate import started; sys.exit(started())"
    assert subprocess.run([sys.executable, "-c", told]).returncode == 21
"""
_SETTINGS = '[tool.pytest.ini_options]\npythonpath = ["src"]\nmarkers = ["long"]\naddopts = "--import-mode=importlib"\n'
GATE, LIMITS, PLAIN = "src/toy/gate.py", "src/toy/limits.py", "src/plain/values.py"
TESTS = "tests/test_gate.py"
AREA = Area("toy", ("src/toy", "src/plain"), 1, ("tests",), engines="")
ELSEWHERE = {"return 12", "return 22"}
NOTICED = {
    *("LIMIT = 4", "return 8", "return (member)", "passed = 1", "while passed <= times:", "if False:"),
    "return 32",
    "return 42",
    "MOST = 6",
    "least = 2",
    *ELSEWHERE,
}
UNNOTICED = {
    "if age <= 0:",  # nobody has tried 0
    "passed += 2",  # nor a number that is odd
    "return (word)",  # nor this at all
}
"Some of its lines as they are broken."


def toy(folder: Path) -> Tree:
    """The package in a folder."""
    texts = {GATE: _SOURCE, LIMITS: _LIMITS, PLAIN: _PLAIN, TESTS: _TESTS, "pyproject.toml": _SETTINGS}
    texts |= {"src/toy/__init__.py": "", "src/plain/__init__.py": ""}
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text.lstrip())
    return Tree(folder)
