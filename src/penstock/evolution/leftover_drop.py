"""Dropping the leftovers of one entity: what the store had for former declarations, and remembers to have had.

1. *Proposed*: nothing changes, and everybody tells by which declaration it goes. Where one goes by another than this,
   it is withdrawn: its process is named.
2. *Dropping*: everybody reads and writes without the leftovers. When nobody asks for them any more they are dropped.
3. The store remembers the layout without them, and forgets the former ones.

Whoever takes over from a process that died goes on where it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from msgspec import Struct

from penstock.errors import LayoutMismatch, Misconfigured, PenstockError
from penstock.evolution.leftovers import (
    dropping_engine,
    places_left,
    remaining_layout,
    standing_leftovers,
    why_not,
)
from penstock.evolution.migration_turn import MigrationTurn
from penstock.evolution.speed_limit import SpeedLimit
from penstock.evolution.staged_layout import StagedLayout
from penstock.kernel.layouts.evolving_engine import by_layouts
from penstock.kernel.layouts.former_layout import FormerLayout
from penstock.kernel.layouts.layout_register import LayoutRegister
from penstock.kernel.layouts.stored_layout import StoredLayout, announcing, at_stage, next_layout, withdrawing
from penstock.kernel.store import Store
from penstock.operations.leftover import Leftover, LeftoverKind
from penstock.schema.derived_shape import through
from penstock.schema.fingerprint import fingerprint_of
from penstock.schema.migration_stage import DROPS, MigrationStage
from penstock.schema.shape import EntityShape, unindexed

PAGE = 100


class DroppedLeftovers(Struct, frozen=True):
    """What was dropped of one entity."""

    label: str
    dropped: tuple[Leftover, ...]
    kept: tuple[Leftover, ...] = ()
    "What had to stay, with the reasons."
    written: int = 0
    "How many records were written for it, where each is written by itself."


class LeftoverDrop:
    """Drops what is left of an entity's former layouts."""

    digest = ""
    "Of the declaration beside which no other may run."

    def __init__(
        self,
        store: Store,
        shape: EntityShape,
        *,
        page: int = PAGE,
        rate: float | None = None,
        tell: Callable[[str], None] = lambda told: None,
    ) -> None:
        """``rate`` is how many records a second are looked at, at most; ``tell`` is told what is waited for."""
        self._store, self._shape, self._engine = store, shape, by_layouts(store.engine)
        self._declared = fingerprint_of(shape)
        self.digest = self.digest or self._declared.digest
        self._turn = MigrationTurn(store, shape.label)
        self._layout = StagedLayout(store, shape.label, meanwhile=self._turn.keep)
        self._page, self._limit, self._tell = page, SpeedLimit(store.clock, rate), tell

    def run(self) -> DroppedLeftovers:
        """Do all of it, or what is left of it; LayoutMismatch, and nothing is changed, where it cannot be done yet."""
        done, refused = drop_together([self])
        if refused:
            raise refused[0]
        return done[0]

    def propose(self) -> None:
        """Have everybody tell by which declaration it goes."""
        self._turn.await_turn(self._tell)
        why = self._why_not(self._layout.stored())
        if why is not None:
            raise LayoutMismatch(f"{why}. Nothing was dropped")
        self._layout.become(self._proposing)

    def begin(self) -> None:
        """Have everybody read and write without the leftovers."""
        stored = self._layout.stored()
        if stored.stage is MigrationStage.PROPOSED:
            self._tell("for everybody to tell by which declaration it goes")
            self._layout.wait_for_writers()
            self._check_alone()
            self._make_room(stored)
            self._layout.become(self._dropping)

    def wait(self) -> None:
        """Return when nobody asks for them any more, of this entity or of one that has begun before it."""
        self._tell("for nobody to ask for it any more")
        self._layout.wait_for_requests()

    def finish(self) -> DroppedLeftovers:
        """Drop them."""
        stored = self._layout.stored()
        if stored.stage is not MigrationStage.DROPPING:
            raise self._turn.lost()
        self._layout.wait_for_writers()
        return self._finish(stored)

    def leave(self) -> None:
        """Let others have their turn."""
        self._turn.leave()

    # Stages

    def _why_not(self, stored: StoredLayout) -> str | None:
        return why_not(stored, self._shape, self._engine.features.key_texts)

    def _proposing(self, before: StoredLayout) -> StoredLayout | None:
        if before.stage in DROPS:
            return None
        if before.announced is not None:
            raise LayoutMismatch(f"{self._shape.label} is just being changed by another process. Nothing was dropped")
        remaining = remaining_layout(before.layout, self._declared)
        return at_stage(announcing(before, remaining, declared=self._declared.digest), MigrationStage.PROPOSED)

    def _check_alone(self) -> None:
        others = self._layout.others(self.digest)
        if others:
            self._withdraw()
            raise LayoutMismatch(
                f"{self._shape.label}: other declarations still run, at {', '.join(others)}. Nothing was dropped; end "
                f"them, and try again"
            )

    def _withdraw(self) -> None:
        self._layout.become(lambda before: withdrawing(before) if before.stage in DROPS else None)

    def _make_room(self, stored: StoredLayout) -> None:
        """Have tables take records that lack what is to be dropped."""
        key_texts = self._engine.features.key_texts
        if not key_texts:
            derived = through(self._shape, stored.layout, key_texts=key_texts)
            self._engine.ensure([unindexed(derived.shape)])

    def _dropping(self, before: StoredLayout) -> StoredLayout | None:
        return at_stage(before, MigrationStage.DROPPING) if before.stage is MigrationStage.PROPOSED else None

    # Dropping

    def _finish(self, stored: StoredLayout) -> DroppedLeftovers:
        self._engine.ensure([self._shape])  # whose triggers speak of nothing else from now on
        done = self._drop_all(stored)
        self._layout.become(lambda before: next_layout(before) if before.stage is MigrationStage.DROPPING else None)
        self._forget(is_all=not done.kept)
        return done

    def _drop_all(self, stored: StoredLayout) -> DroppedLeftovers:
        everything = LayoutRegister(self._store.engine, self._store.clock).everything()
        found = standing_leftovers(self._store, self._shape, everything, counted=True)
        going = [leftover for leftover in found if leftover.kept is None]
        _, left = places_left(self._store, self._shape, everything)
        written = 0
        for kind, some in groupby(going, key=lambda leftover: leftover.kind):
            for together in _apart(kind, list(some)):
                shape = left[together[0].place] if kind in _OF_TABLES else self._shape
                written += self._drop(stored, shape, together)
        kept = tuple(leftover for leftover in found if leftover.kept is not None)
        return DroppedLeftovers(self._shape.label, tuple(going), kept, written)

    def _drop(self, stored: StoredLayout, shape: EntityShape, leftovers: Sequence[Leftover]) -> int:
        """Drop some of one kind, page by page; how many records were written."""
        engine, place, written = dropping_engine(self._store), None, 0
        while True:
            self._turn.keep()
            with self._turn.writing(stored.mark):
                page = engine.drop(shape, leftovers, after=place, limit=self._page)
            place, written = page.place, written + page.written
            self._limit.keep(page.looked_at)
            if place is None:
                return written if page.looked_at else 0

    def _forget(self, *, is_all: bool) -> None:
        """What had to stay is still known to have been ours."""
        if is_all:
            formers = list(self._store.find(FormerLayout.of_entity(label=self._shape.label)))
            self._store.delete_many([FormerLayout.at(label=f.label, digest=f.digest) for f in formers])


def drop_together(drops: Sequence[LeftoverDrop]) -> tuple[list[DroppedLeftovers], list[PenstockError]]:
    """Drop the leftovers of several entities, with one wait for all of them; what was dropped, and what was refused."""
    refused: list[PenstockError] = []
    done: list[DroppedLeftovers] = []

    def each(of: Sequence[LeftoverDrop], step: Callable[[LeftoverDrop], object]) -> list[LeftoverDrop]:
        further = []
        for drop in of:
            try:
                step(drop)
                further.append(drop)
            except (LayoutMismatch, Misconfigured) as error:
                refused.append(error)
        return further

    try:
        begun = each(each(drops, LeftoverDrop.propose), LeftoverDrop.begin)
        if begun:
            begun[-1].wait()
        each(begun, lambda drop: done.append(drop.finish()))
    finally:
        for drop in drops:
            drop.leave()
    return done, refused


def _apart(kind: LeftoverKind, leftovers: list[Leftover]) -> list[list[Leftover]]:
    """Those that are dropped together: a table that was left is a place of its own."""
    return [[each] for each in leftovers] if kind in _OF_TABLES else [leftovers]


_OF_TABLES = (LeftoverKind.TABLE, LeftoverKind.RECORDS)
