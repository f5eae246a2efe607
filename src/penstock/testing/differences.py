"""Differences between engines: the only way to except one from a promise, each with a kind and a reason.

    @differs("dynamodb", never="an index may lag behind its table")
    def test_a_query_sees_the_write_just_made(self, store: Store) -> None: ...

``not_done`` is ours to do, ``not_yet`` is theirs to do, ``never`` will not change. An excepted test still runs: when
it passes although it should not, it fails, so that no difference outlives its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., Any])

KNOWN = {
    "sqlite": ("sqlite",),
    "postgres": ("postgres",),
    "dynamodb": ("dynoxide", "dynamodb-local"),
    "dynoxide": ("dynoxide",),
    "dynamodb-local": ("dynamodb-local",),
}
"The engines that a name in `differs` stands for."

_KINDS = {"not_done": "ours to do", "not_yet": "theirs to do", "never": "will not change"}


@dataclass(frozen=True, slots=True)
class Difference:
    """One engine's exception from one promise."""

    engine: str
    kind: str
    reason: str
    raises: type[BaseException]


def know(name: str, *stands_for: str) -> None:
    """Make an engine's name known, so that a suite of one's own may except it."""
    KNOWN[name] = stands_for or (name,)


def differs(
    engine: str,
    *,
    not_done: str | None = None,
    not_yet: str | None = None,
    never: str | None = None,
    raises: type[BaseException] = BaseException,
) -> Callable[[Test], Test]:
    """Except an engine from a promise. An unknown name stops the collection of tests."""
    given = {"not_done": not_done, "not_yet": not_yet, "never": never}
    reasons = [(kind, reason) for kind, reason in given.items() if reason]
    if engine not in KNOWN:
        raise pytest.UsageError(f"differs() names the engine {engine!r}; there are {', '.join(KNOWN)}")
    if len(reasons) != 1:
        raise pytest.UsageError(f"differs({engine!r}) gives {len(reasons)} reasons; give one: {', '.join(_KINDS)}")

    def except_it(test: Test) -> Test:
        kind, reason = reasons[0]
        test.__differences__ = [Difference(engine, kind, reason, raises), *_of(test)]  # type: ignore[attr-defined]
        return test

    return except_it


def _of(test: Callable[..., Any]) -> list[Difference]:
    return list(getattr(test, "__differences__", ()))


def expect(request: pytest.FixtureRequest, engine: str) -> None:
    """Mark the test at hand as expected to fail, if its engine is excepted from it."""
    for difference in _of(request.function):
        if engine in KNOWN[difference.engine]:
            reason = f"{difference.engine} differs ({difference.kind}): {difference.reason}"
            request.applymarker(pytest.mark.xfail(reason=reason, raises=difference.raises, strict=True))


def list_differences(suite: type) -> Iterator[tuple[str, Difference]]:
    """Every promise of a suite that an engine is excepted from."""
    for name in sorted(dir(suite)):
        if name.startswith("test_"):
            for difference in _of(getattr(suite, name)):
                yield name, difference


def differences_page(suite: type) -> str:
    """All differences as a page of the documentation."""
    rows = [
        f"| {name.removeprefix('test_').replace('_', ' ')} | {d.engine} | {_KINDS[d.kind]} | {d.reason} |"
        for name, d in list_differences(suite)
    ]
    head = ["# Where engines differ", ""]
    if not rows:
        return "\n".join([*head, "Nowhere: every engine keeps every promise of the suite.", ""])
    return "\n".join([*head, "| promise | engine | who | why |", "|---|---|---|---|", *rows, ""])
