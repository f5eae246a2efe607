"""What a metered process has used is kept by project, in few writes, and nothing of it is lost."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import pytest

from penstock import Store, open_store
from penstock.cost.meter import Meter, Usage
from penstock.cost.price_list import price_list
from penstock.domains.musicvideo.model import DOMAIN, Scene
from penstock.errors import Unavailable
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings
from penstock.runtime.usage_ledger import UsageLedger
from penstock.work.spending import ProjectSpending, month_of
from penstock.work.working import WORKING
from tests.forked import forked

BEGUN = datetime(2037, 6, 6, tzinfo=UTC)
ONE, OTHER = uuid4(), uuid4()


@pytest.fixture
def meter() -> Meter:
    return Meter()


@pytest.fixture
def store(tmp_path: Path, meter: Meter) -> Iterator[Store]:
    store = open_store(f"sqlite:///{tmp_path}/s.db", meter=meter)
    store.ensure(DOMAIN, WORKING)
    meter.reset()
    yield store
    store.close()


@pytest.fixture
def ledger(store: Store, meter: Meter) -> UsageLedger:
    return UsageLedger(store, meter, price_list())


def _scene(project: object, sequence: int) -> Scene:
    when = {"created_at": BEGUN, "updated_at": BEGUN}
    return Scene.model_validate(
        {"project_id": project, "sequence": sequence, "prompt": "a street", "duration": 8.0, **when}
    )


def _spent(store: Store) -> dict[str, ProjectSpending]:
    return {s.project_id: s for s in store.find(ProjectSpending.of_month(month=month_of(store.clock.now())))}


def test_usage_is_kept_by_project_pattern_and_key_with_what_it_costs(
    store: Store, meter: Meter, ledger: UsageLedger
) -> None:
    """VM-26: a write unit costs $0.000000625; what is for several projects at once is for nobody."""
    store.put(_scene(ONE, 1))
    store.put(_scene(ONE, 2))
    store.put(_scene(OTHER, 1))
    list(store.find(Scene.of_project(project_id=ONE)))
    counted = meter.total()
    assert ledger.keep() == 2
    found = _spent(store)
    assert set(found) == {str(ONE), str(OTHER)}
    mine = found[str(ONE)].usage()
    assert mine["musicvideo.Scene put"].write_units == 2
    assert mine["musicvideo.Scene.of_project"].records == 2
    assert found[str(OTHER)].spent == Decimal("0.000000625")
    assert found[str(ONE)].keys == {f"MVProjects PROJECT#{ONE}": 3.0}
    kept = sum((u for s in found.values() for u in s.usage().values()), Usage())
    assert (kept.read_units, kept.write_units) == (counted.read_units, counted.write_units)


def test_keeping_is_not_counted_itself(store: Store, meter: Meter, ledger: UsageLedger) -> None:
    store.put(_scene(ONE, 1))
    assert ledger.keep() == 1
    assert (meter.total(), ledger.keep()) == (Usage(), 0)


def test_what_cannot_be_kept_is_kept_later(
    store: Store, meter: Meter, ledger: UsageLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    for project in (ONE, OTHER):
        store.put(_scene(project, 1))

    def away(*_: object, **__: object) -> None:
        raise Unavailable("the database restarts")

    with monkeypatch.context() as outage:
        outage.setattr(store.engine, "get", away)
        assert ledger.keep() == 0
    assert meter.total().write_units == 2
    assert ledger.keep() == 2


def test_whoever_counts_keeps_it_once_it_is_time(store: Store) -> None:
    """So it is also done where no thread of the service runs: in the forked processes of a Celery worker."""
    passed = [0.0]
    meter = Meter(monotonic=lambda: passed[0])
    UsageLedger(store, meter, price_list())
    meter.add("x", Usage(write_units=1), project="p1")
    passed[0] = 59.0
    meter.add("x", Usage(write_units=1), project="p1")
    assert _spent(store) == {}
    passed[0] = 60.0
    meter.add("x", Usage(write_units=1), project="p1")
    assert _spent(store)["p1"].usage()["x"].write_units == 3
    meter.add("x", Usage(write_units=1), project="p1")
    assert _spent(store)["p1"].usage()["x"].write_units == 3


def test_a_forked_process_does_not_keep_what_its_parent_has_counted() -> None:
    meter = Meter()
    meter.add("x", Usage(write_units=1))
    assert forked(lambda: meter.total().write_units == 0.0) == 0
    assert meter.total().write_units == 1.0


@pytest.mark.parametrize("metered", [True, False])
def test_a_service_counts_if_it_is_told_to(tmp_path: Path, metered: bool) -> None:
    """What was counted is kept when it stops."""
    settings = Settings(store=f"sqlite:///{tmp_path}/s.db", objects=f"files:///{tmp_path}/objects", meter=metered)
    service = Service(settings, ())
    service.context.store.ensure(DOMAIN, WORKING)
    service.context.store.put(_scene(ONE, 1))
    service.stop()
    left = open_store(settings.store)
    assert set(_spent(left)) == ({str(ONE), "-"} if metered else set()), "nobody's is what the layouts have cost"
    left.close()
