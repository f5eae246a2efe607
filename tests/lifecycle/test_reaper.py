"""The reaper: it gives back the room of what has ended by every clock, one process at a time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.auth.rate_limit import RateBucket
from penstock.lifecycle.reaper import Reaper
from penstock.ports.clock import SKEW
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS

MINUTE = timedelta(minutes=1)


def ended(store: Store, count: int) -> None:
    """Buckets that have just ended by the clock here."""
    now = int(store.clock.now().timestamp())
    store.put_many(RateBucket(name=f"b{n}", used_until=0, ttl=now - 1) for n in range(count))


def reaper(store: Store, **options: Any) -> Reaper:
    return Reaper(store, [], **{"owner": "reaper", **options})


def test_what_may_live_by_another_clock_is_not_removed_yet(
    open_engine: Callable[[], Engine], clock: FrozenClock
) -> None:
    skewed = FrozenClock(clock.now(), skew=SKEW)
    store = Store(open_engine(), clock=skewed, own=SYSTEM_RECORDS)
    store.ensure()
    ended(store, 3)
    removed = [] if store.engine.features.native_expiry else [0, 3]
    seen = [reaper(store).run_once()]
    skewed.advance(SKEW)
    seen.append(reaper(store).run_once())
    assert [count for each in seen for count in each.values()] == removed


def test_nobody_else_reaps_however_long_it_takes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    if store.engine.features.native_expiry:
        assert reaper(store).run_once() == {}, "such a store does it by itself"
        return
    ended(store, 6)
    others: list[dict[str, int]] = []
    expire = store.engine.expire

    def slowly(*asked: Any, **named: Any) -> int:
        store.clock.advance(MINUTE - timedelta(seconds=5))  # type: ignore[attr-defined]
        with monkeypatch.context() as patched:
            patched.setattr(store.engine, "expire", expire)
            others.append(reaper(store, owner="another").run_once())
        return expire(*asked, **named)

    monkeypatch.setattr(store.engine, "expire", slowly)
    assert list(reaper(store, batch=1).run_once().values()) == [6]
    assert others == [{}] * 7, "six batches, and a look that finds nothing"
