"""Light curves in VOTables."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from penstock.astronomy.judgement import FileFinding, FileVerdict
from penstock.astronomy.photometry.column_header import table_of_names
from penstock.astronomy.photometry.column_name import ColumnRole, NamedColumn, is_absolute, named_column
from penstock.astronomy.photometry.content import TableRefusal, refused
from penstock.astronomy.photometry.described import described_names, ticket_of_hints
from penstock.astronomy.photometry.photometry_hints import PhotometryHints
from penstock.astronomy.photometry.raw_table import MOST_CELLS, SHOWN, RawRow
from penstock.astronomy.photometry.recognised import RecognisedTable
from penstock.astronomy.photometry.text_header import TextHeader
from penstock.astronomy.photometry.time_reading import MJD_ZERO, SCALES, TimeReading, time_in
from penstock.astronomy.photometry.unit import error_unit, named_unit
from penstock.astronomy.photometry.votable_scan import MOST_TABLES, VoField, VoScan, VoTable, scanned_votable
from penstock.astronomy.ticket import PhotometryTicket
from penstock.astronomy.votable_screen import UnsafeVotable, VotableFault, VotableLimits, screen_votable

_MOST_VALUES = 10_000
"Numbers in one row that a table may declare."
_MOST_PACKED = 16 * 1024 * 1024
"Characters of tables that are packed as numbers."
_FAULTS = {
    VotableFault.ENTITIES: (FileVerdict.TERMINAL_INVALID, "UNSAFE_XML"),
    VotableFault.DEPTH: (FileVerdict.TERMINAL_INVALID, "UNSAFE_XML"),
    VotableFault.ROWS: (FileVerdict.QUARANTINED, "TOO_MANY_ROWS"),
    VotableFault.SIZE: (FileVerdict.TERMINAL_INVALID, "TOO_LARGE"),
    VotableFault.ELSEWHERE: (FileVerdict.QUARANTINED, "UNSUPPORTED_DATA"),
    VotableFault.MALFORMED: (FileVerdict.TERMINAL_INVALID, "BROKEN_TABLE"),
    VotableFault.NO_VOTABLE: (FileVerdict.TERMINAL_INVALID, "NOT_PHOTOMETRY"),
}
_ADVICE = {
    VotableFault.ENTITIES: "Save it without one.",
    VotableFault.DEPTH: "Save it anew.",
    VotableFault.ROWS: "Split it, or raise the limit.",
    VotableFault.SIZE: "Send the table alone that is meant.",
    VotableFault.ELSEWHERE: "Save its rows as TABLEDATA.",
    VotableFault.MALFORMED: "Send it again.",
    VotableFault.NO_VOTABLE: "Send a table.",
}
_NUMBERS = ("double", "float", "int", "short", "long", "")
_ORIGINS = {"JD-origin": 0.0, "MJD-origin": MJD_ZERO}
_NO_VALUES = ("stat.error", "stat.stdev", "stat.variance", "stat.max", "stat.min", "arith.")
"What a UCD says of numbers about brightnesses that are none: their errors, extremes and differences."
_CENTRES = {"HELIOCENTER": "HJD", "BARYCENTER": "BJD"}
_EM = {f"em.opt.{letter.lower()}": letter for letter in "UBVRI"} | {
    f"em.ir.{letter.lower()}": letter for letter in "JHK"
}


def recognised_votable(
    data: bytes,
    *,
    ticket: PhotometryTicket | None,
    hints: PhotometryHints,
    most_rows: int,
    tried: list[dict[str, Any]],
) -> RecognisedTable | TableRefusal:
    """The one table of a VOTable that tells brightnesses, or that a ticket describes; or why there is none."""
    unsafe = _unsafe(data, most_rows)
    if unsafe is not None:
        return unsafe
    scan = scanned_votable(data, most_rows=most_rows)
    if isinstance(scan, TableRefusal):
        return scan
    named = {table.number: _all_named(table, scan) for table in scan.tables}
    told = ticket is not None or bool(hints.columns)
    chosen = scan.tables[0] if told and len(scan.tables) == 1 else _chosen(scan, named, hints)
    tried.append({"form": "votable", "fits": isinstance(chosen, VoTable), "tables": len(scan.tables)})
    if isinstance(chosen, TableRefusal):
        return chosen
    rows = chosen.rows if not chosen.packed else _packed_rows(data, chosen)
    if isinstance(rows, TableRefusal):
        return rows
    if not told:
        return _table(chosen, named[chosen.number], rows)
    names = tuple(each.name for each in chosen.fields)
    header = TextHeader(0, "", names, tuple(named[chosen.number]), tuple(rows), 0)
    return described_names(header, ticket=ticket_of_hints(hints, ticket), hints=hints)


def _table(table: VoTable, found: list[NamedColumn], rows: Sequence[RawRow]) -> RecognisedTable | TableRefusal:
    names = tuple(each.name for each in table.fields)
    columns = table_of_names(names, found)
    if isinstance(columns, FileFinding):
        return TableRefusal(FileVerdict.QUARANTINED, columns)
    return RecognisedTable(
        "votable",
        f"table {table.number} of a VOTable has columns that its names and UCDs tell",
        columns.columns,
        rows,
        len(names),
        names=names,
        unused=columns.unused,
        assumptions=columns.assumptions,
    )


def _chosen(scan: VoScan, named: dict[int, list[NamedColumn]], hints: PhotometryHints) -> VoTable | TableRefusal:
    """The table that a person asked for, or the only one with brightnesses, those with times going before."""
    if hints.table is not None:
        if hints.table > len(scan.tables):
            said = f"The hint says table {hints.table}, and the file has {len(scan.tables)}."
            return refused(FileVerdict.QUARANTINED, "BAD_HINT", said, hint="table")
        return scan.tables[hints.table - 1]
    bright = [table for table in scan.tables if _has(named[table.number], ColumnRole.BRIGHTNESS)]
    timed = [table for table in bright if _has(named[table.number], ColumnRole.TIME)]
    found = timed or bright
    if len(found) == 1:
        return found[0]
    if found:
        said = f"{len(found)} tables of the file are light curves. Hint table, a number from 1 on."
        return refused(FileVerdict.QUARANTINED, "SEVERAL_TABLES", said, tables=[each.number for each in found])
    names = [each.name[:40] for table in scan.tables[:3] for each in table.fields[:20]]
    said = f"The VOTable has no column of brightness; its columns are {', '.join(names) or 'none'}."
    return refused(FileVerdict.TERMINAL_INVALID, "NOT_PHOTOMETRY", said[:600], names=names)


def _has(found: Sequence[NamedColumn], role: ColumnRole) -> bool:
    return any(each.role is role for each in found)


def _all_named(table: VoTable, scan: VoScan) -> list[NamedColumn]:
    """What each column is; where several are brightnesses without a band that is known, their names are their bands."""
    found = [_named(each, scan) for each in table.fields]
    plain = [at for at, each in enumerate(found) if each.role is ColumnRole.BRIGHTNESS and not each.band]
    by_name = [at for at in plain if named_column(table.fields[at].name).role is ColumnRole.BRIGHTNESS]
    if len(plain) > 1 and not by_name:
        for at in plain:
            found[at] = replace(found[at], band=table.fields[at].name[:40])
    return found


def _named(column: VoField, scan: VoScan) -> NamedColumn:
    """What a column is: by its system of time, by its name, else by its UCD, which also vetoes a name."""
    ucd = column.ucd.lower()
    if column.ref in scan.clocks and column.ref:
        return NamedColumn(ColumnRole.TIME, _clock(scan.clocks[column.ref]))
    if column.name.upper().startswith("NED "):
        return NamedColumn(ColumnRole.OTHER)
    found = named_column(column.name, unit=column.unit)
    of_another = any(word.strip().startswith(_NO_VALUES) for word in ucd.split(";")[1:])
    vetoed = found.role is ColumnRole.BRIGHTNESS and ucd and (not ucd.startswith("phot") or of_another)
    if vetoed or found.role is ColumnRole.OTHER:
        return _by_ucd(column, ucd)
    return replace(found, band=_band(ucd.split(";")) or found.band) if found.band else found


def _by_ucd(column: VoField, ucd: str) -> NamedColumn:
    words = ucd.split(";")
    if words[0].startswith(("time.epoch", "time_epoch", "time.date", "time_date")):
        return NamedColumn(ColumnRole.TIME, time_in(column.name, column.unit, None), generic=True)
    if words[0] == "stat.error" and len(words) > 1 and words[1].startswith("phot"):
        return NamedColumn(ColumnRole.ERROR, band=_band(words), unit=error_unit(column.unit))
    if any(word.startswith(_NO_VALUES) for word in words[1:]) or is_absolute(column.name):
        return NamedColumn(ColumnRole.OTHER)
    if words[0] in ("phot.mag", "phot.flux", "phot.flux.density") and column.datatype in _NUMBERS:
        return NamedColumn(ColumnRole.BRIGHTNESS, band=_band(words), unit=named_unit(column.unit) or "")
    if words[0] in ("instr.bandpass", "instr.filter") or ucd == "meta.id;instr.filter":
        return NamedColumn(ColumnRole.BAND)
    if ucd == "meta.id;meta.main" and column.datatype in ("char", "unicodeChar"):
        return NamedColumn(ColumnRole.TARGET)
    return NamedColumn(ColumnRole.OTHER)


def _band(words: Sequence[str]) -> str:
    return next((_EM[word] for word in words if word in _EM), "")


def _clock(attributes: dict[str, str]) -> TimeReading | None:
    told = attributes.get("timeorigin", "")
    try:
        origin = _ORIGINS[told] if told in _ORIGINS else float(told)
    except ValueError:
        return None
    system = _CENTRES.get(attributes.get("refposition", "").upper(), "JD")
    written = system if origin == 0 else "MJD" if origin == MJD_ZERO else f"{system}-{origin:.7g}"
    return TimeReading(system, written, origin, 1.0, _scale(attributes.get("timescale", "")))


def _scale(word: str) -> str:
    return word.strip().upper() if word.strip().upper() in SCALES else ""


def _unsafe(data: bytes, most_rows: int) -> TableRefusal | None:
    """Why nothing may read the file, whichever of its tables is meant: what it says would cost or fetch something."""
    limits = VotableLimits(len(data), most_rows, MOST_CELLS * MOST_TABLES, values=_MOST_VALUES, encoded=_MOST_PACKED)
    try:
        screen_votable(data, limits)
    except UnsafeVotable as unsafe:
        verdict, code = _FAULTS[unsafe.fault]
        said = f"The VOTable has {unsafe.what}. {_ADVICE[unsafe.fault]}"
        return refused(verdict, code, said, **unsafe.details)
    return None


def _packed_rows(data: bytes, table: VoTable) -> list[RawRow] | TableRefusal:
    """Rows that are packed as numbers, unpacked by astropy."""
    try:
        return _unpacked(data, table)
    except Exception as error:  # whatever a damaged stream does to astropy and numpy: their errors have no family
        said = f"The packed rows of the VOTable cannot be read: {str(error)[:200]}. Save them as TABLEDATA."
        return refused(FileVerdict.TERMINAL_INVALID, "BROKEN_TABLE", said, error=type(error).__name__)


def _unpacked(data: bytes, table: VoTable) -> list[RawRow]:
    from astropy.io.votable import parse

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Tables count as they come in the file; those that are not asked for stay empty.
        array = parse(io.BytesIO(data), verify="ignore", table_number=table.number - 1).get_first_table().array
    names = array.dtype.names or ()
    columns = [(array[name].data, array.mask[name]) for name in names]
    rows = []
    for at in range(len(array)):
        cells = [_cell(values[at], mask[at]) for values, mask in columns]
        cells = ["" if cell == each.null else cell for cell, each in zip(cells, table.fields, strict=True)]
        rows.append(RawRow(at + 1, cells, " | ".join(cells)[:SHOWN]))
    return rows


def _cell(value: Any, masked: Any) -> str:
    if getattr(masked, "all", lambda: masked)():
        return ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value).strip()
