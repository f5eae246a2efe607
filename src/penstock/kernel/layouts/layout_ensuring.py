"""Ensuring: tables are created and grown, the store remembers each layout, and what takes more than that is told.

A declaration that the store has seen before it got its present one is an older one: it changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from penstock.declare.domain import Domain
from penstock.errors import Conflict, Unavailable
from penstock.kernel.layouts.stored_layout import (
    EDITION,
    LayoutEdition,
    StoredLayout,
    edition_with,
    first_layout,
    next_layout,
)
from penstock.operations.conditions import Compare, Condition, Missing
from penstock.operations.plan import OLDER, PlanStep
from penstock.operations.validation import prepare
from penstock.operations.writes import Put
from penstock.ports.clock import Clock
from penstock.ports.engine import Engine
from penstock.ports.ids import commit_token
from penstock.schema.differences import Difference, Takes, differences, ensured
from penstock.schema.fingerprint import Fingerprint, fingerprint_of
from penstock.schema.shape import EntityShape

_TRIES = 20
"So often layouts are read anew because others have changed them meanwhile."
_TOGETHER = 50
"So many layouts are written in one commit."
_UNFIT = (Takes.MIGRATION, Takes.MORE_WORDS)
"Differences for whose sake a table is left as it is."


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
    def is_same(self) -> bool:
        return self.stored is not None and self.stored.digest == self.declared.digest

    @cached_property
    def is_older(self) -> bool:
        return self.stored is not None and not self.is_same and self.declared.digest in self.stored.former

    @cached_property
    def differences(self) -> list[Difference]:
        if self.stored is None or self.is_same or self.is_older:
            return []
        return differences(self.stored.layout, self.declared, key_texts=self.key_texts)

    @property
    def may_be_ensured(self) -> bool:
        """May tables be made to hold what is declared?"""
        return not self.is_older and not any(d.takes in _UNFIT for d in self.differences)

    def steps(self) -> list[PlanStep]:
        """What differs, beside what is done to tables for it."""
        if self.is_older:
            return [PlanStep(OLDER, self.shape.label, _OLDER)]
        return [PlanStep(str(d.takes), d.what, d.detail) for d in self.differences]

    def following(self) -> StoredLayout | None:
        """The layout that the store has once its tables are ensured; None: none but the one it has."""
        if self.stored is None:
            return first_layout(self.shape)
        if self.is_same or self.is_older:
            return None
        layout = ensured(self.stored.layout, self.declared, key_texts=self.key_texts)
        if layout.digest == self.stored.digest:
            return None
        return next_layout(self.stored, layout, declared=self.declared.digest)


_OLDER = "the store has a newer layout than this declaration; nothing is changed for it, and records are read as ever"


class LayoutEnsuring:
    """Ensures domains on one engine."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine, self._clock = engine, clock
        self._has_layouts = False

    def ensure(self, domains: Sequence[Domain], *, dry_run: bool) -> list[PlanStep]:
        """Create what is missing and may be created; tell that, and what takes more."""
        steps: list[PlanStep] = []
        self._has_layouts = self._looked()
        for domain in domains:
            compared = self._compared(domain.shapes)
            fit = [c.shape for c in compared if c.may_be_ensured]
            steps += self._engine.ensure(
                fit, views=domain.view_shapes if len(fit) == len(compared) else (), dry_run=dry_run
            )
            for comparison in compared:
                steps += comparison.steps()
            if not dry_run:
                self._remember(domain.shapes)
        # What several domains need is planned for each, but would be created once.
        return list(dict.fromkeys(steps))

    def _compared(self, shapes: Sequence[EntityShape]) -> list[_Comparison]:
        stored = self._stored(shapes)
        key_texts = self._engine.features.key_texts
        return [_Comparison(shape, stored.get(shape.label), key_texts) for shape in shapes]

    def _looked(self) -> bool:
        """Has the store tables for what it remembers?"""
        missing = self._engine.ensure([StoredLayout.__shape__, LayoutEdition.__shape__], dry_run=True)
        return not any(step.kind == "create table" for step in missing)

    def _stored(self, shapes: Sequence[EntityShape]) -> Mapping[str, StoredLayout]:
        """What the store remembers of these."""
        if not shapes or not self._has_layouts:
            return {}
        found = self._engine.get([StoredLayout.at(label=shape.label) for shape in shapes], now=self._clock.now())
        return {layout.label: layout for layout in found if layout is not None}

    def _remember(self, shapes: Sequence[EntityShape]) -> None:
        self._has_layouts = True
        for first in range(0, len(shapes), _TOGETHER):
            self._remember_some(shapes[first : first + _TOGETHER])

    def _remember_some(self, shapes: Sequence[EntityShape]) -> None:
        """Write the layouts that are new, with the edition that has them; others may do the same at once."""
        for _ in range(_TRIES):
            compared = self._compared(shapes)
            changed = [(c.stored, layout) for c in compared if (layout := c.following()) is not None]
            if not changed:
                return
            edition = self._edition()
            after = edition_with(edition, {layout.label: layout.digest for _, layout in changed})
            writes = [_put_layout(before, layout) for before, layout in changed]
            try:
                self._engine.commit(
                    [*writes, _put_edition(edition, after)], now=self._clock.now(), token=commit_token()
                )
                return
            except Conflict:
                continue
        raise Unavailable("the store's layouts keep changing while they are written; try again")

    def _edition(self) -> LayoutEdition | None:
        found: LayoutEdition | None = self._engine.get([EDITION], now=self._clock.now())[0]
        return found


def _put_layout(before: StoredLayout | None, layout: StoredLayout) -> Put:
    same: Condition = Missing() if before is None else Compare("generation", "=", before.generation)
    return Put(layout.__shape__, prepare(layout.__shape__, layout.__dict__), same)


def _put_edition(before: LayoutEdition | None, after: LayoutEdition) -> Put:
    same: Condition = Missing() if before is None else Compare("number", "=", before.number)
    return Put(after.__shape__, prepare(after.__shape__, after.__dict__), same)
