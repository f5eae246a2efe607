"""The migration of an entity whose declaration has indexes that the store has not filled yet.

1. It is announced: every writer keeps the new keys true from then on, whether it declares the index or not.
2. Every record that stands is brought in, in segments, each of which can be gone on with by another process.
3. Every record is looked at once more.
4. The index is complete: queries by it are answered.

A process that dies leaves what the next one goes on with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct
from msgspec.structs import replace

from penstock.errors import LayoutMismatch
from penstock.evolution.backfill import Backfill
from penstock.kernel.layouts.evolving_engine import EvolvingEngine
from penstock.kernel.layouts.knower_watch import KnowerWatch
from penstock.kernel.layouts.layout_register import LayoutRegister, Layouts
from penstock.kernel.layouts.migration_segment import MigrationSegment
from penstock.kernel.layouts.stored_layout import StoredLayout, migrated, migrating
from penstock.kernel.store import Store
from penstock.schema.derived_shape import through
from penstock.schema.fingerprint import Fingerprint, digest_of, fingerprint_of
from penstock.schema.shape import EntityShape

SEGMENTS = 4
PAGE = 100
"So many records are looked at before it is noted how far a segment is."
_ROUNDS = 5
"So often all records are looked at once more; then somebody writes who does not know of the index."


class MigrationProgress(Struct, frozen=True):
    """How far the migration of one entity is."""

    label: str
    stage: str
    looked_at: int = 0
    written: int = 0
    unreadable: int = 0


Told = Callable[[MigrationProgress], None]


def missing_indexes(stored: StoredLayout, declared: Fingerprint) -> list[str]:
    """The indexes that a declaration has, and of which the store does not have every record."""
    return [name for name in declared.indexes if name not in stored.layout.indexes]


class IndexMigration:
    """Fills the new indexes of one entity."""

    def __init__(
        self,
        store: Store,
        shape: EntityShape,
        *,
        segments: int = SEGMENTS,
        page: int = PAGE,
        tell: Told = lambda progress: None,
    ) -> None:
        assert isinstance(store.engine, EvolvingEngine)
        self._store, self._declared, self._engine = store, shape, store.engine
        self._register = LayoutRegister(store.engine, store.clock)
        self._segments, self._page, self._tell = segments, page, tell

    def run(self) -> MigrationProgress:
        """Do all of it, or what is left of it."""
        stored = self._announced()
        KnowerWatch(self._engine, self._store.clock).wait_for(self._register.edition())
        backfill = self._backfill(stored)
        segments = self._begun()
        with ThreadPoolExecutor(max_workers=len(segments), thread_name_prefix="penstock-migrate") as pool:
            done = list(pool.map(lambda s: self._fill(backfill, s, len(segments)), segments))
        self._verify(backfill, len(segments))
        self._register.change([self._declared.label], _complete)
        self._engine.knowledge.renew()
        self._store.delete_many([MigrationSegment.at(label=s.label, number=s.number) for s in segments])
        return self._progress("complete", done)

    # Announcing

    def _announced(self) -> StoredLayout:
        self._register.change([self._declared.label], self._announce)
        self._engine.knowledge.renew()
        return self._register.read([self._declared.label])[self._declared.label]

    def _announce(self, labels: Sequence[str], layouts: Layouts) -> list[StoredLayout]:
        stored, declared = layouts.get(self._declared.label), fingerprint_of(self._declared)
        if stored is None or stored.announced is not None:
            self._check(stored)
            return []
        new = {name: declared.indexes[name] for name in missing_indexes(stored, declared)}
        layout = replace(stored.layout, indexes={**stored.layout.indexes, **new})
        return [migrating(stored, layout, declared=declared.digest)] if new else []

    def _check(self, stored: StoredLayout | None) -> None:
        if stored is None:
            raise LayoutMismatch(
                f"the store has not heard of {self._declared.label}; run `penstock tables apply` before it is migrated"
            )
        if stored.announced_for != digest_of(self._declared) or not stored.is_migrating:
            raise LayoutMismatch(
                f"{self._declared.label} is just being changed for another declaration; let that come to its end, with "
                f"the declaration it was begun with"
            )

    # Filling

    def _backfill(self, stored: StoredLayout) -> Backfill:
        derived = through(self._declared, stored.layout, announced=stored.following, key_texts=True)
        return Backfill(self._engine.beneath, derived.shape, self._store.clock, writing=self._engine.written_by)

    def _begun(self) -> list[MigrationSegment]:
        """The segments, as far as each is."""
        label = self._declared.label
        known = list(self._store.find(MigrationSegment.of_migration(label=label)))
        if known:
            return known
        begun = [MigrationSegment(label=label, number=number) for number in range(self._segments)]
        self._store.put_many(begun)
        return begun

    def _fill(self, backfill: Backfill, segment: MigrationSegment, segments: int) -> MigrationSegment:
        while not segment.is_done:
            page = backfill.fill(segment.number, segments, segment.place, limit=self._page)
            segment.place = page.place
            segment.looked_at += page.looked_at
            segment.written += page.written
            segment.unreadable += len(page.unreadable)
            segment.is_done = page.place is None
            self._store.put(segment)
            self._tell(self._progress("filling", [segment]))
        return segment

    def _verify(self, backfill: Backfill, segments: int) -> None:
        """Look at every record once more; a round in which nothing had to be written is the last."""
        for _ in range(_ROUNDS):
            written = 0
            for number in range(segments):
                place: str | None = None
                while True:
                    page = backfill.fill(number, segments, place, limit=10 * self._page)
                    written += page.written
                    place = page.place
                    if place is None:
                        break
            if not written:
                return
        raise LayoutMismatch(
            f"{self._declared.label}: records leave the index while it is filled; somebody writes to the store without "
            f"knowing of it. Find who does, end that, and run `penstock migrate` again"
        )

    def _progress(self, stage: str, segments: Sequence[MigrationSegment]) -> MigrationProgress:
        return MigrationProgress(
            self._declared.label,
            stage,
            sum(s.looked_at for s in segments),
            sum(s.written for s in segments),
            sum(s.unreadable for s in segments),
        )


def _complete(labels: Sequence[str], layouts: Layouts) -> list[StoredLayout]:
    return [migrated(stored) for stored in layouts.values() if stored.is_migrating]
