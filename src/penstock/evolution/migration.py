"""The migration of one entity from the layout that a store has to the one that is declared, while everybody goes on.

1. Tables grow, and new fields are announced: nobody erases them. *Announced*, where an index will have other keys:
   nobody asks by it any more.
2. *Filling*: every writer writes both layouts, and records that stand are brought along, in segments, each of which
   another process can go on with.
3. *Closed*, where older declarations could not write what is to follow: they are shut out, by an error that says so.
4. Every record is looked at once more.
5. *Switched*, where fields lie elsewhere: everybody reads the new layout, and writes both.
6. *Leaving*, where records have another key in the same table: nobody writes the former any more, and it is removed.
7. The new layout is the one that the store has.

Each stage begins when nobody goes by the one before the last. The last one does so when those who only read, and tell
nobody what they know, have heard of it: until then every writer writes what they read. Whoever takes over from a
process that died goes on where it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct
from msgspec.structs import replace

from penstock.errors import LayoutMismatch
from penstock.evolution.backfill import Backfill
from penstock.evolution.giving_way import GivingWay
from penstock.evolution.lost_records import lost_records
from penstock.evolution.migration_turn import MigrationTurn
from penstock.evolution.speed_limit import SpeedLimit
from penstock.evolution.staged_layout import StagedLayout
from penstock.kernel.layouts.derived_entity import DerivedEntity
from penstock.kernel.layouts.evolving_engine import by_layouts
from penstock.kernel.layouts.layout_register import LayoutRegister
from penstock.kernel.layouts.migration_segment import MigrationSegment
from penstock.kernel.layouts.stored_layout import StoredLayout, announcing, at_stage, next_layout, paused
from penstock.kernel.store import Store
from penstock.schema.derived_places import changed_indexes
from penstock.schema.derived_shape import moved_fields, through
from penstock.schema.differences import is_moved
from penstock.schema.fingerprint import Fingerprint, fingerprint_of
from penstock.schema.layout_names import named_as
from penstock.schema.migration_stage import BEING_DROPPED, DROPS, MigrationStage
from penstock.schema.shape import EntityShape, unindexed
from penstock.schema.target_layout import TargetLayout, keeps_from_migrating, shuts_out, target_layout

SEGMENTS = 4
PAGE = 100
"So many records are looked at before it is noted how far a segment is."
_ROUNDS = 5
"So often all records are looked at once more; then somebody writes who does not know of what is to follow."


_TOLD = 5
"So many records are named that keep a migration from its end."


class MigrationProgress(Struct, frozen=True):
    """How far the migration of one entity is."""

    label: str
    stage: str
    looked_at: int = 0
    written: int = 0
    unreadable: int = 0
    detail: str = ""
    segment: int | None = None
    "The one that it tells of; None: all of them."


Told = Callable[[MigrationProgress], None]


class _Paused(Exception):
    """Somebody has asked to wait."""


class Migration:
    """Brings all records of one entity to its declared layout."""

    def __init__(
        self,
        store: Store,
        shape: EntityShape,
        *,
        segments: int = SEGMENTS,
        page: int = PAGE,
        rate: float | None = None,
        shut_out: bool = False,
        tell: Told = lambda progress: None,
    ) -> None:
        """``rate`` is how many records a second are looked at, at most.

        Older declarations that must be shut out are waited for, unless ``shut_out``.
        """
        self._store, self._shape, self._engine = store, shape, by_layouts(store.engine)
        self._declared = fingerprint_of(shape)
        self._key_texts = store.engine.features.key_texts
        self._page, self._tell, self._shut_out = page, tell, shut_out
        self._segments = 1 if store.engine.features.embedded else segments  # where only one can write
        self._limit = SpeedLimit(store.clock, rate)
        self._giving_way = GivingWay(self._engine.beneath, store.clock)
        self._turn = MigrationTurn(store, shape.label)
        # One, so that a process that died is waited for once.
        self._layout = StagedLayout(store, shape.label, meanwhile=self._turn.keep)

    def run(self) -> MigrationProgress:
        """Do all of it, or what is left of it; stop where somebody has asked to pause.

        One process does so at a time: another is told, and waited for.
        """
        self._turn.await_turn(self._tell_waiting)
        try:
            return self._run_alone()
        finally:
            self._turn.leave()

    def _tell_waiting(self, detail: str) -> None:
        self._tell(MigrationProgress(self._declared.label, "waiting", detail=detail))

    def _run_alone(self) -> MigrationProgress:
        stored = self._announced()
        if stored is None:  # whoever did it may have died before all was tidied up
            return self._tidied(list(self._store.find(MigrationSegment.of_migration(label=self._declared.label))))
        try:
            return self._run(stored, self._begun())
        except _Paused:
            return self._progress("paused", self._begun())

    def _run(self, stored: StoredLayout, done: list[MigrationSegment]) -> MigrationProgress:
        if stored.stage is MigrationStage.ANNOUNCED:
            self._layout.wait_for_writers()
            self._layout.wait_for_readers()
            stored = self._advance(MigrationStage.FILLING)
        if stored.stage is MigrationStage.FILLING:
            self._layout.wait_for_writers()
            done = self._fill_all(stored, done)
            if shuts_out(stored.layout, _following(stored)):
                self._check_sound(stored, done)
                self._leave_behind()
                stored = self._advance(MigrationStage.CLOSED)
        if stored.stage is MigrationStage.CLOSED:
            self._layout.wait_for_writers()
        if stored.stage not in (MigrationStage.SWITCHED, MigrationStage.LEAVING):
            self._verify(stored)
            self._engine.ensure([self._shape])
            if self._is_moved(stored):
                stored = self._advance(MigrationStage.SWITCHED)
        if stored.stage is MigrationStage.SWITCHED:
            self._layout.wait_for_writers()
            if self._leaves_keys(stored):
                self._layout.wait_for_requests()
                stored = self._advance(MigrationStage.LEAVING)
        if stored.stage is MigrationStage.LEAVING:
            self._layout.wait_for_writers()
            self._leave(stored)
        elif stored.stage is not MigrationStage.FILLING:  # whoever reads as it was, or is to be shut out, hears of it
            self._layout.wait_for_readers()
        self._layout.become(lambda before: next_layout(before) if before.stage is not None else None)
        return self._tidied(done)

    def _tidied(self, done: list[MigrationSegment]) -> MigrationProgress:
        self._store.delete_many([MigrationSegment.at(label=s.label, number=s.number) for s in done])
        return self._progress("complete", done)

    def _is_moved(self, stored: StoredLayout) -> bool:
        layout, following = stored.layout, _following(stored)
        if self._has_other_home(stored):
            return True
        return bool(moved_fields(named_as(layout, following), following, key_texts=self._key_texts))

    def _has_other_home(self, stored: StoredLayout) -> bool:
        following = _following(stored)
        return is_moved(named_as(stored.layout, following), following, key_texts=self._key_texts)

    def _leaves_keys(self, stored: StoredLayout) -> bool:
        """Are there former keys in the table in which records stay?"""
        same_table = stored.layout.table == _following(stored).table
        return self._key_texts and same_table and self._has_other_home(stored)

    def _target(self, stored: StoredLayout) -> TargetLayout:
        return target_layout(stored.layout, self._declared, key_texts=self._key_texts)

    # Stages

    def _announced(self) -> StoredLayout | None:
        """What the store remembers once the migration has begun; None where there is nothing to do."""
        stored = self._layout.stored()
        if stored.stage in DROPS:
            raise LayoutMismatch(f"{self._declared.label}: {BEING_DROPPED}")
        if stored.stage is None:
            self._check_whole(stored)
            self._make_room(stored)
            self._grow()
            self._layout.become(self._begin)
        stored = self._layout.stored()
        if stored.announced is None and not self._target(stored).steps:
            return None
        if stored.stage is None or stored.announced_for != self._declared.digest:
            raise LayoutMismatch(
                f"{self._declared.label} is just being changed for another declaration; let that come to its end, with "
                f"the declaration it was begun with"
            )
        self._layout.become(lambda before: paused(before, False) if before.is_paused else None)
        return self._under_way()

    def _check_whole(self, stored: StoredLayout) -> None:
        left = [d for d in self._target(stored).left if keeps_from_migrating(d)]
        if left:
            raise LayoutMismatch(
                f"it takes more words to migrate {self._declared.label}; nothing was changed: "
                + "; ".join(f"{d.what}: {d.detail}" for d in left)
            )
        lost = [each.said for each in lost_records(self._store, self._shape, stored) if each.instead is None]
        if lost:  # what is begun has to come to its end, and this could not
            raise LayoutMismatch(f"{'; '.join(lost)}. Nothing was changed")

    def _make_room(self, stored: StoredLayout) -> None:
        """Have tables hold both layouts: where a column is needed by one alone, it needs no value.

        Indexes of SQL stay as they are until records are read in the new layout.
        """
        target = self._target(stored)
        for stage in (MigrationStage.FILLING, MigrationStage.SWITCHED):
            derived = through(
                self._shape, target.grown, announced=target.layout, stage=stage, key_texts=self._key_texts
            )
            for shape in filter(None, (derived.shape, derived.mirror)):
                self._engine.ensure([shape if self._key_texts else unindexed(shape)])

    def _grow(self) -> None:
        """Announce the fields that are new, and have everybody know of them before anybody goes by them."""
        self._layout.become(self._growing)
        self._layout.wait_for_writers()
        self._layout.become(lambda before: next_layout(before) if before.announced and before.stage is None else None)

    def _growing(self, before: StoredLayout) -> StoredLayout | None:
        target = self._target(before)
        if before.announced is not None or target.grown == before.layout:
            return None
        return announcing(before, target.grown, declared=before.declared)

    def _begin(self, before: StoredLayout) -> StoredLayout | None:
        target = self._target(before)
        if before.announced is not None or not target.steps:
            return None
        changed = self._key_texts and changed_indexes(named_as(before.layout, target.layout), target.layout)
        first = MigrationStage.ANNOUNCED if changed else MigrationStage.FILLING
        return at_stage(announcing(before, target.layout, declared=self._declared.digest), first)

    def _advance(self, stage: MigrationStage) -> StoredLayout:
        self._tell(MigrationProgress(self._declared.label, stage))
        self._layout.become(lambda before: at_stage(before, stage) if before.stage not in (None, stage) else None)
        return self._under_way()

    def _under_way(self) -> StoredLayout:
        """What the store remembers of a migration that has begun; TurnLost where another has come to its end."""
        stored = self._layout.stored()
        if stored.stage is None:
            raise self._turn.lost()
        return stored

    def _leave_behind(self) -> None:
        """Wait until nobody writes any more whose declaration is another, unless that is not wanted."""
        while not self._shut_out:
            older = self._layout.others(self._declared.digest)
            if not older:
                return
            self._tell_waiting(f"for older declarations at {', '.join(older)} to end; --shut-out does not wait")
            self._check_pause()
            self._store.clock.sleep(1)

    # Filling

    def _leave(self, stored: StoredLayout) -> None:
        """Remove what stands at former keys; a walk in which there was nothing to remove is the last."""
        former = self._backfill(at_stage(stored, MigrationStage.FILLING), stored.mark)
        for number in range(self._segments):
            while self._has_removed(former, number):
                pass

    def _has_removed(self, former: Backfill, number: int) -> bool:
        """Were there still records of a segment? Nobody is given way to, as many write where keys are texts."""
        place = None
        while True:
            self._check_pause()
            page = former.remove(number, self._segments, place, limit=self._page)
            self._limit.keep(page.looked_at)
            place = page.place
            if place is None:
                return page.written > 0  # the last page has what was spared before it, so one if there was any

    def _backfill(self, stored: StoredLayout, mark: str | None = None) -> Backfill:
        mark = mark or stored.mark
        derived = through(
            self._shape, stored.layout, announced=stored.following, stage=stored.stage, key_texts=self._key_texts
        )
        return Backfill(
            self._engine.beneath,
            DerivedEntity(derived),
            self._store.clock,
            writing=lambda: self._turn.writing(mark),
        )

    def _begun(self) -> list[MigrationSegment]:
        """The segments, as far as each is."""
        label = self._declared.label
        known = list(self._store.find(MigrationSegment.of_migration(label=label)))
        if known:
            return known
        begun = [MigrationSegment(label=label, number=number) for number in range(self._segments)]
        self._store.put_many(begun)
        return begun

    def _fill_all(self, stored: StoredLayout, segments: Sequence[MigrationSegment]) -> list[MigrationSegment]:
        backfill = self._backfill(stored)
        if len(segments) == 1:
            return [self._fill(backfill, stored.mark, segments[0], 1)]
        with ThreadPoolExecutor(max_workers=len(segments), thread_name_prefix="penstock-migrate") as pool:
            return list(pool.map(lambda s: self._fill(backfill, stored.mark, s, len(segments)), segments))

    def _fill(self, backfill: Backfill, mark: str, segment: MigrationSegment, segments: int) -> MigrationSegment:
        while not segment.is_done:
            self._check_pause()
            with self._giving_way.working():
                page = backfill.fill(segment.number, segments, segment.place, limit=self._page)
                segment.place = page.place
                segment.looked_at += page.looked_at
                segment.written += page.written
                segment.unreadable += len(page.unreadable)
                segment.is_done = page.place is None
                with self._turn.writing(mark):  # else another has come to its end, and the next one would begin with it
                    self._store.put(segment)
            self._tell(replace(self._progress("filling", [segment]), segment=segment.number))
            self._limit.keep(page.looked_at)
        return segment

    def _check_pause(self) -> None:
        if self._layout.stored().is_paused:
            raise _Paused
        self._turn.keep()

    def _verify(self, stored: StoredLayout) -> None:
        """Look at every record once more; a round in which nothing had to be written is the last."""
        backfill = self._backfill(stored)
        for _ in range(_ROUNDS):
            if not sum(self._look_through(stored, backfill, number) for number in range(self._segments)):
                return
        raise LayoutMismatch(
            f"{self._declared.label}: records fall behind while they are brought along; somebody writes to the store "
            f"without knowing of it. Find who does, end that, and run `penstock migrate` again"
        )

    def _check_sound(self, stored: StoredLayout, done: Sequence[MigrationSegment]) -> None:
        """Nobody is shut out as long as there are records of which nothing can be made."""
        if any(segment.unreadable for segment in done):
            backfill = self._backfill(stored)
            for number in range(self._segments):
                self._look_through(stored, backfill, number)

    def _look_through(self, stored: StoredLayout, backfill: Backfill, number: int) -> bool:
        """Had records of a segment still to be written?"""
        has_written, place = False, None
        while True:
            with self._giving_way.working():
                page = backfill.fill(number, self._segments, place, limit=10 * self._page)
            has_written, place = has_written or page.written > 0, page.place
            if page.unreadable and (self._is_moved(stored) or shuts_out(stored.layout, _following(stored))):
                with self._turn.writing(stored.mark):  # else another has gone on, and they are only read by what was
                    told = "; ".join(each.why for each in page.unreadable[:_TOLD])
                raise LayoutMismatch(
                    f"{self._declared.label}: {told}. Records are read as they were until that is corrected; run "
                    f"`penstock migrate` again then"
                )
            self._limit.keep(page.looked_at)
            if place is None:
                return has_written

    def _progress(self, stage: str, segments: Sequence[MigrationSegment]) -> MigrationProgress:
        return MigrationProgress(
            self._declared.label,
            stage,
            sum(s.looked_at for s in segments),
            sum(s.written for s in segments),
            sum(s.unreadable for s in segments),
        )


def _following(stored: StoredLayout) -> Fingerprint:
    assert stored.following is not None
    return stored.following


def pause_migration(store: Store, label: str) -> bool:
    """Have whoever migrates an entity stop at the next page; False where nobody has begun with it."""
    register = LayoutRegister(store.engine, store.clock)
    return bool(register.change([label], lambda _, layouts: [paused(s, True) for s in layouts.values() if s.stage]))
