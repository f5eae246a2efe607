"""A campaign: many mutants, each judged by the tests that reach it, for as long as there is time."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from mutants.area import Area
from mutants.judge import Judge, judge
from mutants.mutant import Gone, Mutant
from mutants.results import Result, Results, result
from mutants.tree import Tree
from mutants.trial import TrialBroken


@dataclass
class Campaign:
    """What is tried on a tree, and where its results are kept."""

    tree: Tree
    folder: Path
    budget: timedelta
    parallel: int = 2
    farthest: timedelta = timedelta(seconds=60)
    grace: timedelta = timedelta(seconds=10)
    tell: Callable[[str], None] = lambda line: None

    def run(self, mutants: Sequence[tuple[Area, Mutant]], *, argued: Collection[str] = ()) -> list[Result]:
        """Judge them; those are missing for which there was no time. Of the `argued` ones once is enough."""
        self._until = time.monotonic() + self.budget.total_seconds()
        self._results = Results(self.folder / "results.jsonl")
        left = [each for each in mutants if not self._is_known(*each, argued)]
        left.sort(key=lambda each: each[1].id in argued)  # of which most will live
        self.tell(f"{len(mutants)} mutants, {len(mutants) - len(left)} of them known")
        with ThreadPoolExecutor(self.parallel) as threads:
            list(threads.map(self._judge, self._parts(left)))
        return [found for _, each in mutants if (found := self._results.about(each, self.tree))]

    def _is_known(self, area: Area, mutant: Mutant, argued: Collection[str]) -> bool:
        found = self._results.about(mutant, self.tree)
        files = () if mutant.id in argued else area.test_files(self.tree)
        return found is not None and found.stands(self.tree, files)

    def _parts(self, left: Sequence[tuple[Area, Mutant]]) -> list[tuple[Area, list[Mutant]]]:
        """Area by area, since their tests are collected together; those that hurt most first."""
        found: dict[Area, list[Mutant]] = {}
        for area, mutant in sorted(left, key=lambda each: -each[0].weight):
            found.setdefault(area, []).append(mutant)
        cuts = self.parallel if len(found) < self.parallel else 1
        return [(area, some[number::cuts]) for area, some in found.items() for number in range(min(cuts, len(some)))]

    def _judge(self, part: tuple[Area, list[Mutant]]) -> None:
        area, mutants = part
        if time.monotonic() > self._until:
            return
        with judge(self.tree, area, self.folder / "reach", farthest=self.farthest, grace=self.grace) as judging:
            for mutant in mutants:
                if time.monotonic() > self._until:
                    break
                try:
                    self._keep(judging, mutant)
                except (TrialBroken, Gone, OSError) as broken:
                    self.tell(f"not judged: {mutant.path}: {mutant}  ({broken})")

    def _keep(self, judging: Judge, mutant: Mutant) -> None:
        before = self._results.about(mutant, self.tree)
        but = before.unchanged(self.tree) if before is not None else []
        verdict, files = judging.verdict(mutant, but=but)
        self._results.keep(result(self.tree, judging.area.name, mutant, verdict, [*but, *files]))
        why = f"  ({verdict.why})" if verdict.why else ""
        self.tell(f"{verdict.outcome:<9} {verdict.seconds:5.1f} s  {mutant.path}: {mutant}{why}")
