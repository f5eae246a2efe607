"""Every promise of a domain, as one class to subclass: what its declaration says is true on an engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from penstock.declare.entity import Entity
from penstock.declare.pattern import ask
from penstock.kernel.store import Store
from penstock.lifecycle.retention import Retention
from penstock.plugin import DomainPlugin, own_settings
from penstock.ports.clock import FrozenClock
from penstock.ports.engine import Engine
from penstock.runtime.composition import explain, open_archive, open_engine, open_objects
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.shape import PatternShape
from penstock.work.domain_context import DomainContext
from penstock.work.working import WORKING

_SECRET = "of the suite, and long enough"


class DomainSuite:
    """Say which ``plugin``, and give some records of it as ``examples``.

    It runs on SQLite; for another database give it a fixture ``engine``, a fresh, empty one, as `EngineSuite` has it.
    """

    plugin: ClassVar[DomainPlugin]

    def examples(self, clock: FrozenClock) -> Sequence[Entity]:
        """Records of the domain, as they may stand; at least one of each entity is best."""
        raise NotImplementedError("give some records of the domain as examples")

    @pytest.fixture
    def engine(self, tmp_path: Path) -> Engine:
        """A fresh, empty engine."""
        return open_engine(f"sqlite:///{tmp_path}/domain.db", settings=Settings())

    @pytest.fixture
    def clock(self) -> FrozenClock:
        return FrozenClock()

    @pytest.fixture
    def store(self, engine: Engine, clock: FrozenClock) -> Store:
        """A store with the domain's tables, empty."""
        store = Store(engine, clock=clock, secret=b"of the suite", own=SYSTEM_RECORDS)
        store.ensure(self.plugin.domain, WORKING)
        return store

    @pytest.fixture
    def context(self, store: Store, clock: FrozenClock, tmp_path: Path) -> DomainContext:
        """What a running system gives to the domain."""
        settings = Settings(secret=_SECRET)
        objects = open_objects(f"files:///{tmp_path}/objects", settings=settings, clock=clock)
        archive = open_archive(str(tmp_path / "archive"))
        return DomainContext(store, objects, own_settings([self.plugin], {}), archive)

    def test_its_tables_are_complete_once_they_are_made(self, store: Store) -> None:
        assert [s for s in store.ensure(self.plugin.domain, dry_run=True) if not s.is_advice] == []

    def test_each_record_reads_back_as_it_was_written(self, store: Store, clock: FrozenClock) -> None:
        for record in self.examples(clock):
            store.create(record)
            assert store.get(record.ref) == record

    def test_each_record_is_found_by_every_pattern_that_speaks_of_it(self, store: Store, clock: FrozenClock) -> None:
        for record in self.examples(clock):
            store.put(record)
            for pattern, given in _patterns_of(record):
                assert record in list(store.find(ask(pattern, given))), f"{pattern.label} does not find {record.ref!r}"

    def test_each_pattern_is_one_request_on_every_engine(self, clock: FrozenClock) -> None:
        for record in self.examples(clock):
            for pattern, given in _patterns_of(record):
                assert set(explain(ask(pattern, given))) >= {"dynamodb"}

    def test_nothing_leaves_before_its_time(self, context: DomainContext, clock: FrozenClock) -> None:
        assert context.archive is not None
        for record in self.examples(clock):
            context.store.put(record)
        domains, objects = [self.plugin.domain], context.objects
        due = Retention(context.store, context.archive, domains, owner="suite", objects=objects).plan()
        assert [d.records for d in due] == [0] * len(due)

    def test_a_service_can_be_made_of_it(self, tmp_path: Path) -> None:
        settings = Settings(
            store=f"sqlite:///{tmp_path}/service.db", objects=f"files:///{tmp_path}/files", secret=_SECRET
        )
        service = Service(settings, [self.plugin])
        try:
            service.start(background=False)
            names = [s.name for s in service.schedules]
            assert len(set(names)) == len(names)
            assert set(service.feeds) <= {self.plugin.domain.name}
        finally:
            service.stop()


def _patterns_of(record: Entity) -> list[tuple[PatternShape, dict[str, object]]]:
    """The patterns that find a record, each with what is asked."""
    found: list[tuple[PatternShape, dict[str, object]]] = []
    for pattern in record.__shape__.patterns.values():
        if pattern.index is None or pattern.index.holds(record.__dict__):
            given = {n: record.__dict__[n] for n in pattern.parameters if n != pattern.ranged}
            found.append((pattern, given))
    return found
