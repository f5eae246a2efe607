"""What a name, a unit or a ticket plainly says is never read as something else; and blank cells are no names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.astronomy.ticket import PhotometryTicket
from tests.astronomy.photometry.made import code, curve, judged

TICKET = PhotometryTicket(
    time_units="days", flux_units="mag", time_system="JD", time_column=0, flux_column=1, band="V", outburst="2451000.5"
)


def rows(row: Callable[[int], str], heading: str = "") -> str:
    return heading + "".join(f"{row(at)}\n" for at in range(10))


def dated(heading: str, *, first: int = 2451000) -> str:
    return rows(lambda at: f"{first + at},10.{at}", f"{heading}\n")


@pytest.mark.parametrize("heading", ["JD,mag", "JD,mag,band"])
def test_a_band_that_is_blank_is_no_name(tmp_path: Path, heading: str) -> None:
    width = heading.count(",") - 1
    found = judged(tmp_path, rows(lambda at: f"{2450000 + at},10.{at}" + "," * width, f"{heading}\n"))
    assert found.curve is not None
    assert {each.band for each in found.curve.measurements} == {"unknown"}
    assert "" not in found.curve.bands


def test_no_count_has_a_blank_name(tmp_path: Path) -> None:
    text = rows(lambda at: f"{2450000 + at},10.{at},V,{'Z' if at else ''},", "JD,mag,band,validation flag,magsys\n")
    found = judged(tmp_path, text)
    assert found.recognition["counts"]["validation"] == {"Z": 9, "not told": 1}
    assert found.curve is not None
    assert found.curve.source["filter_systems"] == {"not told": 10}


def test_an_uncertainty_in_thousandths_of_a_magnitude_is_one(tmp_path: Path) -> None:
    found = curve(tmp_path, rows(lambda at: f"{2451000 + at},10.{at},20", "JD,V,err (mmag)\n"))
    assert found.measurements[0].uncertainty == pytest.approx(0.02)
    found = curve(tmp_path, rows(lambda at: f"{2451000 + at},10.{at},20", "JD,V,e_V (mmag)\n"))
    assert found.measurements[0].uncertainty == pytest.approx(0.02)


@pytest.mark.parametrize("unit", ["%", "dB", "mJy", "counts"])
def test_an_uncertainty_in_a_unit_that_does_not_fit_waits(tmp_path: Path, unit: str) -> None:
    text = rows(lambda at: f"{2451000 + at},10.{at},20", f"JD,V,err ({unit})\n")
    assert code(tmp_path, text) == ("QUARANTINED", "UNKNOWN_UNIT")


@pytest.mark.parametrize("heading", ["time (s),V", "time (hours),V", "t [min],V", "JD (s),V", "date (local time),V"])
def test_times_that_are_no_dates_are_none(tmp_path: Path, heading: str) -> None:
    for first in (51000, 2451000):
        assert code(tmp_path, dated(heading, first=first)) == ("QUARANTINED", "UNKNOWN_TIME")
    text = rows(lambda at: f"1999-05-1{at} 10:00,10.{at}", f"{heading}\n")
    assert code(tmp_path, text) == ("QUARANTINED", "UNKNOWN_TIME")


@pytest.mark.parametrize("heading", ["time (d),V", "JD (days),V", "date (UT),V", "MJD (UTC),V"])
def test_times_that_are_dates_are_read(tmp_path: Path, heading: str) -> None:
    first = 51000 if heading.startswith("MJD") else 2451000
    assert len(curve(tmp_path, dated(heading, first=first)).measurements) == 10


@pytest.mark.parametrize("name", ["M_V", "M_B", "absolute mag", "M(V)"])
def test_an_absolute_magnitude_is_no_brightness(tmp_path: Path, name: str) -> None:
    verdict, _ = code(tmp_path, rows(lambda at: f"{2451000 + at},-8.{at}", f"JD,{name}\n"))
    assert verdict != "VALID"


def test_a_ticket_and_a_table_that_tell_two_bands_wait(tmp_path: Path) -> None:
    text = rows(lambda at: f"{2451000 + at},10.{at},11.{at}", "JD,V,B\n")
    assert len(curve(tmp_path, text, ticket=TICKET).measurements) == 10
    assert code(tmp_path, text, ticket=replace(TICKET, flux_column=2)) == ("QUARANTINED", "CONTRADICTION")


def test_a_ticket_and_a_table_that_tell_two_units_or_two_zeros_wait(tmp_path: Path) -> None:
    text = rows(lambda at: f"{2451000 + at},10.{at}", "JD,flux (Jy)\n")
    assert code(tmp_path, text, ticket=replace(TICKET, flux_units="mJy")) == ("QUARANTINED", "CONTRADICTION")
    text = rows(lambda at: f"{51000 + at},10.{at}", "JD-2400000,V\n")
    assert code(tmp_path, text, ticket=replace(TICKET, time_system="MJD")) == ("QUARANTINED", "CONTRADICTION")


@pytest.mark.parametrize(("unit", "days"), [("days", 1.0), ("hours", 1 / 24), ("weeks", 7.0)])
def test_times_since_an_outburst_are_read_in_their_unit(tmp_path: Path, unit: str, days: float) -> None:
    told = replace(TICKET, time_system="since outburst", time_units=unit)
    found = curve(tmp_path, rows(lambda at: f"{at},10.{at}"), ticket=told)
    assert found.measurements[2].jd == pytest.approx(2451000.5 + 2 * days)


@pytest.mark.parametrize(("system", "unit"), [("since outburst", "months"), ("MJD", "hours"), ("JD", "seconds")])
def test_a_unit_of_time_that_cannot_be_is_refused(tmp_path: Path, system: str, unit: str) -> None:
    told = replace(TICKET, time_system=system, time_units=unit)
    text = rows(lambda at: f"{51000 + at},10.{at}")
    assert code(tmp_path, text, ticket=told) == ("QUARANTINED", "UNKNOWN_UNIT")


def test_lines_without_end_are_counted_before_they_are_cut_out(tmp_path: Path) -> None:
    import gzip
    import tracemalloc

    packed = gzip.compress(b"JD,V\n" + b"12\n" * 3_000_000)
    tracemalloc.start()
    try:
        assert code(tmp_path, packed) == ("QUARANTINED", "TOO_LARGE")
        assert tracemalloc.get_traced_memory()[1] < 60_000_000
    finally:
        tracemalloc.stop()
