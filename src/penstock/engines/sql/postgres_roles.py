"""Roles, grants and row-level security of PostgreSQL as SQL, for a service that does not own its tables.

    owner     makes tables (`penstock tables apply`), and nothing else runs as it
    service   reads and writes rows; it can neither make, change nor empty a table, nor rewrite what is kept as evidence
    tenant    what a session of the service becomes that is bound to a project: row-level security leaves it that one

It is run by an administrator, before the tables are made and after: what is not there yet is passed over. It may be run
again at any time. It says no password.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.engines.sql.dialect import literal, quote
from penstock.engines.sql.dialects import POSTGRES
from penstock.engines.sql.isolation import MEMBERSHIPS, TENANT, isolated
from penstock.schema.shape import EntityShape, ViewShape

_OWN = {
    "commits": "select, insert, update, delete",
    "changes": "select, delete",
    "feed_order": "select, delete",
    "feed_trimmed": "select, insert, update",
}
"What the service does with the engine's own tables: triggers write the log, with their owner's rights."


@dataclass(frozen=True, slots=True)
class RoleScript:
    """What is said, for which roles."""

    owner: str = "penstock_owner"
    service: str = "penstock_service"
    evidence: frozenset[EntityShape] = frozenset()
    "What is added, and never changed."
    archives: bool = False
    "Is evidence moved to the archive when it is old? Then it is removed, too."

    def text(self, shapes: Sequence[EntityShape], views: Sequence[ViewShape]) -> str:
        """The whole script."""
        parts = [*self._roles(), *self._schemas(shapes), *self._tables(shapes), *self._others(views)]
        return "\n".join([_HEAD, "begin;", *(f"{part};" for part in parts), "commit;", ""])

    def _roles(self) -> Iterator[str]:
        usual = "login nosuperuser nocreatedb nocreaterole noreplication nobypassrls"
        for name, how in ((self.owner, usual), (self.service, f"{usual} noinherit"), (TENANT, "nologin noinherit")):
            missing = f"not exists (select from pg_roles where rolname = {literal(name)})"
            yield f"do $$ begin if {missing} then create role {quote(name)} {how}; end if; end $$"
        for name in (self.owner, self.service):
            grant = f"grant {TENANT} to {quote(name)}"
            newer = f"current_setting('server_version_num')::integer >= {MEMBERSHIPS * 10_000}"
            yield (
                f"do $$ begin if {newer} then execute {literal(f'{grant} with inherit false, set true')}; "
                f"else execute {literal(grant)}; end if; end $$"
            )
            rights = "connect, create" if name == self.owner else "connect"
            granting = f"format('grant {rights} on database %I to {quote(name)}', current_database())"
            yield f"do $$ begin execute {granting}; end $$"

    def _schemas(self, shapes: Sequence[EntityShape]) -> Iterator[str]:
        for schema in sorted({"penstock", *(shape.domain for shape in shapes if shape.domain)}):
            yield f"create schema if not exists {quote(schema)} authorization {quote(self.owner)}"
            yield f"grant usage on schema {quote(schema)} to {quote(self.service)}"

    def _tables(self, shapes: Sequence[EntityShape]) -> Iterator[str]:
        for shape in shapes:
            relation = POSTGRES.relation(shape.domain, shape.relation)
            yield _where_there(
                relation, [*self._granted(relation, self._rights(shape)), *isolated(POSTGRES, shape, owner=self.owner)]
            )

    def _rights(self, shape: EntityShape) -> str:
        if shape not in self.evidence:
            return "select, insert, update, delete"
        return "select, insert, delete" if self.archives else "select, insert"

    def _granted(self, relation: str, rights: str) -> list[str]:
        service = quote(self.service)
        return [f"revoke all on {relation} from {service}", f"grant {rights} on {relation} to {service}"]

    def _others(self, views: Sequence[ViewShape]) -> Iterator[str]:
        for view in views:
            relation = POSTGRES.relation(view.domain, view.name)
            yield _where_there(relation, self._granted(relation, "select"))
        for name, rights in _OWN.items():
            relation = POSTGRES.relation("penstock", name)
            yield _where_there(relation, self._granted(relation, rights))
        sequence = '"penstock"."feed_order_place_seq"'
        yield _where_there(sequence, [f"grant select on sequence {sequence} to {quote(self.service)}"])


_HEAD = """\
-- Roles, grants and row-level security for a service that does not own its tables.
-- An administrator runs it, then the owner runs `penstock tables apply`, then an administrator runs it again; and once
-- more after each `tables apply` that has made something. Passwords are given apart: alter role … password …"""


def _where_there(relation: str, statements: Sequence[str]) -> str:
    lines = "".join(f"  {statement};\n" for statement in statements)
    return f"do $$ begin if to_regclass({literal(relation)}) is not null then\n{lines}end if; end $$"
