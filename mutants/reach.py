"""Which tests reach which function, found out by running them once: a test file anew when it has changed."""

from __future__ import annotations

import ast
import json
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mutants.collection import Collection
from mutants.mutant import Mutant, named
from mutants.tree import Tree

_LONGEST = 120.0
"Seconds of the processor for the tests of one file; of what comes later nothing is known."


@dataclass(frozen=True)
class Reached:
    """One variant of a test: how long it takes, what it calls, and how many others it has to speak for."""

    test: str
    seconds: float
    functions: frozenset[str]
    others: int = 0

    @property
    def name(self) -> str:
        """The test with all its variants."""
        return self.test.partition("[")[0]

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
    _of_file: dict[str, list[Reached]] = field(default_factory=lambda: defaultdict(list))
    "The tests that stand in a file, and not those that call something of it."
    known: dict[str, int] = field(default_factory=dict)
    "How many tests of each file are known."

    def learn(self, file: str, collection: Collection) -> None:
        """Know what the tests of a file reach: they are run if that is not known yet."""
        if file in self.known:
            return
        kept = self._kept(file)
        if not kept.exists():
            self._run(file, kept, collection)
        self._remember(file, json.loads(kept.read_text()))

    def is_kept(self, file: str) -> bool:
        """Whether nothing has to be run to know it."""
        return self._kept(file).exists()

    def of(self, mutant: Mutant, files: Container[str], *, early: Container[tuple[str, str]] = ()) -> list[Reached]:
        """The tests of some files that call the function, those first that do little else.

        What is carried out when the file is loaded, as what stands in no function is, any test may notice that uses
        the file, or what lies beside it; and those of files that speak of the class which is broken.
        """
        inside = mutant.path.removeprefix(f"{self.tree.source}/")
        name = f"{inside}:{mutant.function}"
        at_once = (inside, mutant.function) in early or not _is_called(mutant, self.tree)
        found = self._by_file.get(inside, []) if at_once else self._by_function.get(name, [])
        within = [each for each in found if each.file in files]
        within.sort(key=lambda each: (name not in each.functions, each.seconds * len(each.functions), each.test))
        if not at_once:
            return within
        known = {each.test for each in within}
        others = {each.test: each for each in self._beside(inside, mutant.function) if each.file in files}
        left = [each for test, each in others.items() if test not in known]
        return [*within, *sorted(left, key=lambda each: (each.seconds * len(each.functions), each.test))]

    def _beside(self, inside: str, broken: str) -> Iterator[Reached]:
        """The tests that call something of the files in the same folder, and those of files that name the class."""
        folder, told = inside.rpartition("/")[0], re.compile(rf"\b{broken.partition('.')[0]}\b")
        for path, reached in self._by_file.items():
            if path.rpartition("/")[0] == folder:
                yield from reached
        for file in self.known if broken else ():
            if told.search(self.tree.text(file)):
                yield from self._of_file[file]

    def _kept(self, file: str) -> Path:
        name = file.replace("/", ".").removesuffix(".py")
        return self.folder / f"{name}-{self.engines.replace(' ', '-') or 'all'}-{self.tree.digest(file)}.json"

    def _run(self, file: str, kept: Path, collection: Collection) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="reach-") as folder:
            path = Path(folder) / "lines"
            collection.learn(file, path, seconds=_LONGEST)
            lines = path.read_text().splitlines() if path.exists() else []
        kept.write_text(json.dumps(_compressed([json.loads(line) for line in lines])))

    def _remember(self, file: str, kept: dict[str, object]) -> None:
        names: list[str] = kept["functions"]  # type: ignore[assignment]
        tests: list[tuple[str, float, int, list[int]]] = kept["tests"]  # type: ignore[assignment]
        for name, seconds, others, called in tests:
            reached = Reached(name, seconds, frozenset(names[number] for number in called), others)
            self._of_file[file].append(reached)
            for function in reached.functions:
                self._by_function[function].append(reached)
            for path in {function.partition(":")[0] for function in reached.functions}:
                self._by_file[path].append(reached)
        self.known[file] = len(tests)


def _compressed(lines: Sequence[dict[str, object]]) -> dict[str, object]:
    """Each name once; and no test that fails without any mutant."""
    failed = {line["failed"] for line in lines if "failed" in line}
    tests = [line for line in lines if "test" in line and line["test"] not in failed]
    left = Counter(str(line["left"]).partition("[")[0] for line in lines if "left" in line)
    names = sorted({name for line in tests for name in line["functions"]})  # type: ignore[attr-defined]
    numbers = {name: number for number, name in enumerate(names)}
    return {
        "functions": names,
        "tests": [
            (test, line["seconds"], left.pop(str(test).partition("[")[0], 0), [numbers[n] for n in line["functions"]])  # type: ignore[attr-defined]
            for line in tests
            for test in [line["test"]]
        ],
        "failed": sorted(map(str, failed)),
    }


def _is_called(mutant: Mutant, tree: Tree) -> bool:
    """Whether it breaks a function."""
    found = named(ast.parse(tree.text(mutant.path)))
    return any(name == mutant.function and not isinstance(node, ast.ClassDef) for name, node in found)
