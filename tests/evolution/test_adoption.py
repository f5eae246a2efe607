"""A store that others have written is looked through: what fits, what an index has not, what is damaged."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from penstock import FrozenClock, Store
from penstock.evolution.adoption import EXAMPLES, adoption
from penstock.ports.engine import Engine
from penstock.ports.surveying import SurveyingEngine
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
    others.put_many([theirs(film_id=f"bad{n}") for n in range(7)])
    planned = engine.ensure(cinema(ours).shapes, dry_run=True)
    looking: Any = open_engine()
    looking.survey = partial(looking.survey, limit=3)  # so that there are several pages
    found = adoption(Store(looking, clock=clock), [cinema(ours)])
    (entity,) = found.entities
    assert entity.damaged == 7
    assert sum("bad" in example for example in entity.examples) == EXAMPLES
    if engine.features.key_texts:
        assert (entity.fitting, entity.unindexed) == (0, {"GSI1": 7})
    else:
        assert (entity.fitting, entity.unindexed) == (7, {})
    assert list(found.missing) == planned == engine.ensure(cinema(ours).shapes, dry_run=True)
    assert others.get(theirs.at(film_id="bad0")).title is None


def test_a_store_without_tables_has_no_records(open_engine: Callable[[], Engine], clock: FrozenClock) -> None:
    found = adoption(Store(open_engine(), clock=clock), [cinema(film({"title": str}))])
    assert [(e.fitting, e.damaged) for e in found.entities] == [(0, 0)]
    assert found.missing


def test_records_are_looked_through_in_pages_and_each_is_met_once(
    open_engine: Callable[[], Engine], clock: FrozenClock
) -> None:
    ours, engine = film({"title": str}), open_engine()
    engine.ensure(cinema(ours).shapes)
    Store(engine, clock=clock).put_many(ours(film_id=f"{n}", title="t") for n in range(5))
    met: list[str] = []
    place: str | None = None
    for _ in range(9):
        page = cast("SurveyingEngine", engine).survey(ours.__shape__, after=place, limit=2)
        assert len(page.found) <= 2
        met += [each.record.film_id for each in page.found]
        place = page.place
        if place is None:
            break
    assert sorted(met) == ["0", "1", "2", "3", "4"]
