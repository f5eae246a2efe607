"""What there is already of tables that are wanted, asked for all at once: one by one takes a start much longer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from penstock.engines.sql.dialect import Dialect


@dataclass(frozen=True)
class StandingTable:
    """The names of a table's columns and indexes, and those of its key in order."""

    columns: frozenset[str]
    key: tuple[str, ...]
    indexes: frozenset[str]
    required: frozenset[str]
    "Columns that need a value."


def standing_tables(
    connection: sa.Connection, dialect: Dialect, relations: Sequence[str]
) -> Mapping[str, StandingTable]:
    """Those of the relations, as the dialect writes them, that there are."""
    if dialect.schemas:
        rows = connection.exec_driver_sql(_WITH_SCHEMAS, (list(relations),)).all()
        return {r[0]: StandingTable(frozenset(r[1]), tuple(r[2]), frozenset(r[3]), frozenset(r[4])) for r in rows}
    return _in_one_file(connection, relations)


_WITH_SCHEMAS = """
select w.relation,
  array(select attname::text from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped),
  array(select a.attname::text from pg_constraint p, unnest(p.conkey) with ordinality as k(number, place)
    join pg_attribute a on a.attnum = k.number
    where p.conrelid = c.oid and p.contype = 'p' and a.attrelid = c.oid order by k.place),
  array(select i.relname::text from pg_index x join pg_class i on i.oid = x.indexrelid where x.indrelid = c.oid),
  array(select attname::text from pg_attribute where attrelid = c.oid and attnum > 0 and attnotnull)
from unnest(%s::text[]) as w(relation) join pg_class c on c.oid = to_regclass(w.relation)
""".strip()


def _in_one_file(connection: sa.Connection, relations: Sequence[str]) -> dict[str, StandingTable]:
    columns: dict[str, list[tuple[str, int]]] = {}
    required: dict[str, set[str]] = {}
    for table, column, place, needed in connection.exec_driver_sql(_COLUMNS):
        columns.setdefault(table, []).append((column, place))
        if needed:
            required.setdefault(table, set()).add(column)
    indexes: dict[str, set[str]] = {}
    for table, index in connection.exec_driver_sql(_INDEXES):
        indexes.setdefault(table, set()).add(index)
    found = {}
    for relation in relations:
        name = relation[1:-1].replace('""', '"')
        if name in columns:
            key = sorted((place, column) for column, place in columns[name] if place)
            found[relation] = StandingTable(
                frozenset(column for column, _ in columns[name]),
                tuple(column for _, column in key),
                frozenset(indexes.get(name, ())),
                frozenset(required.get(name, ())),
            )
    return found


_COLUMNS = """
select m.name, c.name, c.pk, c."notnull" from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table'
""".strip()
_INDEXES = "select tbl_name, name from sqlite_master where type = 'index'"
