"""What a running system gives to its domains."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from penstock.kernel.store import Store
from penstock.ports.archive import Archive
from penstock.ports.object_store import ObjectStore

T = TypeVar("T")
log = logging.getLogger("penstock.work")


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
    _endings: list[Callable[[], object]] = field(default_factory=list, init=False, repr=False, compare=False)

    def made_once(self, make: Callable[[DomainContext], T]) -> T:
        """What a function makes of this context: made when first asked for, and the same one from then on."""
        made: T | None = self._made.get(make)
        # Two threads may both make it; the first one made is kept. A lock could be held while a process forks.
        return self._made.setdefault(make, make(self)) if made is None else made

    def at_end(self, action: Callable[[], object]) -> None:
        """Have something done when the system ends, while its store can still be used."""
        self._endings.append(action)

    def close(self) -> None:
        """Do what is to be done at the end, the latest first; what fails keeps nothing else from being done."""
        while self._endings:
            try:
                self._endings.pop()()
            except Exception:
                log.exception("something could not be ended in order")
