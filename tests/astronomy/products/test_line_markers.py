"""Lines of novae above the picture of a spectrum: which are marked, where, and that no name touches another."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from penstock.astronomy.products.plots.line_evidence import evidence
from penstock.astronomy.products.plots.line_markers import moved_apart
from penstock.astronomy.products.plots.nova_lines import LINES, in_vacuum
from penstock.astronomy.products.plots.spectrum_plot import spectrum_figure
from penstock.astronomy.spectrum import Floats, Frame, Medium, Spectrum
from tests.astronomy.products.given import a_spectrum


def drawn(spectrum: Spectrum, **options: Any) -> Figure:
    return spectrum_figure([spectrum], title="V1324 Sco", subtitle="made", **options)


def names(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def said(figure: Figure) -> str:
    return " | ".join(text.get_text() for text in figure.texts)


def with_peaks(*places: float, points: int = 3000, depth: float = 0.8) -> Spectrum:
    """A noisy continuum with peaks at these wavelengths."""
    wavelength = np.linspace(3300.0, 9000.0, points)
    flux = 1 + 0.02 * np.random.default_rng(5).standard_normal(points)
    for place in places:
        flux += depth * np.exp(-(((wavelength - place) / 6) ** 2))
    return a_spectrum(wavelength=wavelength, flux=flux, uncertainty=None)


def test_lines_are_marked_only_if_it_is_said_to_be_a_nova() -> None:
    assert names(drawn(with_peaks(6562.8)).axes[0]) == []
    figure = drawn(with_peaks(6562.8), markers=True)
    assert "Hα 6563" in names(figure.axes[0])
    assert "not identifications" in said(figure)
    assert "within 1,200 km/s" in said(figure)


def test_only_lines_at_a_peak_or_a_dip_are_marked() -> None:
    assert {*names(drawn(with_peaks(6562.8, 4861.3), markers=True).axes[0])} == {"Hα 6563", "Hβ 4861"}
    assert names(drawn(with_peaks(6678.15, depth=-0.5), markers=True).axes[0]) == ["He I 6678"]
    nothing = drawn(with_peaks(), markers=True)
    assert names(nothing.axes[0]) == []
    assert "identifications" not in said(nothing)


def test_lines_of_the_hottest_gas_are_known() -> None:
    places = {
        3425.9: "[Ne V] 3426", 5302.9: "[Fe XIV] 5303", 5720.7: "[Fe VII] 5721", 6087.0: "[Fe VII] 6087",
        6374.5: "[Fe X] 6375", 5145.8: "[Fe VI] 5146", 7891.8: "[Fe XI] 7892", 5577.3: "sky [O I] 5577",
    }  # fmt: skip
    assert {*places.values()} <= {*names(drawn(with_peaks(*places), markers=True).axes[0])}


def test_one_bad_pixel_and_a_slope_are_no_line() -> None:
    wavelength = np.linspace(6000.0, 7000.0, 500)
    flux = 5 - wavelength / 2000 + 0.01 * np.random.default_rng(1).standard_normal(500)
    assert evidence(wavelength, flux, 6562.8) == 0
    flux[np.abs(wavelength - 6562.8).argmin()] = 50.0
    assert evidence(wavelength, flux, 6562.8) == 0


@pytest.mark.parametrize("flux", [np.full(500, np.nan), np.ones(500), np.zeros(500)])
def test_nothing_stands_out_where_nothing_is(flux: Floats) -> None:
    assert evidence(np.linspace(6000.0, 7000.0, 500), flux, 6562.8) == 0
    assert evidence(np.zeros(0), np.zeros(0), 6562.8) == 0


@pytest.mark.parametrize(
    ("frame", "redshift", "marked"),
    [
        (Frame.REST, 0.5, True),
        (Frame.UNKNOWN, None, True),
        (Frame.OBSERVED, 0.001, True),
        (Frame.OBSERVED, 0.5, False),
        (Frame.UNKNOWN, 0.5, False),
    ],
)
def test_no_lines_are_marked_where_a_redshift_has_moved_them(
    frame: Frame, redshift: float | None, marked: bool
) -> None:
    given = with_peaks(6562.8)
    metadata = {} if redshift is None else {"redshift": redshift}
    figure = drawn(a_spectrum(wavelength=given.wavelength, flux=given.flux, uncertainty=None, frame=frame,
                              metadata=metadata), markers=True)  # fmt: skip
    assert ("Hα 6563" in names(figure.axes[0])) is marked
    assert ("no lines are marked: a redshift of 0.5 is told" in said(figure)) is not marked


def test_markers_stand_where_the_medium_has_the_lines() -> None:
    for medium, expected, words in ((Medium.AIR, 6562.80, "Hα 6563"), (Medium.VACUUM, 6564.61, "Hα 6565")):
        axes = drawn(a_spectrum(medium=medium), markers=True).axes[0]
        marks = [line for line in axes.lines if line.get_linestyle() == ":"]
        places = [4000 + 3000 * float(np.asarray(line.get_xdata())[0]) for line in marks]
        assert min(abs(place - expected) for place in places) < 0.05
        assert words in names(axes)
    assert in_vacuum(1549.5) == 1549.5


def test_names_stand_above_the_frame_and_never_touch() -> None:
    every = with_peaks(*(line.wavelength for line in LINES if 3300 < line.wavelength < 9000), points=6000)
    figure = drawn(every, markers=True)
    texts = [text for text in figure.axes[0].texts if text.get_rotation() == 90]
    boxes = sorted((text.get_window_extent() for text in texts), key=lambda box: box.x0)
    assert len(boxes) > 25
    assert len({*names(figure.axes[0])}) == len(texts)
    assert all(left.x1 <= right.x0 + 0.5 for left, right in pairwise(boxes))
    frame = figure.axes[0].get_window_extent()
    header = min(text.get_window_extent().y0 for text in figure.texts[:2])
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)
    assert all(frame.y1 < box.y0 and box.y1 <= header for box in boxes)


def test_where_there_is_no_room_for_all_the_most_usual_lines_are_named() -> None:
    wavelength = np.linspace(1100.0, 25_000.0, 60_000)
    flux = 1 + 0.01 * np.random.default_rng(3).standard_normal(wavelength.size)
    for line in LINES:
        flux += np.exp(-(((wavelength - line.wavelength) / line.wavelength / 0.001) ** 2))
    found = {*names(drawn(a_spectrum(wavelength=wavelength, flux=flux, uncertainty=None), markers=True).axes[0])}
    assert {"Hα 6563", "Hβ 4861", "Brγ 21655", "He I 10830"} <= found
    assert "[Ca V] 5309" not in found
    assert len(found) < len(LINES)


def test_places_are_moved_apart_in_order_and_within_the_ends() -> None:
    moved = moved_apart([0, 1, 2, 50, 99, 100], low=0, high=100, apart=10)
    assert moved == sorted(moved)
    assert all(b - a >= 10 - 1e-9 for a, b in pairwise(moved))
    assert 0 <= moved[0] < moved[-1] <= 100
    assert moved[3] == 50
    assert moved_apart([], low=0, high=1, apart=10) == []
    assert len(moved_apart([5.0] * 50, low=0, high=100, apart=10)) == 50


def test_a_peak_between_two_lines_is_named_by_the_nearer_one() -> None:
    """[O I] 6364 and [Fe X] 6375 are both within the winds of a nova of a peak at 6377."""
    assert names(drawn(with_peaks(6377.0), markers=True).axes[0]) == ["[Fe X] 6375"]
    assert names(drawn(with_peaks(6364.5), markers=True).axes[0]) == ["[O I] 6364"]


def test_a_broad_hump_of_a_supernova_is_no_line() -> None:
    wavelength = np.linspace(3300.0, 9000.0, 3000)
    flux = 1 + 0.003 * np.random.default_rng(5).standard_normal(3000)
    for place in (3950.0, 4650.0, 5300.0, 5900.0, 7890.0):
        flux += 0.6 * np.exp(-(((wavelength - place) / (0.02 * place)) ** 2) / 2)
    assert names(drawn(a_spectrum(wavelength=wavelength, flux=flux, uncertainty=None), markers=True).axes[0]) == []


def test_an_array_of_errors_has_no_lines_and_says_what_it_is() -> None:
    given = with_peaks(6562.8)
    errors = a_spectrum(wavelength=given.wavelength, flux=given.flux, uncertainty=None,
                        metadata={"quantity": "uncertainty"})  # fmt: skip
    figure = drawn(errors, markers=True)
    assert names(figure.axes[0]) == []
    assert figure.axes[0].get_ylabel().startswith("Uncertainty of the flux density, 1σ (")
    assert "these are no fluxes" in said(figure)


def test_a_weak_peak_at_a_rare_line_is_not_named_by_a_usual_one_beside() -> None:
    """[Fe VII] 4942 is rare; a small peak there is not [O III] 4959 for that."""
    trials = [with_peaks(4942.5, depth=float(depth)) for depth in np.arange(0.06, 0.3, 0.005)]
    weak = [one for one in trials if 3.5 < evidence(one.wavelength, one.flux, 4942.5) < 6]
    assert weak
    assert [names(drawn(one, markers=True).axes[0]) for one in weak[:3]] == [[]] * len(weak[:3])
    assert "[Fe VII] 4942" in names(drawn(with_peaks(4942.5), markers=True).axes[0])
