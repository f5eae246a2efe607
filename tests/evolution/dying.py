"""Stores whose process ends in the middle of its work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import Store
from penstock.kernel.layouts.knowledge import HERE
from tests.beneath import beneath

WRITES = ("commit", "copy_fields")
"What whoever migrates writes by."


class Killed(BaseException):
    """The process ends here."""


def dying(store: Store, at: int) -> Store:
    """A store whose process ends at its so-many-eth write."""
    engine, knowledge = beneath(store), store.engine.knowledge  # type: ignore[attr-defined]
    counted = [0]
    HERE.pop(knowledge.process, None)  # it is not of this process

    def counting(write: Callable[..., Any]) -> Callable[..., Any]:
        def count(*args: Any, **options: Any) -> Any:
            counted[0] += 1
            if counted[0] >= at:
                raise Killed
            return write(*args, **options)

        return count

    for name in WRITES:
        if hasattr(engine, name):
            setattr(engine, name, counting(getattr(engine, name)))
    return store
