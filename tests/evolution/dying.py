"""Stores whose process ends in the middle of its work."""

from __future__ import annotations

from typing import Any

from penstock import Store
from penstock.kernel.layouts.knowledge import HERE
from tests.beneath import beneath


class Killed(BaseException):
    """The process ends here."""


def dying(store: Store, at: int) -> Store:
    """A store whose process ends at its so-many-eth commit."""
    engine, knowledge = beneath(store), store.engine.knowledge  # type: ignore[attr-defined]
    commit, counted = engine.commit, [0]
    HERE.pop(knowledge.process)  # it is not of this process

    def count(*args: Any, **options: Any) -> None:
        counted[0] += 1
        if counted[0] >= at:
            raise Killed
        commit(*args, **options)

    engine.commit = count
    return store
