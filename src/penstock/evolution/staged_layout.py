"""One entity's layout on its way through stages, none of which begins before everybody knows of the one before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.errors import LayoutMismatch
from penstock.kernel.layouts.evolving_engine import by_layouts
from penstock.kernel.layouts.knower import HELD, LONGEST_REQUEST
from penstock.kernel.layouts.knower_watch import KnowerWatch
from penstock.kernel.layouts.layout_register import LayoutRegister, Layouts
from penstock.kernel.layouts.stored_layout import StoredLayout
from penstock.kernel.store import Store

_AT_ONCE = 30.0
"Seconds that are slept before one looks up: half of what a turn lasts."


class StagedLayout:
    """What one store remembers of an entity, and who knows of it."""

    def __init__(self, store: Store, label: str, *, meanwhile: Callable[[], object]) -> None:
        """``meanwhile`` is called again and again while one waits."""
        self._store, self._label, self._engine = store, label, by_layouts(store.engine)
        self._meanwhile = meanwhile
        self._register = LayoutRegister(store.engine, store.clock)
        self._watch = KnowerWatch(self._engine, store.clock)

    def stored(self) -> StoredLayout:
        """What it remembers; LayoutMismatch where it has not heard of the entity."""
        stored = self._register.read([self._label]).get(self._label)
        if stored is None:
            raise LayoutMismatch(
                f"the store has not heard of {self._label}; run `penstock tables apply` before it is migrated"
            )
        return stored

    def become(self, becomes: Callable[[StoredLayout], StoredLayout | None]) -> None:
        """Have it be what is made of it; None leaves it as it is."""

        def changed(labels: Sequence[str], layouts: Layouts) -> list[StoredLayout]:
            found = [becomes(layout) for layout in layouts.values()]
            return [layout for layout in found if layout is not None]

        if self._register.change([self._label], changed):
            self._engine.knowledge.renew()

    def wait_for_writers(self) -> None:
        """Return when nobody writes any more who does not know what there is to know now."""
        self._watch.wait_for(self._register.edition(), meanwhile=self._meanwhile)

    def wait_for_readers(self) -> None:
        """The same of those who only read: they tell nobody what they know, and may go by it for so long."""
        self._rest(HELD)

    def wait_for_requests(self) -> None:
        """Return when nothing is asked any more by what was known before; after this a place may be removed."""
        self._rest(HELD + LONGEST_REQUEST)

    def _rest(self, seconds: float) -> None:
        while seconds > _AT_ONCE:
            self._store.clock.sleep(_AT_ONCE)
            seconds -= _AT_ONCE
            self._meanwhile()
        self._store.clock.sleep(seconds)

    def others(self, digest: str) -> list[str]:
        """Where processes are that have another declaration than the one of this digest, and tell so."""
        return sorted(k.place for k in self._watch.living() if k.declares.get(self._label) not in (None, digest))
