"""A store that others have written is looked through: what fits, what an index has not, what is damaged."""

from __future__ import annotations

from collections.abc import Callable

from penstock import FrozenClock, Store
from penstock.evolution.adoption import adoption
from penstock.ports.engine import Engine
from tests.kernel.layouts.films import cinema, film

SHELF = ("SHELF#{title}", "{film_id}")


def test_what_fits_and_what_is_damaged_is_told_and_nothing_changed(
    open_engine: Callable[[], Engine], clock: FrozenClock
) -> None:
    theirs = film({"title": str | None}, defaults={"title": None})
    ours = film({"title": str}, index=SHELF)
    engine = open_engine()
    engine.ensure(cinema(theirs).shapes)
    others = Store(engine, clock=clock)
    others.put_many([theirs(film_id=f"f{n}", title="t") for n in range(7)])
    others.put(theirs(film_id="bad"))
    planned = engine.ensure(cinema(ours).shapes, dry_run=True)
    found = adoption(Store(open_engine(), clock=clock), [cinema(ours)])
    (entity,) = found.entities
    assert entity.damaged == 1
    assert any("bad" in example for example in entity.examples)
    if engine.features.key_texts:
        assert (entity.fitting, entity.unindexed) == (0, {"GSI1": 7})
    else:
        assert (entity.fitting, entity.unindexed) == (7, {})
    assert list(found.missing) == planned == engine.ensure(cinema(ours).shapes, dry_run=True)
    assert others.get(theirs.at(film_id="bad")).title is None


def test_a_store_without_tables_has_no_records(open_engine: Callable[[], Engine], clock: FrozenClock) -> None:
    found = adoption(Store(open_engine(), clock=clock), [cinema(film({"title": str}))])
    assert [(e.fitting, e.damaged) for e in found.entities] == [(0, 0)]
    assert found.missing
