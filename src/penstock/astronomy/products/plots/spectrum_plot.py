"""A picture of a spectrum, or of the several that one file has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from penstock.astronomy.products.plots import plot_canvas as canvas
from penstock.astronomy.products.plots.flux_axis import flux_axis
from penstock.astronomy.products.plots.flux_drawing import (
    assumed,
    draw_flux,
    draw_legend,
    is_wide,
    remarks,
    set_flux_axes,
    wavelength_ends,
    wavelength_words,
)
from penstock.astronomy.products.plots.line_markers import mark_lines
from penstock.astronomy.products.plots.nova_lines import lines_permitted, lines_within
from penstock.astronomy.products.plots.spectrum_panels import draw_panels
from penstock.astronomy.products.spectrum_columns import check_lengths
from penstock.astronomy.spectrum import Spectrum
from penstock.errors import InvalidValue

MOST_PANELS = 4


def plot_spectrum(
    spectrum: Spectrum, path: Path, *, title: str, subtitle: str = "", markers: bool | None = None
) -> None:
    """Draw one spectrum into a PNG of 1200 × 700 pixels.

    ``markers`` says whether lines of novae are marked; unless it is given, they are if the spectrum's frame tells where
    they would lie.
    """
    canvas.save_picture(spectrum_figure([spectrum], title=title, subtitle=subtitle, markers=markers), path, title=title)


def plot_spectra(
    spectra: Sequence[Spectrum], path: Path, *, title: str, subtitle: str = "", markers: bool | None = None
) -> None:
    """Draw the spectra of one file into one PNG: in panels, each with its label, and not more than four of them."""
    canvas.save_picture(spectrum_figure(spectra, title=title, subtitle=subtitle, markers=markers), path, title=title)


def spectrum_figure(spectra: Sequence[Spectrum], *, title: str, subtitle: str, markers: bool | None = None) -> Figure:
    """The picture before it is saved."""
    if not spectra:
        raise InvalidValue("no spectrum to draw; give at least one")
    shown = spectra[:MOST_PANELS]
    for spectrum in shown:
        check_lengths(spectrum)
    figure = canvas.blank_picture(title=title, subtitle=subtitle)
    if len(shown) == 1:
        notes = _draw_one(figure, shown[0], markers=markers)
    else:
        notes = draw_panels(figure, shown)
    if len(spectra) > len(shown):
        notes.insert(0, f"{len(shown)} of {len(spectra)} spectra are shown")
    canvas.add_footnotes(figure, notes)
    return figure


def _draw_one(figure: Figure, spectrum: Spectrum, *, markers: bool | None) -> list[str]:
    wanted = lines_permitted(spectrum) if markers is None else markers
    ends = wavelength_ends([spectrum])
    lines = lines_within(spectrum, *ends) if wanted else ()
    axes = canvas.add_plot(figure, bottom=120)
    axis = flux_axis(spectrum, headroom=bool(lines), wide=is_wide(ends))
    set_flux_axes(axes, axis, ends, most=8)
    canvas.name_axes(axes, x=wavelength_words(spectrum), y=axis.words)
    seen = draw_flux(axes, spectrum, axis, ends)
    mark_lines(axes, lines)
    draw_legend(axes)
    marked = ["dotted: laboratory wavelengths of lines that novae show, not identifications"] if lines else []
    return assumed([spectrum]) + remarks([seen]) + marked
