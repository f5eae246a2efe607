"""Rows that other programs have written in their own spelling: they are read, and so they can be saved, too."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest
from pydantic import Field

from penstock import Domain, Entity, Store, Table, UtcSeconds, key, open_store, the
from penstock.engines.sql import engine as sql_engine
from penstock.errors import Conflict
from penstock.kernel.handle import patch, put
from penstock.kernel.unchanged import unchanged
from penstock.operations.spelling import holds_as_read
from penstock.operations.updates import Set
from penstock.testing.entities import Measure

NOON = datetime(2025, 1, 1, 12, tzinfo=UTC)


class Card(Entity, table=Table("penstock_test_cards", partition="PK", sort="SK")):
    """What programs spell in more than one way."""

    name: str
    sent_at: UtcSeconds | None = None
    flag: bool | None = None
    words: frozenset[str] | None = None
    extra: dict[str, Any] | None = None
    size: Measure | None = None

    @key("CARD#{name}", "CARD")
    def at(self, *, name: str) -> None: ...


class _Sign(Entity, table=Table("penstock_test_signs", partition="PK", sort="SK"), relation="sign"):
    """A record of a table that grows."""

    name: str

    @key("SIGN#{name}", "SIGN")
    def at(self, *, name: str) -> None: ...


class _GrownSign(Entity, table=Table("penstock_test_grown_signs", partition="PK", sort="SK"), relation="sign"):
    """The same, with what was declared later."""

    name: str
    copies: int = 1
    places: list[str] = Field(default_factory=list)

    @key("SIGN#{name}", "SIGN")
    def at(self, *, name: str) -> None: ...


CARDS = Domain("cards", Card)
HERE = Card.at(name="a")
NEW: dict[str, Any] = {
    "sent_at": NOON.replace(hour=13),
    "flag": True,
    "words": frozenset({"c"}),
    "extra": {"a": 1},
    "size": Measure(width=4, height=1),
}
SPELLINGS = {
    "sqlite": {
        "sent_at": "'2025-01-01 12:00:00+00:00'",
        "flag": "2",
        "words": '\'[ "b", "a" ]\'',
        "extra": '\'{"b": [1, 2.50],  "a": null}\'',
        "size": '\'{"width": 3, "height": 1.5}\'',
    },
    "postgres": {
        "sent_at": "'2025-01-01 12:00:00.123456+00'",
        "words": '\'["b", "a"]\'',
        "extra": "'{\"b\": 0.12345678901234567890123}'",
        "size": '\'{"width": 3, "height": 1.5}\'',
    },
}


class Shared(NamedTuple):
    """A store, and how another program writes to its rows."""

    store: Store
    spellings: dict[str, str]
    run: Callable[[str], object]


@pytest.fixture(params=SPELLINGS)
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shared]:
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path}/cards.db"
        other: Any = sqlite3.connect(tmp_path / "cards.db", isolation_level=None)
    else:
        url = request.getfixturevalue("postgres_server").create_database(f"cards_{tmp_path.name}".replace("-", "_"))
        other = psycopg.connect(url, autocommit=True)
    with closing(other), closing(open_store(url)) as store:
        store.ensure(CARDS)
        yield Shared(store, SPELLINGS[request.param], other.execute)


def write(shared: Shared, name: str) -> None:
    """A row whose field another program has written."""
    shared.store.put(Card(name="a"))
    relation = "cards_card" if shared.spellings is SPELLINGS["sqlite"] else "cards.card"
    shared.run(f"update {relation} set {name} = {shared.spellings[name]}")


@pytest.mark.parametrize("alone", [True, False])
def test_what_another_program_spells_otherwise_can_be_saved(shared: Shared, *, alone: bool) -> None:
    for name in shared.spellings:
        write(shared, name)
        with shared.store.change() as change:
            card = change.get(HERE)
            setattr(card, name, NEW[name])
            change.save(card)
            if not alone:
                change.create(Card(name=f"beside {name}"))
        assert getattr(shared.store.get(HERE), name) == NEW[name]


def test_what_is_spelled_otherwise_is_still_guarded(shared: Shared) -> None:
    for name in shared.spellings:
        write(shared, name)
        with pytest.raises(Conflict), shared.store.change() as change:
            card = change.get(HERE)
            shared.store.patch(HERE, Set(name, NEW[name]))
            setattr(card, name, None)
            change.save(card)
        assert getattr(shared.store.get(HERE), name) == NEW[name]


def test_a_condition_of_ones_own_meets_what_is_spelled_otherwise(shared: Shared) -> None:
    write(shared, "extra")
    as_read = unchanged(shared.store.get(HERE), ["extra"])
    assert shared.store.patch(HERE, the(Card.flag).set(True), when=as_read).flag is True
    with pytest.raises(Conflict):
        shared.store.delete(HERE, when=as_read & the(Card.flag).equals(False))
    shared.store.delete(HERE, when=as_read)
    assert shared.store.lookup(HERE) is None


@pytest.mark.parametrize("alone", [True, False])
def test_what_another_program_writes_after_its_spelling_was_looked_up_is_not_overwritten(
    shared: Shared, monkeypatch: pytest.MonkeyPatch, *, alone: bool
) -> None:
    write(shared, "extra")
    as_read = unchanged(shared.store.get(HERE), ["extra"])

    def holds_and_then_no_more(asked: Any, found: Any) -> bool:
        shared.store.patch(HERE, the(Card.extra).set({"theirs": 1}))
        return holds_as_read(asked, found)

    monkeypatch.setattr(sql_engine, "holds_as_read", holds_and_then_no_more)
    with pytest.raises(Conflict) as refused:
        if alone:
            shared.store.patch(HERE, the(Card.extra).set(None), when=as_read)
        else:
            shared.store.commit([patch(HERE, the(Card.extra).set(None), when=as_read), put(Card(name="b"))])
    assert refused.value.found is not None
    assert refused.value.found["extra"] == {"theirs": 1}
    assert shared.store.get(HERE).extra == {"theirs": 1}


def test_a_field_from_before_its_declaration_is_saved_over_as_if_its_default_stood_there(shared: Shared) -> None:
    store = shared.store
    store.engine.ensure([_Sign.__shape__])
    store.put(_Sign(name="a"))
    store.engine.ensure([_GrownSign.__shape__])

    def grow(sign: _GrownSign) -> None:
        sign.copies, sign.places = sign.copies + 1, [*sign.places, "here"]

    for copies in (2, 3):
        grown = store.modify(_GrownSign.at(name="a"), grow, tries=1)
        assert (grown.copies, len(grown.places)) == (copies, copies - 1)
