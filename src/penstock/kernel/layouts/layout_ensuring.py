"""Ensuring: tables are created and grown, the store remembers each layout, and what takes more than that is told.

A layout that grows is announced before anybody goes by it: as soon as every writer carries along what is new, nobody
erases what another has just written. A declaration that the store has left behind changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from penstock.declare.domain import Domain
from penstock.kernel.layouts.knower_watch import KnowerWatch
from penstock.kernel.layouts.knowledge import Knowledge
from penstock.kernel.layouts.layout_register import LayoutRegister, Layouts
from penstock.kernel.layouts.stored_layout import (
    LayoutEdition,
    StoredLayout,
    announcing,
    first_layout,
    next_layout,
)
from penstock.operations.plan import OLDER, PlanStep
from penstock.ports.clock import Clock
from penstock.ports.engine import Engine
from penstock.schema.derived_shape import through
from penstock.schema.differences import Difference, Takes, differences, ensured
from penstock.schema.fingerprint import Fingerprint, fingerprint_of
from penstock.schema.layout_names import named_as
from penstock.schema.migration_stage import BEING_DROPPED, DROPS
from penstock.schema.shape import EntityShape, unindexed

_UNFIT = (Takes.MIGRATION, Takes.MORE_WORDS)
"Differences for whose sake a table is left as it is."
_MIGRATING = "records are on their way to another layout; it grows when they have come to an end, with penstock migrate"
_OLDER = "the store has a newer layout than this declaration; nothing is changed for it, and records are read as ever"


@dataclass(frozen=True)
class _Comparison:
    """A declaration beside the layout that the store has, if it has one."""

    shape: EntityShape
    stored: StoredLayout | None
    key_texts: bool

    @cached_property
    def declared(self) -> Fingerprint:
        return fingerprint_of(self.shape)

    @cached_property
    def is_older(self) -> bool:
        if self.stored is None or self.stored.digest == self.declared.digest:
            return False
        return self.declared.digest in self.stored.former

    @cached_property
    def differences(self) -> list[Difference]:
        if self.stored is None or self.is_older:
            return []
        return differences(self.stored.layout, self.declared, key_texts=self.key_texts)

    @property
    def may_be_ensured(self) -> bool:
        """May tables be made to hold what is declared?"""
        if self.stored is not None and self.stored.stage is not None:
            return False  # whoever migrates has made room, and an index is of one layout at a time
        return not self.is_older and not any(d.takes in _UNFIT for d in self.differences)

    @property
    def relaxed(self) -> EntityShape | None:
        """The table with columns of which nobody here can make a value any more, and that need none; None: as it is."""
        if self.stored is None or self.is_older or self.key_texts:
            return None
        layout = named_as(self.stored.layout, self.declared)
        lost = [f for n, f in layout.fields.items() if n not in self.declared.fields]
        if not any(f.computed_of and not f.optional for f in lost):
            return None
        return unindexed(through(self.shape, layout, key_texts=self.key_texts).shape)

    def steps(self) -> list[PlanStep]:
        """What differs, beside what is done to tables for it."""
        if self.stored is not None and self.stored.stage is not None and self.grown is not None:
            why = BEING_DROPPED if self.stored.stage in DROPS else _MIGRATING
            return [PlanStep(str(Takes.MORE_WORDS), self.shape.label, why)]
        if self.is_older:
            return [PlanStep(OLDER, self.shape.label, _OLDER)]
        return [PlanStep(str(d.takes), d.what, d.detail) for d in self.differences]

    @cached_property
    def grown(self) -> Fingerprint | None:
        """The layout that is to follow; None where the one that there is stays."""
        if self.stored is None or self.is_older:
            return None
        layout = ensured(self.stored.layout, self.declared, key_texts=self.key_texts)
        return None if layout.digest == self.stored.digest else layout

    def begun(self) -> StoredLayout | None:
        """The layout as it is remembered first: as it is declared, or with what is to follow announced."""
        if self.stored is None:
            return first_layout(self.shape)
        if self.grown is None or self.stored.announced is not None:
            return None
        return announcing(self.stored, self.grown, declared=self.declared.digest)

    @property
    def is_announced(self) -> bool:
        """Is some layout to follow, for whomever?"""
        return self.stored is not None and self.stored.announced is not None and self.stored.stage is None

    def done(self) -> StoredLayout | None:
        """The layout once everybody carries along what is new."""
        return next_layout(self.stored) if self.stored is not None and self.is_announced else None


class LayoutEnsuring:
    """Ensures domains in one store."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine, self._clock = engine, clock
        self._knowledge: Knowledge | None = getattr(engine, "knowledge", None)
        self._register = LayoutRegister(engine, clock)

    def ensure(self, domains: Sequence[Domain], *, dry_run: bool) -> list[PlanStep]:
        """Create what is missing and may be created; tell that, and what takes more."""
        steps: list[PlanStep] = []
        remembers = self._remembers()
        for domain in domains:
            stored = self._register.read([s.label for s in domain.shapes]) if remembers else {}
            compared = self._compared(domain.shapes, stored)
            fit = [c.shape for c in compared if c.may_be_ensured]
            views = domain.view_shapes if len(fit) == len(compared) else ()
            steps += self._engine.ensure(fit, views=views, dry_run=dry_run)
            for relaxed in filter(None, (c.relaxed for c in compared if c.may_be_ensured)):
                steps += self._engine.ensure([relaxed], dry_run=dry_run)
            for comparison in compared:
                steps += comparison.steps()
            if not dry_run:
                self._remember(domain.shapes)
                remembers = True
        # What several domains need is planned for each, but would be created once.
        return list(dict.fromkeys(steps))

    def older(self, shapes: Sequence[EntityShape]) -> list[str]:
        """The labels of declarations that the store has left behind: by them not all of a record is seen."""
        return [c.shape.label for c in self._stored(shapes) if c.is_older]

    def unsettled(self, shapes: Sequence[EntityShape]) -> list[str]:
        """The labels of entities whose records have to be brought to another layout, or are on their way to it."""
        return [
            c.shape.label
            for c in self._stored(shapes)
            if not c.may_be_ensured or (c.stored is not None and c.stored.stage is not None)
        ]

    def _stored(self, shapes: Sequence[EntityShape]) -> list[_Comparison]:
        stored = self._register.read([shape.label for shape in shapes]) if self._remembers() else {}
        return self._compared(shapes, stored)

    def _remembers(self) -> bool:
        """Has the store tables for what it remembers?"""
        missing = self._engine.ensure([StoredLayout.__shape__, LayoutEdition.__shape__], dry_run=True)
        return not any(step.kind == "create table" for step in missing)

    def _compared(self, shapes: Sequence[EntityShape], stored: Layouts) -> list[_Comparison]:
        key_texts = self._engine.features.key_texts
        return [_Comparison(shape, stored.get(shape.label), key_texts) for shape in shapes]

    def _remember(self, shapes: Sequence[EntityShape]) -> None:
        """Have the store remember what is declared; also what others have announced and not brought to its end."""
        while True:
            self._become(shapes, _Comparison.begun)
            announced = self._compared(shapes, self._register.read([shape.label for shape in shapes]))
            if not any(c.is_announced or c.begun() for c in announced):
                return  # else another's was in the way, and is out of it by now
            KnowerWatch(self._engine, self._clock).wait_for(self._register.edition())
            self._become([c.shape for c in announced if c.is_announced], _Comparison.done)

    def _become(
        self, shapes: Sequence[EntityShape], becomes: Callable[[_Comparison], StoredLayout | None]
    ) -> list[StoredLayout]:
        by_label = {shape.label: shape for shape in shapes}

        def changed(labels: Sequence[str], stored: Layouts) -> list[StoredLayout]:
            found = [becomes(c) for c in self._compared([by_label[label] for label in labels], stored)]
            return [layout for layout in found if layout is not None]

        done = self._register.change(list(by_label), changed)
        if done and self._knowledge is not None:
            self._knowledge.renew()
        return done
