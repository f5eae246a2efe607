"""A picture of a spectrum, or of the several that one file has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from penstock.astronomy.products.plots import plot_canvas as canvas
from penstock.astronomy.products.plots.assumption_words import assumed_words
from penstock.astronomy.products.plots.flux_axis import flux_axis, is_error
from penstock.astronomy.products.plots.flux_drawing import (
    draw_flux,
    draw_legend,
    is_wide,
    remarks,
    set_flux_axes,
    wavelength_ends,
    wavelength_words,
)
from penstock.astronomy.products.plots.line_markers import NOTE, STRIP, lines_shown, mark_lines
from penstock.astronomy.products.plots.nova_lines import SpectralLine, lines_permitted, lines_within
from penstock.astronomy.products.plots.observation_words import spectrum_words
from penstock.astronomy.products.plots.shown_flux import as_shown
from penstock.astronomy.products.plots.spectrum_panels import draw_panels
from penstock.astronomy.products.spectrum_columns import check_lengths
from penstock.astronomy.spectrum import Spectrum
from penstock.errors import InvalidValue

MOST_PANELS = 4
ERROR_NOTE = "these are no fluxes: they are the errors of fluxes in another file, so no lines are marked"


def plot_spectrum(
    spectrum: Spectrum, path: Path, *, title: str, subtitle: str | None = None, markers: bool = False
) -> None:
    """Draw one spectrum into a PNG of 1200 × 700 pixels.

    The title is the object's name; the subtitle, unless it is given, what is known of the observation. ``markers`` says
    that it is a nova, whose lines are marked where the flux has a peak or a dip near them.
    """
    canvas.save_picture(spectrum_figure([spectrum], title=title, subtitle=subtitle, markers=markers), path, title=title)


def plot_spectra(
    spectra: Sequence[Spectrum], path: Path, *, title: str, subtitle: str | None = None, markers: bool = False
) -> None:
    """Draw the spectra of one file into one PNG: in panels, each with its label, and not more than four of them."""
    canvas.save_picture(spectrum_figure(spectra, title=title, subtitle=subtitle, markers=markers), path, title=title)


def spectrum_figure(
    spectra: Sequence[Spectrum], *, title: str, subtitle: str | None = None, markers: bool = False
) -> Figure:
    """The picture before it is saved."""
    if not spectra:
        raise InvalidValue("no spectrum to draw; give at least one")
    first = spectra[:MOST_PANELS]
    for spectrum in first:
        check_lengths(spectrum)
    figure = canvas.blank_picture(title=title, subtitle=_subtitle(first) if subtitle is None else subtitle)
    shown, changed = zip(*(as_shown(spectrum) for spectrum in first), strict=True)
    notes = _draw_one(figure, shown[0], markers=markers) if len(shown) == 1 else draw_panels(figure, shown)
    if len(spectra) > len(shown):
        notes.insert(0, f"{len(shown)} of {len(spectra)} spectra are shown")
    notes += dict.fromkeys(note for each in changed for note in each)
    canvas.add_footnotes(figure, notes + assumed_words(one for each in first for one in each.assumptions))
    return figure


def _subtitle(spectra: Sequence[Spectrum]) -> str:
    words = [spectrum_words(spectrum) for spectrum in spectra]
    return words[0] if len(words) == 1 else words[0].removesuffix(spectra[0].label).rstrip(" ·")


def _draw_one(figure: Figure, spectrum: Spectrum, *, markers: bool) -> list[str]:
    ends = wavelength_ends([spectrum])
    markers = markers and not is_error(spectrum)
    lines, told = _lines(spectrum, ends) if markers else ((), [])
    axes = canvas.add_plot(figure, top=canvas.TOP + (STRIP if lines else 0))
    axis = flux_axis(spectrum, wide=is_wide(ends))
    set_flux_axes(axes, axis, ends, most=8)
    canvas.name_axes(axes, x=wavelength_words(spectrum, logarithmic=axis.logarithmic), y=axis.words)
    seen = draw_flux(axes, spectrum, axis, ends)
    mark_lines(axes, lines)
    draw_legend(axes)
    told = [*([ERROR_NOTE] if is_error(spectrum) else []), *remarks([seen]), *told]
    return told


def _lines(spectrum: Spectrum, ends: tuple[float, float]) -> tuple[tuple[SpectralLine, ...], list[str]]:
    """The lines to mark, and what is to be said of them."""
    if not lines_permitted(spectrum):
        return (), [f"no lines are marked: a redshift of {spectrum.metadata['redshift']:g} is told"]
    found = lines_shown(spectrum, lines_within(spectrum, *ends))
    return found, [NOTE] if found else []
