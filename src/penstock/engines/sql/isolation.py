"""Row-level security on PostgreSQL: a session bound to a project sees and writes that project's rows only.

Every table that says its project gets three policies: its owner sees all rows (a constant, which the planner drops, so
that it costs nothing), the role `penstock_tenant` those of the session's project, and any other role what it is
granted, as if there were no policies. Row security is forced, so that nobody but superusers and roles that bypass it is
beyond the policies. Tables without a project are not granted to the role at all; views of the others run with the
rights of whoever asks (PostgreSQL 15 and later; before, they are not granted).

The role has what the entities' `Rights` say and nothing else: what it had before is taken back. It may update columns,
never a whole table, and removes rows by a function: whoever may delete from a table may also lock it for everybody.

Because row security is forced, ``pg_dump`` by the owner needs ``--enable-row-security``; it still dumps every row.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import sqlalchemy as sa

from penstock.engines.sql.dialect import Dialect, literal, quote
from penstock.engines.sql.stored_function import StoredFunction
from penstock.operations.plan import ADVICE, PlanStep
from penstock.schema.shape import EntityShape, ViewShape

TENANT = "penstock_tenant"
"The role of sessions that are bound to a project. Roles are of a whole server, so all its databases share it."

_SESSIONS = "current_setting('penstock.project', true)"
_CREATE = f"create role {TENANT} nologin noinherit"
INVOKERS = 15  # the version since which a view may run with the rights of whoever asks
MEMBERSHIPS = 16  # the version since which a membership may be used by SET ROLE alone

# With its owner's rights, as the role may not delete: so it asks the table's policy itself whose rows may go.
_REMOVE = StoredFunction(
    "penstock.remove",
    "relation regclass, place tid",
    "boolean",
    """
declare
  own text;
  removed bigint;
begin
  select pg_get_expr(p.polqual, p.polrelid) into own from pg_policy p
    where p.polrelid = $1 and p.polname = 'penstock_remove' and p.polcmd = 'd';
  if own is null then
    raise insufficient_privilege using message = format('permission denied to remove rows of %s', $1);
  end if;
  execute format('delete from %s where ctid = $1 and %s', $1, own) using $2;
  get diagnostics removed = row_count;
  return removed > 0;
end
""".strip(),
)
REMOVE = _REMOVE.signature


@dataclass(frozen=True, slots=True)
class _User:
    """What the store's own database user may do about the role."""

    name: str
    version: int
    role_exists: bool
    may_create: bool
    may_grant: bool
    may_become: bool
    superuser: bool

    @property
    def grant(self) -> str:
        # Without inheritance: the user's own sessions stay outside of the role.
        how = " with inherit false, set true" if self.version >= MEMBERSHIPS else ""
        return f"grant {TENANT} to {quote(self.name)}{how}"


class _Policy(NamedTuple):
    """A policy by what it says, however it is written."""

    role: str
    using: str
    check: str
    command: str = "*"
    permits: bool = True


@dataclass(frozen=True, slots=True)
class _Relation:
    """A table or view as it is now."""

    owner: str
    forced: bool = False
    policies: Mapping[str, _Policy] = field(default_factory=dict)
    granted: frozenset[str] = frozenset()
    "What the role may do with the whole of it, and with which column: `select`, `update status`."
    by_invoker: bool = False


def isolation_steps(
    connection: sa.Connection, dialect: Dialect, shapes: Sequence[EntityShape], views: Sequence[ViewShape]
) -> Generator[PlanStep, None, bool]:
    """What is missing for sessions that are bound to a project, and what they have too much of.

    False where nobody can be bound, as there is no role for it and this user may not create it.
    """
    of_projects = [s for s in shapes if s.project is not None]
    if not of_projects:
        return False
    user = _user(connection)
    yield from _role_steps(connection, user)
    if not user.role_exists and not user.may_create:
        return False
    yield from _schema_steps(connection, {"penstock", *(s.domain for s in of_projects if s.domain)})
    known = _relations(connection)
    for shape in of_projects:
        assert shape.project is not None
        relation = dialect.relation(shape.domain, shape.relation)
        own = f"{quote(shape.project.column)}::text = {_SESSIONS}"
        yield from _table_steps(user, relation, known, own, _granted(shape), removable=shape.rights.remove)
    if any(s.table.feed for s in of_projects):
        relation = dialect.relation("penstock", "changes")
        yield from _table_steps(user, relation, known, f"project = {_SESSIONS}", frozenset({"select"}), removable=False)
        yield from _order_steps(user, dialect, known)
    if user.version >= INVOKERS:
        for view in views:
            yield from _view_steps(user, dialect.relation(view.domain, view.name), known)
    return True


