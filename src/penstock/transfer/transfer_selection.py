"""What is transferred: the records of which entities, of which project, and what stays where it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from penstock.declare.domain import Domain
from penstock.declare.entity import Entity
from penstock.errors import InvalidValue, LayoutMismatch
from penstock.events.feed_records import FeedPlace
from penstock.events.trimmed_log import LogMark
from penstock.kernel.layouts.former_layout import FormerLayout
from penstock.kernel.layouts.knower import Knower
from penstock.kernel.layouts.layout_ensuring import LayoutEnsuring
from penstock.kernel.layouts.migration_segment import MigrationSegment
from penstock.kernel.layouts.stored_layout import LayoutEdition, StoredLayout
from penstock.kernel.store import Store
from penstock.schema.kinds import key_text
from penstock.schema.shape import EntityShape, TablePlace
from penstock.transfer.transfer_state import TransferState

OF_ONE_STORE: tuple[type[Entity], ...] = (
    FeedPlace,
    LogMark,
    TransferState,
    StoredLayout,
    LayoutEdition,
    FormerLayout,
    Knower,
    MigrationSegment,
)
"""What tells of one store alone, such as places in its log, and would be wrong in another.

How records lie is of this kind: each store remembers it when its tables are made, and records are read and written by
the layouts of both.
"""


@dataclass(frozen=True, slots=True)
class Selection:
    """All records, or those of some domains, or of one project."""

    entities: tuple[type[Entity], ...]
    project: str | None = None
    whole: bool = True
    "Is it all that the store has?"

    @property
    def shapes(self) -> list[EntityShape]:
        return [entity.__shape__ for entity in self.entities]

    def taken(self, shape: EntityShape, records: list[Any], now: datetime) -> list[Any]:
        """Those records of an entity that are meant."""
        if self.project is None and shape.expiry is None:
            return records
        return [record for record in records if self.takes(record, now)]

    def takes(self, record: Entity, now: datetime) -> bool:
        """Is a record meant? One whose end has come is there for nobody, however late it is removed."""
        shape, values = record.__shape__, record.__dict__
        end = values[shape.expiry] if shape.expiry else None
        if end is not None and end <= now.timestamp():
            return False
        if self.project is None:
            return True
        of = None if shape.project is None else values[shape.project.name]
        return of is not None and shape.project is not None and key_text(shape.project, of) == self.project


def select(
    domains: Sequence[Domain], own: Iterable[Domain], *, domain: str | None = None, project: str | None = None
) -> Selection:
    """What is meant; ``own`` are the system's own records, which belong to no single domain."""
    if domain is not None and domain not in {d.name for d in domains}:
        raise InvalidValue(f"there is no domain {domain!r}; there are {', '.join(d.name for d in domains)}")
    chosen = [d for d in domains if domain in (None, d.name)] + ([] if domain else list(own))
    entities = [e for d in chosen for e in d.entities if e not in OF_ONE_STORE]
    if project is not None:
        entities = [e for e in entities if e.__shape__.project is not None]
    whole = domain is None and project is None
    return Selection(tuple(dict.fromkeys(entities)), project, whole)


def check_known(store: Store, shapes: Sequence[EntityShape]) -> None:
    """LayoutMismatch where a store has more in its records than these declarations know, which would be left behind."""
    older = LayoutEnsuring(store.engine, store.clock).older(shapes)
    if older:
        raise LayoutMismatch(
            f"the store has newer layouts of {', '.join(older)} than are declared here, and what is new in them would "
            f"be left behind; use the release that has them"
        )


def watched(shapes: Sequence[EntityShape]) -> list[EntityShape]:
    """The same entities, as if every table had a feed: what a store that is left tells of all its changes by."""
    tables: dict[int, TablePlace] = {}
    for shape in shapes:
        if not shape.table.feed and id(shape.table) not in tables:
            tables[id(shape.table)] = replace(shape.table, feed=True, watched=True)
    return [shape if shape.table.feed else replace(shape, table=tables[id(shape.table)]) for shape in shapes]
