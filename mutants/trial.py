"""A trial: tests that are run while one line is broken."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from mutants.mutant import Mutant
from mutants.runner import TestRunner
from mutants.tree import Tree

_USAGE, _NOTHING = 4, 5
_NOTICED = re.compile(r"^(?:FAILED|ERROR) (\S+\.py(?:::[^\n]*?)?)(?: - .*)?$", re.MULTILINE)

_NOT_THERE = re.compile(r"^ERROR: (?:not found|file or directory not found)", re.MULTILINE)


class Outcome(StrEnum):
    KILLED = "killed"
    SURVIVED = "survived"


class TrialBroken(RuntimeError):
    """Tests could not be run at all."""


@dataclass(frozen=True)
class Verdict:
    """What came of it, and by which test."""

    outcome: Outcome
    by: str = ""
    "The test that noticed it; none where time ran out or nothing could be loaded."
    why: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Trial:
    """How tests are run: on which engines, and for how long."""

    tree: Tree
    runner: TestRunner
    engines: str = "sqlite"

    def run(self, mutant: Mutant, tests: Sequence[str], *, seconds: float) -> Verdict:
        """Run the tests with the mutant in place until one fails. To take longer than `seconds` is to fail."""
        folder = Path(tempfile.mkdtemp(prefix="mutant-"))
        try:
            (folder / "text.py").write_text(mutant.applied(self.tree.text(mutant.path)))
            variables = {"MUTANT_MODULE": self.tree.module(mutant.path), "MUTANT_TEXT": str(folder / "text.py")}
            return self._verdict(tests, folder, variables, seconds)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _verdict(self, tests: Sequence[str], folder: Path, variables: Mapping[str, str], seconds: float) -> Verdict:
        began = time.monotonic()
        arguments = ["-x", "--no-header", "-rfE", "--tb=no", "-m", "not long", *tests]
        code, told = self.runner.run(arguments, folder, {**variables, **self._chosen()}, seconds=seconds)
        took = time.monotonic() - began
        if code is None:
            return Verdict(Outcome.KILLED, why=f"took more than {seconds:.0f} s", seconds=took)
        if code == 0:
            return Verdict(Outcome.SURVIVED, seconds=took)
        found = _NOTICED.search(told)
        if code == _NOTHING or (code == _USAGE and _NOT_THERE.search(told) and found is None):
            raise TrialBroken(f"{' '.join(tests[:3])}: {told[-800:]}")
        return Verdict(Outcome.KILLED, found.group(1) if found else "", f"ended with {code}", took)

    def _chosen(self) -> dict[str, str]:
        return {"PENSTOCK_TEST_ENGINES": self.engines} if self.engines else {}
