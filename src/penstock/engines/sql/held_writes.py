"""Writes that a database itself refuses, whoever makes them: for a store that is left behind.

Triggers do it. To make one, a database waits for those who are writing to the table, and whoever comes later meets it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlalchemy as sa

from penstock.engines.sql.connector import HELD, HELD_STATE, Connector, HeldByOthers
from penstock.engines.sql.dialect import Dialect, literal, quote
from penstock.engines.sql.stored_function import StoredFunction
from penstock.errors import Unavailable
from penstock.net.backoff import Backoff
from penstock.schema.shape import EntityShape

_KINDS = ("insert", "update", "delete")
_WAITING = Backoff(first=0.05, longest=0.5, factor=1.6, jitter=0.5)
_TRIES = 40
_DIGITS = 8
"Of the name of a trigger that logs changes, behind its table and kind."
_REFUSE = StoredFunction(
    "penstock.refuse_write",
    "",
    "trigger",
    f"""
begin
  raise exception using errcode = '{HELD_STATE}', message = tg_argv[0];
end
""",
)


def hold_writes(connector: Connector, shapes: Sequence[EntityShape], *, told: str | None) -> None:
    """Refuse writes of these entities, or take them again; all of them at once."""
    for failures in range(1, _TRIES + 1):
        try:
            with connector.administration() as connection:
                steps = _postgres if connector.dialect.schemas else _sqlite
                for text in list(steps(connection, connector.dialect, shapes, told)):
                    connection.exec_driver_sql(text.replace("%", "%%") if connector.dialect.schemas else text)
            return
        except HeldByOthers:
            connector.sleep(_WAITING.pause(failures))
    raise Unavailable("others hold the tables and do not let go, so writes could not be refused; try again later")


def _sqlite(
    connection: sa.Connection, dialect: Dialect, shapes: Sequence[EntityShape], told: str | None
) -> Iterator[str]:
    existing = set(connection.exec_driver_sql("select name from sqlite_master where type = 'trigger'").scalars())
    for shape in shapes:
        relation = dialect.relation(shape.domain, shape.relation)
        for kind in _KINDS:
            bare = relation.strip('"')
            name = f"penstock_held_{bare}_{kind}"
            if name in existing:
                yield f"drop trigger {quote(name)}"
            if told is not None:
                yield f"create trigger {quote(name)} before {kind} on {relation} begin {_refusal(told)}; end"
            elif not shape.table.feed:
                stem = f"{bare}_{kind}_"
                logging = (t for t in existing if t.startswith(stem) and len(t) == len(stem) + _DIGITS)
                yield from (f"drop trigger {quote(trigger)}" for trigger in sorted(logging))


def _refusal(told: str) -> str:
    return f"select raise(abort, {literal(HELD + told)})"


def _postgres(
    connection: sa.Connection, dialect: Dialect, shapes: Sequence[EntityShape], told: str | None
) -> Iterator[str]:
    if told is not None:
        yield from (step.detail for step in _REFUSE.steps(connection))
    for shape in shapes:
        relation = dialect.relation(shape.domain, shape.relation)
        if told is None:
            yield f"drop trigger if exists penstock_held on {relation}"
            if not shape.table.feed:
                yield f"drop trigger if exists penstock_log_change on {relation}"
        else:
            yield (
                f"create or replace trigger penstock_held before insert or update or delete on {relation} "
                f"for each statement execute function {_REFUSE.name}({literal(told)})"
            )
