"""What was created is found again: a second plan is empty, for all that ships and on every engine."""

from __future__ import annotations

from penstock import Store
from penstock.work.working import WORKING
from tests.conftest import all_domains


def test_a_second_plan_is_empty(store: Store) -> None:
    domains = (*all_domains(), WORKING)
    store.ensure(*domains)
    assert [s for s in store.ensure(*domains, dry_run=True) if not s.is_advice] == []
    assert [s for s in store.ensure(*domains) if not s.is_advice] == []
