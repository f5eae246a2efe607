"""Whether a file is photometry, and the light curve in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from penstock.astronomy.judgement import Assumption, FileFinding, FileVerdict
from penstock.astronomy.light_curve import LightCurve
from penstock.astronomy.photometry.content import MOST_BYTES, Content, TableRefusal, decoded, read_content, refused
from penstock.astronomy.photometry.curve import read_curve
from penstock.astronomy.photometry.photometry_hints import PhotometryHints, hints_of
from penstock.astronomy.photometry.raw_table import TextLine, count_lines, text_lines
from penstock.astronomy.photometry.recognised import RecognisedTable
from penstock.astronomy.photometry.text_recognition import recognised_text, with_hints
from penstock.astronomy.ticket import PhotometryTicket, photometry_ticket_of, ticket_record

VERSION = 2
"Of the rules; a record of another version may be read otherwise today."
MOST_ROWS = 500_000
_LINES_OF_A_ROW = 2
"A file may have as many lines that are blank, or comments, as it has rows; and these besides:"
_REMARKS = 5_000
_MARKUP = (b"<?xml", b"<VOTABLE", b"<!DOCTYPE", b"<!--")


@dataclass(frozen=True, slots=True)
class PhotometryJudgement:
    """What a file of photometry proved to be."""

    verdict: FileVerdict
    curve: LightCurve | None = None
    "Of a valid file, what it says; of a quarantined one, as far as it was read: evidence, and no product."
    finding: FileFinding | None = None
    "Why it is not valid."
    recognition: dict[str, Any] = field(default_factory=dict)
    "What it was recognised as and why, with what that was decided from: JSON, and enough to judge again."


@dataclass(slots=True)
class _Case:
    """One file that is judged, and what is noted on the way."""

    ticket: PhotometryTicket | None
    hints: PhotometryHints
    most_rows: int
    record: dict[str, Any]
    tried: list[dict[str, Any]] = field(default_factory=list)


def judge_photometry(
    path: Path,
    *,
    ticket: PhotometryTicket | None = None,
    hints: PhotometryHints | Mapping[str, Any] | None = None,
    most_bytes: int = MOST_BYTES,
    most_rows: int = MOST_ROWS,
) -> PhotometryJudgement:
    """The light curve in a file, or why there is none. What is wrong with a file never raises.

    A ticket says which column is what, and hints go before it; without both the table is recognised by its form or by
    the names of its columns.
    """
    given = hints_of(hints) if isinstance(hints, Mapping) else hints or PhotometryHints()
    if isinstance(given, FileFinding):
        return PhotometryJudgement(FileVerdict.QUARANTINED, None, given, {"version": VERSION})
    inputs: dict[str, Any] = {"hints": given.record(), "most_bytes": most_bytes, "most_rows": most_rows}
    inputs["ticket"] = None if ticket is None else ticket_record(ticket)
    case = _Case(ticket, given, most_rows, {"version": VERSION, "inputs": inputs})
    try:
        return _case_judged(path, case, most_bytes)
    except MemoryError:
        message = "There is not enough memory here to read the file. Try again later, or on another machine."
        finding = FileFinding("MACHINE_FAILURE", message, {"errno": "ENOMEM"})
        return PhotometryJudgement(FileVerdict.RETRYABLE_ERROR, None, finding, case.record)


def _case_judged(path: Path, case: _Case, most_bytes: int) -> PhotometryJudgement:
    content = read_content(path, most_bytes=most_bytes)
    table = content if isinstance(content, TableRefusal) else _recognised(content, case)
    if isinstance(table, TableRefusal):
        return PhotometryJudgement(table.verdict, None, table.finding, case.record | {"tried": case.tried})
    return _judged(with_hints(table, case.hints), case)


def replay_photometry(path: Path, recognition: Mapping[str, Any]) -> PhotometryJudgement:
    """A file judged again from what a record says went into it: the same file gives the same record."""
    inputs = recognition["inputs"]
    ticket = None if inputs["ticket"] is None else photometry_ticket_of(dict(inputs["ticket"]))
    return judge_photometry(
        path,
        ticket=ticket,
        hints=inputs["hints"],
        most_bytes=inputs["most_bytes"],
        most_rows=inputs["most_rows"],
    )


def _judged(table: RecognisedTable, case: _Case) -> PhotometryJudgement:
    read = read_curve(table, case.hints)
    record = case.record | table.record() | {"tried": case.tried, "counts": read.counts}
    record["time"] = {"system": read.reading.system, "written": read.reading.written, "origin": read.reading.origin}
    record["time"]["scale"] = read.reading.scale
    record["assumptions"] = [
        {"about": each.about, "value": each.value, "why": each.why} for each in read.curve.assumptions
    ]
    return PhotometryJudgement(read.verdict, read.curve, read.finding, record)


def _recognised(content: Content, case: _Case) -> RecognisedTable | TableRefusal:
    case.record["packed"] = content.packed
    if not content.data.strip():
        return refused(FileVerdict.TERMINAL_INVALID, "EMPTY", "The file is empty. Send it again.")
    if content.data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_MARKUP):
        return _votable(content.data, case)
    text = decoded(content.data)
    if isinstance(text, TableRefusal):
        return text
    case.record["encoding"] = text.encoding
    if (many := count_lines(text.text)) > _LINES_OF_A_ROW * (case.most_rows + _REMARKS):
        said = f"The text has {many} lines, far more than the {case.most_rows} rows that are read. Split it."
        return refused(FileVerdict.QUARANTINED, "TOO_LARGE", said, lines=many, most_rows=case.most_rows)
    lines = text_lines(text.text)
    table = _too_many(lines, case) or recognised_text(lines, ticket=case.ticket, hints=case.hints, tried=case.tried)
    if isinstance(table, TableRefusal) or text.told:
        return table
    assumed = Assumption("encoding", text.encoding, "its bytes are no UTF-8")
    return replace(table, assumptions=(*table.assumptions, assumed))


def _votable(data: bytes, case: _Case) -> RecognisedTable | TableRefusal:
    # Reading VOTables may need astropy, which takes most of a second to load: only files that are one pay for it.
    from penstock.astronomy.photometry.votable import recognised_votable

    return recognised_votable(data, ticket=case.ticket, hints=case.hints, most_rows=case.most_rows, tried=case.tried)


def _too_many(lines: list[TextLine], case: _Case) -> TableRefusal | None:
    rows = sum(not line.is_comment for line in lines)
    if rows <= case.most_rows:
        return None
    said = f"The table has {rows} rows; at most {case.most_rows} are read of one. Split it: no hint helps."
    return refused(FileVerdict.QUARANTINED, "TOO_MANY_ROWS", said, rows=rows, most_rows=case.most_rows)
