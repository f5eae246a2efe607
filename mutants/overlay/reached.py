"""A plugin of pytest that writes down which functions each test calls: ``-p reached``, with MUTANTS_REACHED set.

Calls alone are followed, not lines, which makes tests a little slower and no more; also those in processes that a test
forks or starts.
"""

import json
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

import followed  # type: ignore[import-not-found]  # beside this file
import pytest

_called: set[CodeType] = set()
_shared: set[CodeType] = set()
_lasting: defaultdict[int, set[CodeType]] = defaultdict(set)
"What was called by the tests that had a fixture which lasts: it may remember that for those which come later."
_ENOUGH = 2.0
"Seconds of the processor for all variants of one test on one engine: of what is left over the first ones tell."
_spent: defaultdict[tuple[str, str], float] = defaultdict(float)
_left: set[str] = set()


def _variants_of(item: pytest.Item) -> tuple[str, str]:
    """The test and the engine that it runs on."""
    given = item.callspec.params if hasattr(item, "callspec") else {}
    return item.nodeid.partition("[")[0], str(given.get("engine_name", ""))


def _call(frame: FrameType, event: str, argument: Any) -> None:
    _called.add(frame.f_code)


def pytest_sessionstart() -> None:
    os.register_at_fork(after_in_child=followed.follow)
    threading.settrace(_call)
    sys.settrace(_call)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Iterator[Any]:
    """What a fixture of many tests calls, each of them has called."""
    if fixturedef.scope == "function":
        return (yield)
    before = set(_called)
    _called.clear()
    try:
        return (yield)
    finally:
        _shared.update(_called)
        _called.update(before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    _called.clear()
    followed.told()
    began = _used()
    sys.settrace(_call)  # a test may have set its own
    if _spent[_variants_of(item)] > _ENOUGH:
        _left.add(item.nodeid)
    result = yield
    if item.nodeid in _left:
        _tell({"left": item.nodeid})
        return result
    seconds = round(_used() - began, 3)
    _spent[_variants_of(item)] += seconds
    own = set(_called)
    for lasting in _lasting_of(item):
        _called.update(_lasting[lasting])
        _lasting[lasting] |= own
    _tell({"test": item.nodeid, "seconds": seconds, "functions": _names()})
    return result


def _lasting_of(item: pytest.Item) -> list[int]:
    """Its fixtures that other tests have as well; those of the whole session serve too many to tell anything."""
    known = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}
    return [id(each[-1]) for each in known.values() if each[-1].scope in ("module", "class")]


class Leaving:
    """A plugin that runs what is left no more."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        return True if item.nodeid in _left else None


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _tell({"failed": report.nodeid})


def _used() -> float:
    """Of the processor: how long a test waits says how busy the machine is."""
    return sum(os.times()[:4])


def _names() -> list[str]:
    here = {name for code in [*_called, *_shared] if (name := followed.name(code))}
    return sorted(here.union(followed.told()))


def _tell(line: dict[str, Any]) -> None:
    with open(os.environ["MUTANTS_REACHED"], "a") as file:
        file.write(json.dumps(line) + "\n")
