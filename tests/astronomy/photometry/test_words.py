"""Times, numbers, bands and units as tables write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from astropy import units
from astropy.time import Time

from penstock.astronomy.photometry.band import BANDS, named_band
from penstock.astronomy.photometry.column_name import ColumnRole, named_column
from penstock.astronomy.photometry.number import is_missing, is_missing_magnitude, last_digit, number
from penstock.astronomy.photometry.time_reading import calendar_date, named_time
from penstock.astronomy.photometry.unit import KNOWN_UNITS, named_unit
from tests.astronomy.photometry.made import code, curve, flagged


@pytest.mark.parametrize(
    ("word", "band"),
    [
        ("Vis.", "Vis."),
        ("visual", "Vis."),
        ("V", "V"),
        ("RC", "Rc"),
        ("IC", "Ic"),
        ("R_c", "Rc"),
        ("Johnson V", "V"),
        ("V band", "V"),
        ("Ks", "Ks"),
        ("g", "g'"),
        ("r'", "r'"),
        ("SG", "g'"),
        ("sloan i", "i'"),
        ("clear", "unfiltered"),
        ("Unfiltered", "unfiltered"),
        ("CV", "CV"),
        ("CR", "CR"),
        ("pg", "pg"),
        ("photographic", "pg"),
        ("UVW2", "UVW2"),
        ("R", "R"),
    ],
)
def test_a_band_is_known_by_many_names(word: str, band: str) -> None:
    assert named_band(word).band == band
    assert named_band(word).known
    assert band in BANDS


@pytest.mark.parametrize("word", ["8.4 GHz", "0.3-10 keV", "v", "[3.6]", "Johnson"])
def test_a_band_that_nobody_knows_is_kept_and_told(tmp_path: Path, word: str) -> None:
    assert named_band(word).band == word
    found = curve(tmp_path, f"JD,mag,band\n2450000.5,12,{word}\n")
    assert found.measurements[0].band == word
    assert flagged(found) == [("band", word)]


@pytest.mark.parametrize("unit", KNOWN_UNITS)
def test_units_are_handed_on_as_astropy_writes_them(unit: str) -> None:
    assert units.Unit(unit, format="fits").to_string("fits") == unit
    assert named_unit(unit) == unit
    assert named_unit(units.Unit(unit, format="fits").to_string()) == unit


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("Mags", "mag"),
        ("mags", "mag"),
        ("milliJy", "mJy"),
        ("microJy", "uJy"),
        ("erg/cm^2/s/A", "erg Angstrom-1 s-1 cm-2"),
        ("erg/s/cm2/Angstrom", "erg Angstrom-1 s-1 cm-2"),
        ("ergs cm^-2^ s^-1^", "erg s-1 cm-2"),
        ("W m**-2 Hz**-1", "W Hz-1 m-2"),
        ("MJy", None),
        ("log mJy", None),
        ("10^-11 erg/s/cm^2", None),
        ("Jy Jy", None),
        ("mJy/beam", None),
        ("", None),
        ("erg" * 1000, None),
    ],
)
def test_units_are_known_in_many_spellings_and_only_if_they_surely_mean_that(text: str, unit: str | None) -> None:
    assert named_unit(text) == unit


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("1999-05-22", "1999-05-22T00:00:00"),
        ("1999-05-22.75", "1999-05-22T18:00:00"),
        ("1999-05-22T01:02:03.5", "1999-05-22T01:02:03.5"),
        ("1999/05/22 01:02", "1999-05-22T01:02:00"),
        ("1999 May 22.5", "1999-05-22T12:00:00"),
        ("22 May 1999", "1999-05-22T00:00:00"),
        ("1918 Jun 8", "1918-06-08T00:00:00"),
        ("2024-02-29T23:59:59Z", "2024-02-29T23:59:59"),
        ("2000-01-01T02:00:00+02:00", "2000-01-01T00:00:00"),
    ],
)
def test_dates_become_the_julian_dates_that_astropy_finds(text: str, iso: str) -> None:
    found = calendar_date(text)
    assert found is not None
    assert abs(found - Time(iso, scale="tai").jd) < 1e-8


@pytest.mark.parametrize(
    "text", ["1999-13-01", "1999-02-30", "05/22/1999", "99-05-22", "0000-01-01", "now", "1999-05-22T25:00"]
)
def test_what_is_no_date_or_may_be_two_is_none(text: str) -> None:
    assert calendar_date(text) is None


@pytest.mark.parametrize(
    ("name", "system", "origin"),
    [
        ("JD", "JD", 0.0),
        ("HJD", "HJD", 0.0),
        ("BJD_TDB", "BJD", 0.0),
        ("MJD", "JD", 2400000.5),
        ("HMJD", "HJD", 2400000.5),
        ("RJD", "JD", 2400000.0),
        ("JD-2450000", "JD", 2450000.0),
        ("HJD (2450000+)", "HJD", 2450000.0),
        ("JD - 2400000.5", "JD", 2400000.5),
    ],
)
def test_names_of_times_tell_their_origin(name: str, system: str, origin: float) -> None:
    found = named_time(name)
    assert found is not None
    assert (found.system, found.origin) == (system, origin)
    assert named_column(name).role is ColumnRole.TIME


@pytest.mark.parametrize(
    ("names", "first", "jd", "flags"),
    [
        ("MJD,mag,band", "50000.25", 2450000.75, []),
        ("JD-2450000,mag,band", "0.25", 2450000.25, []),
        ("time,mag,band", "2450000.25", 2450000.25, [("time_system", "JD")]),
        ("time,mag,band", "50000.25", 2450000.75, [("time_system", "MJD")]),
        ("MJD,mag,band", "2450000.25", 2450000.25, [("time_system", "JD")]),
        ("Date,mag,band", "1995-10-10T12:00:00", 2450001.0, []),
        ("Date,mag,band", "1995-10-10", 2450000.5, [("time_precision", "1 d")]),
        ("JD,mag,band", "1995-10-10T12:00:00", 2450001.0, [("time_system", "CALENDAR")]),
        ("JD,mag,band", "2.4473e+06", 2447300.0, [("time_precision", "±50 d")]),
        ("JD,mag,band", "2447300", 2447300.0, []),
    ],
)
def test_what_is_decided_about_times_is_flagged(
    tmp_path: Path, names: str, first: str, jd: float, flags: list[tuple[str, str]]
) -> None:
    found = curve(tmp_path, f"{names}\n{first},12,V\n")
    assert found.measurements[0].jd == jd
    assert flagged(found) == flags


@pytest.mark.parametrize(
    ("names", "first", "expected"),
    [
        ("JD,mag", "50000.25", "AMBIGUOUS_TIME"),
        ("HJD,mag", "9000.25", "IMPLAUSIBLE_TIME"),
        ("MJD,mag", "9000000", "IMPLAUSIBLE_TIME"),
        ("days,mag", "12.5", "UNKNOWN_TIME"),
    ],
)
def test_times_that_cannot_be_known_wait_for_a_person(tmp_path: Path, names: str, first: str, expected: str) -> None:
    assert code(tmp_path, f"{names}\n{first},12\n") == ("QUARANTINED", expected)


@pytest.mark.parametrize("text", ["", "-", "--", "---", "nan", "NaN", "N/A", "null", "..."])
def test_there_are_many_ways_to_write_nothing(text: str) -> None:
    assert is_missing(text)


@pytest.mark.parametrize("text", ["99.99", "99.999", "999", "-99", "99.0", "-9.99", "9999"])
def test_nines_are_no_magnitude(text: str) -> None:
    assert is_missing_magnitude(text)
    assert not is_missing(text)


@pytest.mark.parametrize("text", ["9.99", "9", "19.9", "99.5", "9.0"])
def test_magnitudes_with_nines_in_them_are_magnitudes(text: str) -> None:
    assert not is_missing_magnitude(text)


@pytest.mark.parametrize(
    "text", ["inf", "1_000", "٣", "0x10", "1e999", "1.2.3", "--1", "1" * 100, "1e", "1,2,3", "1,234.5"]
)
def test_what_python_would_take_for_a_number_and_no_astronomer_writes_is_none(text: str) -> None:
    assert number(text) is None


def test_the_last_digit_tells_how_exactly_a_number_is_written() -> None:
    assert [last_digit(text) for text in ("2.4473e+06", "2447300", "12.50", "1.5d3")] == [100.0, 1.0, 0.01, 100.0]
