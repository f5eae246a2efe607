"""Tests that are collected once in a process of their own, and run there as often as somebody asks."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from mutants.mutant import Mutant
from mutants.runner import OVERLAY
from mutants.tree import Tree
from mutants.trial import Outcome, TrialBroken, Verdict


class Collection:
    """The tests of some files on some engines."""

    def __init__(self, tree: Tree, files: Sequence[str], engines: str) -> None:
        self._tree, self._source = tree, f"{tree.root / tree.source}{os.sep}"
        self.used = 0.0
        "Seconds of the processor."
        self._folder = Path(tempfile.mkdtemp(prefix="collected-"))
        asked, asking = os.pipe()
        answered, answers = os.pipe()
        self._process = subprocess.Popen(
            [*_PYTEST, f"--basetemp={self._folder / 'tests'}", *files],
            cwd=tree.root,
            env={
                **os.environ,
                **_variables(engines),
                "MUTANTS_PIPES": f"{asked},{answers}",
                "MUTANTS_SOURCE": self._source,
            },
            stdin=subprocess.DEVNULL,
            stdout=(self._folder / "told").open("w"),
            stderr=subprocess.STDOUT,
            pass_fds=(asked, answers),
        )
        for pipe in (asked, answers):
            os.close(pipe)
        self._asking, self._answered = os.fdopen(asking, "w"), os.fdopen(answered)

    @cached_property
    def early(self) -> frozenset[tuple[str, str]]:
        """The functions that are called while tests are loaded, each with its file."""
        return frozenset((path.removeprefix(self._source), name) for path, name in self._answer())

    def learn(self, file: str, lines: Path, *, seconds: float) -> None:
        """Write down what each test of a file calls."""
        self._ask([file], {"MUTANTS_REACHED": str(lines)}, seconds=seconds)

    def try_on(self, mutant: Mutant, tests: Sequence[str], *, seconds: float) -> Verdict | None:
        """Run tests with the mutant in place until one fails; None if it can only be loaded anew."""
        text = self._folder / "text.py"
        text.write_text(mutant.applied(self._tree.text(mutant.path)))
        module = self._tree.module(mutant.path)
        place = {"file": str(self._tree.root / mutant.path), "function": mutant.function, "text": str(text)}
        variables = {"MUTANT_MODULE": module, "MUTANT_TEXT": str(text)}
        answer = self._ask(tests, variables, seconds=seconds, mutant={**place, "module": module})
        if "anew" in answer:
            return None
        if not answer["tests"]:
            raise TrialBroken(f"there is no test {tests[0]}")
        return self._verdict(answer["code"], seconds)

    def close(self) -> None:
        with suppress(BrokenPipeError):
            self._asking.close()
        self._answered.close()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _ask(
        self, tests: Sequence[str], variables: Mapping[str, str], *, seconds: float, **more: Any
    ) -> dict[str, Any]:
        assert self.early is not None  # told first
        failures = self._folder / "failures"
        failures.unlink(missing_ok=True)
        asked = {"tests": list(tests), "variables": dict(variables), "told": str(failures), **more}
        asked |= {"processor_seconds": seconds, "seconds": _PATIENCE * seconds}
        with suppress(BrokenPipeError):  # there will be no answer
            self._asking.write(json.dumps(asked) + "\n")
            self._asking.flush()
        found: dict[str, Any] = self._answer()
        self.used += found.get("took", 0.0)
        return found

    def _answer(self) -> Any:
        answer = self._answered.readline()
        if not answer:
            raise TrialBroken(f"tests could not be collected: {(self._folder / 'told').read_text()[-800:]}")
        return json.loads(answer)

    def _verdict(self, code: int | None, seconds: float) -> Verdict:
        if code == 0:
            return Verdict(Outcome.SURVIVED)
        failures = self._folder / "failures"
        by = failures.read_text().splitlines()[0] if failures.exists() else ""
        endless = code is None or code == -signal.SIGXCPU
        return Verdict(Outcome.KILLED, by, f"took more than {seconds:.0f} s" if endless else f"ended with {code}")


_PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "collected", "-p", "no:cacheprovider", "-m", "not long")
_PATIENCE = 8
"How much longer than the processor may work, where tests wait, or the machine is busy."


def _variables(engines: str) -> dict[str, str]:
    path = os.pathsep.join([str(OVERLAY), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    chosen = {"PENSTOCK_TEST_ENGINES": engines} if engines else {}
    return {"PYTHONPATH": path, "PYTHONHASHSEED": "0", **chosen}
