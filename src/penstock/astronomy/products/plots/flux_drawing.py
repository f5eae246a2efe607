"""A spectrum inside its frame: the line, the band of its uncertainty, gaps, and what lies beyond the frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from penstock.astronomy.products.plots import plot_canvas as canvas
from penstock.astronomy.products.plots.flux_axis import FluxAxis
from penstock.astronomy.products.plots.thinning import thinned, thinned_band, with_gaps
from penstock.astronomy.spectrum import Floats, Frame, Medium, Spectrum

LINE, BAND, GAP, BEYOND = "#0b4f8a", "#f4b266", "#ececec", "#b3121d"
_WIDEST_LINEAR = 10.0
"The greatest wavelength, as a multiple of the least, that is still shown on a linear axis."


@dataclass(frozen=True, slots=True)
class DrawnFlux:
    """What is to be said of a drawn spectrum below the picture."""

    points: int
    beyond: int
    gaps: int


def wavelength_ends(spectra: Iterable[Spectrum]) -> tuple[float, float]:
    """The least and the greatest wavelength of all of them, as an axis can have them."""
    finite = [one.wavelength[np.isfinite(one.wavelength)] for one in spectra]
    ends = [(float(one.min()), float(one.max())) for one in finite if one.size]
    low, high = min((low for low, _ in ends), default=0.0), max((high for _, high in ends), default=1.0)
    return (low, high) if low < high else (low - 1.0, low + 1.0)


def is_wide(ends: tuple[float, float]) -> bool:
    """Whether a linear axis would crush one end."""
    return ends[1] > _WIDEST_LINEAR * ends[0] > 0


def set_flux_axes(axes: Axes, axis: FluxAxis, ends: tuple[float, float], *, most: int) -> None:
    """Set ranges, scales and ticks; at most so many along the flux."""
    if axis.logarithmic:
        axes.set_xscale("log")
        axes.set_yscale("log")
    axes.set_xlim(*ends)
    axes.set_ylim(axis.low, axis.high)
    rounded = [n * 10.0**power for power in range(9) for n in (1, 2, 3, 5)] if axis.logarithmic else None
    canvas.put_ticks(axes.xaxis, *ends, values=rounded)
    if axis.logarithmic:
        canvas.put_labels(axes.yaxis, *axis.decades())
    else:
        canvas.put_ticks(axes.yaxis, axis.low, axis.high, most=most)


def wavelength_words(spectrum: Spectrum) -> str:
    """What stands along the wavelength axis; what is not known is not said."""
    medium = {Medium.AIR: " in air", Medium.VACUUM: " in vacuum", Medium.UNKNOWN: ""}[spectrum.medium]
    frame = "" if spectrum.frame is Frame.UNKNOWN else f", {spectrum.frame.value} frame"
    return f"Wavelength{medium} (Å){frame}"


def draw_flux(axes: Axes, spectrum: Spectrum, axis: FluxAxis, ends: tuple[float, float]) -> DrawnFlux:
    """Draw the line and, where the uncertainty is known, its band; gaps stay gaps."""
    flux = axis.scaled(spectrum.flux)
    if spectrum.uncertainty is not None:
        _draw_band(axes, spectrum.wavelength, flux, axis.scaled(np.abs(spectrum.uncertainty)), axis)
    places, line = thinned(*with_gaps(spectrum.wavelength, flux))
    line = np.clip(line, *axis.drawable())
    axes.plot(places, line, color=LINE, linewidth=0.9, linestyle="-", marker="", zorder=3, label="flux")
    alone = _alone(line)
    axes.plot(places[alone], line[alone], color=LINE, linestyle="", marker=".", markersize=4, zorder=3)
    beyond = _mark_beyond(axes, spectrum.wavelength, flux, axis)
    return DrawnFlux(flux.size, beyond, _shade_gaps(axes, spectrum.wavelength, flux, ends))


def _draw_band(axes: Axes, wavelength: Floats, flux: Floats, error: Floats, axis: FluxAxis) -> None:
    places, lower, upper = thinned_band(*with_gaps(wavelength, flux - error, flux + error))
    lower, upper = np.clip(lower, *axis.drawable()), np.clip(upper, *axis.drawable())
    axes.fill_between(places, lower, upper, facecolor=BAND, edgecolor="none", linewidth=0, zorder=2.5, label="±1σ")


def _alone(values: Floats) -> NDArray[np.bool_]:
    """Where a value stands between two that are missing: no line leads to it, so it gets a dot."""
    missing = np.concatenate([[True], ~np.isfinite(values), [True]])
    found: NDArray[np.bool_] = ~missing[1:-1] & missing[:-2] & missing[2:]
    return found


def _mark_beyond(axes: Axes, wavelength: Floats, flux: Floats, axis: FluxAxis) -> int:
    """Small arrows on the frame where values lie above or below it; how many there are."""
    above, below = np.flatnonzero(flux > axis.high), np.flatnonzero(flux < axis.low)
    for places, edge, marker in ((above, 0.992, "^"), (below, 0.008, "v")):
        some = places[:: max(1, places.size // 40)]
        axes.plot(
            wavelength[some], np.full(some.size, edge), color=BEYOND, linestyle="", marker=marker, markersize=4,
            transform=axes.get_xaxis_transform(), zorder=5,
        )  # fmt: skip
    return int(above.size + below.size)


def _shade_gaps(axes: Axes, wavelength: Floats, flux: Floats, ends: tuple[float, float]) -> int:
    """Grey where a stretch of more than a two-hundredth of the picture has no values; how many there are."""
    known = wavelength[np.isfinite(flux) & np.isfinite(wavelength)]
    if known.size < 2:
        return 0
    jumps = np.diff(known)
    wide = np.flatnonzero(jumps > max((ends[1] - ends[0]) / 200, 4 * float(np.median(jumps))))
    wide = wide[[not _even(jumps, int(place)) for place in wide]] if wide.size < 1000 else wide[:0]
    for start in wide[:50]:
        axes.axvspan(known[start], known[start + 1], facecolor=GAP, edgecolor="none", linewidth=0, zorder=1)
    return int(wide.size)


def _even(jumps: Floats, place: int) -> bool:
    """Most of its neighbours are as long: the points are sparse there, none is missing."""
    return bool(jumps[place] < 8 * np.median(jumps[max(0, place - 5) : place + 6]))


def draw_legend(axes: Axes) -> None:
    """Tell what the line and the band are, above the frame's right end, where no data are."""
    place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "ncols": 2, "borderaxespad": 0.2}
    canvas.set_legend(axes.legend(**place, **canvas.LEGEND, prop=canvas.font("legend")))


def assumed(spectra: Sequence[Spectrum]) -> list[str]:
    """What was assumed of them, each once."""
    made = [one for spectrum in spectra for one in spectrum.assumptions]
    told = (f"Assumed: {one.about.replace('_', ' ')} = {one.value} ({one.why})" for one in made)
    return list(dict.fromkeys(told))


def remarks(drawn: Sequence[DrawnFlux]) -> list[str]:
    """What a reader must know of what is not shown."""
    beyond, points = sum(one.beyond for one in drawn), sum(one.points for one in drawn)
    told = [f"{beyond:,} of {points:,} points lie beyond the range shown (red arrows)"] if beyond else []
    return [*told, "grey: no data"] if any(one.gaps for one in drawn) else told
