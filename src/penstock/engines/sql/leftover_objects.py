"""Leftovers in SQL: indexes, columns and tables of former layouts, found where they stand, and dropped when asked.

What others have made is theirs: a column of which an index speaks that is not ours stays, and a table with columns that
no layout had. PostgreSQL itself refuses to drop what a view or a policy needs, and SQLite what a view or trigger does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import sqlalchemy as sa

from penstock.engines.sql.connector import Connector
from penstock.engines.sql.dialect import Dialect, quote
from penstock.engines.sql.index_building import drop_alone
from penstock.engines.sql.schema import carry_out, described_table, index_name
from penstock.engines.sql.standing_table import StandingTable, standing_tables
from penstock.operations.leftover import DroppedPage, Leftover, LeftoverKind
from penstock.operations.plan import PlanStep
from penstock.schema.former_places import FormerPlaces
from penstock.schema.shape import EntityShape


def standing_leftovers(
    connector: Connector, shape: EntityShape, places: FormerPlaces, left: Mapping[str, EntityShape], *, counted: bool
) -> list[Leftover]:
    """What stands of former layouts, indexes first."""
    dialect = connector.dialect
    relation, homes = _relation(dialect, shape), {n: _relation(dialect, s) for n, s in left.items()}
    with connector.administration(reading=True) as connection:
        standing = standing_tables(connection, dialect, [relation, *homes.values()])

        def count(what: str, of: str) -> int | None:
            return int(connection.exec_driver_sql(f"select count({what}) from {of}").scalar_one()) if counted else None

        found: list[Leftover] = []
        if relation in standing:
            indexes = list(_indexes(dialect, shape, places, standing[relation]))
            found += indexes
            for column, why in _columns(dialect, shape, places, standing[relation], {i.place for i in indexes}):
                name, records = f"{_plain(relation)}.{column}", count(quote(column), relation)
                found.append(Leftover(LeftoverKind.COLUMN, column, name, records, why))
        for name, home in homes.items():
            if home in standing:
                others = sorted(standing[home].columns - set(places.homes[name]))
                why = f"it has columns that no layout had: {', '.join(others)}" if others else None
                found.append(Leftover(LeftoverKind.TABLE, name, _plain(home), count("*", home), why))
    return found


def drop_leftovers(connector: Connector, shape: EntityShape, leftovers: Sequence[Leftover]) -> DroppedPage:
    """Drop some of one kind."""
    dialect = connector.dialect
    relation = _relation(dialect, shape)
    if leftovers[0].kind is LeftoverKind.INDEX and dialect.schemas:
        drop_alone(connector, [dialect.relation(shape.domain, each.place) for each in leftovers])
    else:
        carry_out(connector, lambda connection: list(_steps(connection, dialect, relation, leftovers)))
    return DroppedPage(None, written=len(leftovers))


def _steps(
    connection: sa.Connection, dialect: Dialect, relation: str, leftovers: Sequence[Leftover]
) -> Iterator[PlanStep]:
    """What drops them, and is planned anew whenever it is tried again."""
    there = standing_tables(connection, dialect, [relation]).get(relation)
    for each in leftovers:
        match each.kind:
            case LeftoverKind.COLUMN if there is not None and each.place in there.columns:
                text = f"alter table {relation} drop column {quote(each.place)}"
                yield PlanStep("drop column", each.name, text)
            case LeftoverKind.INDEX:
                yield PlanStep("drop index", each.name, f"drop index if exists {quote(each.place)}")
            case LeftoverKind.TABLE:
                yield PlanStep("drop table", each.name, f"drop table if exists {relation}")


def _indexes(dialect: Dialect, shape: EntityShape, places: FormerPlaces, there: StandingTable) -> Iterator[Leftover]:
    table = described_table(shape, dialect)
    declared = {str(index.name) for index in table.indexes}
    for label in places.indexes:
        name = index_name(dialect, str(table.name), label)
        if name in there.indexes and name not in declared:
            yield Leftover(LeftoverKind.INDEX, name, f"{_plain(_relation(dialect, shape))} in {name}")


def _columns(
    dialect: Dialect, shape: EntityShape, places: FormerPlaces, there: StandingTable, going: set[str]
) -> Iterator[tuple[str, str | None]]:
    """The columns that stand, and why one has to stay."""
    ours = {str(index.name) for index in described_table(shape, dialect).indexes} | going
    for column in places.fields:
        if column in there.columns and column not in there.key:
            foreign = sorted(
                name
                for name, index in there.indexes.items()
                if name not in ours and column in {c.lstrip("-") for c in index.columns} | set(index.condition)
            )
            yield column, f"indexes that no layout had speak of it: {', '.join(foreign)}" if foreign else None


def _relation(dialect: Dialect, shape: EntityShape) -> str:
    return dialect.relation(shape.domain, shape.relation)


def _plain(relation: str) -> str:
    return relation.replace('"', "")
