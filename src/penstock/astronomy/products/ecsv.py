"""Spectra and light curves as ECSV: text that people read, and astropy reads back to the same numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from astropy import units
from astropy.table import Column, Table

from penstock.astronomy.light_curve import LightCurve, Measurement
from penstock.astronomy.products.notes_yaml import yaml_lines
from penstock.astronomy.products.product_notes import light_curve_notes, spectrum_notes
from penstock.astronomy.products.spectrum_columns import spectrum_columns, usable_mask
from penstock.astronomy.products.whole_file import whole_file
from penstock.astronomy.spectrum import Floats, Spectrum

COLUMNS = ("jd", "time_system", "value", "uncertainty", "unit", "band", "upper_limit", "row", "telescope", "observer")
"Of a light curve, in every format that is text."
JOINED = ("dataset_id", "source_jd", "source_time_system")
"What one has beside them that was put together from several tables."
_ROWS_AT_ONCE = 10_000


def write_spectrum_ecsv(spectrum: Spectrum, path: Path, *, provenance: Mapping[str, Any]) -> None:
    """Write wavelength, flux and uncertainty, a mask, and the file's own flags. The same spectrum makes the same bytes.

    What was not measured is an empty cell, which astropy reads as masked.
    """
    table, notes = Table(), spectrum_notes(spectrum, provenance)
    columns = spectrum_columns(spectrum)
    for column in columns:
        table[column.name] = Column(dtype="f8", unit=_unit(column.unit), description=column.description)
    cells = [_cells_of(column.values) for column in columns]
    table["mask"] = Column(dtype="bool", description="True: not to be used; not measured, or flagged as bad")
    cells.append(map(str, usable_mask(spectrum).tolist()))
    if spectrum.quality is not None:
        table["quality"] = Column(dtype="i8", description="flags of the file; 0: nothing is said against the point")
        cells.append(map(str, spectrum.quality.tolist()))
    _write(path, table, notes, zip(*cells, strict=True))


def _cells_of(values: Floats) -> Iterator[str]:
    """Numbers as the shortest text that gives the same double back; nothing for what is none."""
    return ("" if each != each else repr(each) for each in values.tolist())


def write_light_curve_ecsv(curve: LightCurve, path: Path, *, provenance: Mapping[str, Any]) -> None:
    """Write a row a measurement, in the order they have. An uncertainty that is not known is left empty."""
    shared = {one.unit for one in curve.measurements}
    unit = _unit(shared.pop()) if len(shared) == 1 else None
    table, notes = Table(), light_curve_notes(curve, provenance)
    table["jd"] = Column(dtype="f8", unit=units.day, description=f"Julian date, {line(curve.time_system)[:80]}")
    table["time_system"] = Column(dtype="str", description="what jd of this row is told in")
    table["value"] = Column(dtype="f8", unit=unit, description="brightness, in the unit that the row names")
    table["uncertainty"] = Column(dtype="f8", unit=unit, description="one standard deviation; empty: not known")
    for name, kind in zip(COLUMNS[4:], ("str", "str", "bool", "i8", "str", "str"), strict=True):
        table[name] = Column(dtype=kind)
    if is_joined(curve):
        table["dataset_id"] = Column(dtype="str", description="the table that the row is from; row is counted there")
        table["source_jd"] = Column(dtype="f8", unit=units.day, description="the time as that table tells it")
        table["source_time_system"] = Column(dtype="str", description="what source_jd is told in")
    _write(path, table, notes, light_curve_rows(curve))


def write_light_curve_csv(curve: LightCurve, path: Path) -> None:
    """Write the measurements for spreadsheets: a row of names, then a row a measurement, and nothing else."""
    with whole_file(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*COLUMNS, *JOINED) if is_joined(curve) else COLUMNS)
        writer.writerows(light_curve_rows(curve))


def light_curve_rows(curve: LightCurve) -> Iterator[tuple[str, ...]]:
    """The cells of each measurement, under `COLUMNS`, and `JOINED` if it is from one of several tables."""
    joined = is_joined(curve)
    return (_cells(one, curve) + (_origin(one, curve) if joined else ()) for one in curve.measurements)


def is_joined(curve: LightCurve) -> bool:
    """Whether a light curve was put together from several tables."""
    return any(one.dataset is not None for one in curve.measurements)


def _origin(one: Measurement, curve: LightCurve) -> tuple[str, ...]:
    told = one.jd if one.told_jd is None else one.told_jd
    system = one.told_time_system or one.time_system or curve.time_system
    return line(one.dataset or ""), repr(float(told)), line(system)


def _cells(one: Measurement, curve: LightCurve) -> tuple[str, ...]:
    return (
        repr(float(one.jd)),
        line(one.time_system or curve.time_system),
        repr(float(one.value)),
        "" if one.uncertainty is None else repr(float(one.uncertainty)),
        line(one.unit),
        line(one.band),
        str(bool(one.upper_limit)),
        str(int(one.row)),
        line(one.telescope or ""),
        line(one.observer or ""),
    )


def line(text: str) -> str:
    """A text that stays in its row: line breaks and other control characters become spaces, ends are trimmed."""
    whole = text.encode("utf-8", "replace").decode()
    return "".join(sign if sign.isprintable() else " " for sign in whole).strip()


def _unit(text: str) -> Any:
    return units.Unit(text, format="fits", parse_strict="silent") if text else None


def _write(path: Path, table: Table, notes: Mapping[str, Any], rows: Iterable[tuple[str, ...]]) -> None:
    """Have astropy write the head of an empty table, and put the rows under it: it would take minutes for a million."""
    with whole_file(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        file.write(_head(table, notes))
        writer = csv.writer(file, lineterminator="\n")
        remaining = iter(rows)
        while some := list(islice(remaining, _ROWS_AT_ONCE)):
            writer.writerows(some)


def _head(table: Table, notes: Mapping[str, Any]) -> str:
    buffer = io.StringIO()
    table.write(buffer, format="ascii.ecsv", delimiter=",")
    described, schema, names = buffer.getvalue().rpartition("# schema:")
    told = "".join(f"#   {line}\n" for line in yaml_lines(notes))
    return f"{described}# meta:\n{told}{schema}{names}"
