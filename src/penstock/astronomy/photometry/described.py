"""A table whose columns are told by a ticket or by a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.astronomy.judgement import Assumption, FileVerdict
from penstock.astronomy.photometry.band import named_band
from penstock.astronomy.photometry.column_map import BrightnessColumn, ColumnMap
from penstock.astronomy.photometry.column_name import ColumnRole, NamedColumn, unit_in_name
from penstock.astronomy.photometry.content import TableRefusal, refused
from penstock.astronomy.photometry.photometry_hints import PhotometryHints
from penstock.astronomy.photometry.raw_table import DELIMITERS, SplitLines, TextLine, likely_delimiter, usual_width
from penstock.astronomy.photometry.recognised import RecognisedTable
from penstock.astronomy.photometry.text_header import TextHeader, text_header
from penstock.astronomy.photometry.time_reading import CALENDAR, SINCE_OUTBURST, TimeReading, is_no_date, named_time
from penstock.astronomy.photometry.unit import error_unit, named_unit, ratio
from penstock.astronomy.ticket import PhotometryTicket

_DAYS = {"day": 1.0, "d": 1.0, "hour": 1 / 24, "hr": 1 / 24, "h": 1 / 24, "minute": 1 / 1440, "min": 1 / 1440}
_DAYS |= {"second": 1 / 86400, "sec": 1 / 86400, "s": 1 / 86400, "year": 365.25, "yr": 365.25, "week": 7.0}
_SOURCE = ("object_name", "reference", "bibcode", "filter_system", "magnitude_system", "wavelength_regime")
_MUST_NOT_BE = {
    ColumnRole.TIME: {ColumnRole.BRIGHTNESS, ColumnRole.ERROR, ColumnRole.LIMIT, ColumnRole.BAND, ColumnRole.TARGET},
    ColumnRole.BRIGHTNESS: {ColumnRole.TIME, ColumnRole.ERROR, ColumnRole.LIMIT, ColumnRole.BAND, ColumnRole.COUNT},
    ColumnRole.ERROR: {ColumnRole.TIME, ColumnRole.BRIGHTNESS, ColumnRole.LIMIT, ColumnRole.BAND, ColumnRole.COUNT},
    ColumnRole.LIMIT: {ColumnRole.TIME, ColumnRole.BRIGHTNESS, ColumnRole.ERROR, ColumnRole.BAND, ColumnRole.COUNT},
    ColumnRole.BAND: {ColumnRole.TIME, ColumnRole.BRIGHTNESS, ColumnRole.ERROR, ColumnRole.LIMIT, ColumnRole.COUNT},
}
"What a table's own name for a column may not be, if a ticket says that it is this."


def described_table(
    lines: Sequence[TextLine], *, ticket: PhotometryTicket, hints: PhotometryHints
) -> RecognisedTable | TableRefusal:
    """The table as a ticket tells it, a person's hints going before; or why it cannot be so."""
    columns = ticket_columns(ticket, hints)
    if isinstance(columns, TableRefusal):
        return columns
    delimiters = (hints.delimiter,) if hints.delimiter else DELIMITERS
    header = text_header(lines, delimiters=delimiters)
    if header is not None and columns.last < header.width:
        return _with_names(header, columns, ticket, hints)
    return _without_names(lines, columns, ticket, hints)


def described_names(
    header: TextHeader, *, ticket: PhotometryTicket, hints: PhotometryHints
) -> RecognisedTable | TableRefusal:
    """A table that has names of its own, such as one of a VOTable, as a ticket tells it."""
    columns = ticket_columns(ticket, hints)
    if isinstance(columns, TableRefusal):
        return columns
    if columns.last >= header.width:
        return _too_few(columns, header.width)
    return _with_names(header, columns, ticket, hints)


def ticket_of_hints(hints: PhotometryHints, ticket: PhotometryTicket | None) -> PhotometryTicket:
    """A ticket with what a person says of columns, bands and units put into it."""
    told = hints.columns
    ticket = ticket or PhotometryTicket()
    return replace(
        ticket,
        time_column=told.get("time", ticket.time_column),
        flux_column=told.get("brightness", ticket.flux_column),
        flux_error_column=told.get("error", ticket.flux_error_column),
        band_column=told.get("band", ticket.band_column),
        limit_column=told.get("limit", ticket.limit_column),
        telescope_column=told.get("telescope", ticket.telescope_column),
        observer_column=told.get("observer", ticket.observer_column),
        filter_system_column=told.get("filter_system", ticket.filter_system_column),
        flux_units=hints.unit or ticket.flux_units,
        flux_error_units=hints.unit or ticket.flux_error_units,
    )