def _order_steps(user: _User, dialect: Dialect, known: dict[str, _Relation]) -> Iterator[PlanStep]:
    """Whoever reads changes of one project needs their order, which tells nothing of anybody else's but that it was."""
    for name in ("feed_order", "feed_trimmed"):
        relation = dialect.relation("penstock", name)
        if todo := _grants(relation, known.get(relation) or _Relation(user.name), frozenset({"select"})):
            yield PlanStep("grant", f"reading of penstock.{name} to {TENANT}", together(todo))


def _granted(shape: EntityShape) -> frozenset[str]:
    """What the role needs for the rights that a scope has."""
    rights = shape.rights
    granted = {word for word, allowed in (("select", rights.read), ("insert", rights.add)) if allowed}
    if rights.change or rights.remove:  # a row is locked before it is removed, which takes a column to change
        key = [shape.fields[n].column for n in shape.key.fields]
        rest = [f.column for f in shape.fields.values() if f.column not in key]
        granted |= {f"update {column}" for column in rest or key[:1]}
    return frozenset(granted)


def _role_steps(connection: sa.Connection, user: _User) -> Iterator[PlanStep]:
    if user.role_exists:
        for statement in excess_of(connection, TENANT):
            kind = "restrict role" if user.superuser else ADVICE
            yield PlanStep(kind, statement, statement if user.superuser else _advice(user, statement))
    else:
        if not user.may_create:
            yield PlanStep(ADVICE, f"create role {TENANT}", _advice(user, f"{_CREATE}; {user.grant}"))
            return
        # Ensuring is done by one at a time in a database, but another database of the server may be at it too.
        faster = "exception when duplicate_object or unique_violation then null;"
        yield PlanStep("create role", TENANT, f"do $$ begin {_CREATE}; {faster} end $$")
    if user.may_become:
        return
    if user.may_grant:
        yield PlanStep("grant role", f"{TENANT} to {user.name}", user.grant)
    else:
        yield PlanStep(ADVICE, f"grant {TENANT} to {user.name}", _advice(user, user.grant))


def excess_of(connection: sa.Connection, role: str) -> Iterator[str]:
    """What takes back the powers that a role of projects should not have."""
    powers = {
        "rolsuper": "nosuperuser",
        "rolcreaterole": "nocreaterole",
        "rolcreatedb": "nocreatedb",
        "rolcanlogin": "nologin",
        "rolinherit": "noinherit",
        "rolreplication": "noreplication",
        "rolbypassrls": "nobypassrls",
    }
    row = connection.exec_driver_sql(f"select {', '.join(powers)} from pg_roles where rolname = %s", (role,)).one()
    if wrong := [word for word, has in zip(powers.values(), row, strict=True) if has]:
        yield f"alter role {role} {' '.join(wrong)}"
    others = connection.exec_driver_sql(
        "select r.rolname::text from pg_auth_members m join pg_roles r on r.oid = m.roleid "
        "join pg_roles t on t.oid = m.member where t.rolname = %s order by 1",
        (role,),
    )
    for other in others.scalars():
        yield f"revoke {quote(other)} from {role}"


def _advice(user: _User, statements: str) -> str:
    return (
        f"{user.name} may not do this, and store.scoped() needs it: have an administrator run `{statements}`, "
        f"then run `penstock tables apply` again"
    )


def usage_steps(connection: sa.Connection, schemas: set[str], role: str) -> Iterator[PlanStep]:
    """What a role of projects lacks to find the tables of schemas."""
    usable = connection.exec_driver_sql(
        "select n.nspname from pg_namespace n join pg_roles t on t.rolname = %s "
        "where has_schema_privilege(t.oid, n.oid, 'usage')",
        (role,),
    )
    for schema in sorted(schemas - set(usable.scalars())):
        yield PlanStep("grant", f"usage of {schema} to {role}", f"grant usage on schema {quote(schema)} to {role}")


