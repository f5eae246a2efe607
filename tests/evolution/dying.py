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
    """A store whose process ends at its so-many-eth write.

    That it takes and keeps its turn is not counted, nor what it tells again for that, nor a copy that changes nothing.
    """
    engine, knowledge = beneath(store), store.engine.knowledge  # type: ignore[attr-defined]
    counted, told = [0], [0]
    HERE.pop(knowledge.process, None)  # it is not of this process

    def counting(write: Callable[..., Any]) -> Callable[..., Any]:
        def count(first: Any, *args: Any, **options: Any) -> Any:
            name = first[0].shape.name if isinstance(first, list | tuple) else ""
            told[0] += name == "Knower"
            counted[0] += name != "NamedLease" and not (name == "Knower" and told[0] > 1)
            if counted[0] >= at:
                raise Killed
            return write(first, *args, **options)

        return count

    def counting_copies(copy: Callable[..., Any]) -> Callable[..., Any]:
        def count(*args: Any, **options: Any) -> Any:
            page = copy(*args, **options)
            counted[0] += page.written > 0
            if counted[0] >= at:
                raise Killed
            return page

        return count

    engine.commit = counting(engine.commit)
    if hasattr(engine, "copy_fields"):
        engine.copy_fields = counting_copies(engine.copy_fields)
    return store