def ticket_columns(ticket: PhotometryTicket, hints: PhotometryHints) -> ColumnMap | TableRefusal:
    """The map of columns that a ticket gives."""
    if ticket.time_column is None or ticket.flux_column is None:
        said = "The ticket does not tell the columns of time and flux: it is not completed yet. Complete it."
        return refused(FileVerdict.QUARANTINED, "INCOMPLETE_TICKET", said, status=ticket.status)
    unit = named_unit(ticket.flux_units or "")
    if unit is None:
        return _no_unit("FLUX UNITS", ticket.flux_units)
    of_error = unit if ticket.flux_error_units is None else error_unit(ticket.flux_error_units)
    if ticket.flux_error_column is not None and ratio(of_error, to=unit) is None:
        return _no_unit("FLUX ERROR UNITS", ticket.flux_error_units)
    if (wrong := _wrong_time(ticket)) is not None:
        return wrong
    brightness = BrightnessColumn(
        ticket.flux_column, ticket.flux_error_column, ticket.limit_column, ticket.band or "", unit, of_error
    )
    return ColumnMap(
        ticket.time_column,
        (brightness,),
        ticket_time(ticket),
        band=ticket.band_column,
        telescope=ticket.telescope_column,
        observer=ticket.observer_column,
        filter_system=ticket.filter_system_column,
        target=hints.columns.get("target"),
    )


def ticket_time(ticket: PhotometryTicket) -> TimeReading | None:
    """What a ticket says of its times."""
    words = (ticket.time_system or "", ticket.time_units or "")
    readings = [named_time(word) for word in words]
    told = next((each for each in readings if each is not None and each.origin), None) or readings[0] or readings[1]
    if told is not None:
        return told
    word = words[0].lower()
    if "outburst" in word or "since" in word or "relative" in word or (not word and ticket.outburst):
        return TimeReading("JD", SINCE_OUTBURST, days=_DAYS.get(words[1].lower().rstrip("s"), 1.0))
    if word in ("ut", "utc", "date", "calendar", "iso", "gregorian", "iso-8601"):
        return TimeReading("JD", CALENDAR)
    return None


def _wrong_time(ticket: PhotometryTicket) -> TableRefusal | None:
    """Dates are counted in days, and times since an outburst in a unit that is known."""
    told = ticket.time_units or ""
    word, reading = told.strip().lower(), ticket_time(ticket)
    if reading is None or not word or word.rstrip("s") in ("day", "d") or named_time(told) is not None:
        return None
    if reading.written == SINCE_OUTBURST:
        return _no_unit("TIME UNITS", told) if word.rstrip("s") not in _DAYS else None
    return _no_unit("TIME UNITS", told) if is_no_date(word) else None


def _no_unit(line: str, value: str | None) -> TableRefusal:
    said = (
        f"The ticket's line {line!r} says {value!r}, which is no unit that is known or fits. Correct it, or hint unit."
    )
    return refused(FileVerdict.QUARANTINED, "UNKNOWN_UNIT", said, line=line, value=value)


def _without_names(
    lines: Sequence[TextLine], columns: ColumnMap, ticket: PhotometryTicket, hints: PhotometryHints
) -> RecognisedTable | TableRefusal:
    data = [line for line in lines if not line.is_comment]
    delimiter = hints.delimiter or likely_delimiter(data, least=max(2, columns.last + 1))
    rows = SplitLines(data, delimiter or ",")
    width = usual_width(rows)
    if delimiter is None or width <= columns.last:
        return _too_few(columns, width)
    table = RecognisedTable(_form(hints), _why(hints), columns, rows, width, delimiter, comments=len(lines) - len(data))
    return _told(table, ticket, hints)


def _too_few(columns: ColumnMap, width: int) -> TableRefusal:
    said = f"The ticket tells column {columns.last}, and rows have {width} cells. Is it the ticket of this table?"
    return refused(FileVerdict.QUARANTINED, "NOT_AS_DESCRIBED", said, column=columns.last, cells=width)