def _schema_steps(connection: sa.Connection, schemas: set[str]) -> Iterator[PlanStep]:
    yield from usage_steps(connection, schemas, TENANT)
    yield from _removal_steps(connection)
    held = connection.exec_driver_sql(
        "select array(select a.privilege_type from aclexplode(c.relacl) a where a.grantee = t.oid), "
        "has_any_column_privilege(t.oid, c.oid, 'insert') "
        "from pg_roles t, pg_class c where t.rolname = %s and c.oid = to_regclass('penstock.commits')",
        (TENANT,),
    ).one_or_none()
    if held is None or held[0] or not held[1]:
        # A commit leaves its token there; nobody needs to see another's.
        statements = (
            f"revoke all on penstock.commits from {TENANT}",
            f"grant insert (token) on penstock.commits to {TENANT}",
        )
        yield PlanStep("grant", f"tokens of penstock.commits to {TENANT}", together(statements))


def _removal_steps(connection: sa.Connection) -> Iterator[PlanStep]:
    yield from _REMOVE.steps(connection)
    held = connection.exec_driver_sql(
        "select has_function_privilege(t.oid, to_regprocedure(%s), 'execute') from pg_roles t where t.rolname = %s",
        (REMOVE, TENANT),
    ).scalar()
    if not held or _REMOVE.is_open(connection):
        statements = (f"revoke all on function {REMOVE} from public", f"grant execute on function {REMOVE} to {TENANT}")
        yield PlanStep("grant", f"removal by penstock.remove to {TENANT}", together(statements))


def _table_steps(
    user: _User, relation: str, known: dict[str, _Relation], own: str, granted: frozenset[str], *, removable: bool
) -> Iterator[PlanStep]:
    now = known.get(relation) or _Relation(user.name)
    if todo := _table_statements(relation, now, own, granted, removable=removable):
        yield PlanStep("isolate projects", relation.replace('"', ""), together(todo))


def isolated(dialect: Dialect, shape: EntityShape, *, owner: str) -> list[str]:
    """What isolates the projects of a table of which nothing is known but its owner."""
    if shape.project is None:
        return []
    relation = dialect.relation(shape.domain, shape.relation)
    names = ("penstock_owner", "penstock_others", "penstock_project", "penstock_remove")
    former = [f"drop policy if exists {name} on {relation}" for name in names]
    own = f"{quote(shape.project.column)}::text = {_SESSIONS}"
    new = _table_statements(relation, _Relation(owner), own, _granted(shape), removable=shape.rights.remove)
    return [*former, f"revoke all on {relation} from {TENANT}", *new]


def _table_statements(
    relation: str, now: _Relation, own: str, granted: frozenset[str], *, removable: bool
) -> list[str]:
    """What makes a table as isolated as it should be."""
    others = f"current_user <> {literal(TENANT)}"
    policies = {
        "penstock_owner": _Policy(now.owner, "true", "true"),
        "penstock_others": _Policy("public", others, others),
        "penstock_project": _Policy(TENANT, own, own),
    }
    if removable:
        policies["penstock_remove"] = _Policy(TENANT, own, "", "d")
    ours = {name: policy for name, policy in now.policies.items() if name in {*policies, "penstock_remove"}}
    todo = []
    for name, found in ours.items():
        if name not in policies or _said(policies[name]) != found:
            todo.append(f"drop policy {name} on {relation}")
    for name, policy in policies.items():
        if _said(policy) != ours.get(name):
            todo.append(_created(name, policy, relation))
    if not now.forced:
        todo += [f"alter table {relation} {how} row level security" for how in ("enable", "force")]
    return [*todo, *_grants(relation, now, granted)]


def _view_steps(user: _User, relation: str, known: dict[str, _Relation]) -> Iterator[PlanStep]:
    now = known.get(relation) or _Relation(user.name)
    todo = [] if now.by_invoker else [f"alter view {relation} set (security_invoker = true)"]
    todo += _grants(relation, now, frozenset({"select"}))
    if todo:
        yield PlanStep("isolate projects", relation.replace('"', ""), together(todo))


