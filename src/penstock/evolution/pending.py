"""What is to be migrated: entities of which a declaration has indexes that do not have every record yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from penstock.declare.domain import Domain
from penstock.evolution.index_migration import missing_indexes
from penstock.kernel.layouts.layout_register import LayoutRegister
from penstock.kernel.store import Store
from penstock.schema.fingerprint import fingerprint_of
from penstock.schema.shape import EntityShape


class PendingMigration(Struct, frozen=True, eq=False):
    """One entity whose records have a way to go."""

    shape: EntityShape
    indexes: tuple[str, ...]
    "Those that are to be filled."
    records: int
    "How many the entity's table has, about."
    is_begun: bool
    "Has somebody begun with it?"

    @property
    def label(self) -> str:
        return self.shape.label


def pending_migrations(store: Store, domains: Iterable[Domain]) -> list[PendingMigration]:
    """Everything that `penstock migrate` has to do; nothing is changed."""
    if not store.engine.features.key_texts:
        return []
    return [found for domain in (store.own, *domains) for found in _of(store, domain.shapes)]


def _of(store: Store, shapes: list[EntityShape]) -> Iterator[PendingMigration]:
    stored = LayoutRegister(store.engine, store.clock).read([shape.label for shape in shapes])
    for shape in shapes:
        layout = stored.get(shape.label)
        if layout is None:
            continue
        declared = fingerprint_of(shape)
        missing = missing_indexes(layout, declared)
        if missing and declared.digest not in layout.former:
            records = sum(size.records for size in store.engine.sizes([shape]))
            yield PendingMigration(shape, tuple(missing), records, layout.is_migrating)
