"""Whoever only reads tells nobody what it knows; its answers are right all the same, until it hears of the end."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import LayoutMismatch
from penstock.evolution.migration import Migration, MigrationProgress
from penstock.evolution.pending import pending_migrations
from penstock.operations.updates import Set
from tests.evolution import test_field_migration as fields
from tests.evolution import test_moved_records as moved
from tests.evolution.late_reader import late
from tests.kernel.layouts.conftest import OpenStore, ensured
from tests.kernel.layouts.films import Declared, cinema


@pytest.mark.parametrize("stage", [pytest.param("filling", marks=pytest.mark.long), "switched"])
@pytest.mark.parametrize("kind", [kind for kind in fields.CHANGES if kind != "gone"])
def test_fields_are_read_as_they_were_written_last(
    store: Store, another: OpenStore, clock: FrozenClock, kind: str, stage: str
) -> None:
    """A former place was read for up to 15 seconds after the end, when nobody wrote it any more."""
    change = fields.CHANGES[kind]
    old, new = change.old(), change.new()
    before, after = ensured(another, old), ensured(another, new)
    readers = [(late(another(), clock), declared) for declared in (old, new)]
    names = ["a", "b"]
    before.put_many([old(film_id=name, author="x", stars=3) for name in names])
    before.close()

    def look(expected: dict[str, Any]) -> None:
        for reader, declared in readers:
            try:
                found = reader.get(declared.at(film_id="a")).__dict__
            except LayoutMismatch:
                assert change.shuts_out
                assert declared is old
                continue
            given = expected if declared is old else change.to_new(expected)
            assert {n: v for n, v in found.items() if n in given} == given

    def learn(told: MigrationProgress) -> None:
        if told.stage == stage:  # they hear of the stage before it, and of nothing for as long as may be
            for reader, _ in readers:
                reader.engine.knowledge.read_until = float("-inf")  # type: ignore[attr-defined]
            look({"author": "x", "stars": 3})

    look({"author": "x", "stars": 3})
    Migration(after, new.__shape__, segments=1, shut_out=True, tell=learn).run()
    called = "writer" if "writer" in new.__shape__.fields else "author"
    stars = new.__shape__.fields["stars"].python(4)
    after.patch(new.at(film_id="a"), Set(called, "y"), Set("stars", stars))
    look({"author": "y", "stars": 4})


def test_what_older_readers_cannot_read_is_written_when_they_know_that(
    store: Store, another: OpenStore, clock: FrozenClock
) -> None:
    change = fields.CHANGES["no longer required"]
    old, new = change.old(), change.new()
    before, after, writer = ensured(another, old), ensured(another, new), another()
    reader = late(another(), clock)
    before.put(old(film_id="a", author="x", stars=3))
    before.close()
    refused = []

    def leave_out(told: MigrationProgress) -> None:
        writer.engine.knowledge.renew()  # type: ignore[attr-defined]
        try:
            writer.put(new(film_id="a", author=None, stars=3))
        except LayoutMismatch:
            refused.append(told.stage)
        assert reader.get(old.at(film_id="a")).author == "x"

    def sleep(seconds: float) -> None:
        leave_out(MigrationProgress("", "waiting"))
        FrozenClock.sleep(clock, seconds)

    clock.sleep = sleep  # type: ignore[method-assign]
    Migration(after, new.__shape__, segments=1, shut_out=True, tell=leave_out).run()
    assert "waiting" in refused
    writer.put(new(film_id="a", author=None, stars=3))
    with pytest.raises(LayoutMismatch):
        reader.get(old.at(film_id="a"))


@pytest.mark.parametrize("kind", ["another key", "another table"])
def test_records_are_read_where_they_are(store: Store, another: OpenStore, clock: FrozenClock, kind: str) -> None:
    old: Declared = moved._film()
    new = moved.KINDS[kind]()
    before, after = ensured(another, old), ensured(another, new)
    readers = [(late(another(), clock), declared) for declared in (old, new)]
    before.put_many(moved._many(old, 9))
    before.close()
    if not pending_migrations(after, [cinema(new)]):
        return

    def look(title: str) -> None:
        for reader, declared in readers:
            assert reader.get(declared.at(film_id="old-0001")).title == title
            assert "old-0001" in [f.film_id for f in reader.find(declared.by_shelf(note="y"))]

    look("t")
    Migration(after, new.__shape__, segments=1, tell=lambda told: look("t")).run()
    after.put(new(film_id="old-0001", title="now", note="y"))
    look("now")
