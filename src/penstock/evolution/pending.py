"""What is to be migrated: entities whose records do not lie as they are declared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from penstock.declare.domain import Domain
from penstock.kernel.layouts.layout_register import LayoutRegister
from penstock.kernel.store import Store
from penstock.schema.differences import Difference
from penstock.schema.fingerprint import fingerprint_of
from penstock.schema.shape import EntityShape
from penstock.schema.target_layout import target_layout


class PendingMigration(Struct, frozen=True, eq=False):
    """One entity whose records have a way to go."""

    shape: EntityShape
    steps: tuple[Difference, ...]
    "What is to be done,"
    left: tuple[Difference, ...]
    "and what keeps it from being done: the declaration has to say it otherwise."
    records: int
    "How many the entity's table has, about."
    stage: str | None
    "How far it is, where somebody has begun with it."

    @property
    def label(self) -> str:
        return self.shape.label


def pending_migrations(store: Store, domains: Iterable[Domain]) -> list[PendingMigration]:
    """Everything that `penstock migrate` has to do; nothing is changed."""
    return [found for domain in (store.own, *domains) for found in _of(store, domain.shapes)]


def _of(store: Store, shapes: list[EntityShape]) -> Iterator[PendingMigration]:
    stored = LayoutRegister(store.engine, store.clock).read([shape.label for shape in shapes])
    for shape in shapes:
        layout = stored.get(shape.label)
        if layout is None or fingerprint_of(shape).digest in layout.former:
            continue
        target = target_layout(layout.layout, fingerprint_of(shape), key_texts=store.engine.features.key_texts)
        if target.steps or layout.stage is not None:
            records = sum(size.records for size in store.engine.sizes([shape]))
            stage = None if layout.stage is None else str(layout.stage)
            yield PendingMigration(shape, target.steps, target.left, records, stage)
