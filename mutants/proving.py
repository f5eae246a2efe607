"""Finds a mutant for each requirement that the test which names it kills: a plugin of pytest, ``-p mutants.proving``.

A test runs once as it is, and the functions that it calls are written down. Then it runs again in a forked child for
each mutant of those functions, put in place without loading anything anew, until it fails; what is declared is loaded
anew. Mutants come first whose words are those of the requirement, of which REQUIREMENTS is the list. PROVED names the
file to which what was found is added. `make test-long` kills them all again, the long way.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from mutants.candidates import candidates
from mutants.declarations import DECLARED
from mutants.likeness import Likeness, told
from mutants.mutant import ROOT, Mutant
from mutants.requirements import DOMAINS, named_ids
from mutants.runner import TestRunner
from mutants.tree import Tree
from mutants.trial import Trial

_SOURCE = f"{ROOT / 'src'}{os.sep}"
LOADED = ("penstock", "penstock.web.api", "penstock.testing", "tests.servers.fixtures", "tests.browser.fixtures")
"What no domain is in: to load it takes longer than most tests."
_MOST, _MOST_DECLARED = 12, 3
"Mutants that a test is tried on for a requirement, and how many of them need everything loaded anew."
_DECLARING = ("model", "options", "tasks", "file_patterns")
"Modules of a domain that declare it."
_CRUDE = ("early return", "answer dropped")
"Kinds that say little of what was meant: tried last."
_FAIRLY = (DECLARED + "argument dropped", "off by one", "wrong value", "repetition dropped", "condition turned")


class _Proving:
    """What is known so far."""

    def __init__(self, path: Path, requirements: Path) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.proved = {json.loads(line)["id"] for line in lines}
        self.tree = Tree()
        self.told = defaultdict(str, told(requirements.read_text()))
        sources = [self.tree.text(file) for file in self.tree.files("src/penstock/domains")]
        self.likeness = Likeness([*sources, *self.told.values()])
        self._candidates: dict[str, list[Mutant]] = {}
        self.failed: dict[str, set[str]] = defaultdict(set)
        "What no mutant was killed for, by test: its other variants are not asked."

    @cached_property
    def runner(self) -> TestRunner:
        return TestRunner(self.tree, loaded=LOADED)

    def candidates(self, path: str) -> list[Mutant]:
        if path not in self._candidates:
            self._candidates[path] = candidates(path, self.tree.text(path), declared=True)
        return self._candidates[path]

    def keep(self, id: str, test: str, mutant: Mutant) -> None:
        self.proved.add(id)
        with self._path.open("a") as file:
            file.write(json.dumps({"id": id, "test": test, **asdict(mutant)}) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_KEY] = _Proving(Path(os.environ["PROVED"]), Path(os.environ["REQUIREMENTS"]))


_KEY = pytest.StashKey[_Proving]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool:
    """Run it, and then with mutants. A test that has nothing to prove is not run at all."""
    proving = item.config.stash[_KEY]
    wanted = named_ids(item.obj.__doc__ or "") - proving.proved if isinstance(item, pytest.Function) else set()
    wanted -= proving.failed[_function(item)]
    if not wanted:
        return True
    sibling = _sibling(item)
    called, seconds = _called(item, sibling)
    if called is None or _fails(item, sibling, None, seconds, proving):
        return True
    found = _candidates(called, wanted, proving)
    judged: dict[str, bool] = {}
    for each in sorted(wanted):
        for mutant in _proposed(found, f"{proving.told[each]} {item.name}", proving):
            if mutant.id not in judged:
                judged[mutant.id] = _is_killed(item, sibling, mutant, seconds, proving)
            if judged[mutant.id]:
                proving.keep(each, _function(item), mutant)
                break
        else:
            proving.failed[_function(item)].add(each)
            print(f"nothing that was tried is killed for {each} by {item.nodeid}", file=sys.__stderr__)
    return True


def _function(item: pytest.Item) -> str:
    """The test with all its variants."""
    return item.nodeid.partition("[")[0]


def _sibling(item: pytest.Item) -> pytest.Item | None:
    """A test that needs the same fixtures of modules and sessions, so that they stay."""
    others = [each for each in item.session.items if each is not item]
    near = [each for each in others if each.parent is item.parent]
    return next(iter(near or others), None)


def _called(item: pytest.Item, sibling: pytest.Item | None) -> tuple[set[CodeType] | None, float]:
    """What it calls, and how long it takes; None if it fails."""
    called: set[CodeType] = set()

    def call(frame: FrameType, event: str, argument: Any) -> None:
        called.add(frame.f_code)

    began = time.monotonic()
    sys.settrace(call)
    try:
        reports = runtestprotocol(item, log=False, nextitem=sibling)
    finally:
        sys.settrace(None)
    if not all(report.passed for report in reports):
        return None, 0.0
    return {code for code in called if code.co_filename.startswith(_SOURCE)}, time.monotonic() - began


def _candidates(called: set[CodeType], wanted: set[str], proving: _Proving) -> list[Mutant]:
    """The mutants of all functions that it calls, and of what its domain declares."""
    by_file: dict[str, set[str]] = defaultdict(set)
    for code in called:
        by_file[code.co_filename].add(_plain(code.co_qualname))
    for domain in {DOMAINS[document] for each in wanted if (document := each.split("-")[-2]) in DOMAINS}:
        for file in proving.tree.files(f"src/penstock/domains/{domain}"):
            if Path(file).stem in _DECLARING:
                by_file[str(ROOT / file)]
    return [each for file, inside in by_file.items() for each in _of_file(file, inside, proving)]


def _of_file(file: str, functions: set[str], proving: _Proving) -> Iterator[Mutant]:
    path = str(Path(file).relative_to(ROOT))
    if "/testing/" in path:
        return
    for each in proving.candidates(path):
        declared = each.kind.startswith(DECLARED)
        if (declared and "/domains/" in path) or (not declared and each.function in functions):
            yield each


def _proposed(found: list[Mutant], requirement: str, proving: _Proving) -> list[Mutant]:
    """Those that speak of the same, crude ones last."""
    scores = {each.id: proving.likeness.between(each, requirement) * _fineness(each) for each in found}
    ranked = sorted(found, key=lambda each: (-scores[each.id], each.id))
    declared = [each for each in ranked if each.kind.startswith(DECLARED)][:_MOST_DECLARED]
    return [each for each in ranked[: 10 * _MOST] if each in declared or not each.kind.startswith(DECLARED)][:_MOST]


def _fineness(mutant: Mutant) -> float:
    own = 1.0 if "/domains/" in mutant.path else 0.7
    return own * (0.5 if mutant.kind in _CRUDE else 0.8 if mutant.kind in _FAIRLY else 1.0)


def _is_killed(
    item: pytest.Item, sibling: pytest.Item | None, mutant: Mutant, seconds: float, proving: _Proving
) -> bool:
    if not mutant.kind.startswith(DECLARED):
        return _fails(item, sibling, mutant, seconds, proving)
    if not mutant.is_python(proving.tree.text(mutant.path)):
        return False
    trial = Trial(proving.tree, proving.runner, os.environ.get("PENSTOCK_TEST_ENGINES", ""))
    verdict = trial.run(mutant, [_function(item)], seconds=120)
    return bool(verdict.by.partition("::")[2])  # a file that cannot even be loaded proves nothing


def _fails(
    item: pytest.Item, sibling: pytest.Item | None, mutant: Mutant | None, seconds: float, proving: _Proving
) -> bool:
    """Whether the test fails in a child with the mutant in place; one that hangs says nothing."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 2
        try:
            if mutant is None or _put_in_place(mutant, proving):
                code = 0 if all(report.passed for report in runtestprotocol(item, log=False, nextitem=sibling)) else 1
        finally:
            os._exit(code)
    return _waited(child, 20 + 10 * seconds) == 1


def _waited(child: int, seconds: float) -> int:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


def _put_in_place(mutant: Mutant, proving: _Proving) -> bool:
    """Give every function of the file that stands in memory the code that the mutant has for it."""
    text = proving.tree.text(mutant.path)
    if not mutant.is_python(text):
        return False
    file = str(ROOT / mutant.path)
    fresh = dict(_codes(compile(mutant.applied(text), file, "exec", dont_inherit=True)))
    changed = False
    for function in _functions(file):
        code = fresh.get(function.__code__.co_qualname)
        if code is not None and code.co_freevars == function.__code__.co_freevars:
            function.__code__ = code
            changed = True
    return changed


def _functions(file: str) -> list[FunctionType]:
    gc.unfreeze()
    return [each for each in gc.get_objects() if isinstance(each, FunctionType) and each.__code__.co_filename == file]


def _codes(code: CodeType) -> Iterator[tuple[str, CodeType]]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each.co_qualname, each
            yield from _codes(each)


def _plain(qualname: str) -> str:
    return ".".join(part for part in qualname.split(".") if not part.startswith("<"))
