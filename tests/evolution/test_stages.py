"""Each stage of a migration begins when nobody goes by the one before the last: who is waited for, stage by stage."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from penstock import Store
from penstock.evolution.backfill import Backfill, FilledPage
from penstock.evolution.migration import Migration
from penstock.evolution.staged_layout import StagedLayout
from penstock.ports.scanning import scanned
from penstock.schema.shape import EntityShape
from tests.beneath import beneath
from tests.evolution.proof.kinds import KINDS, Kind
from tests.kernel.layouts.conftest import OpenStore
from tests.kernel.layouts.films import cinema

WRITERS, READERS, REQUESTS = "writers", "readers", "requests"
DONE = "done"


def waited_for(stage: str, following: str) -> list[str]:
    """Who has to have heard of a stage before the next one begins."""
    if stage == "announced":
        return [WRITERS, READERS]  # nobody asks by what is to be made anew
    if following == "leaving":
        return [WRITERS, REQUESTS]  # nobody reads where nothing will be
    if following == DONE and stage in ("closed", "switched"):
        return [WRITERS, READERS]  # nobody reads what nobody writes any more
    return [WRITERS]


def about_to_migrate(another: OpenStore, kind: Kind, **options: Any) -> tuple[Migration, EntityShape]:
    """A migration of ten records, and how they lie."""
    old, new = kind.old.declared("cinema"), kind.new.declared("cinema")
    before, after = another(), another()
    before.ensure(cinema(old))
    before.put_many([old(film_id=str(n), author=f"a{n}", stars=n % 7) for n in range(10)])
    after.ensure(cinema(new))
    return Migration(after, new.__shape__, segments=1, shut_out=True, **options), old.__shape__


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_goes_by_what_was_before_the_last_stage(
    store: Store, another: OpenStore, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    migration, _ = about_to_migrate(another, KINDS[kind])
    steps: list[str] = []

    def waiting(whom: str) -> Callable[[StagedLayout], None]:
        return lambda self: steps.append(whom)

    for whom in (WRITERS, READERS, REQUESTS):
        monkeypatch.setattr(StagedLayout, f"wait_for_{whom}", waiting(whom))
    become = StagedLayout.become

    def noted(self: StagedLayout, becomes: Any) -> None:
        was = self.stored()
        become(self, becomes)
        if (stored := self.stored()) != was:
            steps.append(DONE if stored.stage is None else stored.stage.value)

    monkeypatch.setattr(StagedLayout, "become", noted)
    migration.run()
    stages = [step for step in steps if step not in (WRITERS, READERS, REQUESTS)]
    expected = [WRITERS]  # of the fields that are new
    for stage, following in pairwise([*stages, ""]):
        expected += [stage, *waited_for(stage, following)] if stage != DONE else [DONE]
    assert steps == expected
    assert stages[-1:] in ([], [DONE])
    assert not KINDS[kind].shuts_out or "closed" in stages
    assert not (KINDS[kind].ends_questions and store.engine.features.key_texts) or stages[0] == "announced"


def test_former_keys_are_walked_through_until_there_is_nothing_to_remove(
    store: Store, another: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever wrote by what was before, in the last moment, may have done so behind the walk."""
    if not store.engine.features.key_texts:
        pytest.skip("records of this store have no other key")
    migration, former = about_to_migrate(another, KINDS["another key"], page=3)
    walks: list[int] = []
    remove = Backfill.remove

    def noted(self: Backfill, segment: int, segments: int, place: str | None, *, limit: int) -> FilledPage:
        page = remove(self, segment, segments, place, limit=limit)
        if place is None:
            walks.append(0)
        walks[-1] += page.written
        return page

    monkeypatch.setattr(Backfill, "remove", noted)
    migration.run()
    assert walks == [10, 0]
    assert [page.found for page in scanned(beneath(store), former)] == [[]]
