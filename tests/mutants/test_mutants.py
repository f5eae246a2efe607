"""Mutants are made of the text, found again by it, and chosen by a seed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mutants.__main__ import duration
from mutants.area import areas, chosen
from mutants.candidates import candidates
from mutants.equivalents import complaints, equivalents
from mutants.mutant import Gone, Mutant
from mutants.tree import Tree
from tests.mutants.toy import AREA, toy

FILE = "src/some.py"


def after(source: str, kind: str) -> set[str]:
    """What the lines become that are broken in this way."""
    return {each.after for each in candidates(FILE, source) if each.kind == kind}


@pytest.mark.parametrize(
    ("kind", "line", "broken"),
    [
        ("comparison flipped", "x = a < b", {"x = a <= b"}),
        ("comparison flipped", "x = a not in b", {"x = a in b"}),
        ("condition dropped", "x = a and b", {"x = (a)", "x = (b)"}),
        ("condition turned", "x = not a", {"x = (a)"}),
        ("arithmetic turned", "x = a + b", {"x = a - b"}),
        ("arithmetic turned", 'x = a + "text"', set()),
        ("bound dropped", "x = min(a, b)", {"x = a", "x = b"}),
        ("bound dropped", "x = 0 < a < b", {"x = 0 < a"}),
        ("order dropped", "x = sorted(a)", {"x = list(a)"}),
        ("check or escape dropped", "x = quoted(a)", {"x = a"}),
        ("argument dropped", "save(a, when=b)", {"save(a)"}),
        ("argument dropped", "zip(a, b, strict=c)", set()),
        ("wrong value", "zip(a, b, strict=True)", set()),
        ("wrong value", "x = f(strict=True)", {"x = f(strict=False)"}),
        ("off by one", "x = 3", {"x = 4"}),
        ("lock or order dropped", 'x = "select 1 for share"', {'x = "select 1"'}),
        ("call dropped", "lock.acquire()", {"pass"}),
        ("call dropped", 'log.info("said")', set()),
        ("write dropped", "self.a = 1", {"pass"}),
        ("refusal dropped", "raise ValueError(1)", {"pass"}),
        ("lock dropped", "with lock:\n    a()", {"if True:\n    a()"}),
        ("check dropped", "if a:\n    b()", {"if False:"}),
        ("repetition dropped", "for a in b:\n    a()", {"for a in list(b)[:1]:"}),
        ("repetition dropped", "for a in b:\n    raise a", set()),
        ("repetition dropped", "for a in b:\n    log.info(a)", set()),
        ("wrong value", "x = dataclass(slots=True, frozen=True)", {"x = dataclass(slots=True, frozen=False)"}),
        ("recovery dropped", "try:\n    a()\nexcept E:\n    b()", {"raise"}),
        ("early return", "def f():\n    a()\n    b()", {"return None"}),
        ("answer dropped", "def f():\n    return 1", {"return None"}),
        ("answer dropped", "def f():\n    return False", set()),
        ("off by one", "if TYPE_CHECKING:\n    x = 1", set()),
        ("off by one", "x: Literal[1]", set()),
    ],
)
def test_a_line_is_broken_in_these_ways(kind: str, line: str, broken: set[str]) -> None:
    assert after(line + "\n", kind) == broken


def test_one_of_several_equal_lines_is_broken_and_found_where_it_moves_to() -> None:
    source = "def f():\n    a()\n    a()\n\n\ndef g():\n    a()\n"
    second = next(each for each in candidates(FILE, source) if each.function == "f" and each.nth == 1)
    assert second.applied(source) == "def f():\n    a()\n    pass\n\n\ndef g():\n    a()\n"
    moved = "# above\n\n" + source
    assert second.applied(moved) == "# above\n\ndef f():\n    a()\n    pass\n\n\ndef g():\n    a()\n"
    assert second.line(moved) == 5
    with pytest.raises(Gone, match="f no longer has"):
        second.applied(source.replace("a()", "b()"))


def test_letters_beyond_ascii_do_not_move_a_place() -> None:
    (found,) = [each for each in candidates(FILE, 'x = f("→", 1)\n') if each.kind == "off by one"]
    assert found.after == 'x = f("→", 2)'


def test_a_seed_chooses_the_same_ones_and_another_others(tmp_path: object) -> None:
    tree = toy(tmp_path)  # type: ignore[arg-type]
    first, again, other = (chosen(tree, [AREA], count=5, seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    assert chosen(tree, [AREA], count=3, seed=1) == first[:3]


def test_every_area_is_there_and_has_tests() -> None:
    tree = Tree()
    for area in areas():
        assert area.test_files(tree), area.name
        assert all(tree.files(source) for source in area.sources), area.name


def test_every_argument_is_about_a_line_that_stands() -> None:
    assert complaints(Tree(), equivalents()) == []


def test_an_id_says_what_is_broken_and_not_in_which_way_it_was_found() -> None:
    assert Mutant(FILE, "f", "a", "b", kind="x").id == Mutant(FILE, "f", "a", "b").id != Mutant(FILE, "g", "a", "b").id


def test_a_budget_is_written_with_its_unit() -> None:
    assert [duration("90s"), duration("30m"), duration("8h")] == [
        timedelta(seconds=90),
        timedelta(minutes=30),
        timedelta(hours=8),
    ]
