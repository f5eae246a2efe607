"""What of a spectrum is shown, and how: dense ones, fluxes per other lengths, numbers that were never measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from penstock.astronomy.judgement import Assumption
from penstock.astronomy.products.plots import plot_canvas as canvas
from penstock.astronomy.products.plots.edge_arrows import COLOUR, merged
from penstock.astronomy.products.plots.flux_drawing import LINE, RANGE
from penstock.astronomy.products.plots.observation_words import spectrum_words
from penstock.astronomy.products.plots.pixel_columns import pixel_columns
from penstock.astronomy.products.plots.spectrum_plot import spectrum_figure
from penstock.astronomy.spectrum import Floats, Spectrum
from tests.astronomy.products.given import a_spectrum


def drawn(spectrum: Spectrum, **options: Any) -> Figure:
    return spectrum_figure([spectrum], title="V1324 Sco", **options)


def said(figure: Figure) -> str:
    return " | ".join(text.get_text() for text in figure.texts)


def dense(flux: Floats) -> Spectrum:
    return a_spectrum(wavelength=np.linspace(4000.0, 7000.0, flux.size), flux=flux, uncertainty=None)


def test_many_more_points_than_pixels_are_a_median_before_their_range() -> None:
    flux = 1 + 0.1 * np.random.default_rng(1).standard_normal(300_000)
    flux[150_000] = 1.7
    figure = drawn(dense(flux))
    axes = figure.axes[0]
    [line] = [one for one in axes.lines if one.get_label() == "flux (median)"]
    values = np.asarray(line.get_ydata())
    assert values.size == 1070
    assert np.abs(values - 1).max() < 0.04
    [behind] = [one for one in axes.collections if one.get_label() == "least to greatest"]
    edges = np.asarray(behind.get_paths()[0].vertices)[:, 1]
    assert edges.max() == 1.7
    assert edges.min() == flux.min()
    assert behind.get_zorder() < line.get_zorder()
    assert (line.get_color(), RANGE) == (LINE, "#a8c8e4")
    assert "about 280 points to a column of pixels: line, the median; light, the least to the greatest" in said(figure)


def test_a_few_points_to_a_pixel_are_a_line_through_all() -> None:
    figure = drawn(dense(1 + 0.1 * np.random.default_rng(1).standard_normal(3_000)))
    [line] = [one for one in figure.axes[0].lines if one.get_label() == "flux"]
    assert len(np.atleast_1d(line.get_xdata())) == 3_000
    assert "column of pixels" not in said(figure)


def test_gaps_of_dense_spectra_stay_gaps() -> None:
    flux = np.ones(100_000)
    flux[::2] = 1.1
    flux[40_000:50_000] = np.nan
    found = pixel_columns(np.linspace(0, 1, flux.size), flux, None, (0.0, 1.0), columns=100, log=False)
    assert np.isnan(found.median[40:50]).all()
    assert np.isnan(found.least[41:49]).all()
    assert np.isfinite(found.median[[0, 39, 50, 99]]).all()
    assert "grey: no data" in said(drawn(dense(flux)))


def test_the_sparse_part_of_a_dense_spectrum_is_joined_and_its_jump_is_not() -> None:
    sparse = np.concatenate([np.linspace(4000, 5000, 100), np.linspace(6000, 7000, 8000)])
    figure = drawn(a_spectrum(wavelength=sparse, flux=1 + np.arange(sparse.size) % 2 / 9, uncertainty=None))
    [line] = [one for one in figure.axes[0].lines if one.get_label() == "flux (median)"]
    places, values = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    assert np.isfinite(values[places < 5000]).all()
    assert np.isnan(values[(places > 5010) & (places < 5990)]).all()
    assert ((places > 5010) & (places < 5990)).any()


def test_columns_have_the_median_of_an_even_and_of_an_odd_number() -> None:
    places = np.array([0.1, 0.2, 0.3, 1.1, 1.2, 1.3, 1.4])
    found = pixel_columns(places, np.array([3.0, 1, 2, 9, 1, 3, 5]), places, (0.0, 2.0), columns=2, log=False)
    assert found.median.tolist() == [2.0, 4.0]
    assert (found.least.tolist(), found.greatest.tolist()) == ([1.0, 1.0], [3.0, 9.0])
    assert found.error is not None
    assert found.error == pytest.approx([0.2, 1.25])


@pytest.mark.parametrize(
    ("unit", "length", "name"), [("erg nm-1 s-1 cm-2", 10.0, "nm"), ("10**-15 W um-1 m-2", 1e4, "µm")]
)
def test_flux_per_another_length_is_shown_per_angstrom(unit: str, length: float, name: str) -> None:
    spectrum = a_spectrum(flux=np.linspace(1, 2, 900), flux_unit=unit, uncertainty=np.full(900, 0.1))
    figure = drawn(spectrum)
    [line] = [one for one in figure.axes[0].lines if one.get_label() == "flux"]
    shown = np.asarray(line.get_ydata())
    assert shown / shown[0] == pytest.approx(spectrum.flux, rel=1e-12)
    assert "Å⁻¹" in figure.axes[0].get_ylabel()
    assert f"flux shown per Å; the file tells it per {name}" in said(figure)
    if length == 10:
        assert np.array_equal(shown, spectrum.flux / 10)
    assert spectrum.flux[0] == 1


def test_flux_per_angstrom_is_shown_as_it_is() -> None:
    assert "shown per" not in said(drawn(a_spectrum()))


def test_numbers_that_were_never_measured_are_gaps_and_counted() -> None:
    flux = a_spectrum().flux.copy()
    flux[:40] = flux[860:] = 0
    spectrum = a_spectrum(flux=flux)
    figure = drawn(spectrum)
    [line] = [one for one in figure.axes[0].lines if one.get_label() == "flux"]
    assert np.isnan(np.asarray(line.get_ydata())[[0, 39, 860, 899]]).all()
    assert "80 of 900 points are gaps: a flux of exactly 0 stands for nothing measured" in said(figure)
    assert "grey: no data" in said(figure)
    assert len(figure.axes[0].patches) == 2
    assert spectrum.flux[0] == 0


def test_values_of_large_errors_do_not_set_the_range() -> None:
    spectrum = a_spectrum()
    flux, error = spectrum.flux.copy(), np.full(900, 3e-15)
    flux[:30] += 8e-13 * np.abs(np.random.default_rng(0).standard_normal(30))
    error[:30] = 8e-13
    assert drawn(a_spectrum(flux=flux, uncertainty=error)).axes[0].get_ylim()[1] < 6


def test_a_bright_line_sets_the_range_though_its_errors_are_the_largest() -> None:
    spectrum = a_spectrum()
    error = np.full(900, 3e-16)
    error[spectrum.flux > 2e-13] = 9e-15
    assert drawn(a_spectrum(uncertainty=error)).axes[0].get_ylim()[1] > 5


@pytest.mark.parametrize("where", [(100, 103, 800), (100,), (*range(100, 200, 7), 400)])
def test_every_place_beyond_the_frame_has_an_arrow_and_none_touch(where: tuple[int, ...]) -> None:
    flux = a_spectrum().flux.copy()
    flux[list(where)] = 1e-10
    axes = drawn(a_spectrum(flux=flux)).axes[0]
    arrows = [one for one in axes.lines if one.get_color() == COLOUR and one.get_marker() == "^"]
    beyond = flux / 1e-13 > axes.get_ylim()[1]
    across = np.sort([float(np.asarray(one.get_xdata())[0]) * 1070 for one in arrows])
    assert len(arrows) == len(merged(1070 * np.flatnonzero(beyond) / 899, apart=12))
    assert (np.diff(across) >= 12).all()


def test_places_that_are_near_each_other_are_one_stretch() -> None:
    assert merged(np.array([0.0, 5, 16, 40, 41]), apart=12) == [(0, 16), (40, 41)]
    assert merged(np.array([]), apart=12) == []
    assert merged(np.array([np.nan, 3.0]), apart=12) == [(3, 3)]


def test_assumptions_are_told_in_plain_words() -> None:
    made = (
        Assumption("medium", "air", "files of eso_drs_s1d are told in it"),
        Assumption("frame", "barycentric", "a person said so"),
        Assumption("flux_unit", "", "the file tells none: the flux is taken to be relative"),
        Assumption("reference_pixel", "1", "CRPIX1 is not there"),
        Assumption("strange", "", "nobody knows"),
    )
    words = " ".join(text.get_text() for text in drawn(a_spectrum(assumptions=made)).texts)
    assert "wavelengths taken as in air, as this pipeline's files are" in words
    assert "wavelengths taken as barycentric, as a person said" in words
    assert "the file tells no unit of flux: shown as relative" in words
    assert "reference pixel taken as 1: CRPIX1 is not there" in words
    assert "strange: nobody knows" in words
    assert " = " not in words


def test_under_the_title_stands_what_is_known_of_the_observation() -> None:
    told = {
        "telescope": "WHT",
        "instrument": "ISIS",
        "observed_at": "2005-11-10T22:31:08.881Z",
        "exposure_seconds": 1800.01,
    }
    assert drawn(a_spectrum(metadata=told)).texts[1].get_text() == "WHT, ISIS · 2005-11-10 22:31 UT · 1,800 s"
    assert drawn(a_spectrum(metadata=told), subtitle="mine").texts[1].get_text() == "mine"
    assert spectrum_words(a_spectrum(metadata={"observed_at": "2007-10-07"})) == "2007-10-07 UT"
    assert spectrum_words(a_spectrum(metadata={"exposure_seconds": float("nan"), "telescope": 7})) == ""
    assert (
        spectrum_words(a_spectrum(metadata={"reference": "Williams (1992)"}, label="order 3"))
        == "Williams (1992) · order 3"
    )


def test_the_frame_begins_right_below_what_is_said_of_it() -> None:
    figure = drawn(a_spectrum())
    assert 700 - figure.axes[0].get_window_extent().y1 <= 80
    assert canvas.FONT_SIZES["title"] > 1.4 * canvas.FONT_SIZES["subtitle"]
