"""Whether sessions of PostgreSQL can be bound to a project."""

from __future__ import annotations

from typing import Any

import psycopg

from penstock.engines.sql.dialect import quote
from penstock.engines.sql.isolation import MEMBERSHIPS, REMOVE, TENANT


def why_unbound(connection: psycopg.Connection[Any]) -> str | None:
    """Why no session of this user can be bound to a project, and what to do about it; None when it can."""
    mode = "SET" if connection.info.server_version >= MEMBERSHIPS * 10_000 else "MEMBER"
    exists, becomes, prepared, user = connection.execute(
        "select t.oid is not null, u.rolsuper or pg_has_role(u.oid, t.oid, %s), "
        "has_any_column_privilege(t.oid, to_regclass('penstock.commits'), 'insert') "
        "and coalesce(has_function_privilege(t.oid, to_regprocedure(%s), 'execute'), false), u.rolname::text "
        "from pg_roles u left join pg_roles t on t.rolname = %s where u.rolname = current_user",
        (mode, REMOVE, TENANT),
    ).fetchall()[0]
    otherwise = "or scope with enforce=False, which filters in Python alone"
    if not exists:
        return (
            f"PostgreSQL has no role {TENANT}, which binds a session to a project; run `penstock tables apply`, "
            f"which creates it or says who can, {otherwise}"
        )
    if not becomes:
        grant = f"grant {TENANT} to {quote(user)}"
        return f"{user} may not become {TENANT}; have an administrator run `{grant}`, {otherwise}"
    if not prepared:
        return f"the tables are not isolated by project yet; run `penstock tables apply`, {otherwise}"
    return None
