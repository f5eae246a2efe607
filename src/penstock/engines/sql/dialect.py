"""What differs between PostgreSQL and SQLite, as values; everything else of the engine is common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.schema.kinds import Kind


@dataclass(frozen=True)
class Dialect:
    """One database's way of saying things."""

    name: str
    mark: str
    "How a parameter is written."
    schemas: bool
    "Does a domain get a schema of its own? Without, its name leads the table's."
    bind: Mapping[Kind, str]
    "How a value is handed to the driver, as a Python expression of {x}; absent: as it is."
    load: Mapping[Kind, str]
    "How a value comes back, as a Python expression of {x}."
    names: Mapping[str, Any]
    "The functions those expressions use."
    compare: Callable[[Kind, str, str], str]
    "A comparison of a column (left) with a parameter by an operator, in SQL with {m} for the parameter."
    add: Callable[[Kind, str], str]
    "A column (missing: zero) plus a parameter."
    append: str
    "A JSON list {c} with the members of the JSON list {m} at its end."
    include: str
    "A JSON set {c} with the members of the JSON list {m}, sorted."
    exclude: str
    "A JSON set {c} without the members of the JSON list {m}; null when none is left."
    many: str
    """Rows by many keys, through the index of the key: the columns {c} of the table {t} whose key columns are among the
    values {v}, and which are live {l}; {n} are the key columns' names, {j} that those of `k` equal them."""
    delete_some: str
    "The condition that limits a delete: {t} table, {w} condition, {m} the limit."
    stored: str
    "A column {c} in the very form in which it is stored, as far as a driver can give it back."
    stored_as: str
    "That a column {c} is stored in the form {m}, or is as missing as that."
    unlike: str
    "Between two values of which one is another than the other, or missing."
    counted: tuple[str, str]
    "What an update {u} becomes that tells how many rows it touched; and what tells so after it, where that is cheaper."
    rows_taken: frozenset[str] = frozenset()
    "The dialects whose rows, as a driver gives them back, may be written here as they are; its own among them or not."
    numbers: str = "{x}"
    "How a document that may hold numbers comes back, of what `load` makes of it."
    remove: str = ""
    "How one row is deleted where that is not done by DELETE: of {t} and its name {n}, where {w}."
    guard: str = ""
    "Where the database binds a session to a project: that the project {c} is the session's."

    def relation(self, domain: str | None, name: str) -> str:
        """The quoted name of a table or view."""
        if domain is None:
            return quote(name)
        return f"{quote(domain)}.{quote(name)}" if self.schemas else quote(f"{domain}_{name}")


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