def _with_names(
    header: TextHeader, columns: ColumnMap, ticket: PhotometryTicket, hints: PhotometryHints
) -> RecognisedTable | TableRefusal:
    wrong = _contradiction(header, columns) or _other_quantity(header, columns)
    if wrong is not None:
        return wrong
    columns, assumptions = _completed(header, columns)
    table = RecognisedTable(
        _form(hints),
        _why(hints),
        columns,
        header.rows,
        header.width,
        header.delimiter,
        header.names,
        header.line,
        comments=header.comments,
        assumptions=assumptions,
    )
    return _told(table, ticket, hints)


def _told(table: RecognisedTable, ticket: PhotometryTicket, hints: PhotometryHints) -> RecognisedTable:
    source = {name: getattr(ticket, name) for name in (*_SOURCE, "telescope", "observer") if getattr(ticket, name)}
    target = hints.target or (ticket.object_name or "" if table.columns.target is not None else "")
    return replace(
        table,
        source=source,
        target=target,
        telescope=ticket.telescope,
        observer=ticket.observer,
        outburst=ticket.outburst,
    )


def _contradiction(header: TextHeader, columns: ColumnMap) -> TableRefusal | None:
    """Where the table's own names say that a column is something else than the ticket says."""
    only = columns.brightness[0]
    told = {ColumnRole.TIME: columns.time, ColumnRole.BRIGHTNESS: only.value, ColumnRole.ERROR: only.error}
    for role, at in (told | {ColumnRole.LIMIT: only.limit, ColumnRole.BAND: columns.band}).items():
        if at is not None and header.found[at].role in _MUST_NOT_BE[role]:
            name = header.names[at][:80]
            said = f"The ticket says that column {at} is the {role.value}; the table calls it {name!r}. Correct one."
            return refused(FileVerdict.QUARANTINED, "CONTRADICTION", said, column=at, ticket=role.value, table=name)
    return None


def _other_quantity(header: TextHeader, columns: ColumnMap) -> TableRefusal | None:
    """Where the table's own names agree on what columns are for, and not on the band, the unit or the zero of time."""
    only = columns.brightness[0]
    value, told = header.found[only.value], columns.time_reading
    own = header.found[columns.time].time if columns.time is not None else None
    band = named_band(only.band).band if only.band and columns.band is None else value.band
    pairs = [(only.value, "band", band, value.band)]
    pairs.append((only.value, "unit", only.unit, named_unit(unit_in_name(header.names[only.value])) or ""))
    if only.error is not None:
        pairs.append((only.error, "band", value.band or band, header.found[only.error].band))
        pairs.append((only.error, "unit", only.error_unit, header.found[only.error].unit))
    if told is not None and own is not None and own.origin and told.origin:
        pairs.append((columns.time or 0, "zero of time", f"{told.origin:.10g}", f"{own.origin:.10g}"))
    for at, what, said, found in pairs:
        if said and found and said != found:
            name = header.names[at][:80]
            message = f"The ticket's {what} of column {at} is {said}; the table calls it {name!r}. Correct one."
            return refused(FileVerdict.QUARANTINED, "CONTRADICTION", message, column=at, ticket=said, table=name)
    return None


def _completed(header: TextHeader, columns: ColumnMap) -> tuple[ColumnMap, tuple[Assumption, ...]]:
    """What the table's own names add to a ticket: a column of limits, of targets, and where the clock stood."""
    assumptions: list[Assumption] = []
    only = columns.brightness[0]
    limit = _place(header.found, ColumnRole.LIMIT)
    if only.limit is None and limit is not None:
        why = f"the ticket tells no column of limits, and the table has one that is named {header.names[limit][:40]!r}"
        assumptions.append(Assumption("limit_column", str(limit), why))
        columns = replace(columns, brightness=(replace(only, limit=limit),))
    own, told = header.found[columns.time or 0].time, columns.time_reading
    if own is not None and told is not None and told.written == "JD" and own.written in ("HJD", "BJD"):
        why = f"the ticket says JD, and the table's own name for the column is {header.names[columns.time or 0][:40]!r}"
        assumptions.append(Assumption("time_system", own.system, why))
        columns = replace(columns, time_reading=own)
    target = _place(header.found, ColumnRole.TARGET) if columns.target is None else columns.target
    return replace(columns, target=target), tuple(assumptions)


def _place(found: Sequence[NamedColumn], role: ColumnRole) -> int | None:
    return next((at for at, each in enumerate(found) if each.role is role), None)


def _form(hints: PhotometryHints) -> str:
    return "hints" if hints.columns else "ticket"


def _why(hints: PhotometryHints) -> str:
    return "a person told the columns" if hints.columns else "a ticket tells the columns"
