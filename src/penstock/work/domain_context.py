"""What a running system gives to its domains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from penstock.kernel.store import Store
from penstock.ports.archive import Archive
from penstock.ports.object_store import ObjectStore

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DomainContext:
    """What a running system gives to its domains."""

    store: Store
    objects: ObjectStore
    setting: Callable[[str], str | None]
    "A domain's own setting, by the name of its environment variable; None where it is not set."
    archive: Archive | None = None
    "Where records go that have been kept for their time."
    _made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def made_once(self, make: Callable[[DomainContext], T]) -> T:
        """What a function makes of this context: made when first asked for, and the same one from then on."""
        made: T | None = self._made.get(make)
        # Two threads may both make it; the first one made is kept. A lock could be held while a process forks.
        return self._made.setdefault(make, make(self)) if made is None else made
