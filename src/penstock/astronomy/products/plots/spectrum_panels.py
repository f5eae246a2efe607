"""Several spectra in one picture, each in a frame of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from penstock.astronomy.products.plots import plot_canvas as canvas
from penstock.astronomy.products.plots.flux_axis import flux_axis
from penstock.astronomy.products.plots.flux_drawing import (
    DrawnFlux,
    draw_flux,
    draw_legend,
    remarks,
    set_flux_axes,
    wavelength_ends,
    wavelength_words,
)
from penstock.astronomy.products.plots.plot_words import printable
from penstock.astronomy.spectrum import Spectrum

_BOTTOM = 120


def draw_panels(figure: Figure, spectra: Sequence[Spectrum]) -> list[str]:
    """Draw each under the other, on one wavelength axis if they have wavelengths in common; notes for the foot."""
    shared = _overlap(spectra)
    height = (canvas.HEIGHT - canvas.TOP - _BOTTOM) / len(spectra)
    drawn = []
    for number, spectrum in enumerate(spectra):
        last = number == len(spectra) - 1
        gap = 0 if last else 6 if shared else 26
        bottom = canvas.HEIGHT - canvas.TOP - (number + 1) * height
        top = canvas.TOP + number * height + 24
        axes = canvas.add_plot(figure, top=round(top), bottom=round(bottom + gap))
        drawn.append(_draw_panel(axes, spectrum, wavelength_ends(spectra if shared else [spectrum])))
        if shared and not last:
            axes.tick_params(axis="x", labelbottom=False)
        canvas.name_axes(axes, x=wavelength_words(spectrum) if last else "", y="Flux")
        if number == 0:
            draw_legend(axes)
    return remarks(drawn)


def _overlap(spectra: Sequence[Spectrum]) -> bool:
    ends = [wavelength_ends([one]) for one in spectra]
    return max(low for low, _ in ends) < min(high for _, high in ends)


def _draw_panel(axes: Axes, spectrum: Spectrum, ends: tuple[float, float]) -> DrawnFlux:
    axis = flux_axis(spectrum, wide=False)
    set_flux_axes(axes, axis, ends, most=4)
    place: dict[str, Any] = {"ha": "left", "va": "bottom", "transform": axes.transAxes}
    label = axes.text(0, 1.02, "", color=canvas.INK, **place, **canvas.words("legend"))
    canvas.fit(label, printable(" · ".join(filter(None, (spectrum.label, axis.words)))), 850)
    return draw_flux(axes, spectrum, axis, ends)
