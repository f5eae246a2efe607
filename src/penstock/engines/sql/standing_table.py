"""What there is already of tables that are wanted, asked for all at once: one by one takes a start much longer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from penstock.engines.sql.dialect import Dialect
from penstock.engines.sql.index_definition import IndexDefinition, condition_words


@dataclass(frozen=True)
class StandingTable:
    """The names of a table's columns, those of its key in order, and its indexes."""

    columns: frozenset[str]
    key: tuple[str, ...]
    indexes: Mapping[str, IndexDefinition]
    required: frozenset[str]
    "Columns that need a value."


def standing_tables(
    connection: sa.Connection, dialect: Dialect, relations: Sequence[str]
) -> Mapping[str, StandingTable]:
    """Those of the relations, as the dialect writes them, that there are."""
    if dialect.schemas:
        rows = connection.exec_driver_sql(_WITH_SCHEMAS, (list(relations),)).all()
        return {r[0]: StandingTable(frozenset(r[1]), tuple(r[2]), _told(r[3]), frozenset(r[4])) for r in rows}
    return _in_one_file(connection, relations)


_WITH_SCHEMAS = """
select w.relation,
  array(select attname::text from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped),
  array(select a.attname::text from pg_constraint p, unnest(p.conkey) with ordinality as k(number, place)
    join pg_attribute a on a.attnum = k.number
    where p.conrelid = c.oid and p.contype = 'p' and a.attrelid = c.oid order by k.place),
  array(select json_build_array(
      i.relname, pg_get_expr(x.indpred, x.indrelid), x.indisvalid,
      array(select case when x.indoption[k - 1] & 1 = 1 then '-' else '' end || coalesce(
          (select attname from pg_attribute where attrelid = c.oid and attnum = x.indkey[k - 1] and attnum > 0),
          pg_get_indexdef(x.indexrelid, k, false))
        from generate_series(1, x.indnkeyatts::int) as k))
    from pg_index x join pg_class i on i.oid = x.indexrelid where x.indrelid = c.oid),
  array(select attname::text from pg_attribute where attrelid = c.oid and attnum > 0 and attnotnull)
from unnest(%s::text[]) as w(relation) join pg_class c on c.oid = to_regclass(w.relation)
""".strip()


def _told(indexes: Sequence[Any]) -> dict[str, IndexDefinition]:
    return {n: IndexDefinition(tuple(of), condition_words(where or ""), valid) for n, where, valid, of in indexes}


def _in_one_file(connection: sa.Connection, relations: Sequence[str]) -> dict[str, StandingTable]:
    names = {relation: relation[1:-1].replace('""', '"') for relation in relations}
    wanted = (json.dumps(list(names.values())),)
    columns: dict[str, list[tuple[str, int]]] = {}
    required: dict[str, set[str]] = {}
    for table, column, place, needed in connection.exec_driver_sql(_COLUMNS, wanted):
        columns.setdefault(table, []).append((column, place))
        if needed:
            required.setdefault(table, set()).add(column)
    indexes: dict[str, dict[str, IndexDefinition]] = {}
    for table, index, text, parts in connection.exec_driver_sql(_INDEXES, wanted):
        where = _WHERE.split(text or "", maxsplit=1)[1:]
        definition = IndexDefinition(tuple(json.loads(parts)), condition_words("".join(where)))
        indexes.setdefault(table, {})[index] = definition
    found = {}
    for relation, name in names.items():
        if name in columns:
            key = sorted((place, column) for column, place in columns[name] if place)
            found[relation] = StandingTable(
                frozenset(column for column, _ in columns[name]),
                tuple(column for _, column in key),
                indexes.get(name, {}),
                frozenset(required.get(name, ())),
            )
    return found


_COLUMNS = """
select m.name, c.name, c.pk, c."notnull" from sqlite_master m, pragma_table_info(m.name) c
where m.type = 'table' and m.name in (select value from json_each(?))
""".strip()
_INDEXES = """
select m.tbl_name, m.name, m.sql,
  (select json_group_array(case "desc" when 1 then '-' else '' end || coalesce(name, '?'))
    from (select * from pragma_index_xinfo(m.name) where key order by seqno))
from sqlite_master m where m.type = 'index' and m.tbl_name in (select value from json_each(?))
""".strip()
_WHERE = re.compile(r"\)\s+where\s+", re.IGNORECASE)
