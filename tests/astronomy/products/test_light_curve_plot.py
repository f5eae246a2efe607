"""The picture of a light curve: what is on it, read from the figure before it is saved."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from penstock.astronomy.judgement import Assumption
from penstock.astronomy.light_curve import LightCurve, Measurement, UnreadRow
from penstock.astronomy.products.plots.band_marks import band_marks
from penstock.astronomy.products.plots.calendar_axis import calendar_day, calendar_ticks, julian_date
from penstock.astronomy.products.plots.edge_arrows import COLOUR as ARROW
from penstock.astronomy.products.plots.light_curve_plot import light_curve_figure, plot_light_curve
from penstock.astronomy.products.plots.thinning import DRAWN_POINTS
from tests.astronomy.products.given import a_light_curve


def drawn(curve: LightCurve) -> Figure:
    return light_curve_figure(curve, title="V1324 Sco", subtitle="made")


def points(axes: Axes, marker: str | None = None) -> list[Line2D]:
    return [line for line in axes.lines if len(np.atleast_1d(line.get_xdata())) and marker in (None, line.get_marker())]


def said(figure: Figure) -> str:
    return " | ".join(text.get_text() for text in figure.texts)


def legend_words(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_magnitudes_grow_downwards_and_fluxes_upwards() -> None:
    bottom, top = drawn(a_light_curve()).axes[0].get_ylim()
    assert bottom > top
    flux = LightCurve(tuple(Measurement(2456000.0 + n, 1.0 + n, "Jy", None, "5 GHz", n) for n in range(5)))
    axes = drawn(flux).axes[0]
    assert axes.get_ylim()[0] < axes.get_ylim()[1]
    assert axes.get_ylabel() == "Flux density (Jy)"


def test_the_axes_say_what_they_are_in() -> None:
    figure = drawn(a_light_curve(time_system="HJD"))
    below, above = figure.axes
    assert below.get_xlabel() == "HJD − 2\u2009400\u2009000 (days)"
    assert below.get_ylabel() == "Magnitude (mag)"
    assert above.get_xlabel() == "Calendar date (UT)"
    low, high = below.get_xlim()
    assert low < 56000 - 12
    assert high > 56119


def test_the_calendar_above_agrees_with_the_days_below() -> None:
    below, above = drawn(a_light_curve()).axes
    assert [end + 2_400_000 for end in below.get_xlim()] == pytest.approx(above.get_xlim())
    ticks = dict(zip((text.get_text() for text in above.get_xticklabels()), above.get_xticks(), strict=True))
    assert ticks["2012-05"] == 2456048.5
    assert julian_date(date(2012, 5, 1)) == 2456048.5


def test_upper_limits_are_open_triangles_that_point_down() -> None:
    curve = a_light_curve(limits=6)
    figure = drawn(curve)
    triangles = points(figure.axes[0], "v")
    assert [len(np.atleast_1d(line.get_xdata())) for line in triangles] == [6]
    assert triangles[0].get_markerfacecolor() == "none"
    assert "hollow: upper limit,\nin its band's colour" in legend_words(figure)
    assert "V  40 + 6 limits" in legend_words(figure)
    assert points(drawn(a_light_curve(limits=0)).axes[0], "v") == []
    assert "upper limit" not in " ".join(legend_words(drawn(a_light_curve(limits=0))))


def test_each_band_has_a_colour_and_a_sign_of_its_own_and_a_line_in_the_legend() -> None:
    figure = drawn(a_light_curve(limits=0))
    looks = {line.get_label(): (line.get_color(), line.get_marker()) for line in points(figure.axes[0])}
    assert looks.keys() == {"B", "V", "R"}
    assert len({colour for colour, _ in looks.values()}) == len({sign for _, sign in looks.values()}) == 3
    assert legend_words(figure) == ["B  40", "V  40", "R  40", "±1σ, typically\n0.05 mag"]


def test_the_legend_stands_outside_of_the_data() -> None:
    figure = drawn(a_light_curve())
    assert figure.legends[0].get_window_extent().x0 >= figure.axes[0].get_window_extent().x1
    assert figure.legends[0].get_window_extent().x1 <= 1200


def test_forty_bands_look_different_and_the_legend_does_not_grow_out_of_the_picture() -> None:
    marks = band_marks(f"filter {n}" for n in range(40))
    assert len(set(marks.values())) == 40
    curve = LightCurve(
        tuple(Measurement(2456000.0 + n, 9.0, "mag", None, f"filter {n % 40} of long names", n) for n in range(80))
    )
    figure = drawn(curve)
    assert "… 22 more" in legend_words(figure)
    assert figure.legends[0].get_window_extent().y0 > 0


def test_errors_are_drawn_where_they_are_known() -> None:
    figure = drawn(a_light_curve())
    bars = [one for one in figure.axes[0].collections if isinstance(one, LineCollection)]
    lengths = [np.ptp(np.asarray(path.vertices)[:, 1]) for one in bars for path in one.get_paths()]
    assert len(lengths) == 120
    assert lengths == pytest.approx([0.1] * 120)
    unknown = LightCurve(tuple(Measurement(2456000.0 + n, 9.0, "mag", None, "V", n) for n in range(5)))
    assert list(drawn(unknown).axes[0].collections) == []


def test_many_points_are_thinned_and_the_picture_says_so() -> None:
    chance = np.random.default_rng(1)
    curve = LightCurve(
        tuple(
            Measurement(
                2456000.0 + n / 100, 9 + float(chance.normal()), "mag", 0.1, "BV"[n % 2], n, upper_limit=n % 100 == 0
            )
            for n in range(30_000)
        )
    )
    figure = drawn(curve)
    seen = [line for line in points(figure.axes[0]) if line.get_marker() != "v"]
    count = sum(len(np.atleast_1d(line.get_xdata())) for line in seen)
    assert count <= DRAWN_POINTS
    assert count > 10_000
    assert f"{count:,} of 29,700 points are drawn" in said(figure)
    assert "are drawn" not in said(drawn(a_light_curve()))


def test_thinning_loses_no_band_and_no_extreme() -> None:
    crowd = [Measurement(2456000.0 + n / 1000, 9.0 + n % 7 / 100, "mag", None, "V", n) for n in range(40_000)]
    rare = [Measurement(2456010.0, 9.03, "mag", None, "U", 1), Measurement(2456020.0, 8.7, "mag", None, "V", 2)]
    axes = drawn(LightCurve(tuple(crowd + rare))).axes[0]
    values = {line.get_label(): np.atleast_1d(line.get_ydata()) for line in points(axes)}
    assert list(values["U"]) == [9.03]
    assert values["V"].min() == 8.7


def test_a_value_far_from_all_others_does_not_set_the_range() -> None:
    curve = a_light_curve()
    odd = Measurement(2456050.0, 99.99, "mag", None, "V", 1)
    figure = drawn(LightCurve((*curve.measurements, odd)))
    assert figure.axes[0].get_ylim()[0] < 20
    assert "1 point lies beyond the range shown" in said(figure)


def test_a_long_tail_leaves_the_outburst_a_frame_of_its_own() -> None:
    outburst = [Measurement(2456000.0 + n / 2, 8 + n / 40, "mag", None, "V", n) for n in range(100)]
    tail = [Measurement(2456500.0 + 30 * n, 16.0, "mag", None, "V", n, upper_limit=True) for n in range(60)]
    figure = drawn(LightCurve(tuple(outburst + tail)))
    left, _, right, _ = figure.axes
    assert left.get_xlim()[1] - left.get_xlim()[0] < 100
    assert right.get_xlim()[1] > 58_200
    assert left.get_ylim() == right.get_ylim()
    assert left.get_window_extent().x1 < right.get_window_extent().x0


def test_three_units_have_three_frames_and_others_are_named_below() -> None:
    values = [("mag", 12), ("Jy", 8), ("adu", 4), ("W m-2", 2)]
    every = [Measurement(2456000.0 + n, 9.0 + n, unit, None, "V", n) for unit, count in values for n in range(count)]
    figure = drawn(LightCurve(tuple(every)))
    assert [axes.get_ylabel() for axes in figure.axes if axes.get_ylabel()] == [
        "Magnitude (mag)", "Flux density (Jy)", "Signal (adu)",
    ]  # fmt: skip
    assert "not shown: values in W m-2" in said(figure)


def test_what_was_assumed_and_not_read_is_written_below() -> None:
    made = (Assumption("time_system", "JD", "the table does not say"),)
    figure = drawn(a_light_curve(assumptions=made, unread=(UnreadRow(3, "x", "no number"),) * 3))
    assert "times taken as JD: the table does not say" in said(figure)
    assert "3 rows of the table could not be read and are not shown (reason: no number)" in said(figure)
    mixed = (UnreadRow(3, "x", "no number"),) * 3 + (UnreadRow(9, "y", "no date"),)
    assert "4 rows of the table could not be read and are not shown (most often: no number)" in said(
        drawn(a_light_curve(unread=mixed))
    )


def crowded_limits(count: int) -> LightCurve:
    """A nova that was seen for forty nights, and then not seen on very many."""
    seen = [Measurement(2456000.0 + n, 8 + n / 10, "mag", None, "Vis.", n) for n in range(40)]
    chance = np.random.default_rng(2)
    times, heights = 2456050 + 900 * chance.random(count), chance.choice([12.8, 13.2], count)
    every = zip(times.tolist(), heights.tolist(), strict=True)
    return LightCurve((*seen, *(Measurement(t, h, "mag", None, "Vis.", 1, upper_limit=True) for t, h in every)))


def test_limits_that_crowd_are_thinned_light_and_behind() -> None:
    figure = drawn(crowded_limits(1639))
    frame = figure.axes[-2]
    [limits] = points(frame, "v")
    [seen] = [line for line in points(frame) if line.get_label() == "Vis."]
    pixels = np.sort(frame.transData.transform(np.asarray(limits.get_xydata())), axis=0)
    assert pixels.shape[0] < 2 * 880 / 7
    assert np.ptp(np.asarray(limits.get_xdata())) > 850
    assert limits.get_markersize() < seen.get_markersize()
    assert (limits.get_alpha() or 1) < 0.7
    assert limits.get_markeredgewidth() < 1
    assert limits.get_zorder() < seen.get_zorder()
    assert "Vis.  40 + 1,639 limits\n(by eye)" in legend_words(figure)
    assert f"{pixels.shape[0]:,} of 1,639 limits are drawn; the others lie among them" in said(figure)


def test_few_limits_are_all_drawn() -> None:
    assert sum(len(np.atleast_1d(line.get_xdata())) for line in points(drawn(crowded_limits(5)).axes[-2], "v")) == 5


def test_the_legend_names_bands_in_order_of_wavelength_and_says_what_they_are() -> None:
    bands = ["Ic", "K", "CR", "Vis.", "U", "5 GHz", "my own", "Rc", "B", "V", "22 GHz", "0.5 keV"]
    curve = LightCurve(tuple(Measurement(2456000.0 + n, 9.0, "mag", None, band, n) for n, band in enumerate(bands)))
    shortened = [words.split("  ")[0] for words in legend_words(drawn(curve))]
    assert shortened == ["0.5 keV", "U", "B", "V", "Vis.", "Rc", "CR", "Ic", "K", "22 GHz", "5 GHz", "my own"]
    two = LightCurve(tuple(Measurement(2456000.0 + n, 9.0, "mag", None, "CR", n) for n in range(2)))
    figure = drawn(two)
    assert [words.replace("\n", " ") for words in legend_words(figure)] == ["CR  2 (unfiltered, red zero point)"]
    assert figure.legends[0].get_window_extent().x1 <= 1200


def test_a_band_of_few_points_lies_on_top_of_one_with_many() -> None:
    many = [Measurement(2456000.0 + n / 10, 9.0, "mag", None, "V", n) for n in range(300)]
    few = [Measurement(2456010.0, 9.0, "mag", None, band, 1) for band in ("B", "Rc")]
    above = {line.get_label(): line for line in points(drawn(LightCurve((*many, *few))).axes[-2])}
    assert above["V"].get_zorder() < min(above["B"].get_zorder(), above["Rc"].get_zorder())
    assert above["V"].get_markersize() < 1.5 * above["Rc"].get_markersize()


def test_red_and_infrared_look_different() -> None:
    marks = band_marks(["Rc", "Ic"])
    red, infrared = (np.array(to_rgb(marks[band].colour)) for band in ("Rc", "Ic"))
    assert np.abs(red - infrared).max() > 0.4
    assert marks["Rc"].sign != marks["Ic"].sign


def test_arrows_that_would_touch_are_one() -> None:
    curve = a_light_curve()
    odd = [Measurement(2456050.0 + n / 50, 99.99, "mag", None, "V", 1) for n in range(2)]
    figure = drawn(LightCurve((*curve.measurements, *odd)))
    assert len([line for line in figure.axes[0].lines if line.get_color() == ARROW]) == 1


@pytest.mark.parametrize("jd", [0.0, 12.5, -3.0, 1e300, 2456000.5, 5_000_000.0, float("nan")])
def test_any_time_makes_a_picture(tmp_path: Path, jd: float) -> None:
    curve = LightCurve(
        (Measurement(jd, 9.0, "mag", 0.1, "V", 1), Measurement(jd + 1, float("nan"), "mag", None, "", 2))
    )
    plot_light_curve(curve, tmp_path / "a.png", title="any")
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_no_measurement_makes_an_empty_frame(tmp_path: Path) -> None:
    plot_light_curve(LightCurve(()), tmp_path / "a.png", title="none")
    assert (tmp_path / "a.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (2456000.0, 2456005.0, ["2012-03-14", "2012-03-15", "2012-03-16", "2012-03-17", "2012-03-18"]),
        (2456000.0, 2456200.0, ["2012-04", "2012-05", "2012-06", "2012-07", "2012-08", "2012-09"]),
        (2456000.0, 2458000.0, ["2013", "2014", "2015", "2016", "2017"]),
        (2400000.0, 2460000.0, ["1860", "1880", "1900", "1920", "1940", "1960", "1980", "2000", "2020"]),
        (0.0, 10.0, []),
        (5373484.0, 9e9, []),
    ],
)
def test_the_calendar_has_whole_days_months_or_years(low: float, high: float, expected: list[str]) -> None:
    found = [words for _, words in calendar_ticks(low, high, most=9)]
    assert found == expected


def test_days_of_the_calendar_begin_at_midnight() -> None:
    assert calendar_day(2451544.5) == date(2000, 1, 1)
    assert calendar_day(2451545.4999) == date(2000, 1, 1)
    assert calendar_day(2451545.5) == date(2000, 1, 2)
    assert calendar_day(2415020.5) == date(1900, 1, 1)


def test_a_band_for_each_point_is_drawn_as_a_few() -> None:
    points = tuple(Measurement(2450000.0 + at, 10 + at % 7, "mag", None, f"b{at}", at + 1) for at in range(3000))
    figure = light_curve_figure(LightCurve(points), title="T")
    assert sum(len(axes.lines) for axes in figure.axes) < 300


def test_cousins_bands_are_not_drawn_as_others_are() -> None:
    names = ["U", "B", "V", "R", "Rc", "I", "Ic", "J", "H", "K", "Vis.", "g'", "r'"]
    marks = band_marks(names)
    assert len({mark.colour for mark in marks.values()}) == len(names)
    assert len({(mark.colour, mark.sign) for mark in marks.values()}) == len(names)


def test_days_are_counted_from_the_first_point_or_the_discovery() -> None:
    def below(figure: Figure) -> list[str]:
        return [child.get_xlabel() for axes in figure.axes for child in axes.child_axes]

    assert below(light_curve_figure(a_light_curve(), title="a")) == ["Days since the first point (2012-03-13)"]
    told = light_curve_figure(a_light_curve(), title="a", began=2455998.5)
    assert below(told) == ["Days since discovery (2012-03-12)"]
    long_before = light_curve_figure(a_light_curve(), title="a", began=2411500.5)
    assert below(long_before) == ["Days since the first point (2012-03-13)"]


def test_bands_in_several_units_are_told_not_to_be_comparable() -> None:
    points = (Measurement(2456000.5, 9.0, "mag", None, "V", 1), Measurement(2456001.5, 9.0, "mag", None, "V", 2),
              Measurement(2456001.5, 9.0, "mJy", None, "5 GHz", 3))  # fmt: skip
    figure = light_curve_figure(LightCurve(points), title="a")
    assert {axes.get_ylabel() for axes in figure.axes if axes.get_ylabel()} == {"Magnitude (mag)", "Flux density (mJy)"}
    assert "their values are not comparable" in " ".join(text.get_text() for text in figure.texts)
