"""A plugin of pytest that collects tests once, and runs some of them in a child for each line of JSON it reads.

To load and collect takes longer than most tests. No test runs in this process, so that each child begins with nothing
done. A mutant is put in place by giving functions other code; one whose function was called while tests were loaded, or
that is no function's, has to be loaded anew and is refused here.
"""

import gc
import json
import os
import resource
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from _pytest.main import pytest_runtestloop as run_items
from sitecustomize import install  # type: ignore[import-not-found]  # beside this file
from warm import ended  # type: ignore[import-not-found]  # and this

Placed = list[tuple[FunctionType, CodeType]]
_MEMORY = 6 << 30
"Of which a child may take so much: a loop that never ends must not take all that the machine has."
_SOURCE = os.environ["MUTANTS_SOURCE"]
_early: set[CodeType] = set()
"What was called while tests were loaded."


def _call(frame: FrameType, event: str, argument: Any) -> None:
    _early.add(frame.f_code)


sys.settrace(_call)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Instead of all that was collected."""
    sys.settrace(None)
    answering = _Answering(session)
    reading, writing = map(int, os.environ["MUTANTS_PIPES"].split(","))
    with os.fdopen(reading) as asked, os.fdopen(writing, "w") as answers:
        for pipe in (reading, writing):
            os.set_inheritable(pipe, False)
        answers.write(json.dumps(sorted(answering.early)) + "\n")
        answers.flush()
        for line in asked:
            answers.write(json.dumps(answering.answer(json.loads(line))) + "\n")
            answers.flush()
    return True


class _Answering:
    """What is asked: tests, and a mutant or where to write down what they reach."""

    def __init__(self, session: pytest.Session) -> None:
        self._session, self._items = session, list(session.items)
        self.early = {(code.co_filename, _plain(code)) for code in _early if code.co_filename.startswith(_SOURCE)}
        self._functions = _functions()

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The code that they ended with, None if it took too long; or that the mutant has to be loaded anew."""
        placed: Placed | None = []
        if "mutant" in asked and asked["mutant"]["module"] in sys.modules:
            placed = self._placed(**asked["mutant"])
        if placed is None:
            return {"anew": True}
        places = {test: number for number, test in enumerate(asked["tests"])}
        items = [item for item in self._items if _asked_for(item, places) is not None]
        items.sort(key=lambda item: _asked_for(item, places))
        before, child = _used(), os.fork()
        if child == 0:
            self._run(items, placed, asked)
        code = ended(child, seconds=asked["seconds"])
        return {"code": code, "tests": len(items), "took": _used() - before}

    def _placed(self, *, file: str, function: str, text: str, module: str) -> Placed | None:
        """Each function of the file with the code that it has in the mutant; None where that is not all of it."""
        fresh = dict(_codes(compile(Path(text).read_text(), file, "exec", dont_inherit=True)))
        around = [function.rsplit(".", count)[0] for count in range(function.count(".") + 1)]
        placed = []
        for each in self._functions[file]:
            old, new = each.__code__, fresh.get(each.__code__.co_qualname)
            if _plain(old) not in around or new == old:
                continue
            if new is None or new.co_freevars != old.co_freevars or (file, _plain(old)) in self.early:
                return None
            placed.append((each, new))
        return placed or None

    def _run(self, items: list[pytest.Item], placed: Placed, asked: dict[str, Any]) -> None:
        """In the child: never returns."""
        code = 3
        try:
            os.setsid()
            _limit(asked["processor_seconds"])
            os.environ.update(asked["variables"])
            install()
            for function, new in placed:
                function.__code__ = new
            code = self._ended(items, asked)
        finally:
            os._exit(code)

    def _ended(self, items: list[pytest.Item], asked: dict[str, Any]) -> int:
        session, plugins = self._session, self._session.config.pluginmanager
        plugins.register(_Failures(asked["told"]))
        session.config.option.maxfail = 1
        if "MUTANTS_REACHED" in asked["variables"]:
            import reached  # type: ignore[import-not-found]  # beside this file

            session.config.option.maxfail = 0
            plugins.register(reached)
            plugins.register(reached.Leaving())
            reached.pytest_sessionstart()
        session.items[:] = items
        try:
            run_items(session)
        except (session.Failed, session.Interrupted):
            pass
        finally:
            session._setupstate.teardown_exact(None)
        return 1 if session.testsfailed else 0


class _Failures:
    """Writes down which tests fail."""

    def __init__(self, told: str) -> None:
        self._told = told

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            with open(self._told, "a") as file:
                file.write(report.nodeid + "\n")


def _functions() -> dict[str, list[FunctionType]]:
    """Every function there is, by its file."""
    gc.unfreeze()
    found = defaultdict(list)
    for each in gc.get_objects():
        if isinstance(each, FunctionType):
            found[each.__code__.co_filename].append(each)
    gc.freeze()
    return found


def _codes(code: CodeType) -> Iterator[tuple[str, CodeType | None]]:
    """By name; None where two have the same, as what reads a property and what sets it."""
    found: dict[str, CodeType | None] = {}
    for each in code.co_consts:
        if isinstance(each, CodeType):
            found[each.co_qualname] = None if each.co_qualname in found else each
            found.update(_codes(each))
    yield from found.items()


def _plain(code: CodeType) -> str:
    return ".".join(part for part in code.co_qualname.split(".") if not part.startswith("<"))


def _asked_for(item: pytest.Item, places: dict[str, int]) -> Any:
    """Where among those that are asked for the test stands, with or without its variant, or its file; or None."""
    names = (item.nodeid, item.nodeid.partition("[")[0], item.nodeid.partition("::")[0])
    return next((places[name] for name in names if name in places), None)


def _used() -> float:
    """Seconds of the processor that children have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _limit(seconds: float) -> None:
    """Of the processor, which does not run out while others are busy; what it starts has as much again."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
