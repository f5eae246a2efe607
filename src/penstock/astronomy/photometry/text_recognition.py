"""What a text is recognised as: by a ticket, by its form, by the names of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from penstock.astronomy.judgement import Finding, Verdict
from penstock.astronomy.photometry.aavso import aavso_download, aavso_submission
from penstock.astronomy.photometry.column_header import table_of_names
from penstock.astronomy.photometry.content import TableRefusal, refused
from penstock.astronomy.photometry.described import described_table, ticket_of_hints
from penstock.astronomy.photometry.photometry_hints import PhotometryHints
from penstock.astronomy.photometry.raw_table import DELIMITERS, TextLine
from penstock.astronomy.photometry.recognised import RecognisedTable
from penstock.astronomy.photometry.text_header import TextHeader, text_header
from penstock.astronomy.photometry.unit import named_unit
from penstock.astronomy.ticket import PhotometryTicket

_DOWNLOAD_NAMES = {"jd", "magnitude", "uncertainty", "band"}


def recognised_text(
    lines: Sequence[TextLine],
    *,
    ticket: PhotometryTicket | None,
    hints: PhotometryHints,
    tried: list[dict[str, Any]],
) -> RecognisedTable | TableRefusal:
    """What a text is. Each form that was tried is noted in `tried`, with whether it fits."""
    if ticket is not None or hints.columns:
        described = described_table(lines, ticket=ticket_of_hints(hints, ticket), hints=hints)
        _noted(tried, "hints" if hints.columns else "ticket", described)
        return described
    submitted = _noted(tried, "aavso_submission", aavso_submission(lines))
    if submitted is not None:
        return submitted
    download = _noted(tried, "aavso_download", aavso_download(lines))
    if download is not None:
        return download
    header = text_header(lines, delimiters=(hints.delimiter,) if hints.delimiter else DELIMITERS)
    named = _noted(tried, "names", None if header is None else _by_names(header))
    return _nothing(lines) if named is None else named


def with_hints(table: RecognisedTable, hints: PhotometryHints) -> RecognisedTable:
    """A table with what a person says of its unit and its band put into it."""
    unit = named_unit(hints.unit or "")
    if unit is not None:
        brightness = tuple(replace(each, unit=unit, error_unit=unit) for each in table.columns.brightness)
        table = replace(table, columns=replace(table.columns, brightness=brightness, unit=None))
    return replace(table, band=hints.band or table.band, outburst=hints.outburst or table.outburst)


def _noted(
    tried: list[dict[str, Any]], form: str, found: RecognisedTable | TableRefusal | None
) -> RecognisedTable | TableRefusal | None:
    code = found.finding.code if isinstance(found, TableRefusal) else ""
    tried.append({"form": form, "fits": isinstance(found, RecognisedTable)} | ({"code": code} if code else {}))
    return found


def _by_names(header: TextHeader) -> RecognisedTable | TableRefusal:
    table = table_of_names(header.names, header.found)
    if isinstance(table, Finding):
        return TableRefusal(Verdict.QUARANTINED, table)
    lower = {name.lower() for name in header.names}
    aavso = lower >= _DOWNLOAD_NAMES and any("observer" in name or name == "by" for name in lower)
    return RecognisedTable(
        "aavso_download" if aavso else "names",
        f"line {header.line} names its columns",
        table.columns,
        header.rows,
        header.width,
        header.delimiter,
        header.names,
        header.line,
        table.unused,
        header.comments,
        source={"reference": "AAVSO"} if aavso else {},
        less_is_fainter=aavso,
        assumptions=table.assumptions,
    )


def _nothing(lines: Sequence[TextLine]) -> TableRefusal:
    """Why a text is nothing that is known: a table whose columns nobody names, or no table."""
    first = lines[0].text[:80] if lines else ""
    if not any(each.isdigit() for line in lines[:50] for each in line.text[:1000]):
        said = f"The file is no table of photometry: it begins with {first!r}, and has no numbers."
        return refused(Verdict.TERMINAL_INVALID, "NOT_PHOTOMETRY", said, first=first)
    said = (
        f"Nothing tells which column is time and which is brightness: no line of names, and not AAVSO's form; it begins"
        f" with {first!r}. Give its ticket, or hint columns."
    )
    return refused(Verdict.QUARANTINED, "NO_COLUMN_MAP", said, first=first, rows=sum(not x.is_comment for x in lines))
