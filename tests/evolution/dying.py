"""Stores whose process ends in the middle of its work."""

from __future__ import annotations

from typing import Any

from penstock import Store
from penstock.kernel.layouts.knowledge import HERE
from tests.beneath import beneath


class Killed(BaseException):
    """The process ends here."""


def dying(store: Store, at: int) -> Store:
    """A store whose process ends at its so-many-eth commit.

    That it takes its turn is not counted, nor what it tells once more for that.
    """
    engine, knowledge = beneath(store), store.engine.knowledge  # type: ignore[attr-defined]
    commit, counted, told = engine.commit, [0], [0]
    HERE.pop(knowledge.process)  # it is not of this process

    def count(writes: Any, **options: Any) -> None:
        name = writes[0].shape.name
        told[0] += name == "Knower"
        counted[0] += name != "NamedLease" and not (name == "Knower" and told[0] == 2)
        if counted[0] >= at:
            raise Killed
        commit(writes, **options)

    engine.commit = count
    return store
