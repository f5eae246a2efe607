"""Columns that need a value in a table and none by the declaration: the need is taken from them, and no row is touched.

SQLite has no statement for it. Its manual tells how: the text of the table is another one, and the number of the schema
the next one (https://www.sqlite.org/lang_altertable.html, section 7).
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from penstock.engines.sql.dialect import Dialect, literal, quote
from penstock.engines.sql.standing_table import StandingTable
from penstock.operations.plan import PlanStep

THEN = ";\n-- and then\n"
"Between the statements of a step that has several."


def nullability_steps(
    connection: sa.Connection, dialect: Dialect, there: StandingTable, relation: str, table: sa.Table
) -> Iterator[PlanStep]:
    """What takes the need of a value from columns that may be without one."""
    names = [c.name for c in table.columns if c.nullable and c.name in there.required and c.name not in there.key]
    if not names:
        return
    label = relation.replace('"', "")
    if dialect.schemas:
        for name in names:
            text = f"alter table {relation} alter column {quote(name)} drop not null"
            yield PlanStep("drop not null", f"{label}.{name}", text)
    else:
        yield PlanStep("drop not null", f"{label}.{', '.join(names)}", _rewritten(connection, str(table.name), names))


def _rewritten(connection: sa.Connection, table: str, columns: list[str]) -> str:
    text = connection.exec_driver_sql("select sql from sqlite_master where type = 'table' and name = ?", (table,))
    sql = without_need(str(text.scalar_one()), columns)
    version = int(connection.exec_driver_sql("pragma schema_version").scalar_one())
    return THEN.join(
        [
            "pragma writable_schema = on",
            f"update sqlite_master set sql = {literal(sql)} where type = 'table' and name = {literal(table)}",
            f"pragma schema_version = {version + 1}",
            "pragma writable_schema = reset",  # which reads it anew at once, for what follows in this transaction
        ]
    )


def without_need(table: str, columns: list[str]) -> str:
    """The text of a table in which these columns need no value."""
    head, _, body = table.partition("(")
    parts = body.split(",")
    for at, part in enumerate(parts):
        name = part.split(maxsplit=1)[0].strip('"') if part.strip() else ""
        need = part.lower().find(" not null")
        if name in columns and need >= 0:
            parts[at] = part[:need] + part[need + len(" not null") :]
    return f"{head}({','.join(parts)}"
