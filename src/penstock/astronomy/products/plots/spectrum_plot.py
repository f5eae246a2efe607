"""A picture of a spectrum, or of the several that one file has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from penstock.astronomy.products.plots import plot_canvas as canvas
from penstock.astronomy.products.plots.flux_axis import FluxAxis, flux_axis
from penstock.astronomy.products.plots.line_markers import mark_lines
from penstock.astronomy.products.plots.nova_lines import lines_permitted, lines_within
from penstock.astronomy.products.plots.plot_words import number_words
from penstock.astronomy.products.plots.thinning import thinned, thinned_band, with_gaps
from penstock.astronomy.products.spectrum_columns import check_lengths
from penstock.astronomy.spectrum import Floats, Frame, Medium, Spectrum
from penstock.errors import InvalidValue

LINE, BAND, GAP, BEYOND = "#0b4f8a", "#9ec5e8", "#f0f0f0", "#d55e00"
MOST_PANELS = 4
_WIDEST_LINEAR = 10.0
"The greatest wavelength, as a multiple of the least, that is still shown on a linear axis."


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


def spectrum_figure(
    spectra: Sequence[Spectrum], *, title: str, subtitle: str, markers: bool | None = None
) -> Figure:
    """The picture before it is saved."""
    if not spectra:
        raise InvalidValue("no spectrum to draw; give at least one")
    shown = spectra[:MOST_PANELS]
    figure = canvas.blank_picture(title=title, subtitle=subtitle)
    notes: list[str] = []
    for number, spectrum in enumerate(shown):
        check_lengths(spectrum)
        axes = _panel(figure, number, len(shown))
        notes += _draw(axes, spectrum, markers=markers, compact=len(shown) > 1)
        if number < len(shown) - 1:
            axes.set_xlabel("")
    if len(spectra) > len(shown):
        notes.insert(0, f"{len(shown)} of {len(spectra)} spectra are shown")
    canvas.add_footnotes(figure, list(dict.fromkeys(notes)))
    return figure


def _panel(figure: Figure, number: int, count: int) -> Axes:
    inside = canvas.HEIGHT - 88 - 120
    height = inside / count
    top = 88 + number * height
    gap = 0 if number == count - 1 else 26
    return canvas.add_plot(figure, top=round(top), bottom=round(canvas.HEIGHT - top - height + gap))


def _draw(axes: Axes, spectrum: Spectrum, *, markers: bool | None, compact: bool) -> list[str]:
    """Everything inside one frame; what is to be said of it below the picture comes back."""
    wanted = lines_permitted(spectrum) if markers is None else markers
    low, high = _ends(spectrum.wavelength)
    found = lines_within(spectrum, low, high) if wanted and not compact else ()
    axis = flux_axis(spectrum, headroom=bool(found), wide=high > _WIDEST_LINEAR * low > 0)
    _set_axes(axes, spectrum, axis, (low, high), compact=compact)
    _draw_flux(axes, spectrum, axis)
    beyond = _mark_beyond(axes, spectrum, axis)
    mark_lines(axes, found)
    gaps = _shade_gaps(axes, spectrum, high - low)
    _draw_legend(axes, spectrum, compact=compact)
    return _notes(spectrum, beyond=beyond, gaps=gaps, marked=bool(found))


def _ends(wavelength: Floats) -> tuple[float, float]:
    finite = wavelength[np.isfinite(wavelength)]
    if finite.size == 0:
        return 0.0, 1.0
    low, high = float(finite[0]), float(finite[-1])
    return (low, high) if low < high else (low - 1.0, low + 1.0)


def _set_axes(axes: Axes, spectrum: Spectrum, axis: FluxAxis, ends: tuple[float, float], *, compact: bool) -> None:
    low, high = ends
    canvas.name_axes(axes, x=_wavelength_words(spectrum), y="Flux" if compact and axis.long else axis.words)
    if axis.logarithmic:
        axes.set_xscale("log")
        axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(axis.low, axis.high)
    rounded = [n * 10.0**power for power in range(9) for n in (1, 2, 3, 5)] if axis.logarithmic else None
    canvas.put_ticks(axes.xaxis, low, high, values=rounded)
    if axis.logarithmic:
        canvas.put_labels(axes.yaxis, *axis.decades())
    else:
        canvas.put_ticks(axes.yaxis, axis.low, axis.high, most=4 if compact else 8)


def _wavelength_words(spectrum: Spectrum) -> str:
    medium = {Medium.AIR: " in air", Medium.VACUUM: " in vacuum", Medium.UNKNOWN: ""}[spectrum.medium]
    frame = "" if spectrum.frame is Frame.UNKNOWN else f", {spectrum.frame.value} frame"
    return f"Wavelength{medium} (Å){frame}"


def _draw_flux(axes: Axes, spectrum: Spectrum, axis: FluxAxis) -> None:
    flux = axis.scaled(spectrum.flux)
    if spectrum.uncertainty is not None:
        error = axis.scaled(spectrum.uncertainty)
        places, lower, upper = with_gaps(spectrum.wavelength, flux - error, flux + error)
        places, lower, upper = thinned_band(places, lower, upper)
        clipped = (np.clip(edge, *axis.drawable()) for edge in (lower, upper))
        axes.fill_between(places, *clipped, color=BAND, linewidth=0, zorder=2, label="±1σ")
    places, line = thinned(*with_gaps(spectrum.wavelength, flux))
    line = np.clip(line, *axis.drawable())
    axes.plot(places, line, color=LINE, linewidth=0.9, linestyle="-", marker="", zorder=3, label="flux")
    alone = _alone(line)
    axes.plot(places[alone], line[alone], color=LINE, linestyle="", marker=".", markersize=4, zorder=3)


def _alone(values: Floats) -> Floats:
    """Where a value stands between two that are missing: no line leads to it, so it gets a dot."""
    missing = np.concatenate([[True], ~np.isfinite(values), [True]])
    found: Floats = ~missing[1:-1] & missing[:-2] & missing[2:]
    return found


def _mark_beyond(axes: Axes, spectrum: Spectrum, axis: FluxAxis) -> int:
    """Small arrows on the frame, above or below which values lie that are not shown; how many there are."""
    flux = axis.scaled(spectrum.flux)
    above, below = np.flatnonzero(flux > axis.high), np.flatnonzero(flux < axis.low)
    for places, edge, marker in ((above, 0.992, "^"), (below, 0.008, "v")):
        some = places[:: max(1, places.size // 40)]
        axes.plot(
            spectrum.wavelength[some], np.full(some.size, edge), color=BEYOND, linestyle="", marker=marker, markersize=4,
            transform=axes.get_xaxis_transform(), zorder=5,
        )  # fmt: skip
    return int(above.size + below.size)


def _shade_gaps(axes: Axes, spectrum: Spectrum, width: float) -> int:
    """Grey where a stretch of more than a two-hundredth of the picture has no values; how many there are."""
    finite = np.isfinite(spectrum.wavelength) & np.isfinite(spectrum.flux)
    places, _ = with_gaps(spectrum.wavelength[finite], spectrum.flux[finite])
    known = spectrum.wavelength[finite]
    wide = np.flatnonzero(np.diff(known) > max(width / 200, 4 * _usual_step(spectrum.wavelength)))
    if places.size == known.size and finite.all():
        return 0
    for start in wide[:50]:
        axes.axvspan(known[start], known[start + 1], facecolor=GAP, edgecolor="none", zorder=1)
    return int(wide.size)


def _usual_step(wavelength: Floats) -> float:
    return float(np.median(np.diff(wavelength))) if wavelength.size > 1 else 0.0


def _draw_legend(axes: Axes, spectrum: Spectrum, *, compact: bool) -> None:
    """What the line and the band are, above the frame's right end, where no data are."""
    title = spectrum.label if compact else None
    if title:
        place = {"xy": (0.008, 0.93), "xycoords": "axes fraction", "ha": "left", "va": "top", "zorder": 6}
        label = axes.annotate("", **place, color=canvas.INK, **canvas.words("tick", bold=True))
        canvas.fit(label, canvas.printable(title), 700)
    if spectrum.uncertainty is not None or not compact:
        axes.legend(
            loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False, borderaxespad=0.2,
            handlelength=1.6, columnspacing=1.2, prop=canvas.font("legend"), labelcolor=canvas.INK,
        )  # fmt: skip


def _notes(spectrum: Spectrum, *, beyond: int, gaps: int, marked: bool) -> list[str]:
    told = [f"Assumed: {one.about.replace('_', ' ')} = {one.value} ({one.why})" for one in spectrum.assumptions]
    if beyond:
        told.append(f"{number_words([beyond])[0]} of {spectrum.flux.size} points lie beyond the range shown (orange)")
    if gaps:
        told.append("grey: no data")
    if marked:
        told.append("dotted: laboratory wavelengths of lines that novae show, not identifications")
    return told
