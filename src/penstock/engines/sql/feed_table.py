"""The feed on SQL: triggers write each change of a watched table into a log, in the same commit."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import sqlalchemy as sa

from penstock.engines.sql.connector import Connector
from penstock.engines.sql.dialect import Dialect, literal, quote
from penstock.engines.sql.row_reads import readable_image
from penstock.engines.sql.statements import Statements
from penstock.operations.feed_entry import FeedEntry, FeedSlice, changed_project, told_change
from penstock.operations.plan import PlanStep
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape

StatementsOf: TypeAlias = Callable[[EntityShape], Statements]
_KINDS = ("insert", "update", "delete")
_TOLD = {"insert": "insert", "update": "update", "delete": "remove"}


def feed_steps(inspector: sa.Inspector, dialect: Dialect, shapes: Sequence[EntityShape]) -> Iterator[PlanStep]:
    """The log and the triggers of every entity whose table has a feed."""
    watched = [s for s in shapes if s.table.feed]
    if not watched:
        return
    if dialect.schemas:
        yield from _postgres_steps(inspector, dialect, watched)
    else:
        yield from _sqlite_steps(inspector, dialect, watched)


def _sqlite_steps(inspector: sa.Inspector, dialect: Dialect, shapes: Sequence[EntityShape]) -> Iterator[PlanStep]:
    if not inspector.has_table("penstock_changes"):
        yield PlanStep(
            "create table",
            "penstock_changes",
            "create table if not exists penstock_changes (position integer primary key autoincrement, "
            "relation text not null, kind text not null, old text, new text, cause text not null)",
        )
        yield PlanStep(
            "create table", "penstock_cause", "create table if not exists penstock_cause (cause text not null)"
        )
    existing = set(inspector.bind.exec_driver_sql("select name from sqlite_master where type = 'trigger'").scalars())  # type: ignore[union-attr]
    for shape in shapes:
        relation = dialect.relation(shape.domain, shape.relation)
        for kind in _KINDS:
            body = _sqlite_trigger(shape, relation, kind)
            # The columns are part of the name: a table that has grown gets a trigger that tells of all of them,
            # in the place of the one that told of fewer.
            stem = f"{relation.strip(chr(34))}_{kind}_"
            name = f"{stem}{zlib.crc32(body.encode()):08x}"
            if name in existing:
                continue
            for former in sorted(t for t in existing if t.startswith(stem) and len(t) == len(name)):
                yield PlanStep("replace trigger", former, f"drop trigger if exists {quote(former)}")
            yield PlanStep("create trigger", name, f"create trigger if not exists {quote(name)} {body}")


def _sqlite_trigger(shape: EntityShape, relation: str, kind: str) -> str:
    def image(row: str) -> str:
        members = (f"{literal(f.column)}, {_json_form(f, f'{row}.{quote(f.column)}')}" for f in shape.fields.values())
        return f"json_object({', '.join(members)})"

    old = "null" if kind == "insert" else image("old")
    new = "null" if kind == "delete" else image("new")
    changed = f" when {image('old')} <> {image('new')}" if kind == "update" else ""
    return (
        f"after {kind} on {relation}{changed} begin "
        f"insert into penstock_changes (relation, kind, old, new, cause) values ({literal(relation)}, "
        f"{literal(_TOLD[kind])}, {old}, {new}, coalesce((select cause from penstock_cause), 'user')); end"
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


def _postgres_steps(inspector: sa.Inspector, dialect: Dialect, shapes: Sequence[EntityShape]) -> Iterator[PlanStep]:
    if not inspector.has_table("changes", schema="penstock"):
        yield PlanStep(
            "create table",
            "penstock.changes",
            "create table if not exists penstock.changes (position bigint generated always as identity, "
            "transaction xid8 not null default pg_current_xact_id(), relation text not null, kind text not null, "
            "old jsonb, new jsonb, cause text not null, project text, primary key (transaction, position))",
        )
    elif not inspector.bind.exec_driver_sql(_HAS_PROJECT).scalar():  # type: ignore[union-attr]
        yield PlanStep("add column", "penstock.changes.project", "alter table penstock.changes add column project text")
    yield PlanStep("create function", "penstock.log_change", _LOG_CHANGE)
    if inspector.bind.exec_driver_sql(_IS_OPEN).scalar() is not False:  # type: ignore[union-attr]
        # Whoever may execute it may have it called for a table of his own, and so have it write what he likes.
        closed = "revoke all on function penstock.log_change() from public"
        yield PlanStep("restrict function", "penstock.log_change", closed)
    for shape in shapes:
        relation = dialect.relation(shape.domain, shape.relation)
        project = f", {literal(shape.project.column)}" if shape.project is not None else ""
        yield PlanStep(
            "create trigger",
            f"{relation} log_change",
            f"create or replace trigger penstock_log_change after insert or update or delete on {relation} "
            f"for each row execute function penstock.log_change({literal(relation)}{project})",
        )


_HAS_PROJECT = """
select 1 from information_schema.columns
where table_schema = 'penstock' and table_name = 'changes' and column_name = 'project'
""".strip()

_IS_OPEN = "select has_function_privilege('public', to_regprocedure('penstock.log_change()'), 'execute')"

# It writes with its owner's rights, as whoever is bound to a project may read the log but not write it. So it tells of
# the very table that calls it, and of no other whose name a trigger gives. A change is of a project when the record was
# so before and after; one that moves it between projects is of none.
_LOG_CHANGE = r"""
create or replace function penstock.log_change() returns trigger language plpgsql
security definer set search_path = pg_catalog, pg_temp as $$
declare
  was jsonb;
  is_now jsonb;
  name text := '"' || replace(tg_table_name, '"', '""') || '"';
