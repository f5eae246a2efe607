"""An engine whose calls are spans, within those of the requests and tasks that make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from penstock.operations.item_collection import ItemCollection
from penstock.operations.reads import Query
from penstock.ports.engine import Engine
from penstock.ports.spans import spans
from penstock.schema.shape import EntityShape

_CALLS = frozenset({"get", "find", "commit", "load", "patch", "scan", "changes"})


class TracedEngine:
    """Passes everything on. What is looked up again and again, with nobody who has asked for it, is not told."""

    def __init__(self, engine: Engine, system: str) -> None:
        self._engine, self._system = engine, system

    def bound(self, project: str) -> Engine:
        return traced(self._engine.bound(project), self._system)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._engine, name)
        if name not in _CALLS:
            return found
        call: Callable[..., Any] = found

        def told(*args: Any, **more: Any) -> Any:
            with spans().within(f"{name} {self._system}") as tell:
                tell("db.system.name", self._system)
                tell("db.operation.name", name)
                if (asked := _asked(args)) is not None:
                    tell("db.query.summary", asked)
                return call(*args, **more)

        return told


def traced(engine: Engine, system: str) -> Engine:
    """The engine, telling of its calls."""
    return cast("Engine", TracedEngine(engine, system))


def _asked(args: tuple[Any, ...]) -> str | None:
    """Which pattern or entity; never with which values, as these may be private."""
    first = args[0] if args else None
    if isinstance(first, ItemCollection | EntityShape):
        return first.label
    return first.pattern.label if isinstance(first, Query) else None
