"""The register of a store's layouts: changed only together with the edition, so that nobody misses a change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from penstock.errors import Conflict, Unavailable
from penstock.kernel.layouts.former_layout import FormerLayout, former_layout
from penstock.kernel.layouts.stored_layout import EDITION, LayoutEdition, StoredLayout, edition_with, edition_without
from penstock.net.backoff import Backoff
from penstock.operations.conditions import Compare, Condition, Missing
from penstock.operations.validation import prepare
from penstock.operations.writes import Delete, Put, Write
from penstock.ports.clock import Clock
from penstock.ports.engine import Engine
from penstock.ports.ids import commit_token

_TRIES = 100
"So often layouts are read anew because others have changed them meanwhile."
_PAUSES = Backoff(first=0.005, longest=0.2)
_TOGETHER = 40
"So many layouts are written in one commit, each with the one before it."

Layouts = Mapping[str, StoredLayout]
"What the store has of each entity, by its label."
Changed = Callable[[Sequence[str], Layouts], list[StoredLayout]]
"What is to become of some layouts."


class LayoutRegister:
    """What one store remembers."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine, self._clock = engine, clock

    def read(self, labels: Iterable[str]) -> Layouts:
        """What the store remembers of these."""
        refs = [StoredLayout.at(label=label) for label in labels]
        found = self._engine.get(refs, now=self._clock.now()) if refs else []
        return {layout.label: layout for layout in found if layout is not None}

    def everything(self) -> Layouts:
        """What the store remembers of all that it has heard of."""
        edition = self._edition()
        return self.read(() if edition is None else sorted(edition.marks))

    def edition(self) -> int:
        """The number of the present edition; 0 of a store that remembers nothing."""
        edition = self._edition()
        return 0 if edition is None else edition.number

    def change(self, labels: Sequence[str], changed: Changed) -> list[StoredLayout]:
        """Have layouts become what is made of them; those that have become others.

        It is asked anew when others were quicker.
        """
        done: list[StoredLayout] = []
        for first in range(0, len(labels), _TOGETHER):
            done += self._change(labels[first : first + _TOGETHER], changed)
        return done

    def forget(self, label: str, formers: Sequence[FormerLayout]) -> None:
        """Remember nothing more of an entity that is dropped."""
        for failures in range(1, _TRIES + 1):
            edition = self._edition()
            if edition is None or label not in edition.marks:
                return
            writes: list[Write] = [Delete(f.__shape__, {"label": label, "digest": f.digest}) for f in formers]
            writes.append(Delete(StoredLayout.__shape__, {"label": label}))
            writes.append(_put(edition_without(edition, label), "number", edition))
            try:
                return self._engine.commit(writes, now=self._clock.now(), token=commit_token())
            except Conflict:
                self._clock.sleep(_PAUSES.pause(failures))
        raise Unavailable("the store's layouts keep changing while they are written; try again")

    def _change(self, labels: Sequence[str], changed: Changed) -> list[StoredLayout]:
        for failures in range(1, _TRIES + 1):
            edition, before = self._edition(), self.read(labels)
            layouts = changed(labels, before)
            if not layouts:
                return []
            writes = [_put(layout, "generation", before.get(layout.label)) for layout in layouts]
            writes += _kept(layouts, before)
            writes.append(_put(edition_with(edition, layouts), "number", edition))
            try:
                self._engine.commit(writes, now=self._clock.now(), token=commit_token())
            except Conflict:
                self._clock.sleep(_PAUSES.pause(failures))
                continue
            return layouts
        raise Unavailable("the store's layouts keep changing while they are written; try again")

    def _edition(self) -> LayoutEdition | None:
        found: LayoutEdition | None = self._engine.get([EDITION], now=self._clock.now())[0]
        return found


def _kept(layouts: Iterable[StoredLayout], before: Layouts) -> Iterator[Put]:
    """What is left of layouts that others follow."""
    for layout in layouts:
        left = before.get(layout.label)
        if left is not None and left.digest != layout.digest:
            former = former_layout(left)
            yield Put(former.__shape__, prepare(former.__shape__, former.__dict__))


def _put(record: StoredLayout | LayoutEdition, counted: str, before: StoredLayout | LayoutEdition | None) -> Put:
    same: Condition = Missing() if before is None else Compare(counted, "=", before.__dict__[counted])
    return Put(record.__shape__, prepare(record.__shape__, record.__dict__), same)
