"""Tables of the AAVSO: what it gives for download, and what observers send in."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.astronomy.judgement import Finding, Verdict
from penstock.astronomy.photometry.cell import marked_number
from penstock.astronomy.photometry.column_header import named_columns, table_of_names
from penstock.astronomy.photometry.column_map import BrightnessColumn, ColumnMap
from penstock.astronomy.photometry.content import TableRefusal, refused
from penstock.astronomy.photometry.number import is_missing_magnitude
from penstock.astronomy.photometry.raw_table import RawRow, SplitLines, TextLine, split_line, without_blank_end
from penstock.astronomy.photometry.recognised import RecognisedTable
from penstock.astronomy.photometry.time_reading import EXCEL, TimeReading, named_time, plausible
from penstock.astronomy.photometry.unit import MAGNITUDE

WIDTH = 25
"Cells of a row of the download without names."
DOWNLOAD = ColumnMap(
    0,
    (BrightnessColumn(1, 3, 2, unit=MAGNITUDE),),
    TimeReading(),
    band=5,
    observer=6,
    target=18,
    method=20,
    validation=14,
)
_EXTENDED = (
    *("NAME", "DATE", "MAG", "MERR", "FILT", "TRANS", "MTYPE", "CNAME", "CMAG", "KNAME", "KMAG", "AMASS", "GROUP"),
    *("CHART", "NOTES"),
)
_VISUAL = ("NAME", "DATE", "MAG", "COMMENTCODE", "COMP1", "COMP2", "CHART", "NOTES")
_NAMES = {"extended": _EXTENDED, "visual": _VISUAL}
_DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";", "semi-colon": ";", "pipe": "|"}


def aavso_download(lines: Sequence[TextLine]) -> RecognisedTable | None:
    """The download without names: 25 cells in a row, of which the first are Julian date, magnitude and 0 or 1."""
    data = [line for line in lines if not line.is_comment]
    sample = SplitLines(data[:200], ",")
    if not sample or sum(_is_download(row) for row in sample) * 2 <= len(sample):
        return None
    why = f"most rows have {WIDTH} cells, of which the first are a Julian date, a magnitude and a flag 0 or 1"
    rows = SplitLines(data, ",")
    return RecognisedTable(
        "aavso_download",
        why,
        DOWNLOAD,
        rows,
        WIDTH,
        ",",
        comments=len(lines) - len(data),
        source={"reference": "AAVSO"},
        less_is_fainter=True,
    )


def _is_download(row: RawRow) -> bool:
    if len(row.cells) != WIDTH or row.cells[2] not in ("0", "1", ""):
        return False
    moment = TimeReading().moment(row.cells[0])
    bright = is_missing_magnitude(row.cells[1]) or marked_number(row.cells[1]) is not None
    return moment is not None and plausible(moment) and bright and row.cells[20] in ("STD", "DIFF", "STEP", "DIF", "")


def aavso_submission(lines: Sequence[TextLine]) -> RecognisedTable | TableRefusal | None:
    """The format in which observers send in: lines `#TYPE=Extended`, `#DELIM=,`, `#DATE=JD`, then rows."""
    told = _parameters(lines)
    kind = told.get("TYPE", "").lower()
    if kind not in _NAMES:
        return None
    delimiter = _delimiter(told.get("DELIM", ","))
    reading = _reading(told.get("DATE", "JD"))
    if delimiter is None or reading is None:
        name = "DELIM" if delimiter is None else "DATE"
        said = f"The line #{name}= says {told[name][:40]!r}, which AAVSO's format does not know. Correct the line."
        return refused(Verdict.QUARANTINED, "BAD_PARAMETER", said, parameter=name, value=told[name][:40])
    return _submitted(lines, told, kind, delimiter, reading)


def _submitted(
    lines: Sequence[TextLine], told: dict[str, str], kind: str, delimiter: str, reading: TimeReading
) -> RecognisedTable | TableRefusal:
    names, header_line = _names(lines, kind, delimiter)
    table = table_of_names(names, named_columns(names))
    if isinstance(table, Finding):
        return TableRefusal(Verdict.QUARANTINED, table)
    data = [line for line in lines if not line.is_comment]
    columns = ColumnMap(
        table.columns.time,
        table.columns.brightness,
        reading,
        band=table.columns.band,
        target=table.columns.target,
        method=table.columns.method,
    )
    return RecognisedTable(
        f"aavso_{kind}",
        f"it has AAVSO's line #TYPE={told['TYPE'][:20]}",
        columns,
        SplitLines(data, delimiter),
        len(names),
        delimiter,
        tuple(names),
        header_line,
        table.unused,
        comments=len(lines) - len(data) - (header_line is not None),
        source=_source(told),
        band="Vis." if kind == "visual" else "",
        observer=told.get("OBSCODE") or None,
        less_is_fainter=True,
    )


def _parameters(lines: Sequence[TextLine]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines[:60]:
        if line.is_comment and "=" in line.text and len(line.text) < 400:
            name, value = line.text.strip().lstrip("#").split("=", 1)
            found.setdefault(name.strip().upper(), value.strip(" \r\n\"'") or value.strip("\r\n\"'"))
    return found


def _names(lines: Sequence[TextLine], kind: str, delimiter: str) -> tuple[list[str], int | None]:
    """The names that the file gives, or those that the format has."""
    for line in lines[:60]:
        if not line.is_comment or "=" in line.text or len(line.text) > 1000:
            continue
        cells = list(without_blank_end(split_line(line.text.strip().lstrip("#").strip(), delimiter) or [], 1))
        upper = [cell.upper() for cell in cells]
        if {"DATE", "MAG"} <= set(upper):
            return ["DATE" if cell == "JD" else cell for cell in upper], line.number
    return list(_NAMES[kind]), None


def _delimiter(word: str) -> str | None:
    if word.lower() in _DELIMITERS:
        return _DELIMITERS[word.lower()]
    return word if len(word) == 1 and word not in "# \"'" and not word.isalnum() else None


def _reading(word: str) -> TimeReading | None:
    return TimeReading("JD", EXCEL) if word.upper() == EXCEL else named_time(word)


def _source(told: dict[str, str]) -> dict[str, str]:
    names = {"SOFTWARE": "software", "OBSTYPE": "observation_type", "OBSCODE": "observer"}
    return {"reference": "AAVSO"} | {
        names[name]: value[:200] for name, value in told.items() if name in names and value
    }
