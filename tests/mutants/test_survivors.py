"""Lines that were once broken and nobody noticed are noticed ever since."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from mutants.runner import TestRunner
from mutants.survivors import Survivor, complaints, survivors
from mutants.tree import Tree
from mutants.trial import Outcome, Trial


@pytest.fixture(scope="module")
def runner() -> Iterator[TestRunner]:
    opened = TestRunner(Tree())
    yield opened
    opened.close()


def test_each_has_its_line_and_its_test() -> None:
    assert complaints(Tree(), survivors()) == []


def test_one_without_its_line_or_its_test_is_complained_about() -> None:
    one = next(iter(survivors().values()))
    elsewhere = replace(one, mutant=replace(one.mutant, before="no such line"))
    unnamed = replace(one, test=f"{one.test}_or_another")
    assert "no such line" in complaints(Tree(), {one.name: elsewhere})[0]
    assert complaints(Tree(), {one.name: unnamed}) == [f"{one.name}: there is no test {unnamed.test}"]


@pytest.mark.long
@pytest.mark.parametrize("survivor", survivors().values(), ids=survivors())
def test_its_test_notices_when_it_is_broken_again(survivor: Survivor, runner: TestRunner) -> None:
    verdict = Trial(Tree(), runner, survivor.engine).run(survivor.mutant, [survivor.test], seconds=120)
    assert verdict.outcome is Outcome.KILLED, survivor
    assert "::" in verdict.by, "it was noticed by the test, and not when it was loaded"
