"""Positions, distances and cells of the sky."""

from __future__ import annotations

import math
import warnings

import pytest
from astropy import units
from astropy.coordinates import SkyCoord
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock.astronomy.judgement import FileFinding
from penstock.astronomy.sky_position import (
    MOST_CELLS,
    Position,
    SkyMatch,
    cells_around,
    match_of,
    position_of,
    separation,
    sky_cell,
)

RA = st.one_of(st.floats(0, 360, exclude_max=True), st.floats(0, 1e-3), st.floats(359.999, 360, exclude_max=True))
NEAR_A_POLE = st.builds(lambda sign, off: sign * (90 - off), st.sampled_from([-1, 1]), st.floats(0, 0.1))
ON_AN_EDGE = st.integers(0, 10_000).map(lambda band: min(90.0, band * 0.018 - 90))
DEC = st.one_of(st.floats(-90, 90), NEAR_A_POLE, ON_AN_EDGE)
PLACE = st.builds(Position, RA, DEC)
RADIUS = st.one_of(st.floats(0, 60), st.sampled_from([2.0, 10.0, 60.0]))


def moved(start: Position, arcseconds: float, direction: float) -> Position:
    """The position so far off in a direction, by vectors: another way than that of the code."""
    ra, dec, far = (math.radians(each) for each in (start.ra_degrees, start.dec_degrees, arcseconds / 3600))
    out = (math.cos(dec) * math.cos(ra), math.cos(dec) * math.sin(ra), math.sin(dec))
    north = (-math.sin(dec) * math.cos(ra), -math.sin(dec) * math.sin(ra), math.cos(dec))
    east = (-math.sin(ra), math.cos(ra), 0.0)
    aside = [math.cos(direction) * n + math.sin(direction) * e for n, e in zip(north, east, strict=True)]
    x, y, z = (math.cos(far) * o + math.sin(far) * a for o, a in zip(out, aside, strict=True))
    return Position(math.degrees(math.atan2(y, x)) % 360 % 360, math.degrees(math.atan2(z, math.hypot(x, y))))


@settings(max_examples=400, deadline=None)
@given(start=PLACE, radius=RADIUS, share=st.one_of(st.just(1.0), st.floats(0, 1)), direction=st.floats(0, 6.3))
@example(start=Position(0, 90), radius=60.0, share=1.0, direction=1.0)
@example(start=Position(0, -90), radius=60.0, share=0.5, direction=4.0)
@example(start=Position(0, 0), radius=60.0, share=1.0, direction=4.7)
@example(start=Position(359.9999999, 89.99), radius=60.0, share=1.0, direction=0.0)
def test_whatever_is_near_lies_in_one_of_a_few_cells(
    start: Position, radius: float, share: float, direction: float
) -> None:
    other = moved(start, radius * share, direction)
    cells = cells_around(start, arcseconds=radius)
    assert len(cells) == len(set(cells)) <= MOST_CELLS
    assert sky_cell(start) in cells
    if separation(start, other) <= radius:
        assert sky_cell(other) in cells


@settings(max_examples=300, deadline=None)
@given(start=PLACE, arcseconds=st.floats(0, 600_000), direction=st.floats(0, 6.3))
def test_a_distance_is_the_same_both_ways_and_what_astropy_finds(
    start: Position, arcseconds: float, direction: float
) -> None:
    other = moved(start, arcseconds, direction)
    here = SkyCoord(start.ra_degrees, start.dec_degrees, unit="deg")
    there = SkyCoord(other.ra_degrees, other.dec_degrees, unit="deg")
    found = separation(start, other)
    assert found == pytest.approx(here.separation(there).to_value(units.arcsec), abs=1e-8)
    assert found == pytest.approx(separation(other, start), abs=1e-8)


@given(place=PLACE)
def test_a_position_has_no_distance_from_itself(place: Position) -> None:
    assert separation(place, place) == 0


