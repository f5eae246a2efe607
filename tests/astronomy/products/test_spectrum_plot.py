"""The picture of a spectrum: what is on it, read from the figure before it is saved."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from penstock.astronomy.judgement import Assumption
from penstock.astronomy.products.plots.flux_drawing import GAP, LINE
from penstock.astronomy.products.plots.spectrum_plot import plot_spectra, plot_spectrum, spectrum_figure
from penstock.astronomy.products.plots.uncertainty_band import percent
from penstock.astronomy.spectrum import Floats, Frame, Medium, Spectrum
from penstock.errors import InvalidValue
from tests.astronomy.products.given import a_spectrum


def drawn(spectrum: Spectrum, **options: Any) -> Figure:
    return spectrum_figure([spectrum], title="V1324 Sco", subtitle="made", **options)


def flux_line(axes: Axes) -> tuple[Floats, Floats]:
    line = next(line for line in axes.lines if line.get_label() == "flux")
    return np.asarray(line.get_xdata()), np.asarray(line.get_ydata())


def said(figure: Figure) -> str:
    return " | ".join(text.get_text() for text in figure.texts)


def legend_words(axes: Axes) -> list[str]:
    legend = axes.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def names(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_the_axes_say_what_they_are_in() -> None:
    axes = drawn(a_spectrum()).axes[0]
    assert axes.get_xlabel() == "Wavelength in air (Å), rest frame"
    assert axes.get_ylabel() == "Flux density (10⁻¹³ erg s⁻¹ cm⁻² Å⁻¹)"
    axes = drawn(
        a_spectrum(medium=Medium.UNKNOWN, frame=Frame.UNKNOWN, flux_unit="", flux=np.linspace(1, 2, 900))
    ).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Wavelength (Å)", "Relative flux (no unit)")


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        ("Jy", "Flux density (10⁻¹³ Jy)"),
        ("adu", "Signal (10⁻¹³ adu)"),
        ("10**-17 erg Angstrom-1 s-1 cm-2", "Flux density (10⁻³⁰ erg s⁻¹ cm⁻² Å⁻¹)"),
        ("furlong", "Flux (10⁻¹³ furlong)"),
        ("", "Relative flux (10⁻¹³, no unit)"),
        ("ct s-1", "Signal (10⁻¹³ counts s⁻¹)"),
    ],
)
def test_every_unit_is_told_in_signs(unit: str, words: str) -> None:
    assert drawn(a_spectrum(flux_unit=unit)).axes[0].get_ylabel() == words


def test_the_line_has_the_values_divided_by_the_power_of_ten_that_the_axis_tells() -> None:
    spectrum = a_spectrum()
    places, values = flux_line(drawn(spectrum).axes[0])
    assert np.array_equal(places, spectrum.wavelength)
    assert np.allclose(values, spectrum.flux / 1e-13, rtol=1e-12)


@pytest.mark.parametrize("known", [True, False])
def test_there_is_a_band_of_errors_exactly_if_there_are_errors(known: bool) -> None:
    spectrum = a_spectrum(error=known, uncertainty=np.full(900, 6e-15) if known else None)
    axes = drawn(spectrum).axes[0]
    bands = [one for one in axes.collections if isinstance(one, PolyCollection)]
    assert legend_words(axes) == (["±1σ, typically 6 %", "flux"] if known else [])
    assert len(bands) == int(known)
    if known:
        edges = np.asarray(bands[0].get_paths()[0].vertices)
        width = np.ptp(edges[np.isclose(edges[:, 0], spectrum.wavelength[450])][:, 1])
        assert width == pytest.approx(0.12, rel=1e-6)  # twice 6e-15, in units of 1e-13


def test_a_band_that_is_thinner_than_the_line_is_told_and_not_promised() -> None:
    figure = drawn(a_spectrum(uncertainty=np.full(900, 4e-16)))
    assert legend_words(figure.axes[0]) == []
    assert not [one for one in figure.axes[0].collections if isinstance(one, PolyCollection)]
    assert "±1σ is thinner than the line: typically 0.4 % of the flux" in said(figure)


def test_beside_a_tall_line_the_part_of_a_flux_near_zero_is_not_told() -> None:
    flux = np.full(900, 1e-15)
    flux[440:460] = 1e-12
    words = said(drawn(a_spectrum(uncertainty=np.full(900, 4e-16), flux=flux)))
    assert "±1σ is thinner than the line" in words
    assert "of the flux" not in words


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (0.0009, "0.09 %"),
        (0.004, "0.4 %"),
        (0.0432, "4.3 %"),
        (0.0999, "10 %"),
        (0.384, "38 %"),
        (99.0, "more than 1000 %"),
    ],
)
def test_errors_are_told_in_two_digits(part: float, words: str) -> None:
    assert percent(part) == words


def test_what_is_said_under_the_title_ends_where_the_legend_begins() -> None:
    figure = spectrum_figure([a_spectrum(uncertainty=np.full(900, 6e-15))], title="t", subtitle="words " * 60)
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert figure.texts[1].get_window_extent().x1 < legend.get_window_extent().x0
    assert legend.get_window_extent().y0 >= figure.axes[0].get_window_extent().y1


def test_no_line_leads_across_a_gap() -> None:
    flux = a_spectrum().flux.copy()
    flux[300:400] = np.nan
    figure = drawn(a_spectrum(flux=flux))
    places, values = flux_line(figure.axes[0])
    assert np.isnan(values[(places > 5010) & (places < 5330)]).all()
    shaded = [
        patch for patch in figure.axes[0].patches if patch.get_facecolor()[:3] == pytest.approx((0.925,) * 3, abs=0.01)
    ]
    assert GAP == "#ececec"
    assert len(shaded) == 1
    assert "grey: no data" in said(figure)


def test_no_line_leads_over_wavelengths_that_are_not_there() -> None:
    whole = a_spectrum()
    keep = (whole.wavelength < 5000) | (whole.wavelength > 5400)
    figure = drawn(a_spectrum(wavelength=whole.wavelength[keep], flux=whole.flux[keep], uncertainty=None))
    places, values = flux_line(figure.axes[0])
    between = (places > 5000) & (places < 5400)
    assert between.sum() == 1
    assert np.isnan(values[between]).all()


def test_sparse_points_are_joined() -> None:
    wavelength = np.linspace(4000.0, 7000.0, 12)
    figure = drawn(a_spectrum(wavelength=wavelength, flux=np.arange(1.0, 13), uncertainty=None))
    assert np.isfinite(flux_line(figure.axes[0])[1]).all()
    assert "grey" not in said(figure)


def test_one_value_alone_gets_a_dot() -> None:
    flux = a_spectrum().flux.copy()
    flux[300:400] = np.nan
    flux[350] = 1e-13
    axes = drawn(a_spectrum(flux=flux)).axes[0]
    dots = [line for line in axes.lines if line.get_marker() == "." and line.get_color() == LINE]
    assert [np.asarray(line.get_xdata()).tolist() for line in dots] == [[a_spectrum().wavelength[350]]]


def test_a_cosmic_ray_does_not_set_the_range_and_a_real_line_does() -> None:
    flux = a_spectrum().flux.copy()
    flux[100], flux[500] = 1e-10, -1e-10
    figure = drawn(a_spectrum(flux=flux))
    low, high = figure.axes[0].get_ylim()
    assert 5 < high < 6  # Hα has five times the continuum
    assert -1 < low <= 0
    assert "2 of 900 points lie beyond the range shown (red arrows)" in said(figure)


def test_noise_at_the_end_of_a_detector_does_not_set_the_range() -> None:
    chance = np.random.default_rng(0)
    flux = a_spectrum().flux.copy()
    flux[:80] += 5e-12 * chance.standard_normal(80)
    assert drawn(a_spectrum(flux=flux)).axes[0].get_ylim()[1] < 20


def test_a_narrow_spike_of_many_fine_pixels_does_not_set_the_range() -> None:
    wavelength = np.arange(4000.0, 4400.0, 0.01)
    flux = 1 + 0.01 * np.random.default_rng(0).standard_normal(wavelength.size)
    flux[20_000:20_012] = 500.0
    spectrum = a_spectrum(wavelength=wavelength, flux=flux, uncertainty=None, frame=Frame.UNKNOWN)
    assert drawn(spectrum).axes[0].get_ylim()[1] < 2


def test_what_was_assumed_is_written_below() -> None:
    made = (Assumption("wavelength_unit", "Angstrom", "the file gives no unit"),)
    assert "wavelengths taken as in Ångström: the file gives no unit" in said(drawn(a_spectrum(assumptions=made)))


def test_very_many_assumptions_stay_on_the_picture() -> None:
    made = tuple(Assumption(f"thing_{n}", "value" * 20, "reason " * 20) for n in range(50))
    figure = drawn(a_spectrum(assumptions=made))
    figure.draw_without_rendering()
    notes = [text for text in figure.texts if "thing" in text.get_text() or "reason" in text.get_text()]
    assert 1 <= len(notes) <= 4
    assert notes[-1].get_text().endswith("…")
    label = figure.axes[0].xaxis.label.get_window_extent()
    for text in notes:
        box = text.get_window_extent()
        assert box.x1 <= 1200
        assert box.y0 >= 8
        assert box.y1 <= label.y0 - 5


def test_frames_have_the_room_that_the_notes_leave() -> None:
    made = tuple(Assumption(f"thing_{n}", "value" * 20, "reason " * 20) for n in range(50))
    without, with_many = (drawn(a_spectrum(assumptions=some, error=False)).axes[0] for some in ((), made))
    tops = [axes.get_window_extent().y1 for axes in (without, with_many)]
    assert tops[0] == tops[1]
    assert with_many.get_window_extent().y0 - without.get_window_extent().y0 == pytest.approx(4 * 16 + 6)


def test_a_long_title_is_cut_at_the_edge_and_no_formula_begins_in_it() -> None:
    figure = spectrum_figure([a_spectrum()], title=r"$\frac{ W" * 60, subtitle="日本語 \x07 s" * 60)
    for text in figure.texts[:2]:
        assert text.get_window_extent().x1 <= 1200
        assert text.get_text().endswith("…")
    assert figure.texts[1].get_text().startswith("□□□")


@pytest.mark.parametrize(
    "flux",
    [
        np.full(900, np.nan),
        np.full(900, np.inf),
        np.zeros(900),
        np.full(900, -3e-17),
        np.full(900, 1.7e308),
        np.full(900, 5e-324),
        np.where(np.arange(900) % 2, 1.7e308, -1.7e308),
    ],
)
def test_any_flux_makes_a_picture(tmp_path: Path, flux: Floats) -> None:
    plot_spectrum(a_spectrum(flux=flux, uncertainty=np.abs(flux)), tmp_path / "a.png", title="any")
    assert (tmp_path / "a.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("points", [0, 1, 2, 3, 9])
def test_few_points_make_a_picture(tmp_path: Path, points: int) -> None:
    plot_spectrum(a_spectrum(points=points), tmp_path / "a.png", title="few")
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_a_wide_and_steep_spectrum_has_logarithmic_axes() -> None:
    wavelength = np.geomspace(1100.0, 30_000.0, 800)
    figure = drawn(a_spectrum(wavelength=wavelength, flux=1e-3 * wavelength**-3.5, uncertainty=None))
    axes = figure.axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [label.get_text() for label in axes.get_yticklabels()][:2] == ["10⁻¹⁸", "10⁻¹⁷"]
    assert axes.get_ylabel() == "Flux density (erg s⁻¹ cm⁻² Å⁻¹), logarithmic"
    assert axes.get_xlabel() == "Wavelength in air (Å), rest frame, logarithmic"
    named = [label.get_text() for label in axes.get_xticklabels()]
    assert {"1200", "1500", "2000", "3000", "5000", "10000", "20000", "30000"} <= {*named}
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert all(left.x1 + 3 < right.x0 for left, right in pairwise(boxes))
    assert len(axes.get_xticks(minor=True)) > 20


def test_several_spectra_stand_in_panels_with_their_labels(tmp_path: Path) -> None:
    spectra = [a_spectrum(label=f"aperture {n}") for n in range(1, 7)]
    figure = spectrum_figure(spectra, title="t", subtitle="")
    assert len(figure.axes) == 4
    for number, axes in enumerate(figure.axes, 1):
        assert names(axes) == [f"aperture {number} · Flux density (10⁻¹³ erg s⁻¹ cm⁻² Å⁻¹)"]
    assert "4 of 6 spectra are shown" in said(figure)
    plot_spectra(spectra, tmp_path / "a.png", title="t")
    assert (tmp_path / "a.png").exists()


def test_orders_of_an_echelle_keep_their_own_wavelengths() -> None:
    orders = [a_spectrum(wavelength=np.linspace(start, start + 100, 900)) for start in (4000.0, 5000.0)]
    figure = spectrum_figure(orders, title="t", subtitle="")
    assert [axes.get_xlim() for axes in figure.axes] == [(4000, 4100), (5000, 5100)]


def test_no_spectrum_at_all_is_refused() -> None:
    with pytest.raises(InvalidValue, match="at least one"):
        spectrum_figure([], title="t", subtitle="")


def test_noise_at_the_ends_does_not_set_the_scale_and_a_line_there_does() -> None:
    wavelength = np.linspace(3200.0, 9200.0, 2000)
    random = np.random.default_rng(4)
    flux = 1 + 0.02 * random.standard_normal(2000)
    flux[:120] += 40 * random.standard_normal(120)
    noisy = spectrum_figure([a_spectrum(wavelength=wavelength, flux=flux, uncertainty=None)], title="a").axes[0]
    assert noisy.get_ylim()[1] < 3
    flux = 1 + 0.02 * random.standard_normal(2000) + 30 * np.exp(-(((wavelength - 3300.0) / 12) ** 2))
    lined = spectrum_figure([a_spectrum(wavelength=wavelength, flux=flux, uncertainty=None)], title="a").axes[0]
    assert lined.get_ylim()[1] > 30


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        ("erg s-1 cm-2", "Flux ("),
        ("erg Angstrom-1 s-1 cm-2", "Flux density ("),
        ("mJy", "Flux density ("),
        ("W m-2", "Flux ("),
        ("count s-1", "Signal ("),
    ],
)
def test_the_axis_is_called_what_its_unit_is_one_of(unit: str, words: str) -> None:
    assert spectrum_figure([a_spectrum(flux_unit=unit)], title="a").axes[0].get_ylabel().startswith(words)


def test_points_that_the_file_flags_as_bad_are_gaps() -> None:
    bad = np.zeros(900, dtype=bool)
    bad[100:150] = True
    figure = spectrum_figure([a_spectrum(bad=bad, quality=bad.astype(np.int64))], title="a")
    [line] = [one for one in figure.axes[0].lines if one.get_label() == "flux"]
    assert np.isnan(np.asarray(line.get_ydata())[100:150]).all()
    assert "50 of 900 points are gaps: the file flags them as bad" in " ".join(text.get_text() for text in figure.texts)
