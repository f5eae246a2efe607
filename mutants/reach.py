"""Which tests reach which function, found out by running them once: a test file anew when it has changed."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mutants.mutant import Mutant
from mutants.runner import TestRunner
from mutants.tree import Tree

_LONGEST = 900.0


@dataclass(frozen=True)
class Reached:
    """One test: how long it takes, and what it calls."""

    test: str
    seconds: float
    functions: frozenset[str]

    @property
    def file(self) -> str:
        return self.test.partition("::")[0]


@dataclass
class Reach:
    """What is known, a file of JSON for each file of tests."""

    tree: Tree
    folder: Path
    engines: str = "sqlite"
    _by_function: dict[str, list[Reached]] = field(default_factory=lambda: defaultdict(list))
    _by_file: dict[str, list[Reached]] = field(default_factory=lambda: defaultdict(list))
    known: dict[str, int] = field(default_factory=dict)
    "How many tests of each file are known."

    def learn(self, files: Iterable[str], runner: TestRunner, *, go_on: Callable[[], bool] = lambda: True) -> None:
        """Know what the files reach; those that are not known are run, as long as there is time for it."""
        for file in files:
            kept = self._kept(file)
            if file in self.known or not (kept.exists() or go_on()):
                continue
            if not kept.exists():
                self._run(file, kept, runner)
            self._remember(file, json.loads(kept.read_text()))

    def of(self, mutant: Mutant) -> list[Reached]:
        """The tests that call the function, those first that do little else."""
        inside = mutant.path.removeprefix(f"{self.tree.source}/")
        found = self._by_function.get(f"{inside}:{mutant.function}") or self._by_file.get(inside, [])
        return sorted(found, key=lambda each: (each.seconds * len(each.functions), each.test))

    def _kept(self, file: str) -> Path:
        name = file.replace("/", ".").removesuffix(".py")
        return self.folder / f"{name}-{self.engines.replace(' ', '-') or 'all'}-{self.tree.digest(file)}.json"

    def _run(self, file: str, kept: Path, runner: TestRunner) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="reach-"))
        source = f"{self.tree.root / self.tree.source}{os.sep}"
        variables = {"MUTANTS_REACHED": str(folder / "lines"), "MUTANTS_SOURCE": source}
        if self.engines:
            variables["PENSTOCK_TEST_ENGINES"] = self.engines
        try:
            arguments = ["-p", "reached", "-m", "not long", "--tb=short", file]
            runner.run(arguments, folder, variables, seconds=_LONGEST)
            lines = (folder / "lines").read_text().splitlines() if (folder / "lines").exists() else []
            kept.write_text(json.dumps(_compressed([json.loads(line) for line in lines])))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _remember(self, file: str, kept: dict[str, object]) -> None:
        names: list[str] = kept["functions"]  # type: ignore[assignment]
        tests: list[tuple[str, float, list[int]]] = kept["tests"]  # type: ignore[assignment]
        for name, seconds, called in tests:
            reached = Reached(name, seconds, frozenset(names[number] for number in called))
            for function in reached.functions:
                self._by_function[function].append(reached)
            for path in {function.partition(":")[0] for function in reached.functions}:
                self._by_file[path].append(reached)
        self.known[file] = len(tests)


def _compressed(lines: Sequence[dict[str, object]]) -> dict[str, object]:
    """Each name once; and no test that fails without any mutant."""
    failed = {line["failed"] for line in lines if "failed" in line}
    tests = [line for line in lines if "test" in line and line["test"] not in failed]
    names = sorted({name for line in tests for name in line["functions"]})  # type: ignore[attr-defined]
    numbers = {name: number for number, name in enumerate(names)}
    return {
        "functions": names,
        "tests": [
            (line["test"], line["seconds"], [numbers[name] for name in line["functions"]])  # type: ignore[attr-defined]
            for line in tests
        ],
        "failed": sorted(map(str, failed)),
    }
