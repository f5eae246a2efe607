"""One light curve out of several tables: no two time systems under one name, and every row with its source."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from astropy.table import Table

from penstock.astronomy.joined_curve import CurveMember, in_one_system, joined_curve
from penstock.astronomy.judgement import Assumption
from penstock.astronomy.light_curve import LightCurve, Measurement, UnreadRow
from penstock.astronomy.light_travel import in_common_system
from penstock.astronomy.products.ecsv import write_light_curve_ecsv
from penstock.astronomy.products.plots.light_curve_plot import light_curve_figure
from penstock.astronomy.sky_position import Position

PLACE = Position(166.1, -32.4)
ASSUMED = Assumption("time_system", "JD", "the source does not say")


def member(name: str, system: str, *times: float, observer: str | None = None) -> CurveMember:
    points = tuple(Measurement(jd, 9.0, "mag", None, "V", row, observer=observer) for row, jd in enumerate(times, 2))
    unread = (UnreadRow(9, "x", "no number"),)
    return CurveMember(name, LightCurve(points, unread, system, assumptions=(ASSUMED,)), {"provider": "here"})


def mixed() -> LightCurve:
    return joined_curve([member("one", "JD", 2455000.5, 2455002.5), member("two", "HJD", 2455001.5, observer="Munari")])


def test_several_time_systems_are_called_mixed_and_every_row_keeps_its_own(tmp_path: Path) -> None:
    curve = mixed()
    assert curve.time_system == "mixed: HJD, JD (differ by up to 8.3 min)"
    assert [(each.jd, each.time_system) for each in curve.measurements] == [
        (2455000.5, "JD"), (2455001.5, "HJD"), (2455002.5, "JD"),
    ]  # fmt: skip
    assert joined_curve([member("one", "HJD", 2455000.5)]).time_system == "HJD"
    write_light_curve_ecsv(curve, tmp_path / "a.ecsv", provenance={})
    table = Table.read(tmp_path / "a.ecsv", format="ascii.ecsv")
    assert list(table["time_system"]) == ["JD", "HJD", "JD"]
    assert "mixed: HJD, JD" in table["jd"].description
    words = light_curve_figure(curve, title="T Pyx", subtitle="").axes[0].get_xlabel()
    assert words.startswith("mixed: HJD, JD (differ by up to 8.3 min)")


def test_rows_have_their_dataset_beside_their_observer(tmp_path: Path) -> None:
    write_light_curve_ecsv(mixed(), tmp_path / "a.ecsv", provenance={})
    table = Table.read(tmp_path / "a.ecsv", format="ascii.ecsv")
    assert list(table["dataset_id"]) == ["one", "two", "one"]
    assert [str(each) if each is not np.ma.masked else "" for each in table["observer"]] == ["", "Munari", ""]
    assert list(table["row"]) == [2, 2, 3]


def test_assumptions_and_rows_not_read_come_along_with_their_dataset(tmp_path: Path) -> None:
    curve = mixed()
    assert [each.about for each in curve.assumptions] == ["time_system"]
    assert curve.assumptions[0].why == "the source does not say (dataset one, two)"
    write_light_curve_ecsv(curve, tmp_path / "a.ecsv", provenance={})
    notes = Table.read(tmp_path / "a.ecsv", format="ascii.ecsv").meta
    assert notes["rows_not_read"] == 2
    assert [each["dataset_id"] for each in notes["rows_not_read_first"]] == ["one", "two"]
    assert [(each["dataset_id"], each["rows"], each["rows_not_read"]) for each in notes["source"]["members"]] == [
        ("one", 2, 1), ("two", 1, 1),
    ]  # fmt: skip


def test_with_a_position_all_times_are_in_one_system_and_the_told_ones_stay(tmp_path: Path) -> None:
    curve = in_one_system(mixed(), PLACE)
    assert curve.time_system == "JD_UTC"
    assert {each.time_system for each in curve.measurements} == {"JD_UTC"}
    moved = next(each for each in curve.measurements if each.dataset == "two")
    assert (moved.told_jd, moved.told_time_system) == (2455001.5, "HJD")
    assert 0 < abs(moved.jd - 2455001.5) < 8.4 / 1440
    assert [each.value for each in curve.assumptions[:3]] == ["JD_UTC", "UTC", "UTC"]
    write_light_curve_ecsv(curve, tmp_path / "a.ecsv", provenance={})
    table = Table.read(tmp_path / "a.ecsv", format="ascii.ecsv")
    assert list(table["source_time_system"]) == ["JD", "HJD", "JD"]
    assert list(table["source_jd"]) == [2455000.5, 2455001.5, 2455002.5]
    assert in_one_system(mixed(), None) == mixed()


@pytest.mark.parametrize(("kind", "system"), [("heliocentric", "HJD_UTC"), ("barycentric", "BJD_TDB")])
def test_light_travel_is_that_of_astropy(kind: str, system: str) -> None:
    from astropy import units
    from astropy.coordinates import EarthLocation, SkyCoord
    from astropy.time import Time
    from astropy.utils.iers import conf

    told = np.array([2452000.25, 2455001.5, 2457100.75])
    with conf.set_temp("auto_download", False):
        here = Time(told, format="jd", scale="utc", location=EarthLocation.from_geocentric(0, 0, 0, unit=units.m))
        sky = SkyCoord(PLACE.ra_degrees * units.deg, PLACE.dec_degrees * units.deg)
        scale = here.tdb if system.endswith("TDB") else here
        there = (scale + here.light_travel_time(sky, kind)).jd
    found = in_common_system(np.asarray(there), system=system, position=PLACE)
    assert found is not None
    assert np.abs(found - told).max() * 86_400 < 0.01


def test_a_system_that_nobody_knows_is_not_converted() -> None:
    assert in_common_system(np.array([1.0]), system="stardate", position=PLACE) is None
