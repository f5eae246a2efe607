"""Real files, read plainly, make pictures and products."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from astropy.table import Table
from matplotlib.lines import Line2D

from penstock.astronomy.light_curve import LightCurve, Measurement
from penstock.astronomy.products.ecsv import write_light_curve_ecsv, write_spectrum_ecsv
from penstock.astronomy.products.plots.band_marks import band_marks
from penstock.astronomy.products.plots.band_order import in_order
from penstock.astronomy.products.plots.light_curve_plot import light_curve_figure
from penstock.astronomy.products.plots.spectrum_plot import spectrum_figure
from penstock.astronomy.spectrum import Frame, Medium, Spectrum
from tests.astronomy.products.given import FLUX, floats

NOVAE = Path(__file__).parents[4] / "shared" / "data" / "novae"

pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not NOVAE.is_dir(), reason="there is no folder of real files beside the repository"),
]


def real_spectrum(path: Path) -> Spectrum:
    table = np.loadtxt(path, delimiter=",")
    return Spectrum(table[:, 0], table[:, 1], FLUX, medium=Medium.AIR, frame=Frame.OBSERVED)


def test_every_nova_spectrum_is_shown_whole_and_written_exactly(tmp_path: Path) -> None:
    paths = sorted(NOVAE.glob("spectra_csv/*Spectra.csv"))
    assert paths
    for path in paths:
        spectrum = real_spectrum(path)
        axes = spectrum_figure([spectrum], title=path.stem, subtitle="").axes[0]
        low, high = axes.get_ylim()
        exponent = 10.0 ** (np.log10(spectrum.flux.max()) - np.log10(np.nanmax(np.asarray(axes.lines[0].get_ydata()))))
        inside = (spectrum.flux / exponent >= low) & (spectrum.flux / exponent <= high)
        assert inside.mean() > 0.97, path.name
        write_spectrum_ecsv(spectrum, tmp_path / "a.ecsv", provenance={})
        assert np.array_equal(floats(Table.read(tmp_path / "a.ecsv")["flux"]), spectrum.flux)


def test_every_export_of_observers_is_shown_with_its_limits(tmp_path: Path) -> None:
    paths = sorted(NOVAE.glob("photometry/*AAVSO.csv"))
    assert paths
    for path in paths:
        curve = real_light_curve(path)
        figure = light_curve_figure(curve, title=path.stem)
        limits = [line for line in figure.axes[-2].lines if line.get_markerfacecolor() == "none"]
        drawn = {band_of(line, curve) for line in limits if len(np.atleast_1d(line.get_xdata()))}
        assert drawn == {one.band for one in curve.measurements if one.upper_limit}, path.name
        write_light_curve_ecsv(curve, tmp_path / "a.ecsv", provenance={})
        assert len(Table.read(tmp_path / "a.ecsv")) == len(curve.measurements)


def band_of(limits: Line2D, curve: LightCurve) -> str:
    """The band whose limit stands where the first of these does."""
    jd, value = np.asarray(limits.get_xydata())[0]
    found = {
        one.band
        for one in curve.measurements
        if one.upper_limit and one.value == value and abs(one.jd - 2_400_000 - jd) < 1e-6
    }
    mark = limits.get_color()
    marks = band_marks(in_order({one.band for one in curve.measurements}))
    return next(band for band in found if marks[band].colour == mark)


def real_light_curve(path: Path) -> LightCurve:
    with path.open(newline="", errors="replace") as file:
        rows = [row for row in csv.reader(file) if len(row) == 25 and row[1]]
    return LightCurve(
        tuple(
            Measurement(float(row[0]), float(row[1]), "mag", None, row[5], n, upper_limit=row[2] == "1")
            for n, row in enumerate(rows, 1)
        )
    )
