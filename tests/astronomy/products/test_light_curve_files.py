"""A light curve in ECSV, FITS and CSV is read back, by astropy and by csv, to the same numbers."""

from __future__ import annotations

import csv
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.io import fits
from astropy.table import Table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.astronomy.light_curve import LightCurve, Measurement, UnreadRow
from penstock.astronomy.products.ecsv import COLUMNS, write_light_curve_csv, write_light_curve_ecsv
from penstock.astronomy.products.fits_tables import notes_of, write_light_curve_fits
from tests.astronomy.products.given import a_light_curve

FINITE = st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
PRINTABLE = WORDS.map(lambda text: "".join(sign for sign in text if sign.isprintable()).strip())
MEASUREMENTS = st.builds(
    Measurement,
    jd=FINITE,
    value=FINITE,
    unit=st.sampled_from(["mag", "Jy"]),
    uncertainty=st.none() | FINITE,
    band=PRINTABLE.filter(bool),
    row=st.integers(1, 2**40),
    upper_limit=st.booleans(),
    telescope=st.none() | PRINTABLE.filter(bool),
    observer=st.none() | PRINTABLE.filter(bool),
)
CURVES = st.lists(MEASUREMENTS, max_size=12).map(lambda found: LightCurve(tuple(found)))


def known(value: Any) -> Any:
    return None if value is np.ma.masked else value.item() if hasattr(value, "item") else value


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CURVES)
def test_ecsv_gives_back_every_measurement(tmp_path: Path, curve: LightCurve) -> None:
    write_light_curve_ecsv(curve, tmp_path / "a.ecsv", provenance={"from": "é"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = Table.read(tmp_path / "a.ecsv", format="ascii.ecsv")
    names = ("jd", "value", "unit", "uncertainty", "band", "row", "upper_limit", "telescope", "observer")
    found = tuple(Measurement(*(known(row[name]) for name in names)) for row in table)
    assert found == curve.measurements
    assert table.meta["provenance"] == {"from": "é"}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CURVES.filter(lambda curve: len(curve.measurements) > 0))
def test_fits_gives_back_every_measurement(tmp_path: Path, curve: LightCurve) -> None:
    write_light_curve_fits(curve, tmp_path / "a.fits", provenance={})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with fits.open(tmp_path / "a.fits") as file:
            file.verify("exception")
            rows = [dict(zip(file[1].columns.names, row, strict=True)) for row in file[1].data]
    assert tuple(map(measurement, rows)) == curve.measurements


def measurement(row: dict[str, Any]) -> Measurement:
    """A row of the FITS table, its texts unescaped as the header tells."""
    text = {name: json.loads(f'"{row[name]}"') for name in ("UNIT", "BAND", "TELESCOPE", "OBSERVER", "TIMESYST")}
    error = None if np.isnan(row["ERROR"]) else float(row["ERROR"])
    seen = (float(row["TIME"]), float(row["VALUE"]), text["UNIT"], error, text["BAND"], int(row["ROW"]))
    return Measurement(*seen, bool(row["UPLIMIT"]), text["TELESCOPE"] or None, text["OBSERVER"] or None)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CURVES)
def test_csv_gives_back_every_number(tmp_path: Path, curve: LightCurve) -> None:
    write_light_curve_csv(curve, tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert tuple(head) == COLUMNS
    assert [(float(row[0]), float(row[2])) for row in rows] == [(one.jd, one.value) for one in curve.measurements]
    assert [row[3] and float(row[3]) for row in rows] == [
        "" if one.uncertainty is None else one.uncertainty for one in curve.measurements
    ]


@pytest.mark.parametrize("name", ["a.ecsv", "a.csv"])
def test_a_line_break_in_a_name_breaks_no_row(tmp_path: Path, name: str) -> None:
    odd = Measurement(2450000.5, 9.0, "mag", None, "V", 1, observer='O\'Neil,\r\n"Bob"\u2028')
    curve = LightCurve((odd, odd))
    if name.endswith("ecsv"):
        write_light_curve_ecsv(curve, tmp_path / name, provenance={})
        assert list(Table.read(tmp_path / name, format="ascii.ecsv")["observer"]) == ['O\'Neil,  "Bob"'] * 2
    else:
        write_light_curve_csv(curve, tmp_path / name)
        assert len((tmp_path / name).read_text().splitlines()) == 3


def test_rows_that_were_not_read_are_counted_in_the_notes(tmp_path: Path) -> None:
    unread = tuple(UnreadRow(row, "x" * 500, "no number") for row in range(150))
    write_light_curve_fits(a_light_curve(unread=unread), tmp_path / "a.fits", provenance={})
    notes = notes_of(tmp_path / "a.fits")
    assert notes["rows_not_read"] == 150
    assert notes["rows_not_read_first"][0] == {"row": 0, "text": "x" * 200, "why": "no number"}
    assert len(notes["rows_not_read_first"]) == 100


def test_the_same_light_curve_makes_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        write_light_curve_ecsv(a_light_curve(), tmp_path / folder / "a.ecsv", provenance={"a": 1})
        write_light_curve_fits(a_light_curve(), tmp_path / folder / "a.fits", provenance={"a": 1})
        write_light_curve_csv(a_light_curve(), tmp_path / folder / "a.csv")
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert one == two
    assert len(one) == 3


@pytest.mark.parametrize(
    ("system", "scale", "place"),
    [
        ("HJD", "UTC", "HELIOCENTER"),
        ("BJD_TDB", "TDB", "BARYCENTER"),
        ("JD_UTC", "UTC", None),
        ("mixed: HJD, JD (differ by up to 8.3 min)", None, None),
    ],
)
def test_the_time_of_a_table_is_told_as_the_fits_standard_has_it(
    tmp_path: Path, system: str, scale: str | None, place: str | None
) -> None:
    write_light_curve_fits(a_light_curve(time_system=system), tmp_path / "a.fits", provenance={})
    header = fits.getheader(tmp_path / "a.fits", 1)
    assert (header.get("TIMESYS"), header.get("TREFPOS")) == (scale, place)
    assert header["TTYPE1"] == "TIME"
    assert "JD" not in fits.getdata(tmp_path / "a.fits", 1).names


def test_notes_however_long_use_up_no_header(tmp_path: Path) -> None:
    unread = tuple(UnreadRow(row, "a  b" * 50, "no number, 'or' & \u00e9") for row in range(200))
    write_light_curve_fits(a_light_curve(unread=unread), tmp_path / "a.fits", provenance={"x": " " * 3000})
    assert len(fits.getheader(tmp_path / "a.fits", 1)) < 60
    found = notes_of(tmp_path / "a.fits")
    assert (found["provenance"], len(found["rows_not_read_first"])) == ({"x": " " * 3000}, 100)
