"""Database users of one project each, for those who are not trusted with SQL: they read that project and nothing else.

    create role penstock_reader nologin noinherit;                                     -- once, then `tables apply`
    create role "project:p1" login password '…' in role penstock_reader;               -- for each project

A session that is bound to a project may name another one, as it may set what it likes. Nobody sets their own name: a
user of `penstock_reader` sees the rows of the project that it is called after, whatever it sets, and no rows when it is
called otherwise. It may read tables that say their project, and views of them; it writes nothing.

The role is there if an administrator has made it. Without it there are no such users, and nothing is done for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import sqlalchemy as sa

from penstock.engines.sql.dialect import Dialect, literal, quote
from penstock.engines.sql.isolation import INVOKERS, bare, excess_of, together, usage_steps
from penstock.operations.plan import ADVICE, PlanStep
from penstock.schema.shape import EntityShape, ViewShape

READER = "penstock_reader"
"The role of users that read one project each. Roles are of a whole server."
CALLED = "project:"
"How the name of each of them begins; the project's id follows. PostgreSQL's names have 63 bytes."


class _Readable(NamedTuple):
    """What the role has of a table or view."""

    policy: str = ""
    "What restricts it."
    granted: frozenset[str] = frozenset()


def reader_steps(
    connection: sa.Connection, dialect: Dialect, shapes: Sequence[EntityShape], views: Sequence[ViewShape]
) -> Iterator[PlanStep]:
    """What is missing for users of one project, and what they have too much of."""
    there = connection.exec_driver_sql("select 1 from pg_roles where rolname = %s", (READER,)).scalar()
    of_projects = [s for s in shapes if s.project is not None]
    if not there or not of_projects:
        return
    yield from _role_steps(connection)
    yield from usage_steps(connection, {s.domain for s in of_projects if s.domain}, READER)
    known = _readable(connection)
    for shape in of_projects:
        assert shape.project is not None
        relation = dialect.relation(shape.domain, shape.relation)
        yield from _table_steps(relation, quote(shape.project.column), known, readable=shape.rights.read)
    if any(s.table.feed for s in of_projects):
        yield from _table_steps(dialect.relation("penstock", "changes"), "project", known, readable=False)
    if int((connection.dialect.server_version_info or (0,))[0]) >= INVOKERS:
        for view in views:
            relation = dialect.relation(view.domain, view.name)
            yield from _steps(relation, _grants(relation, known, readable=True))


def _role_steps(connection: sa.Connection) -> Iterator[PlanStep]:
    superuser = connection.exec_driver_sql("select rolsuper from pg_roles where rolname = current_user").scalar()
    for statement in excess_of(connection, READER):
        told = f"{READER} is for reading one project: have an administrator run `{statement}`"
        yield PlanStep("restrict role" if superuser else ADVICE, statement, statement if superuser else told)


def _table_steps(relation: str, project: str, known: Mapping[str, _Readable], *, readable: bool) -> Iterator[PlanStep]:
    start = len(CALLED)
    own = (
        f"{project}::text = substr(current_user::text, {start + 1}) "
        f"and left(current_user::text, {start}) = {literal(CALLED)}"
    )
    todo = []
    policy = known.get(relation, _Readable()).policy
    if policy != bare(own):
        todo += [f"drop policy {READER} on {relation}"] if policy else []
        # Restrictive: it takes away from whatever else lets the user see a row, now or later.
        todo.append(f"create policy {READER} on {relation} as restrictive for all to {READER} using ({own})")
    yield from _steps(relation, [*todo, *_grants(relation, known, readable=readable)])


def _grants(relation: str, known: Mapping[str, _Readable], *, readable: bool) -> list[str]:
    held, wanted = known.get(relation, _Readable()).granted, frozenset({"select"} if readable else ())
    todo = [f"revoke all on {relation} from {READER}"] if held - wanted else []
    return [*todo, f"grant select on {relation} to {READER}"] if wanted and (todo or wanted - held) else todo


def _steps(relation: str, todo: Sequence[str]) -> Iterator[PlanStep]:
    if todo:
        yield PlanStep("isolate readers", relation.replace('"', ""), together(todo))


def _readable(connection: sa.Connection) -> dict[str, _Readable]:
    """Every table and view outside of the system's, by its quoted name."""
    rows = connection.exec_driver_sql(_READABLE, (READER, READER))
    return {
        f"{quote(schema)}.{quote(name)}": _Readable("" if policy is None else bare(policy), frozenset(granted))
        for schema, name, policy, granted in rows
    }


# A policy that is not as it was made says something that none of ours does.
_READABLE = """
select n.nspname, c.relname,
  (select case when not p.polpermissive and p.polcmd = '*' and p.polroles = array[r.oid] and p.polwithcheck is null
               then pg_get_expr(p.polqual, c.oid) else 'otherwise' end
   from pg_policy p where p.polrelid = c.oid and p.polname = %s),
  array(select lower(a.privilege_type) from aclexplode(c.relacl) a where a.grantee = r.oid)
    || array(select lower(a.privilege_type) || ' ' || f.attname from pg_attribute f, aclexplode(f.attacl) a
             where f.attrelid = c.oid and not f.attisdropped and a.grantee = r.oid)
from pg_class c join pg_namespace n on n.oid = c.relnamespace, pg_roles r
where r.rolname = %s and c.relkind in ('r', 'p', 'v') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
""".strip()
