"""What is to be migrated: entities whose records do not lie as they are declared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from penstock.declare.domain import Domain
from penstock.errors import LayoutMismatch
from penstock.evolution.lost_records import LostRecords, lost_records
from penstock.kernel.layouts.layout_register import LayoutRegister
from penstock.kernel.store import Store
from penstock.schema.differences import Difference, Takes
from penstock.schema.fingerprint import fingerprint_of
from penstock.schema.migration_stage import BEING_DROPPED, DROPS
from penstock.schema.shape import EntityShape
from penstock.schema.target_layout import keeps_from_migrating, target_layout


class PendingMigration(Struct, frozen=True, eq=False):
    """One entity whose records have a way to go."""

    shape: EntityShape
    steps: tuple[Difference, ...]
    "What is to be done,"
    left: tuple[Difference, ...]
    "and what keeps it from being done: the declaration has to say it otherwise."
    records: int | None
    "How many the entity's table has, about; None where they cannot be seen by this declaration."
    stage: str | None
    "How far it is, where somebody has begun with it."
    lost: tuple[LostRecords, ...] = ()
    "Records that have choices which are declared no longer, where they were counted."

    @property
    def label(self) -> str:
        return self.shape.label

    @property
    def refused(self) -> str | None:
        """Why nothing can be done, in a sentence; None where it can."""
        keeping = [f"{d.what}: {d.detail}" for d in self.left if keeps_from_migrating(d)]
        if not keeping or self.stage is not None:
            return None
        return f"{self.label} cannot be migrated: " + "; ".join(keeping)

    @property
    def undone(self) -> list[str]:
        """What is left as it is, without keeping anything else from being done."""
        return [f"{d.what} is left as it is: {d.detail}" for d in self.left if not keeps_from_migrating(d)]

    @property
    def is_to_be_done(self) -> bool:
        return self.refused is None and (bool(self.steps) or self.stage is not None)


def pending_migrations(store: Store, domains: Iterable[Domain], *, counted: bool = False) -> list[PendingMigration]:
    """Everything that `penstock migrate` has to do; nothing is changed.

    ``counted``: with the records that have choices which are declared no longer, for which all are looked at.
    """
    return [found for domain in (store.own, *domains) for found in _of(store, domain.shapes, counted)]


def _of(store: Store, shapes: list[EntityShape], counted: bool) -> Iterator[PendingMigration]:
    stored = LayoutRegister(store.engine, store.clock).read([shape.label for shape in shapes])
    for shape in shapes:
        layout = stored.get(shape.label)
        if layout is None or fingerprint_of(shape).digest in layout.former:
            continue
        if layout.stage in DROPS:
            told = Difference(Takes.MORE_WORDS, shape.label, BEING_DROPPED)
            yield PendingMigration(shape, (), (told,), _records(store, shape), None)
            continue
        target = target_layout(layout.layout, fingerprint_of(shape), key_texts=store.engine.features.key_texts)
        if target.steps or target.left or layout.stage is not None:
            records = _records(store, shape)
            stage = None if layout.stage is None else str(layout.stage)
            lost = lost_records(store, shape, layout) if counted and records is not None else ()
            yield PendingMigration(shape, target.steps, target.left, records, stage, tuple(lost))


def _records(store: Store, shape: EntityShape) -> int | None:
    try:
        return sum(size.records for size in store.engine.sizes([shape]))
    except LayoutMismatch:
        return None
