"""Names of tables, indexes and columns: what one engine would refuse, or would take for another, all of them refuse."""

from __future__ import annotations

import re

from penstock.errors import DeclarationError

_DYNAMODB = re.compile(r"[a-zA-Z0-9_.-]{3,255}")
_SQL_BYTES = 63
_MEANT_OTHERWISE = frozenset('"%{}\\')
"Characters that mean something else in the texts that statements are made of."
_POSTGRES_OWN = frozenset({"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"})
_SQLITE_OWN = frozenset({"rowid", "_rowid_", "oid"})


def check_table_name(name: str) -> None:
    """A table's name, which DynamoDB limits."""
    if not _DYNAMODB.fullmatch(name):
        raise DeclarationError(f"table {name!r}: a name has 3 to 255 letters, digits and _ - . (as DynamoDB's)")


def check_index_name(table: str, name: str, others: list[str]) -> None:
    """An index's name, which DynamoDB limits and of which SQL keeps letters and digits alone."""
    if not _DYNAMODB.fullmatch(name):
        raise DeclarationError(
            f"table {table}: the index {name!r} needs a name of 3 to 255 letters, digits and _ - . (as DynamoDB's)"
        )
    for other in others:
        if other == name:
            raise DeclarationError(f"table {table}: the index {name!r} is declared twice; name it otherwise")
        if sql_index_name(other) == sql_index_name(name):
            raise DeclarationError(
                f"table {table}: the indexes {other!r} and {name!r} would have one name in SQL; name one otherwise"
            )


def sql_index_name(text: str) -> str:
    """An index's name as SQL has it."""
    return re.sub(r"\W+", "_", text.lower())


def check_attribute_name(where: str, name: str) -> None:
    """An attribute's name, of which DynamoDB takes 255 bytes in a key."""
    if not name or len(name.encode("utf-8", "replace")) > 255:
        raise DeclarationError(f"{where}: the attribute {name[:40]!r} needs a name of 1 to 255 bytes (as DynamoDB's)")


def check_sql_name(where: str, name: str) -> None:
    """A name in SQL, of which PostgreSQL takes 63 bytes and cuts off the rest."""
    if not name or len(name.encode("utf-8", "replace")) > _SQL_BYTES:
        raise DeclarationError(
            f"{where}: {name[:80]!r} cannot be a name in SQL; it has 1 to {_SQL_BYTES} bytes (as PostgreSQL's)"
        )
    if not name.isprintable() or _MEANT_OTHERWISE & set(name):
        raise DeclarationError(f"{where}: {name!r} cannot be a name in SQL; use letters, digits and _")
    if name.lower().startswith("sqlite_"):
        raise DeclarationError(f"{where}: names that begin with sqlite_ are SQLite's own; name it otherwise")


def check_schema_name(name: str) -> None:
    """A domain's name, which is a schema in PostgreSQL and leads the names of tables in SQLite."""
    check_sql_name(f"the domain {name}", name)
    if name in ("sqlite", "information_schema") or name.startswith("pg_"):
        raise DeclarationError(
            f"{name!r} cannot name a domain: a database has such names for itself; name it otherwise"
        )


def check_column_name(where: str, name: str) -> None:
    """A column's name, which a database may have taken for itself."""
    check_sql_name(where, name)
    if name in _POSTGRES_OWN or name.lower() in _SQLITE_OWN:
        raise DeclarationError(
            f"{where}: each table of a database has a column {name!r} of its own; "
            f"give the field another, such as attribute(column={name + '_'!r})"
        )
