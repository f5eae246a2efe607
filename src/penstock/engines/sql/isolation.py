"""Row-level security on PostgreSQL: a session bound to a project sees and writes that project's rows only.

Every table that says its project gets three policies: its owner sees all rows (a constant, which the planner drops, so
that it costs nothing), the role `penstock_tenant` those of the session's project, and any other role what it is
granted, as if there were no policies. Row security is forced, so that nobody but superusers and roles that bypass it is
beyond the policies. Tables without a project are not granted to the role at all; views of the others run with the
rights of whoever asks (PostgreSQL 15 and later; before, they are not granted).

Because row security is forced, ``pg_dump`` by the owner needs ``--enable-row-security``; it still dumps every row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.engines.sql.dialect import Dialect, literal, quote
from penstock.ops import ADVICE, Step
from penstock.shape import EntityShape, ViewShape

if TYPE_CHECKING:
    import psycopg
    import sqlalchemy as sa

TENANT = "penstock_tenant"
"The role of sessions that are bound to a project. Roles are of a whole server, so all its databases share it."

_SESSIONS = "current_setting('penstock.project', true)"
_CREATE = f"create role {TENANT} nologin noinherit"
_INVOKERS = 15  # the version since which a view may run with the rights of whoever asks
_MEMBERSHIPS = 16  # the version since which a membership may be used by SET ROLE alone


@dataclass(frozen=True, slots=True)
class _User:
    """What the store's own database user may do about the role."""

    name: str
    version: int
    role_exists: bool
    may_create: bool
    may_grant: bool
    may_become: bool

    @property
    def grant(self) -> str:
        # Without inheritance: the user's own sessions stay outside of the role.
        how = " with inherit false, set true" if self.version >= _MEMBERSHIPS else ""
        return f"grant {TENANT} to {quote(self.name)}{how}"


@dataclass(frozen=True, slots=True)
class _Relation:
    """A table or view as it is now."""

    owner: str
    forced: bool
    policies: frozenset[str]
    granted: bool
    by_invoker: bool


def isolation_steps(
    connection: sa.Connection, dialect: Dialect, shapes: Sequence[EntityShape], views: Sequence[ViewShape]
) -> Iterator[Step]:
    """What is missing for sessions that are bound to a project."""
    of_projects = [s for s in shapes if s.project is not None]
    if not of_projects:
        return
    user = _user(connection)
    yield from _role_steps(user)
    if not user.role_exists and not user.may_create:
        return
    known = _relations(connection)
    yield from _schema_steps(connection, {"penstock", *(s.domain for s in of_projects if s.domain)})
    for shape in of_projects:
        assert shape.project is not None
        relation = dialect.relation(shape.domain, shape.relation)
        own = f"{quote(shape.project.column)}::text = {_SESSIONS}"
        yield from _table_steps(user, relation, known, own, "select, insert, update, delete")
    if any(s.table.feed for s in of_projects):
        relation = dialect.relation("penstock", "changes")
        yield from _table_steps(user, relation, known, f"project = {_SESSIONS}", "select")
    if user.version >= _INVOKERS:
        for view in views:
            yield from _view_steps(dialect.relation(view.domain, view.name), known)


def _role_steps(user: _User) -> Iterator[Step]:
    if not user.role_exists:
        if not user.may_create:
            yield Step(ADVICE, f"create role {TENANT}", _advice(user, f"{_CREATE}; {user.grant}"))
            return
        # Ensuring is done by one at a time in a database, but another database of the server may be at it too.
        faster = "exception when duplicate_object or unique_violation then null;"
        yield Step("create role", TENANT, f"do $$ begin {_CREATE}; {faster} end $$")
    if user.may_become:
        return
    if user.may_grant:
        yield Step("grant role", f"{TENANT} to {user.name}", user.grant)
    else:
        yield Step(ADVICE, f"grant {TENANT} to {user.name}", _advice(user, user.grant))


def _advice(user: _User, statements: str) -> str:
    return (
        f"{user.name} may not do this, and store.scoped() needs it: have an administrator run `{statements}`, "
        f"then run `penstock tables apply` again"
    )


