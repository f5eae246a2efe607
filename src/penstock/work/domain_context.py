"""What a running system gives to its domains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.kernel.store import Store
from penstock.ports.archive import Archive
from penstock.ports.object_store import ObjectStore


@dataclass(frozen=True, slots=True)
class DomainContext:
    """What a running system gives to its domains."""

    store: Store
    objects: ObjectStore
    setting: Callable[[str], str | None]
    "A domain's own setting, by the name of its environment variable; None where it is not set."
    archive: Archive | None = None
    "Where records go that have been kept for their time."
