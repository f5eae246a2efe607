"""What PostgreSQL needs for the log of changes: its tables, the triggers that write it, and what gives it its order.

The order of the log is the order in which transactions end. Serial numbers and transaction ids are given out when a
transaction first writes, and become visible in any order, however much later; so each transaction that has written to
the log takes its place, a number in `penstock.feed_order`, as the last thing before it commits, by a deferred trigger.
All its changes stand at that place: none is told without the others. Two that write one record end one after the
other, so a record's changes are told in the order in which they were made, and an open transaction, of this database
or another, is not waited for.

Between taking its number and being visible a transaction is still under way. A number that is seen must not make a
reader pass by a smaller one that is not seen yet. So before it takes a number, a transaction holds a lock whose name
says up to which number all are given out. A reader goes no further than the smallest of these (see `postgres_log`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlalchemy as sa

from penstock.engines.sql.dialect import Dialect, literal
from penstock.engines.sql.stored_function import StoredFunction
from penstock.operations.plan import PlanStep
from penstock.schema.shape import EntityShape

UNDER_WAY = 0x7065
"The upper 16 bits of the names of locks that tell of transactions under way; the others are a number."
NUMBERS = 2**48

_TABLES = {
    "changes": "position bigint generated always as identity, "
    "transaction xid8 not null default pg_current_xact_id(), relation text not null, kind text not null, "
    "old jsonb, new jsonb, cause text not null, project text, at timestamptz default clock_timestamp(), "
    "primary key (transaction, position)",
    # A transaction's id may come again in a restored database, so its first change is told as well.
    "feed_order": "place bigint generated always as identity primary key, transaction xid8 not null, "
    "first bigint not null",
    "feed_trimmed": "relation text primary key, place bigint not null, position bigint not null, "
    "transaction bigint not null",
}
_COLUMNS = {
    "project": "add column project text",
    # Of those that stand there nobody knows when they were written.
    "at": "add column at timestamptz, alter column at set default clock_timestamp()",
}

# It writes with its owner's rights, as whoever is bound to a project may read the log but not write it. So it tells of
# the very table that calls it, and of no other whose name a trigger gives. A change is of a project when the record was
# so before and after; one that moves it between projects is of none.
_LOG_CHANGE = StoredFunction(
    "penstock.log_change",
    "",
    "trigger",
    r"""
declare
  was jsonb;
  is_now jsonb;
  name text;
begin
  if tg_table_schema like 'pg\_temp%' or tg_argv[0] <> '"' || tg_table_schema || '"."' || tg_table_name || '"' then
    name := '"' || replace(tg_table_name, '"', '""') || '"';
    if tg_table_schema like 'pg\_temp%'
        or tg_argv[0] not in (name, '"' || replace(tg_table_schema, '"', '""') || '".' || name) then
      raise insufficient_privilege
        using message = format('%s is not a table whose changes are told', tg_relid::regclass);
    end if;
  end if;
  if tg_op = 'UPDATE' and old is not distinct from new then
    return null;
  end if;
  if tg_op <> 'INSERT' then
    was := to_jsonb(old);
  end if;
  if tg_op <> 'DELETE' then
    is_now := to_jsonb(new);
  end if;
  insert into penstock.changes (relation, kind, old, new, cause, project) values (
    tg_argv[0],
    case tg_op when 'INSERT' then 'insert' when 'UPDATE' then 'update' else 'remove' end,
    was,
    is_now,
    coalesce(nullif(current_setting('penstock.cause', true), ''), 'user'),
    case when tg_nargs > 1 and (tg_op <> 'UPDATE' or was ->> tg_argv[1] = is_now ->> tg_argv[1])
      then coalesce(is_now, was) ->> tg_argv[1] end);
  return null;
end
""",
)
_PLACE_COMMIT = StoredFunction(
    "penstock.place_commit",
    "",
    "trigger",
    f"""
declare
  given bigint;
  said text;
begin
  if current_setting('penstock.placed', true) is distinct from pg_current_xact_id()::text then
    given := {UNDER_WAY * NUMBERS} + coalesce(pg_sequence_last_value('penstock.feed_order_place_seq'), 0);
    if not pg_try_advisory_xact_lock_shared(given) then
      perform pg_advisory_xact_lock_shared(given);
    end if;
    insert into penstock.feed_order (transaction, first) values (pg_current_xact_id(), new.position);
    said := set_config('penstock.placed', pg_current_xact_id()::text, true);
  end if;
  return null;
