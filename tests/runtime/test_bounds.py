"""Every record that the system keeps for itself has a stated end, or a stated reason to stay."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from penstock import FrozenClock
from penstock.declare.lifetime import Expires
from penstock.domains.assetcreator.bookkeeping import Audit
from penstock.kernel.idempotency import SystemOnce
from penstock.kernel.uniqueness import UniqueValue
from penstock.lifecycle.reaper import Reaper
from penstock.runtime.bounds import BOUNDS, Stays, bound_of
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.working import WORKING
from tests.runtime.test_service import opened

INTERNAL = {*SYSTEM_RECORDS.entities, *WORKING.entities}
PAGE = Path("docs/growth.md")


def test_no_internal_record_is_without_a_bound() -> None:
    assert {bound.entity for bound in BOUNDS} == INTERNAL
    assert len(BOUNDS) == len(INTERNAL)
    assert bound_of(Audit).stays is Stays.EVIDENCE


def test_what_is_said_to_end_has_a_lifetime_or_goes_with_its_job() -> None:
    ending = {b.entity for b in BOUNDS if any(isinstance(e, Expires) for e in b.entity.__lifetimes__)}
    stated = {b.entity for b in BOUNDS if b.longest is not None}
    assert stated == ending - {UniqueValue}  # whose end is that of the record it is of
    assert {b.entity for b in BOUNDS if b.stays is Stays.NONE} <= ending


def test_the_page_lists_each_kind_with_its_bound() -> None:
    page = PAGE.read_text()
    for bound in BOUNDS:
        assert f"| `{bound.entity.__name__}` | {bound.kept} |" in page


def test_records_that_wait_for_the_reaper_are_told(tmp_path: Path) -> None:
    clock = FrozenClock()
    service = opened(tmp_path, clock)
    store = service.context.store
    ttl = int((clock.now() + timedelta(days=1)).timestamp())
    store.create(SystemOnce(idempotency_key="k", created_at=clock.now(), ttl=ttl))

    def found() -> tuple[int, timedelta | None, bool]:
        once = next(s for s in service.stored() if s.name == "penstock_once")
        return once.records, once.oldest, once.wrong is None

    assert found() == (1, timedelta(0), True)
    clock.advance(timedelta(hours=30))
    assert found() == (1, timedelta(hours=30), False)
    service.reaper().run_once()
    assert found() == (0, None, True)


def test_the_reaper_goes_on_until_nothing_is_left(tmp_path: Path) -> None:
    clock = FrozenClock()
    store = opened(tmp_path, clock).context.store
    Reaper(store, [], owner="a").run_once()  # whatever was written years ago, by the machine's clock
    ttl = int(clock.now().timestamp()) + 60
    store.put_many(SystemOnce(idempotency_key=f"{n}", created_at=clock.now(), ttl=ttl) for n in range(3500))
    clock.advance(timedelta(minutes=2))
    assert Reaper(store, [], owner="a").run_once() == {"penstock": 3500}
