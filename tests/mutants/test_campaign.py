"""The harness that breaks lines finds what no test notices, of a package where that is known."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from mutants.area import Area, chosen
from mutants.campaign import Campaign
from mutants.equivalents import Equivalent, complaints, equivalents
from mutants.mutant import Mutant
from mutants.nearness import Nearness, rounds
from mutants.report import report, tally
from mutants.results import Result
from mutants.tree import Tree
from tests.mutants.toy import AREA, ELSEWHERE, GATE, LIMITS, NOTICED, PLAIN, TESTS, UNNOTICED, toy


def campaign(tree: Tree, *, told: list[str] | None = None, minutes: int = 5) -> Campaign:
    lines = [] if told is None else told
    return Campaign(tree, tree.root / "results", timedelta(minutes=minutes), parallel=1, tell=lines.append)


def ran(tree: Tree, *, told: list[str] | None = None) -> list[Result]:
    some = NOTICED | UNNOTICED
    return campaign(tree, told=told).run(
        [each for each in chosen(tree, [AREA], count=100, seed=1) if each[1].after in some]
    )


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tree, list[Result]]:
    tree = toy(tmp_path_factory.mktemp("toy"))
    return tree, ran(tree)


def with_outcome(outcome: str, results: Sequence[Result]) -> set[str]:
    return {each.after for each in results if each.outcome == outcome}


def test_what_no_test_notices_survives_and_nothing_else_does(tried: tuple[Tree, list[Result]]) -> None:
    _, results = tried
    assert with_outcome("killed", results) == NOTICED
    assert with_outcome("survived", results) == UNNOTICED


def test_the_file_itself_is_not_touched(tried: tuple[Tree, list[Result]]) -> None:
    tree, _ = tried
    assert "age >= 18 and member" in (tree.root / GATE).read_text()
    assert not list(tree.root.glob("src/toy/*.orig"))


def test_a_process_that_a_test_starts_has_the_mutant_too(tried: tuple[Tree, list[Result]]) -> None:
    (limit,) = [each for each in tried[1] if each.before == "LIMIT = 3"]
    assert limit.by == f"{TESTS}::test_in_a_process_of_its_own"


def test_what_is_only_called_in_processes_that_a_test_forks_or_starts_is_judged_by_it(
    tried: tuple[Tree, list[Result]],
) -> None:
    assert {each.by for each in tried[1] if each.after in ELSEWHERE} == {f"{TESTS}::test_what_is_called_elsewhere"}


def test_what_an_earlier_test_has_left_to_later_ones_is_judged_by_these_too(tried: tuple[Tree, list[Result]]) -> None:
    """A fixture that lasts remembers what was called for the first of them."""
    (written,) = [each for each in tried[1] if each.after == "return 42"]
    assert written.by == f"{TESTS}::test_reading"


def test_what_nothing_calls_is_judged_by_the_tests_of_its_neighbours(tried: tuple[Tree, list[Result]]) -> None:
    (most,) = [each for each in tried[1] if each.path == LIMITS]
    assert most.by == f"{TESTS}::test_the_most"


def test_a_class_of_which_nothing_is_called_is_judged_by_the_tests_that_name_it(
    tried: tuple[Tree, list[Result]],
) -> None:
    (plain,) = [each for each in tried[1] if each.path == PLAIN]
    assert plain.by == f"{TESTS}::test_the_least"


def test_each_is_judged_by_the_tests_that_call_it(tried: tuple[Tree, list[Result]]) -> None:
    killers = {each.by for each in tried[1] if each.function == "waited" and each.outcome == "killed" and each.by}
    assert killers <= {f"{TESTS}::test_waiting", f"{TESTS}::test_in_a_process_of_its_own"}


def test_results_stand_until_their_file_or_their_tests_change(tried: tuple[Tree, list[Result]], tmp_path: Path) -> None:
    tree, results = tried
    again: list[str] = []
    assert with_outcome("survived", ran(tree, told=again)) == UNNOTICED
    assert again == [f"{len(results)} mutants, {len(results)} of them known"]

    moved = toy(tmp_path)
    assert all(each.stands(moved) for each in results)
    (tmp_path / TESTS).write_text("# another\n" + moved.text(TESTS))
    assert not any(each.stands(Tree(tmp_path)) for each in results)


def test_what_is_called_while_tests_are_loaded_is_loaded_anew(tried: tuple[Tree, list[Result]]) -> None:
    (boards,) = [each for each in tried[1] if each.function == "counted"]
    assert boards.by == f"{TESTS}::test_boards"


def test_a_survivor_is_tried_on_what_has_come_since(tmp_path: Path) -> None:
    tree = toy(tmp_path)
    mutant = Mutant(GATE, "opens", "if age < 0:", "if age <= 0:")
    (lived,) = campaign(tree).run([(AREA, mutant)])
    assert (lived.outcome, list(lived.tests)) == ("survived", [TESTS])
    born = "from toy.gate import opens\n\n\ndef test_born_today() -> None:\n    assert not opens(0, True)\n"
    (tmp_path / "tests/test_born.py").write_text(born)
    told: list[str] = []
    (killed,) = campaign(Tree(tmp_path), told=told).run([(AREA, mutant)])
    assert (killed.outcome, killed.by) == ("killed", "tests/test_born.py::test_born_today")
    assert told[0] == "1 mutants, 0 of them known"


def test_one_that_was_argued_about_is_not_tried_on_what_has_come_since(tmp_path: Path) -> None:
    tree = toy(tmp_path)
    mutant = Mutant(GATE, "opens", "if age < 0:", "if age <= 0:")
    campaign(tree).run([(AREA, mutant)])
    (tmp_path / "tests/test_born.py").write_text("")
    told: list[str] = []
    campaign(Tree(tmp_path), told=told).run([(AREA, mutant)], argued=[mutant.id])
    assert told == ["1 mutants, 1 of them known"]


@pytest.mark.long
def test_all_mutants_of_a_package_are_judged(tmp_path: Path) -> None:
    tree = toy(tmp_path)
    results = campaign(tree).run(chosen(tree, [AREA], count=100, seed=1))
    assert len(results) == len(AREA.mutants(tree)) >= 15
    assert {each.function for each in results if each.outcome == "survived"} == {"opens", "waited", "unseen"}


@pytest.mark.long
def test_a_sample_of_our_own_mutants_is_noticed(tmp_path: Path) -> None:
    """One small area is enough to see that the whole machine runs on this tree."""
    tree = Tree()
    area = Area("uniqueness", ("src/penstock/kernel/uniqueness.py",), 1, ("tests/kernel/test_uniqueness.py",))
    run = Campaign(tree, tmp_path, timedelta(minutes=20))
    results = run.run(chosen(tree, [area], count=12, seed=1))
    assert len(results) == 12
    assert [each for each in results if each.outcome == "killed"]
    text, _ = report(tree, results, equivalents())
    assert tally("uniqueness", results, equivalents()).killed / 12 >= 0.7, text


def test_an_endless_loop_is_noticed(tmp_path: Path) -> None:
    tree = toy(tmp_path)
    endless = Mutant(GATE, "waited", "passed += 1", "pass")
    run = campaign(tree)
    run.grace = timedelta(seconds=1)
    (result,) = run.run([(AREA, endless)])
    assert (result.outcome, result.by) == ("killed", "")
    assert "took more than" in result.why


@pytest.mark.parametrize("broken", [("return age >= 18 and member", "return (member)"), ("if age < 0:", "if False:")])
def test_to_learn_what_tests_reach_takes_no_time_from_the_first_mutant(tmp_path: Path, broken: tuple[str, str]) -> None:
    """No one test notices both of these, so that more than the first is tried."""
    run = campaign(toy(tmp_path))
    run.farthest = timedelta(milliseconds=50)
    (result,) = run.run([(AREA, Mutant(GATE, "opens", *broken))])
    assert result.outcome == "killed"


def test_without_time_nothing_is_said_of_a_mutant(tmp_path: Path) -> None:
    tree = toy(tmp_path)
    assert campaign(tree, minutes=0).run(chosen(tree, [AREA], count=5, seed=1)) == []


def test_survivors_are_told_with_their_line_unless_they_are_argued_about(tried: tuple[Tree, list[Result]]) -> None:
    tree, results = tried
    text, sound = report(tree, results, {})
    assert not sound
    assert f"{GATE}:14 opens: comparison flipped" in text
    assert "  - if age < 0:\n  + if age <= 0:" in text
    lived = [each for each in results if each.outcome == "survived"]
    known = {each.id: Equivalent(each.mutant, "nobody is of no age at all") for each in lived}
    text, sound = report(tree, results, known)
    assert sound
    assert text.splitlines()[-1].split()[-2:] == [str(len(lived)), "100.0%"]
    assert complaints(tree, known) == []


def test_an_argument_about_a_line_that_is_gone_or_that_is_none_is_found(tmp_path: Path) -> None:
    tree = toy(tmp_path)
    gone = Equivalent(Mutant(GATE, "opens", "if age < 1:", "if age <= 1:"), "nobody is of no age at all")
    empty = Equivalent(Mutant(GATE, "opens", "if age < 0:", "if age <= 0:"), "equivalent")
    found = complaints(tree, {"1": gone, "2": empty})
    assert found[0] == f"{GATE}: opens no longer has 'if age < 1:'"
    assert "'equivalent' is no reason" in found[1]


def test_the_nearest_files_come_first_then_twice_as_many() -> None:
    mutant = Mutant("src/penstock/kernel/lease.py", "take", "a", "b")
    files = ["tests/kernel/test_pages.py", "tests/kernel/test_lease.py", "tests/work/test_tasks.py"]
    assert Nearness(Tree(), files).order(mutant, files)[0] == "tests/kernel/test_lease.py"
    assert list(rounds("abcdefg")) == [["a", "b"], ["c", "d", "e", "f"], ["g"]]
