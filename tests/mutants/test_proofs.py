"""What is recorded to prove the requirements: ids, tests and lines are there, and each broken line is noticed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mutants.likeness import Likeness, told, words
from mutants.mutant import ROOT, Mutant
from mutants.proofs import Proof, Record, complaints, record, written
from mutants.proofs_found import PAGE
from mutants.proving import LOADED
from mutants.requirements import STATEMENTS, ids, named_ids, naming_tests
from mutants.requirements_page import requirements_page
from mutants.runner import TestRunner
from mutants.tree import Tree
from mutants.trial import Outcome, Trial

LIST = ROOT.parent / "shared" / "requirements.md"


@pytest.fixture(scope="module")
def tree() -> Tree:
    return Tree()


def test_a_test_names_every_id(tree: Tree) -> None:
    tests = naming_tests(tree)
    assert [each for each in ids() if each not in tests and each not in record().prose] == []


def test_the_record_speaks_of_ids_tests_and_lines_that_there_are(tree: Tree) -> None:
    assert complaints(tree, record()) == []


def test_the_page_is_made_from_the_record() -> None:
    """Write it anew with: python -m mutants.requirements_page > docs/reference/requirements.md."""
    assert PAGE.read_text() == requirements_page(record())


def test_a_record_comes_back_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "proofs.toml").write_text(written(record()))
    assert record(tmp_path / "proofs.toml") == record()


@pytest.mark.realdata
def test_the_ids_are_those_of_the_list() -> None:
    if not LIST.exists():
        pytest.skip("the list of requirements is not here")
    assert set(told(LIST.read_text())) == set(ids())


def test_what_is_gone_is_complained_about(tree: Tree) -> None:
    proof = next(iter(record().proofs.values()))
    wrong = Record(
        {
            "MV-999": replace(proof, id="MV-999"),
            "MV-1": replace(proof, id="MV-1", test="tests/test_nothing.py::test_nothing"),
            "MV-2": Proof("MV-2", naming_tests(tree)["MV-2"][0], Mutant(proof.mutant.path, "", "no such line", "")),
        },
        {},
    )
    found = complaints(tree, wrong)
    assert "MV-999: there is no such requirement" in found
    assert "MV-1: tests/test_nothing.py::test_nothing is no test that names it" in found
    assert any(each.startswith("MV-2:") and "no such line" in each for each in found)


def test_ids_are_read_with_those_between() -> None:
    assert named_ids("AC-23…AC-25, F-X-9: as it is") == {"AC-23", "AC-24", "AC-25", "F-X-9"}
    assert named_ids("UTF-8 and ISO-8601") == set()
    assert len(ids()) == sum(STATEMENTS.values()) + 66


def test_a_line_is_near_a_requirement_by_rare_words() -> None:
    assert words("sceneCount") == words("scene_count")
    likeness = Likeness(["a scene", "a scene", "a scene count"])
    near = Mutant("x.py", "Project", "scene_count: Count = 0", "scene_count: Count = 1")
    far = Mutant("x.py", "Project", "scene: str", "scene_other: str")
    assert likeness.between(near, "sceneCount default 0") > likeness.between(far, "sceneCount default 0") > 0


@pytest.fixture(scope="module")
def runner(tree: Tree) -> Iterator[TestRunner]:
    opened = TestRunner(tree, loaded=LOADED)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def cold_runner(tree: Tree) -> Iterator[TestRunner]:
    opened = TestRunner(tree)
    yield opened
    opened.close()


@pytest.mark.long
@pytest.mark.parametrize("proof", record().proofs.values(), ids=record().proofs)
def test_the_test_that_names_a_requirement_notices_when_its_line_is_broken(
    proof: Proof, tree: Tree, runner: TestRunner, cold_runner: TestRunner
) -> None:
    chosen = runner if "/domains/" in proof.mutant.path else cold_runner
    engines = "dynoxide" if "/dynamodb/" in proof.test else "sqlite"
    verdict = Trial(tree, chosen, engines).run(proof.mutant, [proof.test], seconds=200)
    assert verdict.outcome is Outcome.KILLED, proof
    assert "::" in verdict.by, "it was noticed by the test, and not when it was loaded"
