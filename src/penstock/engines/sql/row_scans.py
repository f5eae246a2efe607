"""Walking through all rows of one entity, in the order of its key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from penstock.engines.sql.connector import Connector
from penstock.engines.sql.rows import Row, unreadable_row
from penstock.engines.sql.statements import Statements
from penstock.errors import DamagedRecord
from penstock.operations.reads import Unreadable
from penstock.operations.scan_page import RowPage, ScannedRecord, ScanPage
from penstock.schema.kinds import from_key_text, key_text


def scan_rows(connector: Connector, statements: Statements, segment: int, after: str | None, limit: int) -> ScanPage:
    """One page; all rows are in the first segment, as one walk through a table disturbs others least."""
    if segment:
        return ScanPage([], None)
    page, record = raw_rows(connector, statements, after, limit), statements.codec.record
    try:
        return ScanPage([ScannedRecord(record(row), row=row) for row in page.rows], page.place)
    except DamagedRecord:
        return _with_damaged(statements, page)


def _with_damaged(statements: Statements, page: RowPage) -> ScanPage:
    """A page on which some cannot be read: the others, and which."""
    found: list[ScannedRecord] = []
    unreadable: list[Unreadable] = []
    for row in page.rows:
        try:
            found.append(ScannedRecord(statements.codec.record(row), row=row))
        except DamagedRecord as error:
            unreadable.append(unreadable_row(statements.codec, statements.shape, row, error))
    return ScanPage(found, page.place, tuple(unreadable))


def raw_rows(connector: Connector, statements: Statements, after: str | None, limit: int) -> RowPage:
    """One page of rows that nobody looks into."""
    place = read_place(statements, after) if after is not None else ()
    rows = connector.rows(statements.scan(resumed=after is not None), (*place, limit))
    return RowPage(rows, place_of(statements, rows[-1]) if len(rows) == limit else None, rows)


def place_of(statements: Statements, row: Row) -> str:
    """Where a walk goes on that has come to a row."""
    key, shape = statements.codec.key(row), statements.shape
    return msgspec.json.encode([key_text(shape.fields[n], key[n]) for n in shape.key.fields]).decode()


def read_place(statements: Statements, place: str) -> Sequence[Any]:
    """The parameters of a place."""
    shape = statements.shape
    texts = msgspec.json.decode(place, type=list[str])
    fields = [shape.fields[n] for n in shape.key.fields]
    return [statements.codec.one[f.name](from_key_text(f, t)) for f, t in zip(fields, texts, strict=True)]