def _grants(relation: str, now: _Relation, wanted: frozenset[str]) -> list[str]:
    """What makes the role's rights on a relation those that are wanted, no fewer and no more."""
    if now.granted == wanted:
        return []
    todo = [f"revoke all on {relation} from {TENANT}"] if now.granted - wanted else []
    words = sorted(word for word in wanted if " " not in word)
    columns = sorted(quote(word.removeprefix("update ")) for word in wanted if " " in word)
    words += [f"update ({', '.join(columns)})"] if columns else []
    return [*todo, f"grant {', '.join(words)} on {relation} to {TENANT}"] if words else todo


def _created(name: str, policy: _Policy, relation: str) -> str:
    role = policy.role if policy.role == "public" else quote(policy.role)
    command = "delete" if policy.command == "d" else "all"
    check = f" with check ({policy.check})" if policy.check else ""
    return f"create policy {name} on {relation} for {command} to {role} using ({policy.using}){check}"


def _said(policy: _Policy) -> _Policy:
    """The policy without the ways in which the same can be written: PostgreSQL tells it in its own."""
    return policy._replace(using=bare(policy.using), check=bare(policy.check))


def bare(condition: str) -> str:
    """A condition as its words alone."""
    return re.sub(r"::\w+|[()\s\"]", "", condition).lower()


def together(statements: Sequence[str]) -> str:
    """Several statements as one."""
    return f"do $$ begin {'; '.join(statements)}; end $$"


# What is there


def _user(connection: sa.Connection) -> _User:
    version = int((connection.dialect.server_version_info or (0,))[0])
    row = connection.exec_driver_sql(
        "select current_user::text, t.oid is not null, u.rolsuper, u.rolcreaterole, "
        "pg_has_role(u.oid, t.oid, 'MEMBER WITH ADMIN OPTION'), pg_has_role(u.oid, t.oid, %s) "
        "from pg_roles u left join pg_roles t on t.rolname = %s where u.rolname = current_user",
        ("SET" if version >= MEMBERSHIPS else "MEMBER", TENANT),
    ).one()
    name, exists, superuser, creates, administers, becomes = row
    return _User(
        name,
        version,
        exists,
        may_create=superuser or creates,
        may_grant=superuser or bool(administers) or (creates and (not exists or version < MEMBERSHIPS)),
        may_become=superuser or bool(becomes),
        superuser=superuser,
    )


def _relations(connection: sa.Connection) -> dict[str, _Relation]:
    """Every table and view outside of the system's, by its quoted name."""
    rows = connection.exec_driver_sql(_RELATIONS, (TENANT,))
    found = {}
    for schema, name, owner, forced, policies, granted, by_invoker in rows:
        found[f"{quote(schema)}.{quote(name)}"] = _Relation(
            owner,
            forced,
            {p[0]: _Policy(p[1], bare(p[2]), bare(p[3]), p[4], p[5]) for p in policies},
            frozenset(granted),
            by_invoker,
        )
    return found


_RELATIONS = """
select n.nspname, c.relname, pg_get_userbyid(c.relowner)::text, c.relrowsecurity and c.relforcerowsecurity,
  coalesce((
    select jsonb_agg(jsonb_build_array(p.polname,
      case when p.polroles = '{0}' then 'public'
           when cardinality(p.polroles) = 1 then pg_get_userbyid(p.polroles[1]) end,
      coalesce(pg_get_expr(p.polqual, c.oid), ''), coalesce(pg_get_expr(p.polwithcheck, c.oid), ''),
      p.polcmd, p.polpermissive))
    from pg_policy p where p.polrelid = c.oid), '[]'),
  array(select lower(a.privilege_type) from aclexplode(c.relacl) a where a.grantee = t.oid)
    || array(select lower(a.privilege_type) || ' ' || f.attname from pg_attribute f, aclexplode(f.attacl) a
             where f.attrelid = c.oid and not f.attisdropped and a.grantee = t.oid),
  coalesce('security_invoker=true' = any(c.reloptions), false)
from pg_class c join pg_namespace n on n.oid = c.relnamespace left join pg_roles t on t.rolname = %s
where c.relkind in ('r', 'p', 'v') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
""".strip()
