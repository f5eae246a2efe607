"""A line of names, and the map of columns that it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from penstock.astronomy.judgement import Assumption, Finding
from penstock.astronomy.photometry.column_map import BrightnessColumn, ColumnMap
from penstock.astronomy.photometry.column_name import SMALL, ColumnRole, NamedColumn, named_column
from penstock.astronomy.photometry.time_reading import TimeReading

_SYSTEMS = ("JD", "HJD", "BJD")
"Which of several columns of time is taken: the first of these, then what is offset, then dates."


@dataclass(frozen=True, slots=True)
class NamedTable:
    """The map that a table's names give, and what had to be decided for it."""

    columns: ColumnMap
    assumptions: tuple[Assumption, ...] = ()
    unused: tuple[str, ...] = field(default=())
    "Names of columns that are not read."


def named_columns(names: Sequence[str], *, units: Sequence[str] = ()) -> list[NamedColumn]:
    """What each of a table's names was taken for."""
    return [named_column(name, unit=units[at] if at < len(units) else "") for at, name in enumerate(names)]


def is_header(found: Sequence[NamedColumn]) -> bool:
    """Whether a line's cells are the names of a light curve's columns: they name a time and a brightness."""
    roles = {each.role for each in found}
    return ColumnRole.TIME in roles and ColumnRole.BRIGHTNESS in roles


def table_of_names(names: Sequence[str], found: Sequence[NamedColumn]) -> NamedTable | Finding:
    """The map of columns that names give, or why they give none."""
    brightness = _brightness(names, found)
    if isinstance(brightness, Finding):
        return brightness
    time = _time(found)
    band = _first(found, ColumnRole.BAND)
    columns = ColumnMap(
        time,
        tuple(brightness),
        found[time].time if time is not None else None,
        band=band,
        telescope=_first(found, ColumnRole.TELESCOPE),
        observer=_first(found, ColumnRole.OBSERVER),
        filter_system=_first(found, ColumnRole.FILTER_SYSTEM),
        unit=_first(found, ColumnRole.UNIT),
        target=_first(found, ColumnRole.TARGET),
        method=_first(found, ColumnRole.METHOD),
        validation=_first(found, ColumnRole.VALIDATION),
    )
    return NamedTable(columns, _small_letters(names, columns), _unused(names, columns))


def _small_letters(names: Sequence[str], columns: ColumnMap) -> tuple[Assumption, ...]:
    """A column `vmag` is most likely Johnson's V, and may be Strömgren's v."""
    return tuple(
        Assumption("band", each.band, f"the column {names[each.value][:40]!r} is taken for Johnson's {each.band}")
        for each in columns.brightness
        if each.band in SMALL.values()
        and each.band not in names[each.value]
        and named_column(names[each.value]).band == each.band
    )


def _time(found: Sequence[NamedColumn]) -> int | None:
    times = [at for at, each in enumerate(found) if each.role is ColumnRole.TIME]
    return min(times, key=lambda at: (_rank(found[at]), at), default=None)


def _rank(column: NamedColumn) -> int:
    reading: TimeReading | None = column.time
    if reading is not None and not column.generic:
        return _SYSTEMS.index(reading.written) if reading.written in _SYSTEMS else len(_SYSTEMS)
    return len(_SYSTEMS) + (2 if column.relative else 1)


def _brightness(names: Sequence[str], found: Sequence[NamedColumn]) -> list[BrightnessColumn] | Finding:
    plain = [at for at, each in enumerate(found) if each.role is ColumnRole.BRIGHTNESS and not each.band]
    if len(plain) > 1:
        plain = [at for at in plain if not found[at].generic] or plain
    if len(plain) > 1:
        said = f"Columns {', '.join(names[at] for at in plain)} may each be the brightness. Give a ticket or a hint."
        return Finding("AMBIGUOUS_COLUMNS", said[:400], {"columns": [names[at][:80] for at in plain][:20]})
    if plain:
        return [_alone(plain[0], found)]
    return _by_bands(names, found)


def _alone(at: int, found: Sequence[NamedColumn]) -> BrightnessColumn:
    """The one column of brightness: uncertainty and limit are those that name no band."""
    errors = [n for n, each in enumerate(found) if each.role is ColumnRole.ERROR and not each.band]
    limits = [n for n, each in enumerate(found) if each.role is ColumnRole.LIMIT and not each.band]
    error = min(errors, key=lambda n: (n < at, n), default=None)
    limit = min(limits, default=None)
    return BrightnessColumn(at, error, limit, unit=found[at].unit, error_unit=_error_unit(found, error))


def _by_bands(names: Sequence[str], found: Sequence[NamedColumn]) -> list[BrightnessColumn] | Finding:
    """One column for each band: Vmag, e_Vmag, Bmag, … A band told twice cannot be decided."""
    columns: dict[str, BrightnessColumn] = {}
    for at, each in enumerate(found):
        if each.role is not ColumnRole.BRIGHTNESS:
            continue
        if each.band in columns:
            said = f"Two columns are brightnesses in the band {each.band}. Give a ticket or a hint that says which."
            return Finding("AMBIGUOUS_COLUMNS", said, {"band": each.band, "column": names[at][:80]})
        error = _of_band(found, ColumnRole.ERROR, each.band)
        error = _right_of(found, at) if error is None else error
        limit = _of_band(found, ColumnRole.LIMIT, each.band)
        columns[each.band] = BrightnessColumn(at, error, limit, each.band, each.unit, _error_unit(found, error))
    return list(columns.values())


def _of_band(found: Sequence[NamedColumn], role: ColumnRole, band: str) -> int | None:
    return next((at for at, each in enumerate(found) if each.role is role and each.band == band), None)


def _right_of(found: Sequence[NamedColumn], at: int) -> int | None:
    """An uncertainty without a band belongs to the brightness that it stands beside."""
    beside = at + 1
    return beside if beside < len(found) and found[beside].role is ColumnRole.ERROR and not found[beside].band else None


def _error_unit(found: Sequence[NamedColumn], error: int | None) -> str:
    return "" if error is None else found[error].unit


def _first(found: Sequence[NamedColumn], role: ColumnRole) -> int | None:
    return next((at for at, each in enumerate(found) if each.role is role), None)


def _unused(names: Sequence[str], columns: ColumnMap) -> tuple[str, ...]:
    used = {columns.time, columns.band, columns.telescope, columns.observer, columns.filter_system, columns.unit}
    used |= {columns.target, columns.method, columns.validation}
    for each in columns.brightness:
        used |= {each.value, each.error, each.limit}
    return tuple(name[:80] for at, name in enumerate(names) if at not in used)[:100]
