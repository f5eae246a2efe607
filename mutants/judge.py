"""A judge: tries tests on mutants of one area, the nearest first, and then those farther away."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path

from mutants.area import Area
from mutants.collection import Collection
from mutants.mutant import Mutant
from mutants.nearness import Nearness, rounds
from mutants.reach import Reach, Reached
from mutants.runner import TestRunner
from mutants.tree import Tree
from mutants.trial import Outcome, Trial, Verdict

_ANEW = 3.0
"Seconds that it takes to load everything anew."


@dataclass
class Judge:
    """The tests of an area, collected, and what is known of what they reach."""

    tree: Tree
    area: Area
    collection: Collection
    reach: Reach
    farthest: timedelta = timedelta(seconds=60)
    "How much of the processor a mutant is worth that nobody has noticed so far."
    grace: timedelta = timedelta(seconds=10)
    "What tests may take of the processor beyond three times what they took alone."
    _began: float = field(default=0.0, init=False)

    def verdict(self, mutant: Mutant, *, but: Sequence[str] = ()) -> tuple[Verdict, list[str]]:
        """What becomes of it, and the files that were tried: all `but` those that let it pass before."""
        self._began, self.collection.used = time.monotonic(), 0.0
        files = [each for each in self._files if each not in but]
        judged: list[str] = []
        called = False
        for some in rounds(self._nearness.order(mutant, files)):
            known = [file for file in some if self._learned(file)]
            tests = self.reach.of(mutant, known, early=self.collection.early)
            called = called or bool(tests)
            verdict, all_of_them = self._tried_on(mutant, tests)
            if verdict is not None and verdict.outcome is Outcome.KILLED:
                return self._timed(verdict), [*judged, *known]
            if all_of_them:
                judged += known
            if self._left() <= 0:
                break
        return self._timed(Verdict(Outcome.SURVIVED, why="" if called or but else "no test calls it")), judged

    def _tried_on(self, mutant: Mutant, tests: Sequence[Reached]) -> tuple[Verdict | None, bool]:
        """What becomes of it, and whether there was time for all: one variant of each test first, then the others."""
        ones = self._in_time(tests)
        verdict = self._tried(mutant, ones) if ones else None
        if verdict is not None and verdict.outcome is Outcome.KILLED:
            return verdict, True
        more = [replace(test, test=test.name, seconds=test.others * test.seconds) for test in tests if test.others]
        others = self._in_time(more) if self._left() > 0 else []
        verdict = self._tried(mutant, others) if others else verdict
        return verdict, len(ones) == len(tests) and len(others) == len(more)

    def _learned(self, file: str) -> bool:
        """Whether it is known what the tests of a file reach, or there is time to find out."""
        if self._left() > 0 or self.reach.is_kept(file):
            used = self.collection.used
            self.reach.learn(file, self.collection)
            self.collection.used = used  # what is learned serves all others, and is no trial of this one
        return file in self.reach.known

    def _tried(self, mutant: Mutant, tests: Sequence[Reached]) -> Verdict:
        seconds = 3 * sum(test.seconds for test in tests) + self.grace.total_seconds()
        verdict = self.collection.try_on(mutant, [test.test for test in tests], seconds=seconds)
        if verdict is not None:
            return verdict
        whole = list(dict.fromkeys(test.test.partition("[")[0] for test in tests))  # pytest takes not every name back
        self.collection.used += sum(test.seconds for test in tests) + _ANEW
        return Trial(self.tree, self._runner, self.area.engines).run(mutant, whole, seconds=8 * seconds)

    @cached_property
    def _nearness(self) -> Nearness:
        return Nearness(self.tree, self._files)

    @cached_property
    def _files(self) -> list[str]:
        """Those that were collected: whoever writes tests meanwhile has them tried the next time."""
        return self.area.test_files(self.tree)

    @cached_property
    def _runner(self) -> TestRunner:
        """For what has to be loaded anew."""
        return TestRunner(self.tree)

    def close(self) -> None:
        self.collection.close()
        if "_runner" in self.__dict__:
            self._runner.close()

    def _in_time(self, tests: Sequence[Reached]) -> list[Reached]:
        """As many as there is time for, and the first always."""
        left, found = self._left(), list(tests[:1])
        left -= sum(test.seconds for test in found)
        for test in tests[1:]:
            left -= test.seconds
            if left < 0:
                break
            found.append(test)
        return found

    def _left(self) -> float:
        return self.farthest.total_seconds() - self.collection.used

    def _timed(self, verdict: Verdict) -> Verdict:
        return replace(verdict, seconds=time.monotonic() - self._began)


@contextmanager
def judge(tree: Tree, area: Area, reach: Path, **limits: timedelta) -> Iterator[Judge]:
    """One that is ended afterwards."""
    collection = Collection(tree, area.test_files(tree), area.engines)
    judging = Judge(tree, area, collection, Reach(tree, reach, area.engines), **limits)
    try:
        yield judging
    finally:
        judging.close()
