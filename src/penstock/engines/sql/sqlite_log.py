"""The log of changes in a SQLite file: triggers write it, and one writes at a time, so its numbers are its order."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
import sqlalchemy as sa

from penstock.engines.sql.connector import Connector
from penstock.engines.sql.dialect import Dialect, literal, quote
from penstock.engines.sql.logged_change import STEP, entry_of, no_position, trimmed
from penstock.engines.sql.statements import Statements
from penstock.operations.feed_entry import FeedEntry, FeedSlice, LogSize, changed_project
from penstock.operations.plan import PlanStep
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape

_KINDS = ("insert", "update", "delete")
_TOLD = {"insert": "insert", "update": "update", "delete": "remove"}
_TABLES = {
    "penstock_changes": "position integer primary key autoincrement, relation text not null, kind text not null, "
    "old text, new text, cause text not null, at integer",
    "penstock_cause": "cause text not null",
    "penstock_trimmed": "relation text primary key, position integer not null",
}
# Whoever removes changes, this says up to where: a reader that is not so far is told that it comes too late.
_TRIMMED = (
    "create trigger if not exists penstock_changes_trimmed after delete on penstock_changes begin "
    "insert into penstock_trimmed (relation, position) values (old.relation, old.position) "
    "on conflict (relation) do update set position = max(position, excluded.position); end"
)


def sqlite_log_steps(inspector: sa.Inspector, dialect: Dialect, shapes: Sequence[EntityShape]) -> Iterator[PlanStep]:
    """The log and the triggers of these entities, where they are missing."""
    connection: sa.Connection = inspector.bind  # type: ignore[assignment] # we inspect connections only
    for table, columns in _TABLES.items():
        if not inspector.has_table(table):
            yield PlanStep("create table", table, f"create table if not exists {table} ({columns})")
        elif table == "penstock_changes" and "at" not in {c["name"] for c in inspector.get_columns(table)}:
            yield PlanStep("add column", f"{table}.at", f"alter table {table} add column at integer")
    existing = set(connection.exec_driver_sql("select name from sqlite_master where type = 'trigger'").scalars())
    if "penstock_changes_trimmed" not in existing:
        yield PlanStep("create trigger", "penstock_changes_trimmed", _TRIMMED)
    for shape in shapes:
        relation = dialect.relation(shape.domain, shape.relation)
        for kind in _KINDS:
            body = _trigger(shape, relation, kind)
            # The columns are part of the name: a table that has grown gets a trigger that tells of all of them,
            # in the place of the one that told of fewer.
            stem = f"{relation.strip(chr(34))}_{kind}_"
            name = f"{stem}{zlib.crc32(body.encode()):08x}"
            if name in existing:
                continue
            for former in sorted(t for t in existing if t.startswith(stem) and len(t) == len(name)):
                yield PlanStep("replace trigger", former, f"drop trigger if exists {quote(former)}")
            yield PlanStep("create trigger", name, f"create trigger if not exists {quote(name)} {body}")


def _trigger(shape: EntityShape, relation: str, kind: str) -> str:
    def image(row: str) -> str:
        members = (f"{literal(f.column)}, {_json_form(f, f'{row}.{quote(f.column)}')}" for f in shape.fields.values())
        return f"json_object({', '.join(members)})"

    old = "null" if kind == "insert" else image("old")
    new = "null" if kind == "delete" else image("new")
    changed = f" when {image('old')} <> {image('new')}" if kind == "update" else ""
    return (
        f"after {kind} on {relation}{changed} begin "
        f"insert into penstock_changes (relation, kind, old, new, cause, at) values ({literal(relation)}, "
        f"{literal(_TOLD[kind])}, {old}, {new}, coalesce((select cause from penstock_cause), 'user'), "
        f"cast(strftime('%s', 'now') as integer)); end"
    )


def _json_form(field: FieldShape, column: str) -> str:
    """A column as JSON can hold it: SQLite refuses bytes there, and writes floats with 15 digits only."""
    if field.kind is Kind.BYTES:
        return f"case when {column} is not null then hex({column}) end"
    if field.kind is Kind.FLOAT:
        return f"case when {column} is not null then printf('%!.17g', {column}) end"
    return column


def _from_json_form(field: FieldShape, value: Any) -> Any:
    if value is None:
        return None
    if field.kind is Kind.BYTES:
        return bytes.fromhex(value)
    return float(value) if field.kind is Kind.FLOAT else value


class SqliteLog:
    """Reads and shortens the log of one file."""

    def __init__(self, connector: Connector) -> None:
        self._connector = connector

    def end(self, after: str | None) -> str:
        ((last, given),) = self._connector.rows(_END, ())
        return str(given or last or 0)  # where all were forgotten, the numbers that were given out tell the end

    def read(self, watched: Sequence[Statements], *, after: str | None, limit: int) -> FeedSlice:
        end, behind = self.end(after), -1 if after is None else _number(after)
        if int(end) <= behind:
            return FeedSlice(position=after)
        by_relation = {statements.relation: statements for statements in watched}
        among = _among(by_relation)
        rows = self._connector.rows(
            f"select position, relation, kind, old, new, cause from penstock_changes where position > ? "
            f"and position <= ? and relation in {among} order by position limit ?",
            (behind, int(end), *by_relation, limit),
        )
        if after is not None:
            # Asked last: what was forgotten before the rows were read is known by now.
            asked = f"select max(position) from penstock_trimmed where relation in {among}"
            ((forgotten,),) = self._connector.rows(asked, tuple(by_relation))
            if forgotten is not None and forgotten > behind:
                raise trimmed()
        entries = [_entry(by_relation[row[1]], row) for row in rows]
        return FeedSlice(entries, position=end if len(entries) < limit else entries[-1].position)

    def trim(self, relations: Sequence[str], *, before: str, limit: int) -> int:
        among, gone = _among(relations), 0
        while gone < limit:
            step = min(STEP, limit - gone)
            removed = self._connector.run(
                f"delete from penstock_changes where position in (select position from penstock_changes "
                f"where position <= ? and relation in {among} order by position limit ?) returning 1",
                (_number(before), *relations, step),
            )
            gone += len(removed or ())
            if len(removed or ()) < step:
                break
        return gone

    def size(self, relations: Sequence[str]) -> LogSize:
        among = _among(relations)
        ((entries, oldest),) = self._connector.rows(
            f"select count(*), (select at from penstock_changes where relation in {among} order by position limit 1) "
            f"from penstock_changes where relation in {among}",
            (*relations, *relations),
        )
        return LogSize(entries, None if oldest is None else datetime.fromtimestamp(oldest, UTC))


_END = "select max(position), (select seq from sqlite_sequence where name = 'penstock_changes') from penstock_changes"


def _number(position: str) -> int:
    try:
        return int(position)
    except ValueError:
        raise no_position() from None


def _among(relations: Sequence[str] | dict[str, Any]) -> str:
    return f"({', '.join('?' * len(relations))})"


def _entry(statements: Statements, row: tuple[Any, ...]) -> FeedEntry:
    position, _, kind, old, new, cause = row
    was, is_now = (_record(statements, image) for image in (old, new))
    project = changed_project(statements.shape, was, is_now)
    place = str(position)
    return entry_of(statements.shape, kind, (was, is_now), cause=cause, position=place, id=place, project=project)


def _record(statements: Statements, image: str | None) -> Any:
    """A record of its image; one from before the table grew lacks the newer columns."""
    if image is None:
        return None
    found = msgspec.json.decode(image)
    fields = statements.shape.fields.values()
    return statements.codec.record(tuple(_from_json_form(f, found.get(f.column)) for f in fields))