def _schema_steps(connection: sa.Connection, schemas: set[str]) -> Iterator[Step]:
    usable = connection.exec_driver_sql(
        "select n.nspname from pg_namespace n join pg_roles t on t.rolname = %s "
        "where has_schema_privilege(t.oid, n.oid, 'usage')",
        (TENANT,),
    )
    for schema in sorted(schemas - set(usable.scalars())):
        yield Step("grant", f"usage of {schema} to {TENANT}", f"grant usage on schema {quote(schema)} to {TENANT}")
    counted = connection.exec_driver_sql(
        "select has_any_column_privilege(t.oid, to_regclass('penstock.commits'), 'insert') "
        "from pg_roles t where t.rolname = %s",
        (TENANT,),
    )
    if not counted.scalar():
        # A commit leaves its token there; nobody needs to see another's.
        statement = f"grant insert (token) on penstock.commits to {TENANT}"
        yield Step("grant", f"tokens of penstock.commits to {TENANT}", statement)


def _table_steps(user: _User, relation: str, known: dict[str, _Relation], own: str, granted: str) -> Iterator[Step]:
    now = known.get(relation) or _Relation(user.name, False, frozenset(), False, False)
    others = f"current_user <> {literal(TENANT)}"
    policies = {
        "penstock_owner": (quote(now.owner), "true"),
        "penstock_others": ("public", others),
        "penstock_project": (TENANT, own),
    }
    todo = [
        f"create policy {name} on {relation} to {role} using ({rows}) with check ({rows})"
        for name, (role, rows) in policies.items()
        if name not in now.policies
    ]
    if not now.forced:
        todo += [f"alter table {relation} {how} row level security" for how in ("enable", "force")]
    if not now.granted:
        todo.append(f"grant {granted} on {relation} to {TENANT}")
    if todo:
        yield Step("isolate projects", relation.replace('"', ""), _together(todo))


def _view_steps(relation: str, known: dict[str, _Relation]) -> Iterator[Step]:
    now = known.get(relation)
    todo = []
    if now is None or not now.by_invoker:
        todo.append(f"alter view {relation} set (security_invoker = true)")
    if now is None or not now.granted:
        todo.append(f"grant select on {relation} to {TENANT}")
    if todo:
        yield Step("isolate projects", relation.replace('"', ""), _together(todo))


def _together(statements: Sequence[str]) -> str:
    return f"do $$ begin {'; '.join(statements)}; end $$"


# What is there


def _user(connection: sa.Connection) -> _User:
    version = int((connection.dialect.server_version_info or (0,))[0])
    row = connection.exec_driver_sql(
        "select current_user::text, t.oid is not null, u.rolsuper, u.rolcreaterole, "
        "pg_has_role(u.oid, t.oid, 'MEMBER WITH ADMIN OPTION'), pg_has_role(u.oid, t.oid, %s) "
        "from pg_roles u left join pg_roles t on t.rolname = %s where u.rolname = current_user",
        ("SET" if version >= _MEMBERSHIPS else "MEMBER", TENANT),
    ).one()
    name, exists, superuser, creates, administers, becomes = row
    return _User(
        name,
        version,
        exists,
        may_create=superuser or creates,
        may_grant=superuser or bool(administers) or (creates and (not exists or version < _MEMBERSHIPS)),
        may_become=superuser or bool(becomes),
    )


def _relations(connection: sa.Connection) -> dict[str, _Relation]:
    """Every table and view outside of the system's, by its quoted name."""
    rows = connection.exec_driver_sql(
        "select n.nspname, c.relname, pg_get_userbyid(c.relowner)::text, c.relrowsecurity and c.relforcerowsecurity, "
        "array(select p.polname::text from pg_policy p where p.polrelid = c.oid), "
        "coalesce(has_table_privilege(t.oid, c.oid, 'select'), false), "
        "coalesce('security_invoker=true' = any(c.reloptions), false) "
        "from pg_class c join pg_namespace n on n.oid = c.relnamespace left join pg_roles t on t.rolname = %s "
        "where c.relkind in ('r', 'p', 'v') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'",
        (TENANT,),
    )
    return {
        f"{quote(schema)}.{quote(name)}": _Relation(owner, forced, frozenset(policies), granted, by_invoker)
        for schema, name, owner, forced, policies, granted, by_invoker in rows
    }


def why_unbound(connection: psycopg.Connection[Any]) -> str | None:
    """Why no session of this user can be bound to a project, and what to do about it; None when it can."""
    mode = "SET" if connection.info.server_version >= _MEMBERSHIPS * 10_000 else "MEMBER"
    exists, becomes, prepared, user = connection.execute(
        "select t.oid is not null, u.rolsuper or pg_has_role(u.oid, t.oid, %s), "
        "has_any_column_privilege(t.oid, to_regclass('penstock.commits'), 'insert'), u.rolname::text "
        "from pg_roles u left join pg_roles t on t.rolname = %s where u.rolname = current_user",
        (mode, TENANT),
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
