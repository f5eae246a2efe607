"""Reading on past records that cannot be read, for work that must go on; the log tells of them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import TypeVar

from penstock.declare.entity import Entity
from penstock.kernel.handle import StoreHandle
from penstock.operations.reads import Query, Unreadable

E = TypeVar("E", bound=Entity)
log = logging.getLogger(__name__)


def readable(store: StoreHandle, query: Query[E]) -> Iterator[E]:
    """Every record of a pattern that can be read."""
    unreadable: list[Unreadable] = []
    yield from store.find(query, unreadable=unreadable)
    tell(unreadable)


def tell(unreadable: Iterable[Unreadable]) -> None:
    """Tell the log of records that were passed over."""
    for record in unreadable:
        log.warning("passed over, as it cannot be read: %s", record.why)