end
""",
)
_ROW_INSERT, _ROW_ANY = 5, 29
"How pg_trigger says: after each row that is inserted, or written in any way."


def postgres_log_steps(inspector: sa.Inspector, dialect: Dialect, shapes: Sequence[EntityShape]) -> Iterator[PlanStep]:
    """The log, what writes it and what orders it, where they are missing or stand otherwise."""
    connection: sa.Connection = inspector.bind  # type: ignore[assignment] # we inspect connections only
    had = set(inspector.get_table_names(schema="penstock"))
    for table, columns in _TABLES.items():
        if table not in had:
            text = f"create table if not exists penstock.{table} ({columns})"
            yield PlanStep("create table", f"penstock.{table}", text)
    if "changes" in had:
        present = set(connection.exec_driver_sql(_PRESENT).scalars())
        for column, how in _COLUMNS.items():
            if column not in present:
                yield PlanStep("add column", f"penstock.changes.{column}", f"alter table penstock.changes {how}")
    for function in (_LOG_CHANGE, _PLACE_COMMIT):
        yield from function.steps(connection)
        if function.is_open(connection):
            # Whoever may execute it may have it called for a table of his own, and so have it write what he likes.
            text = f"revoke all on function {function.signature} from public"
            yield PlanStep("restrict function", function.name, text)
    yield from _trigger_steps(connection, dialect, shapes)
    if "changes" in had and "feed_order" not in had:
        # The trigger before this has waited for all who write, and keeps others from it.
        yield PlanStep("order changes", "penstock.feed_order", _IN_FORMER_ORDER)


_PRESENT = "select attname::text from pg_attribute where attrelid = 'penstock.changes'::regclass and not attisdropped"
_IN_FORMER_ORDER = (
    "insert into penstock.feed_order (transaction, first) "
    "select transaction, min(position) from penstock.changes group by transaction order by transaction"
)


def _trigger_steps(connection: sa.Connection, dialect: Dialect, shapes: Sequence[EntityShape]) -> Iterator[PlanStep]:
    relations = {dialect.relation(shape.domain, shape.relation): shape for shape in shapes}
    rows = connection.exec_driver_sql(_TRIGGERS, (["penstock.changes", *relations],))
    found = {(row[0], row[1]): tuple(row[2:]) for row in rows}
    placing = found.get(("penstock.changes", "penstock_place_commit"))
    if placing != (True, _ROW_INSERT, True, b"", True):
        again = "drop trigger penstock_place_commit on penstock.changes; " if placing else ""
        yield PlanStep(
            "create trigger",
            "penstock.changes place_commit",
            f"do $$ begin {again}create constraint trigger penstock_place_commit after insert on penstock.changes "
            f"deferrable initially deferred for each row execute function {_PLACE_COMMIT.signature}; end $$",
        )
    for relation, shape in relations.items():
        arguments = [relation] + ([shape.project.column] if shape.project is not None else [])
        said = b"".join(argument.encode() + b"\0" for argument in arguments)
        if found.get((relation, "penstock_log_change")) != (True, _ROW_ANY, False, said, True):
            yield PlanStep(
                "create trigger",
                f"{relation} log_change",
                f"create or replace trigger penstock_log_change after insert or update or delete on {relation} "
                f"for each row execute function penstock.log_change({', '.join(map(literal, arguments))})",
            )


# Of each trigger: is its function the one of its name, when does it fire, with which words, and always?
_TRIGGERS = """
select w.relation, t.tgname::text, t.tgfoid = to_regprocedure('penstock.' || substr(t.tgname, 10) || '()'),
  t.tgtype::integer, t.tgdeferrable and t.tginitdeferred, t.tgargs,
  t.tgenabled in ('O', 'A') and t.tgqual is null and cardinality(t.tgattr::smallint[]) = 0
from unnest(%s::text[]) as w(relation) join pg_trigger t on t.tgrelid = to_regclass(w.relation)
where t.tgname in ('penstock_log_change', 'penstock_place_commit') and not t.tgisinternal
""".strip()