begin
  if tg_table_schema like 'pg\_temp%'
      or tg_argv[0] not in (name, '"' || replace(tg_table_schema, '"', '""') || '".' || name) then
    raise insufficient_privilege using message = format('%s is not a table whose changes are told', tg_relid::regclass);
  end if;
  if tg_op = 'UPDATE' and old is not distinct from new then
    return null;
  end if;
  was := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  is_now := case when tg_op <> 'DELETE' then to_jsonb(new) end;
  insert into penstock.changes (relation, kind, old, new, cause, project) values (
    tg_argv[0],
    case tg_op when 'INSERT' then 'insert' when 'UPDATE' then 'update' else 'remove' end,
    was,
    is_now,
    coalesce(nullif(current_setting('penstock.cause', true), ''), 'user'),
    case when tg_nargs > 1 and (tg_op <> 'UPDATE' or was ->> tg_argv[1] = is_now ->> tg_argv[1])
      then coalesce(is_now, was) ->> tg_argv[1] end);
  return null;
end $$
""".strip()


def read_changes(
    connector: Connector, statements_of: StatementsOf, shapes: Sequence[EntityShape], *, after: str | None, limit: int
) -> FeedSlice:
    """Committed changes in order, behind a position."""
    reader = _read_postgres if connector.dialect.schemas else _read_sqlite
    # One end for all entities: of two that change in one commit, one is not told without the other.
    end = feed_end(connector, shapes)
    if end is None or (after is not None and _place(end) <= _place(after)):
        return FeedSlice(position=after)
    watched = [statements_of(shape) for shape in shapes if shape.table.feed]
    entries = [entry for statements in watched for entry in reader(connector, statements, after, end, limit)]
    entries.sort(key=lambda entry: _place(entry.position))
    return FeedSlice(entries[:limit], position=end if len(entries) < limit else entries[limit - 1].position)


def feed_end(connector: Connector, shapes: Sequence[EntityShape]) -> str | None:
    """Where the log ends: every change up to there has committed, and no other will have a place before it."""
    if not any(shape.table.feed for shape in shapes):
        return None
    if not connector.dialect.schemas:
        ((last,),) = connector.rows("select max(position) from penstock_changes", ())
        return None if last is None else str(last)
    # A transaction that is still open may yet commit an earlier number: the log ends before all open ones.
    ((open_from,),) = connector.rows("select pg_snapshot_xmin(pg_current_snapshot())::text", ())
    return f"{int(open_from) - 1}:{_LAST}"


_LAST = 2**63 - 1
"Behind every change of a transaction."


def _place(position: str) -> tuple[int, ...]:
    return tuple(int(part) for part in position.split(":"))


def _read_sqlite(
    connector: Connector, statements: Statements, after: str | None, end: str, limit: int
) -> Iterator[FeedEntry]:
    import msgspec

    shape = statements.shape
    rows = connector.rows(
        "select position, kind, old, new, cause from penstock_changes where relation = ? and position > ? "
        "and position <= ? order by position limit ?",
        (statements.relation, int(after or 0), int(end), limit),
    )
    for position, kind, old, new, cause in rows:
        images = [
            None if i is None else readable_image(statements, _row(shape, msgspec.json.decode(i))) for i in (old, new)
        ]
        project = changed_project(shape, images[0], images[1])
        yield _entry(shape, kind, images[0], images[1], cause, str(position), project)


def _row(shape: EntityShape, image: dict[str, Any]) -> tuple[Any, ...]:
    """An image as a row of the table; one from before the table grew lacks the newer columns."""
    return tuple(_from_json_form(f, image.get(f.column)) for f in shape.fields.values())


def _read_postgres(
    connector: Connector, statements: Statements, after: str | None, end: str, limit: int
) -> Iterator[FeedEntry]:
    shape = statements.shape
    columns = [quote(f.column) for f in shape.fields.values()]
    images = ", ".join(f"{which}.{c}" for which in ("o", "n") for c in columns)
    transaction, position = _place(after) if after else (0, 0)
    rows = connector.rows(
        f"select c.transaction::text, c.position, c.kind, c.cause, c.project, {images} from penstock.changes c "
        f"cross join lateral jsonb_populate_record(null::{statements.relation}, c.old) o "
        f"cross join lateral jsonb_populate_record(null::{statements.relation}, c.new) n "
        f"where c.relation = %s and (c.transaction, c.position) > (%s::text::xid8, %s) "
        f"and c.transaction <= %s::text::xid8 order by c.transaction, c.position limit %s",
        (statements.relation, str(transaction), position, str(_place(end)[0]), limit),
    )
    width = len(columns)
    for row in rows:
        old = readable_image(statements, row[5 : 5 + width]) if row[2] != "insert" else None
        new = readable_image(statements, row[5 + width :]) if row[2] != "remove" else None
        # The policies go by what the log says; where the images say otherwise, it is nobody's.
        project = row[4] if row[4] == changed_project(shape, old, new) else None
        yield _entry(shape, row[2], old, new, row[3], f"{row[0]}:{row[1]}", project)


def _entry(
    shape: EntityShape, kind: str, old: Any, new: Any, cause: str, position: str, project: str | None
) -> FeedEntry:
    return told_change(shape, kind, old, new, cause=cause, position=position, id=position, project=project)
