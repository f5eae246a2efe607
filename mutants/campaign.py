"""A campaign: many mutants, each judged by the tests that reach it, the nearest first, for as long as there is time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from queue import SimpleQueue
from threading import Lock

from mutants.area import Area
from mutants.mutant import Mutant
from mutants.reach import Reach, Reached
from mutants.results import Result, Results, result
from mutants.runner import TestRunner, runners
from mutants.tree import Tree
from mutants.trial import Outcome, Trial, Verdict

_FIRST, _SECOND = 8.0, 60.0
"Seconds of the nearest tests, which nearly always notice, and of those that come next."


@dataclass
class Campaign:
    """What is tried on a tree, and where its results are kept."""

    tree: Tree
    folder: Path
    budget: timedelta
    parallel: int = 2
    farthest: timedelta = timedelta(minutes=5)
    "How long all tests together may take that judge one mutant."
    grace: timedelta = timedelta(seconds=60)
    "What tests may take beyond three times what they took alone."
    tell: Callable[[str], None] = lambda line: None
    _reaches: dict[str, Reach] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _idle: SimpleQueue[TestRunner] = field(default_factory=SimpleQueue)

    def run(self, mutants: Sequence[tuple[Area, Mutant]]) -> list[Result]:
        """Judge them; those are missing for which there was no time."""
        self._until = time.monotonic() + self.budget.total_seconds()
        self._results = Results(self.folder / "results.jsonl")
        known = [self._results.standing(mutant, self.tree) for _, mutant in mutants]
        left = [each for each, found in zip(mutants, known, strict=True) if found is None]
        self.tell(f"{len(mutants)} mutants, {len(mutants) - len(left)} of them known")
        with runners(self.tree, self.parallel if left else 0) as opened, ThreadPoolExecutor(self.parallel) as threads:
            for each in opened:
                self._idle.put(each)
            self._learn(threads, left)
            judged = list(threads.map(self._judge, left))
        return [each for each in (*known, *judged) if each is not None]

    def _learn(self, threads: ThreadPoolExecutor, left: Sequence[tuple[Area, Mutant]]) -> None:
        """Find out what tests reach, area by area; at most half of the time goes there."""
        half = time.monotonic() + self.budget.total_seconds() / 2
        wanted = dict.fromkeys((area, file) for area, _ in left for file in area.test_files(self.tree))

        def learn(area: Area, file: str) -> None:
            with self._runner() as runner:
                self._reach(area).learn([file], runner, go_on=lambda: time.monotonic() < half)

        list(threads.map(lambda each: learn(*each), wanted))

    def _judge(self, each: tuple[Area, Mutant]) -> Result | None:
        area, mutant = each
        if time.monotonic() > self._until:
            return None
        tests = self._reach(area).of(mutant)
        with self._runner() as runner:
            verdict = self._verdict(Trial(self.tree, runner, area.engines), mutant, tests)
        if verdict.outcome is Outcome.SURVIVED and not self._knows_all(area):
            return None
        found = result(self.tree, area.name, mutant, verdict, [test.file for test in tests])
        self._results.keep(found)
        self.tell(f"{verdict.outcome:<9} {mutant.path}: {mutant}" + (f"  ({verdict.why})" if verdict.why else ""))
        return found

    def _verdict(self, trial: Trial, mutant: Mutant, tests: Sequence[Reached]) -> Verdict:
        if not tests:
            return Verdict(Outcome.SURVIVED, why="no test calls it")
        for stage in stages(tests, farthest=self.farthest.total_seconds()):
            seconds = 3 * sum(test.seconds for test in stage) + self.grace.total_seconds()
            verdict = trial.run(mutant, list(dict.fromkeys(_whole(test) for test in stage)), seconds=seconds)
            if verdict.outcome is Outcome.KILLED:
                return verdict
        return verdict

    def _knows_all(self, area: Area) -> bool:
        """Whether no test is left that might notice."""
        return all(file in self._reach(area).known for file in area.test_files(self.tree))

    def _reach(self, area: Area) -> Reach:
        """Areas that are judged on the same engines know the same."""
        with self._lock:
            if area.engines not in self._reaches:
                self._reaches[area.engines] = Reach(self.tree, self.folder / "reach", area.engines)
            return self._reaches[area.engines]

    @contextmanager
    def _runner(self) -> Iterator[TestRunner]:
        runner = self._idle.get()
        try:
            yield runner
        finally:
            self._idle.put(runner)


def stages(tests: Sequence[Reached], *, farthest: float) -> Iterator[list[Reached]]:
    """The nearest, then more, then all that there is time for."""
    stage: list[Reached] = []
    bounds, passed = [_FIRST, _SECOND], 0.0
    for test in tests:
        if passed + test.seconds > farthest and passed:
            break
        stage.append(test)
        passed += test.seconds
        if bounds and passed >= bounds[0]:
            yield stage
            stage = []
            bounds.pop(0)
    if stage:
        yield stage


def _whole(test: Reached) -> str:
    """The test with all its variants: pytest does not take every name of one back."""
    return test.test.partition("[")[0]