@pytest.mark.parametrize(
    ("one", "other", "arcseconds"),
    [
        (Position(10, 20), Position(10, 20 + 1 / 3.6e9), 1e-6),
        (Position(0, 0), Position(359 + 3599 / 3600, 0), 1.0),
        (Position(0, 90), Position(180, 90), 0.0),
        (Position(0, 90 - 1 / 3600), Position(180, 90 - 1 / 3600), 2.0),
        (Position(0, -90), Position(77, 90), 648_000.0),
        (Position(0, 0), Position(180, 0), 648_000.0),
        (Position(5, 60), Position(5 + 2 / 3600, 60), 1.0),
    ],
)
def test_distances_that_are_known(one: Position, other: Position, arcseconds: float) -> None:
    assert separation(one, other) == pytest.approx(arcseconds, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize(
    ("arcseconds", "match"),
    [
        (0.0, SkyMatch.SAME),
        (1.999999, SkyMatch.SAME),
        (2.0, SkyMatch.AMBIGUOUS),
        (10.0, SkyMatch.AMBIGUOUS),
        (10.000001, SkyMatch.NEW),
        (648_000.0, SkyMatch.NEW),
    ],
)
def test_nearer_than_2_is_the_same_further_than_10_is_new_and_between_a_person_decides(
    arcseconds: float, match: SkyMatch
) -> None:
    assert match_of(arcseconds) is match


@pytest.mark.parametrize("wrong", [-1.0, math.nan, 60.001])
def test_what_is_no_distance_or_too_far_to_search_is_an_error_of_who_asks(wrong: float) -> None:
    with pytest.raises(ValueError, match="is not between"):
        cells_around(Position(0, 0), arcseconds=wrong)
    if not wrong > 0:
        with pytest.raises(ValueError, match="is no distance"):
            match_of(wrong)


@pytest.mark.parametrize(
    ("ra", "dec"),
    [
        ("17 50 53.90", "-32 37 20.5"),
        ("17:50:53.90", "-32:37:20.5"),
        ("17h50m53.90s", "-32d37m20.5s"),
        ("17h 50m 53.90s", "−32° 37′ 20.5″"),
        ("267.72458333", "-32.62236111"),
        (267.72458333, -32.62236111),
    ],
)
def test_a_position_is_read_however_it_is_written(ra: str | float, dec: str | float) -> None:
    found = position_of(ra, dec)
    assert isinstance(found, Position)
    assert separation(found, Position(267.724583333, -32.622361111)) < 1e-4


@settings(max_examples=100, deadline=None)
@given(place=PLACE)
def test_what_astropy_writes_is_read_to_the_same_place(place: Position) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        there = SkyCoord(place.ra_degrees, place.dec_degrees, unit="deg")
        ra = there.ra.to_string(unit="hourangle", sep=":", precision=6, pad=True)
        dec = there.dec.to_string(unit="deg", sep=":", precision=6, pad=True, alwayssign=True)
    found = position_of(ra, dec)
    if not isinstance(found, FileFinding):
        assert separation(found, place) < 1e-4
    else:
        assert ":60.000000" in ra + dec or ra.startswith("24")


def test_a_declination_just_south_of_the_equator_keeps_its_sign() -> None:
    found = position_of("00 00 00", "-00 00 01")
    assert found == Position(0.0, -1 / 3600)


@pytest.mark.parametrize(
    ("ra", "dec"),
    [
        ("24 00 00", "0 0 0"),
        ("-1 00 00", "0 0 0"),
        ("17 60 00", "0 0 0"),
        ("17 50 60", "0 0 0"),
        ("17 50 53", "-90 00 00.1"),
        ("17 50 53", "91"),
        ("361", "0"),
        ("-0.1", "0"),
        ("", ""),
        ("nan", "0"),
        ("inf", "0"),
        (math.nan, 0.0),
        (True, 0.0),
        ("1" * 100, "0"),
        ("1e2", "0"),
        ("somewhere", "0"),
    ],
)
def test_what_is_no_position_is_told_so(ra: str | float, dec: str | float) -> None:
    found = position_of(ra, dec)
    assert isinstance(found, FileFinding)
    assert found.code == "BAD_POSITION"


def test_right_ascension_of_a_whole_turn_is_none_at_all() -> None:
    assert position_of("360", "0") == Position(0.0, 0.0)
    with pytest.raises(ValueError, match="no position"):
        Position(360, 0)


def test_cells_are_the_same_on_every_day() -> None:
    """Cells are kept in stores: a change of the scheme would lose what is there."""
    places = [Position(0, 90), Position(267.7245, -32.6223), Position(359.9999, 0), Position(0, -90)]
    assert [sky_cell(each) for each in places] == ["09999-00000", "03187-12525", "05000-19998", "00000-00000"]
