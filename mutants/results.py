"""What trials have shown, a line of JSON each: it stands while the broken file and the tests that judged it do."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock

from mutants.mutant import Mutant
from mutants.tree import Tree
from mutants.trial import Outcome, Verdict


@dataclass(frozen=True)
class Result:
    """One mutant, judged."""

    id: str
    area: str
    path: str
    function: str
    before: str
    after: str
    nth: int
    kind: str
    outcome: str
    by: str
    why: str
    source: str
    "Digest of the file that was broken."
    tests: dict[str, str]
    "The files that judged it, with their digests: of one that was killed, that of the test which did it."
    seconds: float = 0.0

    @property
    def mutant(self) -> Mutant:
        return Mutant(self.path, self.function, self.before, self.after, self.kind, self.nth)

    def stands(self, tree: Tree, files: Iterable[str] = ()) -> bool:
        """Whether it would be judged the same now. Of one that survived, the `files` are all that may yet notice it."""
        waiting = set(files) - set(self.tests) if self.outcome != Outcome.KILLED else set()
        same = self.unchanged(tree)
        return self.source == tree.digest(self.path) and same == list(self.tests) and not waiting

    def unchanged(self, tree: Tree) -> list[str]:
        """The tests that would say the same again."""
        there = [path for path in self.tests if (tree.root / path).is_file()]
        return [path for path in there if tree.digest(path) == self.tests[path]]


class Results:
    """The file of them; the last one about a mutant counts."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, Lock()
        lines = path.read_text().splitlines() if path.exists() else []
        self._by_id = {found.id: found for found in (Result(**json.loads(line)) for line in lines)}

    def about(self, mutant: Mutant, tree: Tree) -> Result | None:
        """What is known of a mutant: nothing, once its file or the test that killed it has changed."""
        found = self._by_id.get(mutant.id)
        if found is None or found.source != tree.digest(mutant.path):
            return None
        return None if found.outcome == Outcome.KILLED and not found.stands(tree) else found

    def keep(self, result: Result) -> None:
        """Written at once: whoever ends the run loses nothing."""
        with self._lock:
            self._by_id[result.id] = result
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a") as file:
                file.write(json.dumps(asdict(result)) + "\n")


def result(tree: Tree, area: str, mutant: Mutant, verdict: Verdict, judges: Iterable[str]) -> Result:
    """A verdict with what it rests on."""
    files = [verdict.by.partition("::")[0]] if verdict.by else sorted(set(judges))
    return Result(
        id=mutant.id,
        area=area,
        path=mutant.path,
        function=mutant.function,
        before=mutant.before,
        after=mutant.after,
        nth=mutant.nth,
        kind=mutant.kind,
        outcome=str(verdict.outcome),
        by=verdict.by,
        why=verdict.why,
        source=tree.digest(mutant.path),
        seconds=round(verdict.seconds, 1),
        tests={file: tree.digest(file) for file in files if (tree.root / file).is_file()},
    )
