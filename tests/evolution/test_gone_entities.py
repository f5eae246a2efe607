"""An entity that is declared no longer is told, and dropped when nobody has it: not while it is being changed."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

import pytest

from penstock import Domain, Entity, Formerly, FrozenClock, Store, Table, key
from penstock.errors import LayoutMismatch
from penstock.evolution.entity_drop import EntityDrop
from penstock.evolution.leftovers import EntityLeftovers, entity_leftovers
from penstock.evolution.migration import Migration
from tests.evolution.dying import Killed, dying
from tests.evolution.proof.interleaved import as_another_process
from tests.kernel.layouts.conftest import OpenStore, ensured
from tests.kernel.layouts.films import Declared, cinema, film


def _book(**fields: Any) -> Declared:
    place = Table("penstock-films", partition="PK", sort="SK")

    class Book(Entity, table=place, relation="books"):
        __annotations__ = {"book_id": str, **(fields or {"title": str})}

        @key("BOOK#{book_id}", "META")
        def at(self, *, book_id: str) -> None: ...

    Domain("cinema", Book)
    return Book


def _gone(store: Store, domain: Domain) -> list[EntityLeftovers]:
    return [each for each in entity_leftovers(store, [domain]) if each.is_gone]


def test_an_entity_that_is_declared_no_longer_is_dropped_when_nobody_has_it(
    store: Store, another: OpenStore, clock: FrozenClock
) -> None:
    """In DynamoDB it shares its table with another; in SQL it has one of its own."""
    book, narrow = _book(), film({"title": str})
    before, after = ensured(another, book), ensured(another, narrow)
    before.put_many([book(book_id=f"{n}", title="t") for n in range(9)])
    after.put(narrow(film_id="a", title="t"))
    (found,) = _gone(after, cinema(narrow))
    assert (found.label, [o.records for o in found.found]) == ("cinema.Book", [9])
    assert entity_leftovers(after, [Domain("elsewhere")]) == []  # whose else it may be nobody knows
    as_another_process(before)

    def sleep(seconds: float) -> None:
        clock.advance(timedelta(seconds=seconds))
        before.put(book(book_id="1", title="u"))

    clock.sleep = sleep  # type: ignore[method-assign]
    sleep(0)
    with pytest.raises(LayoutMismatch, match="other declarations still run"):
        EntityDrop(after, found.shape, page=4).run()
    assert before.get(book.at(book_id="1")).title == "u"
    del clock.sleep
    before.close()
    late = another()

    def come_late(told: str) -> None:
        if "any more" in told:
            with pytest.raises(LayoutMismatch, match="dropped"):
                late.get(book.at(book_id="1"))

    (found,) = _gone(after, cinema(narrow))
    done = EntityDrop(after, found.shape, page=4, tell=come_late).run()
    assert [o.records for o in done.dropped] == [9]
    assert _gone(after, cinema(narrow)) == []
    assert after.get(narrow.at(film_id="a")).title == "t"
    anew = another()  # an older system that starts again begins with none
    anew.ensure(cinema(book))
    assert anew.lookup(book.at(book_id="1")) is None


def test_an_entity_that_is_just_being_changed_is_not_dropped(
    store: Store, another: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever changes it has it; what has begun to be dropped is gone on with."""
    old, new, other = _book(author=str), _book(writer=Annotated[str, Formerly("author")]), film({"title": str})
    before = ensured(another, old)
    before.put_many([old(book_id=f"{n}", author="a") for n in range(9)])
    before.close()
    after = ensured(another, new)
    with pytest.raises(Killed):
        Migration(dying(another(), 6), new.__shape__, segments=1, page=3).run()
    (found,) = _gone(ensured(another, other), cinema(other))
    assert found.refused == "cinema.Book is just being changed; let that come to its end"
    with pytest.raises(LayoutMismatch, match=r"cinema\.Book is just being changed; let that"):
        EntityDrop(after, found.shape).run()
    with monkeypatch.context() as patched:  # one that has looked right before it was begun
        patched.setattr(EntityDrop, "_why_not", lambda self, stored: None)
        with pytest.raises(LayoutMismatch, match=r"by another process\. Nothing was dropped"):
            EntityDrop(after, found.shape).run()
    assert Migration(after, new.__shape__).run().stage == "complete"
    assert [after.get(new.at(book_id=f"{n}")).writer for n in range(9)] == ["a"] * 9
    after.close()

    def die(told: str) -> None:
        raise Killed

    last = ensured(another, other)
    with pytest.raises(Killed):
        EntityDrop(last, _gone(last, cinema(other))[0].shape, tell=die).run()
    (found,) = _gone(last, cinema(other))
    assert found.refused is None
    EntityDrop(last, found.shape).run()
    assert _gone(last, cinema(other)) == []
