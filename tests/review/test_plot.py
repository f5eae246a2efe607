"""Curves for viewers: few points, none of the extremes lost, and numbers that JSON can say."""

from __future__ import annotations

import math
from dataclasses import replace

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.review.plot import MOST_POINTS, CurvePlot, PlotAxis, PlotSeries, kept_points

PLOT = CurvePlot("spectrum", "t", PlotAxis("x", "Å"), PlotAxis("y", "Jy"), ())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.none() | st.floats(-1e6, 1e6), min_size=1, max_size=400), st.integers(8, 60))
def test_thinning_keeps_both_ends_the_extremes_and_the_order(values: list[float | None], most: int) -> None:
    chosen = kept_points(values, most)
    assert chosen == sorted(set(chosen))
    assert len(chosen) <= max(most, 4)
    assert {chosen[0], chosen[-1]} == {0, len(values) - 1}
    known = [v for v in values if v is not None]
    if known:
        kept = [v for n in chosen if (v := values[n]) is not None]
        assert (min(kept), max(kept)) == (min(known), max(known))


def test_a_narrow_line_among_a_million_points_is_kept() -> None:
    count = 1_000_000
    flux = [1.0] * count
    flux[654_321] = 99.0
    series = PlotSeries("f", list(range(count)), flux, error=[0.1] * count)
    (thinned,) = replace(PLOT, series=(series,)).thinned().series
    assert len(thinned.x) <= MOST_POINTS
    assert thinned.total == count
    assert 99.0 in thinned.y
    assert thinned.x[list(thinned.y).index(99.0)] == 654_321
    assert thinned.error is not None
    assert len(thinned.error) == len(thinned.x) == len(thinned.y)


def test_many_series_share_the_points_there_are() -> None:
    long = PlotSeries("long", list(range(90_000)), [float(n % 7) for n in range(90_000)])
    short = [PlotSeries(f"s{n}", [0, 1, 2], [1.0, 5.0, 1.0], limit=[False, True, False]) for n in range(50)]
    thinned = replace(PLOT, series=(long, *short)).thinned()
    assert sum(len(each.x) for each in thinned.series) <= MOST_POINTS
    assert [each.limit for each in thinned.series[1:]] == [[False, True, False]] * 50


def test_what_is_not_known_is_null_and_a_date_keeps_its_seconds() -> None:
    series = PlotSeries("f", [2459000.51234, 2459000.51235], [math.nan, 12.3456789012345], [math.inf, None])
    told = msgspec.json.decode(msgspec.json.encode(replace(PLOT, series=(series,)).thinned().to_json()))
    (shown,) = told["series"]
    assert shown["x"] == [2459000.51234, 2459000.51235]
    assert shown["y"] == [None, 12.3456789012]
    assert shown["error"] == [None, None]
