"""Turns: one process at a time migrates an entity, and none goes on with what another has brought further meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from penstock.errors import LayoutMismatch
from penstock.kernel.layouts.evolving_engine import by_layouts
from penstock.kernel.layouts.layout_register import LayoutRegister
from penstock.kernel.lease import Duty, NamedLease
from penstock.kernel.store import Store
from penstock.ports.worker_name import worker_name

_PERIOD = timedelta(seconds=60)
"One that is not heard of for so long is not waited for."


class TurnLost(LayoutMismatch):
    """Another process has gone on with a migration; nothing was written."""


class MigrationTurn:
    """The right to migrate one entity."""

    def __init__(self, store: Store, label: str) -> None:
        self._store, self._label = store, label
        self._engine = by_layouts(store.engine)
        self._name = f"migration of {label}"
        self._duty = Duty(store, self._name, owner=worker_name(), period=_PERIOD)
        self._checked: tuple[int, str] | None = None

    def await_turn(self, waiting: Callable[[str], None]) -> None:
        """Return when it is ours; who has it is told again and again."""
        while self._duty.hold() is None:
            holder = self._store.get(NamedLease.at(name=self._name)).lease_owner
            waiting(f"for {holder}, which is just migrating it")
            self._store.clock.sleep(1)

    def keep(self) -> None:
        """TurnLost where another has it by now."""
        if self._duty.hold() is None:
            raise self.lost()

    @contextmanager
    def writing(self, mark: str) -> Iterator[None]:
        """What is written within goes by a layout's mark; TurnLost where the store has gone on from it."""
        with self._engine.written_by() as known:
            if self._checked != (known.number, mark):
                stored = LayoutRegister(self._store.engine, self._store.clock).read([self._label])
                if stored[self._label].mark != mark:
                    raise self.lost()
                self._checked = known.number, mark
            yield

    def leave(self) -> None:
        """Let another have it."""
        self._duty.leave()

    def lost(self) -> TurnLost:
        """What is said where another has gone on."""
        return TurnLost(
            f"{self._label}: another process goes on with its migration, as this one was not heard of for too long; "
            f"nothing is lost"
        )
