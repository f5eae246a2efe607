"""Tables, columns, indexes and views of the entities: described by SQLAlchemy, created where missing, never dropped."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from string import Formatter
from typing import Any
from weakref import WeakKeyDictionary

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateSchema, CreateTable
from sqlalchemy.types import TypeEngine

from penstock.engines.sql.connector import Connector, HeldByOthers
from penstock.engines.sql.dialect import Dialect, quote
from penstock.engines.sql.feed_table import feed_steps
from penstock.engines.sql.index_building import build_alone, index_steps, is_built_alone
from penstock.engines.sql.isolation import isolation_steps
from penstock.engines.sql.nullability import THEN, nullability_steps
from penstock.engines.sql.project_readers import reader_steps
from penstock.engines.sql.standing_table import StandingTable, standing_tables
from penstock.engines.sql.statements import Statements
from penstock.errors import Misconfigured, Unavailable
from penstock.net.backoff import Backoff
from penstock.operations.plan import PlanStep
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape, ViewShape

# Where PostgreSQL remembers commits that could not recognise themselves by what stands there.
COMMITS = (
    "create table if not exists penstock.commits "
    "(token text primary key, at timestamptz not null default clock_timestamp())"
)
# By the time they were made, so that old ones are found without looking at all; BRIN costs a commit next to nothing.
_COMMITS_AT = "create index if not exists commits_at on penstock.commits using brin (at)"
_COMMITS = '"penstock"."commits"'
_POSTGRES: dict[Kind, TypeEngine[Any]] = {
    Kind.TEXT: sa.Text(collation="C"),  # strings order by their bytes, as everywhere
    Kind.CHOICE: sa.Text(collation="C"),
    Kind.IDENTIFIER: postgresql.UUID(),
    Kind.INTEGER: sa.BigInteger(),
    Kind.FLOAT: postgresql.DOUBLE_PRECISION(),
    Kind.DECIMAL: sa.Numeric(),
    Kind.FLAG: sa.Boolean(),
    Kind.BYTES: postgresql.BYTEA(),
    Kind.INSTANT: postgresql.TIMESTAMP(timezone=True),
    Kind.DAY: sa.Date(),
    Kind.TEXTS: postgresql.JSONB(),
    Kind.DOCUMENT: postgresql.JSONB(),
}
_NAME_BYTES = 63
"What PostgreSQL keeps of a name."
_SQLITE: dict[Kind, TypeEngine[Any]] = {
    **{kind: sa.Text() for kind in Kind},
    Kind.INTEGER: sa.Integer(),
    Kind.FLOAT: sa.REAL(),
    Kind.FLAG: sa.Integer(),
    Kind.BYTES: sa.LargeBinary(),
}


_WAITING = Backoff(first=0.1, longest=2.0, factor=1.6, jitter=0.5)
_TRIES = 15
"How often it is tried to get hold of what others have, each time for a moment: about 20 seconds in all."


def ensure(
    connector: Connector, shapes: Sequence[EntityShape], views: Sequence[ViewShape], *, dry_run: bool
) -> list[PlanStep]:
    """Create what is missing; tell each step with its SQL. Two processes may do so at once.

    Where nothing is missing nothing is locked, and no right to create is needed.
    """
    dialect = connector.dialect
    tables = [(shape, described_table(shape, dialect)) for shape in shapes]

    def planned(connection: sa.Connection) -> list[PlanStep]:
        return list(_steps(connection, dialect, tables, shapes, views))

    with connector.administration(reading=True) as connection:
        steps = planned(connection)
    if dry_run or all(step.is_advice for step in steps):
        return steps
    try:
        applied = carry_out(connector, planned)
        if any(is_built_alone(step) for step in applied):
            build_alone(connector, planned)
        return applied
    except Misconfigured as error:
        raise Misconfigured(f"{error}. Missing is: {_names(steps)}") from error


def carry_out(connector: Connector, planned: Callable[[sa.Connection], list[PlanStep]]) -> list[PlanStep]:
    """All steps or none, again and again while others hold what they need.

    Nobody is waited for long: whoever comes after us for the same table would have to wait as well.
    """
    step: PlanStep | None = None
    for failures in range(1, _TRIES + 1):
        try:
            with connector.administration() as connection:
                steps = planned(connection)
                for step in steps:
                    if not step.is_advice and not is_built_alone(step):
                        _carry_out(connection, connector.dialect, step)
            return steps
        except HeldByOthers:
            connector.sleep(_WAITING.pause(failures))
    what = f"{step.kind} {step.name}" if step is not None else "creating what is missing"
    raise Unavailable(
        f"PostgreSQL: {what}: others hold what it needs and do not let go; find their transactions in "
        f"pg_stat_activity, end them, and run the command again"
    )


def _carry_out(connection: sa.Connection, dialect: Dialect, step: PlanStep) -> None:
    for text in step.detail.split(THEN):
        connection.exec_driver_sql(text.replace("%", "%%") if dialect.schemas else text)


def _names(steps: Sequence[PlanStep]) -> str:
    """What is missing, in a line."""
    missing = [f"{step.kind} {step.name}" for step in steps if not step.is_advice]
    return ", ".join(missing[:_NAMED]) + (f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else "")


_NAMED = 5


def _steps(
    connection: sa.Connection,
    dialect: Dialect,
    tables: Sequence[tuple[EntityShape, sa.Table]],
    shapes: Sequence[EntityShape],
    views: Sequence[ViewShape],
) -> Iterator[PlanStep]:
    inspector = sa.inspect(connection)
    schemas = {t.schema for _, t in tables if t.schema} - set(inspector.get_schema_names())
    for schema in sorted(schemas):
        yield PlanStep("create schema", schema, _sql(CreateSchema(schema, if_not_exists=True), dialect))
    relations = {shape: dialect.relation(shape.domain, shape.relation) for shape in shapes}
    standing = standing_tables(connection, dialect, [*relations.values(), _COMMITS])
    commits = standing.get(_COMMITS)
    if dialect.schemas and commits is None:
        yield PlanStep("create schema", "penstock", "create schema if not exists penstock")
        yield PlanStep("create table", "penstock.commits", COMMITS)
        yield PlanStep("create index", "penstock.commits_at", _COMMITS_AT)
    elif commits is not None and "commits_at" not in commits.indexes:
        yield PlanStep("create index", "penstock.commits_at", _COMMITS_AT)
    for shape, table in tables:
        there = standing.get(relations[shape])
        if (
            there is not None
        ):  # first, as SQLite's own text of the table is written anew: it has no column yet that follows
            yield from nullability_steps(connection, dialect, there, relations[shape], table)
        yield from _table_steps(there, dialect, shape, table)
    yield from feed_steps(inspector, dialect, shapes)
    for view in views:
        yield from _view_steps(inspector, dialect, view, {shape.name: relations[shape] for shape in shapes})
    if dialect.schemas:
        isolated = yield from isolation_steps(connection, dialect, shapes, views)
        if isolated:  # else no policy would keep them from any row
            yield from reader_steps(connection, dialect, shapes, views)


def _table_steps(
    there: StandingTable | None, dialect: Dialect, shape: EntityShape, table: sa.Table
) -> Iterator[PlanStep]:
    label = dialect.relation(shape.domain, shape.relation).replace('"', "")
    if there is None:
        yield PlanStep("create table", label, _sql(CreateTable(table, if_not_exists=True), dialect))
    else:
        _check_key(there.key, shape, label)
        for column in table.columns:
            if column.name not in there.columns:
                yield PlanStep("add column", f"{label}.{column.name}", _add_column(dialect, shape, column))
    yield from index_steps(dialect, shape.domain, table, None if there is None else there.indexes)


def _check_key(found: Sequence[str], shape: EntityShape, label: str) -> None:
    wanted = [shape.fields[n].column for n in shape.key.fields]
    if list(found) != wanted:
        raise Misconfigured(
            f"the table {label} has the primary key ({', '.join(found)}), but {shape.name} needs "
            f"({', '.join(wanted)}); a key cannot be changed in place: migrate the table or rename the relation"
        )


def _view_steps(
    inspector: sa.Inspector, dialect: Dialect, view: ViewShape, relations: dict[str, str]
) -> Iterator[PlanStep]:
    schema = view.domain if dialect.schemas else None
    name = view.name if dialect.schemas else f"{view.domain}_{view.name}"
    relation, select = dialect.relation(view.domain, view.name), view.select.format(**relations)
    if name not in inspector.get_view_names(schema=schema):
        yield PlanStep("create view", f"{view.domain}.{view.name}", f"create view {relation} as {select}")
    elif not _is_made_of(str(inspector.get_view_definition(name, schema=schema)), view, relations):
        text = f"create or replace view {relation} as {select}"
        if not dialect.schemas:
            text = THEN.join([f"drop view {relation}", f"create view {relation} as {select}"])
        yield PlanStep("replace view", f"{view.domain}.{view.name}", text)


def _is_made_of(definition: str, view: ViewShape, relations: dict[str, str]) -> bool:
    """Does a view that stands speak of the tables that it should?"""
    named = [relations[n] for _, n, _, _ in Formatter().parse(view.select) if n]
    return {relation.split('"')[-2] for relation in named} <= set(re.findall(r"\w+", definition))


def described_table(shape: EntityShape, dialect: Dialect) -> sa.Table:
    """The table of an entity, described once: a start asks for some more than once, and to describe one takes long."""
    known = _DESCRIBED.setdefault(shape, {})
    said = (dialect.name, shape.domain)  # an entity is in no domain at first
    if said not in known:
        known[said] = _described(shape, dialect)
    return known[said]


_DESCRIBED: WeakKeyDictionary[EntityShape, dict[tuple[str, str | None], sa.Table]] = WeakKeyDictionary()


def _described(shape: EntityShape, dialect: Dialect) -> sa.Table:
    key = [shape.fields[n].column for n in shape.key.fields]
    name = shape.relation if dialect.schemas or not shape.domain else f"{shape.domain}_{shape.relation}"
    columns = [_column(f, dialect) for f in shape.fields.values()]
    schema = shape.domain if dialect.schemas else None
    table = sa.Table(name, sa.MetaData(), *columns, sa.PrimaryKeyConstraint(*key), schema=schema)
    _add_indexes(shape, dialect, table)
    return table


def _column(field: FieldShape, dialect: Dialect) -> sa.Column[object]:
    kinds = _POSTGRES if dialect.schemas else _SQLITE
    return sa.Column(field.column, kinds[field.kind], nullable=field.optional)


def _add_indexes(shape: EntityShape, dialect: Dialect, table: sa.Table) -> None:
    statements = Statements(shape, dialect)
    for index in shape.indexes.values():
        # The record's own key comes last, so that the order is total and a page continues within the index.
        # A state that is always the same comes first, or SQLite prefers any other index on the state, and sorts.
        fixed = tuple(n for n, allowed in index.when.items() if len(allowed) == 1)
        names = dict.fromkeys(fixed + index.key.fields + shape.key.fields)
        where = " and ".join(statements.partial(index)).replace("r.", "")
        _index(dialect, table, index.place.name, [table.c[shape.fields[n].column] for n in names], where)
    if shape.expiry:
        column = table.c[shape.fields[shape.expiry].column]
        _index(dialect, table, f"{column.name}_end", [column], f"{quote(column.name)} is not null")
    for names_given in shape.sql_indexes:
        columns = [_directed(table, shape, n) for n in names_given]
        _index(dialect, table, "_".join(n.lstrip("-") for n in names_given), columns, "")


def _directed(table: sa.Table, shape: EntityShape, name: str) -> sa.ColumnElement[object]:
    column = table.c[shape.fields[name.lstrip("-")].column]
    return column.desc() if name.startswith("-") else column


def _index(
    dialect: Dialect, table: sa.Table, label: str, columns: Sequence[sa.ColumnElement[object]], where: str
) -> None:
    name, condition = index_name(dialect, str(table.name), label), sa.text(where) if where else None
    sa.Index(name, *columns, postgresql_where=condition, sqlite_where=condition).table  # noqa: B018 - attaches itself


def index_name(dialect: Dialect, table: str, label: str) -> str:
    """What the index of a table is called in the database."""
    name = re.sub(r"\W+", "_", f"{table}_{label}".lower())
    if dialect.schemas and len(name) > _NAME_BYTES:  # SQLite takes any, and has had them so
        name = f"{name[: _NAME_BYTES - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return name


def _add_column(dialect: Dialect, shape: EntityShape, column: sa.Column[object]) -> str:
    """A column added to rows that exist: without a value, or with the field's default."""
    field = next(f for f in shape.fields.values() if f.column == column.name)
    kind = column.type.compile(dialect=_sa_dialect(dialect))
    has_default = not field.optional and field.default is not None
    default = f" not null default {Statements(shape, dialect).default(field)}" if has_default else ""
    collation = ' collate "C"' if getattr(column.type, "collation", None) and "COLLATE" not in kind else ""
    relation = dialect.relation(shape.domain, shape.relation)
    return f"alter table {relation} add column {quote(column.name)} {kind}{collation}{default}"


def _sql(element: sa.schema.ExecutableDDLElement, dialect: Dialect) -> str:
    return " ".join(str(element.compile(dialect=_sa_dialect(dialect))).split())


def _sa_dialect(dialect: Dialect) -> sa.Dialect:
    return postgresql.dialect() if dialect.schemas else sqlite.dialect()  # type: ignore[no-untyped-call]
