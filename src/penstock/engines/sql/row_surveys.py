"""Looking closely at rows that others have written, in tables that may lack columns and have others."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.engines.sql.connector import Connector
from penstock.engines.sql.dialect import quote
from penstock.engines.sql.row_scans import place_of, read_place
from penstock.engines.sql.rows import Row, unreadable_row
from penstock.engines.sql.standing_table import standing_tables
from penstock.engines.sql.statements import Statements
from penstock.errors import DamagedRecord
from penstock.operations.reads import Unreadable
from penstock.operations.scan_page import ScannedRecord, ScanPage
from penstock.schema.kinds import Kind


def survey_rows(connector: Connector, statements: Statements, after: str | None, limit: int) -> ScanPage:
    """One page, in the order of the key; none where there is no such table."""
    with connector.administration(reading=True) as connection:
        standing = standing_tables(connection, connector.dialect, [statements.relation])
    if statements.relation not in standing:
        return ScanPage([], None)
    columns = standing[statements.relation].columns
    unknown = sorted(columns - {f.column for f in statements.shape.fields.values()})
    place = read_place(statements, after) if after is not None else ()
    text = _text(statements, columns, unknown, resumed=after is not None)
    rows = connector.rows(text, (*place, limit))
    found: list[ScannedRecord] = []
    unreadable: list[Unreadable] = []
    for row in rows:
        try:
            found.append(_surveyed(statements, row, unknown))
        except DamagedRecord as error:
            unreadable.append(unreadable_row(statements.codec, statements.shape, row, error))
    return ScanPage(found, place_of(statements, rows[-1]) if len(rows) == limit else None, tuple(unreadable))


def _text(statements: Statements, columns: frozenset[str], unknown: Sequence[str], *, resumed: bool) -> str:
    """As a scan has it, with nulls for columns that are missing, and those that are unknown behind the others."""
    fields = statements.shape.fields.values()
    taken = [statements.column(f.name) if f.column in columns else "null" for f in fields]
    taken += [f"r.{quote(name)}" for name in unknown]
    return statements.scan(resumed=resumed, columns=", ".join(taken))


def _surveyed(statements: Statements, row: Row, unknown: Sequence[str]) -> ScannedRecord:
    fields = list(statements.shape.fields.values())
    record = statements.codec.record(row[: len(fields)])
    written = statements.codec.bind(record.__dict__)
    otherwise = [
        field.column
        for field, ours, theirs in zip(fields, written, row, strict=False)
        # Where documents have a type of their own, a driver hands them over as what they are, in no form.
        if theirs is not None and ours != theirs and (isinstance(theirs, str) or field.kind not in _DOCUMENTS)
    ]
    more = [name for name, value in zip(unknown, row[len(fields) :], strict=True) if value is not None]
    return ScannedRecord(record, otherwise=frozenset(otherwise), unknown=frozenset(more))


_DOCUMENTS = (Kind.DOCUMENT, Kind.TEXTS)
