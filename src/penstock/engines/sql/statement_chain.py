"""Several statements as one, for PostgreSQL: a chain of named parts, and a last one that may stop everything."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from psycopg import errors as pg

from penstock.engines.sql.connector import Refused
from penstock.engines.sql.isolation import TENANT
from penstock.engines.sql.lock_order import LOCKING
from penstock.engines.sql.postgres_waiter import CHANNEL
from penstock.engines.sql.statement import UNLESS_THERE, Statement

T = TypeVar("T")

# PostgreSQL has no way to say "stop" inside a statement but an error; the text of this one tells where.
_REFUSAL = "penstock refuses write "
UNBOUND = "penstock is not bound to its project here"
"In the error of a statement that found itself in a session of another project, or of none."

# A commit that could not recognise itself by what stands there leaves its token; a repetition meets it.
_REMEMBER = "remembered as (insert into penstock.commits (token) values (%s) returning 1)"
_KNOWN = "when not exists (select from remembered) then null"

GUARD = (
    f"case when current_user = '{TENANT}' and current_setting('penstock.project', true) = %s then true "
    f"else cast('{UNBOUND}' || left(now()::text, 0) as boolean) end"
)
"""True in a session bound to the project that is its parameter, else an error.

Binding and statement travel as one transaction; that they arrived as one, the statement itself must prove, as something
on the way could send each to another server. PostgreSQL asks it once, before the first row.
"""
_EXPLAIN = re.compile(r"explain (\([^)]*\) )?")
Form = tuple[str, bool, bool, str | None, bool]
"What a statement says without its parameters."


def chain(
    statements: Sequence[Statement],
    token: str | None,
    news: str | None,
    order: Sequence[int] | None,
    *,
    hoping: bool,
    guarded: bool,
) -> tuple[str, list[Any]]:
    """All statements as one, and its parameters.

    ``news`` is what those who listen are told, if they are. With several that others may be in the way of, each is
    carried out in its turn. ``order`` tells the positions in which they were given, if those are others. ``hoping``
    that nothing stands where nobody else can have written, it need not be asked for each, which is quicker; what stands
    there all the same is told by an error, and not the position of the write that it refuses.
    """
    forms = tuple(
        [(s.text, s.place is None, s.must_touch, s.stands and s.stands.text, s.rows is not None) for s in statements]
    )
    told = order is not None and any(s.must_touch for s in statements)
    text = _chained(forms, token is not None, news is not None, hoping, guarded, told)
    parameters = _parameters(statements, token, order if told else None, hoping)
    if news is not None:
        parameters.append(news)
    return text, parameters


@lru_cache(maxsize=512)
def _chained(forms: tuple[Form, ...], remembered: bool, wake: bool, hoping: bool, guarded: bool, told: bool) -> str:
    """The text of all statements as one.

    Of several that others may be in the way of, each is carried out in its turn, as each is asked for in its turn; what
    nobody asks for is done at the end, beginning with the last. ``told``: they were given in another order, so that
    their positions are parameters, and all are carried out before the first of them is refused.
    """
    parts = [_REMEMBER] if remembered else []
    outcomes = []
    in_turn = sum(not alone for _, alone, *_ in forms) > 1
    for number, (text, alone, must_touch, stands, counted) in enumerate(forms):
        if hoping and alone and must_touch:
            parts.append(f"w{number} as ({text.removesuffix(UNLESS_THERE)})")
            continue
        parts.append(f"w{number} as {_part(text)}")
        if not must_touch:
            if in_turn or text.startswith("select"):  # which is not run at all unless somebody asks
                outcomes.append(f"when (select count(*) from w{number}) < 0 then null::integer")
            continue
        refused = f"not exists (select from w{number})"
        if counted:
            refused = f"(select count(*) from w{number}) <> %s"
        if stands is not None:
            refused += f" and exists ({stands})"
        outcomes.append(f"when {refused} then {'%s::integer' if told else _refuse(number)}")
    if told:
        outcomes = [f"when true then {_first_of(outcomes)}"]
    if remembered:
        # Asked first, so that a repetition is recognised before its writes refuse themselves.
        outcomes.insert(0, _KNOWN)
    last = f"case {' '.join(outcomes)} end" if outcomes else "1"
    if wake:
        last += f", pg_notify('{CHANNEL}', %s)"
    return f"with {', '.join(parts)} select {last}{f' where {GUARD}' if guarded else ''}"


def _first_of(outcomes: Sequence[str]) -> str:
    """What stops a statement at the first of its refused parts, by the positions in which they were given."""
    positions = ", ".join(f"case {outcome} end" for outcome in outcomes)
    return f"cast('{_REFUSAL}' || least({positions}) as integer)"


def _part(text: str) -> str:
    if text.endswith(LOCKING):
        return f"({text})"
    if text.startswith("select 1 "):
        return f"({text} for share)"
    if text.startswith("select"):
        return f"materialized ({text})"
    return f"({text} returning 1)"


def _parameters(
    statements: Sequence[Statement], token: str | None, positions: Sequence[int] | None, hoping: bool
) -> list[Any]:
    """The parameters in the order in which `_chained` has their marks."""
    out: list[Any] = [] if token is None else [token]
    for statement in statements:
        out += statement.parameters
    for number, statement in enumerate(statements):
        if hoping and statement.place is None and statement.must_touch:
            continue
        if statement.rows is not None:
            out.append(statement.rows)
        elif statement.stands is not None:
            out += statement.stands.parameters
        if positions is not None and statement.must_touch:
            out.append(positions[number])
    return out


def remembering(text: str, *, guarded: bool) -> str:
    """A statement that leaves its token, unless it touches no row; of each row, the first column is not its own."""
    stop = f"case {_KNOWN} when not exists (select from done) then {_refuse(0)} end"
    rows = f"(select) as one left join done on true{f' where {GUARD}' if guarded else ''}"
    return f"with {_REMEMBER}, done as ({text}) select {stop}, done.* from {rows}"


@lru_cache(maxsize=512)
def noting(text: str, *, guarded: bool) -> str:
    """An update that leaves its token, which is its next parameter, for the row it touches; if it touches none, none.

    Unlike `remembering` it does not find out by itself whether it ran before: it is for the first time, and quicker.
    """
    rows = f"done where {GUARD}" if guarded else "done"
    return f"with done as ({text} returning 1) insert into penstock.commits (token) select %s from {rows}"


@lru_cache(maxsize=1024)
def guarded(text: str) -> str:
    """The statement, which fails in a session that is not bound to the project that is its last parameter."""
    if text.startswith("select penstock.remove("):
        return f"with done as materialized ({text}) select count(*) from done where {GUARD}"
    if explained := _EXPLAIN.match(text):
        return explained[0] + guarded(text[explained.end() :])
    if text.startswith(("select", "with")):
        return f"select asked.* from ({text}) as asked where {GUARD}"
    rows = "done.* from done" if " returning " in text else ""
    return f"with done as ({text}) select {rows} where {GUARD}"


def _refuse(position: int) -> str:
    """What stops a statement; not a constant, which PostgreSQL would compute while it plans."""
    return f"cast('{_REFUSAL}{position}' || left(now()::text, 0) as integer)"


def once(statement: Callable[[], T]) -> T | None:
    """What a statement returns, None when its token says that it ran before; Refused when it has stopped itself."""
    try:
        return statement()
    except pg.UniqueViolation as error:
        if not _is_repetition(error):
            raise
        return None
    except pg.InvalidTextRepresentation as error:
        message = str(error)
        if _REFUSAL not in message:
            raise
        raise Refused(int(message.split(_REFUSAL)[1].split('"')[0])) from None


def _is_repetition(error: pg.UniqueViolation) -> bool:
    return error.diag.constraint_name == "commits_pkey" and error.diag.schema_name == "penstock"
