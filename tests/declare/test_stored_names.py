"""Names of tables, indexes and columns that only one engine would refuse are refused where they are declared."""

from __future__ import annotations

from collections.abc import Callable
from types import new_class
from typing import Any

import pytest

from penstock import ANYTHING, Domain, Entity, IndexKey, Range, Store, Table, View, attribute, key, pattern
from penstock.errors import DeclarationError
from penstock.ports.engine import Engine


def _films() -> Table:
    return Table("penstock-test-films", partition="PK", sort="SK")


def _entity(relation: str | None = None, **columns: str) -> Any:
    annotations = {"name": str, **dict.fromkeys(columns, str)}
    body: dict[str, Any] = {field: attribute(column=column) for field, column in columns.items()}

    def at(self: Any, *, name: str) -> None: ...

    body |= {"__annotations__": annotations, "__module__": __name__, "at": key("FILM#{name}", "FILM")(at)}
    options = {"table": _films(), "relation": relation, "collection": "films"}
    return new_class("Film", (Entity,), options, lambda namespace: namespace.update(body))


@pytest.mark.parametrize("name", ["i1", "by status", "größe", "x" * 256, "", "by/title"])
def test_an_index_has_a_name_that_dynamodb_takes(name: str) -> None:
    with pytest.raises(DeclarationError, match="needs a name of 3 to 255 letters"):
        _films().index(name, partition="GSI1PK")


def test_two_indexes_have_two_names_in_sql() -> None:
    films = _films()
    films.index("by-title", partition="GSI1PK")
    with pytest.raises(DeclarationError, match="declared twice"):
        films.index("by-title", partition="GSI2PK")
    with pytest.raises(DeclarationError, match="would have one name in SQL"):
        films.index("By.Title", partition="GSI2PK")


@pytest.mark.parametrize("name", ["", "x" * 256])
def test_a_key_attribute_has_a_name_that_dynamodb_takes(name: str) -> None:
    with pytest.raises(DeclarationError, match="1 to 255 bytes"):
        Table("penstock-test-films", partition=name)


@pytest.mark.parametrize(
    "column", ["xmin", "ctid", "rowid", "RowId", "oid", "x" * 64, "ü" * 32, "a%s", 'a"b', "a\nb", " {x}"]
)
def test_a_column_has_a_name_that_each_database_leaves_to_us(column: str) -> None:
    with pytest.raises(DeclarationError, match=r"Film\.title"):
        _entity(title=column)


@pytest.mark.parametrize("relation", ["x" * 64, "sqlite_films", 'a"b', "a%b"])
def test_a_relation_has_a_name_that_each_database_takes(relation: str) -> None:
    with pytest.raises(DeclarationError, match="relation="):
        _entity(relation)


@pytest.mark.parametrize("name", ["pg_films", "sqlite", "information_schema", "x" * 64])
def test_a_domain_has_a_name_that_no_database_has_for_itself(name: str) -> None:
    with pytest.raises(DeclarationError, match=r"cannot name a domain|cannot be a name in SQL"):
        Domain(name, _entity())


def test_a_view_and_relations_have_names_that_each_database_takes() -> None:
    with pytest.raises(DeclarationError, match="View"):
        Domain("films", _entity(), views=[View("x" * 64, "select 1")])
    with pytest.raises(DeclarationError, match="same SQL table"):
        Domain("films", _entity("film"), _entity("Film"))


LONG = Table("penstock-test-long", partition="PK", sort="SK")
BY_TITLE = LONG.index("by-" + "title-" * 40, partition="GSI1PK", sort="GSI1SK")
BY_PLACE = LONG.index("by-" + "title-" * 39 + "place", partition="GSI2PK", sort="GSI2SK")


class Epic(Entity, table=LONG, relation="e" * 63):
    """Every name as long as it may be."""

    name: str
    title: str = attribute(column="t" * 63)

    @key("EPIC#{name}", "EPIC")
    def at(self, *, name: str) -> None: ...

    titled = IndexKey(BY_TITLE, "TITLES", "{title}")
    placed = IndexKey(BY_PLACE, "PLACES", "{title}")

    @pattern(titled)
    def by_title(self, *, title: Range[str] = ANYTHING) -> None: ...

    @pattern(placed)
    def by_place(self, *, title: Range[str] = ANYTHING) -> None: ...


def test_the_longest_names_are_taken_by_every_engine(open_engine: Callable[[], Engine]) -> None:
    engine = open_engine()
    engine.ensure([Epic.__shape__])
    store = Store(engine)
    store.put(Epic(name="a", title="b"))
    assert [e.name for e in store.find(Epic.by_title())] == [e.name for e in store.find(Epic.by_place())] == ["a"]
    assert not [s for s in engine.ensure([Epic.__shape__]) if s.kind in ("create table", "create index")]
