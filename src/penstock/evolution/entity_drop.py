"""Dropping an entity that is declared no longer: its table, or its records in a table that others have too."""

from __future__ import annotations

from penstock.errors import LayoutMismatch
from penstock.evolution.leftover_drop import DroppedLeftovers, LeftoverDrop
from penstock.evolution.leftovers import left_records
from penstock.kernel.layouts.former_layout import FormerLayout
from penstock.kernel.layouts.layout_register import LayoutRegister
from penstock.kernel.layouts.stored_layout import StoredLayout, announcing, at_stage
from penstock.schema.migration_stage import DROPS, MigrationStage
from penstock.schema.remembered_shape import without_records

NOBODYS = "nobody's"
"Stands for the declaration that there is not."


class EntityDrop(LeftoverDrop):
    """Drops all that is left of one; the shape is what the store remembers of it."""

    digest = NOBODYS

    def _why_not(self, stored: StoredLayout) -> str | None:
        if stored.announced is None or (stored.stage in DROPS and stored.announced_for == NOBODYS):
            return None
        return f"{stored.label} is just being changed; let that come to its end"

    def _proposing(self, before: StoredLayout) -> StoredLayout | None:
        if before.stage in DROPS:
            return None
        if before.announced is not None:
            raise LayoutMismatch(f"{before.label} is just being changed by another process. Nothing was dropped")
        following = without_records(before.layout)
        return at_stage(announcing(before, following, declared=NOBODYS), MigrationStage.PROPOSED)

    def _make_room(self, stored: StoredLayout) -> None:
        """Nobody writes its records any more."""

    def _finish(self, stored: StoredLayout) -> DroppedLeftovers:
        register = LayoutRegister(self._store.engine, self._store.clock)
        found, left = left_records(self._store, stored, register.everything(), counted=True)
        going = [leftover for leftover in found if leftover.kept is None]
        written = sum(self._drop(stored, left[each.place], [each]) for each in going)
        kept = tuple(leftover for leftover in found if leftover.kept is not None)
        if not kept:
            formers = list(self._store.find(FormerLayout.of_entity(label=stored.label)))
            register.forget(stored.label, formers)
            self._engine.knowledge.renew()
        else:
            self._withdraw()
        return DroppedLeftovers(stored.label, tuple(going), kept, written)
