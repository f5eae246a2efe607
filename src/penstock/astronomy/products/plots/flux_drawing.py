"""A spectrum inside its frame: the line, the band of its uncertainty, gaps, and what lies beyond the frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from penstock.astronomy.products.plots import plot_canvas as canvas
from penstock.astronomy.products.plots.edge_arrows import draw_arrows
from penstock.astronomy.products.plots.flux_axis import FluxAxis, is_error
from penstock.astronomy.products.plots.log_ticks import named_ticks, small_ticks
from penstock.astronomy.products.plots.pixel_columns import PixelColumns, is_crowded, pixel_columns
from penstock.astronomy.products.plots.thinning import with_gaps
from penstock.astronomy.products.plots.uncertainty_band import band_is_seen, percent, typical_error
from penstock.astronomy.spectrum import Floats, Frame, Medium, Spectrum

LINE, RANGE, BAND, GAP = "#0b4f8a", "#a8c8e4", "#f29d38", "#ececec"
_WIDEST_LINEAR = 10.0
"The greatest wavelength, as a multiple of the least, that is still shown on a linear axis."
_MOST_GAPS = 50


@dataclass(frozen=True, slots=True)
class DrawnFlux:
    """What is to be said of a drawn spectrum below the picture."""

    points: int
    beyond: int
    gaps: int
    behind: int = 0
    "Points behind each column of pixels, if they are drawn so."
    unseen_error: float | None = None
    "The typical error, as a part of the flux, if it is too small to be drawn."


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
    if axis.logarithmic:
        canvas.put_ticks(axes.xaxis, *ends, values=named_ticks(*ends, pixels=axes.get_window_extent().width))
        canvas.put_labels(axes.yaxis, *axis.decades())
        canvas.put_small_ticks(axes.xaxis, small_ticks(*ends))
        canvas.put_small_ticks(axes.yaxis, small_ticks(axis.low, axis.high))
    else:
        canvas.put_ticks(axes.xaxis, *ends)
        canvas.put_ticks(axes.yaxis, axis.low, axis.high, most=most)


def wavelength_words(spectrum: Spectrum, *, logarithmic: bool = False) -> str:
    """What stands along the wavelength axis; what is not known is not said."""
    medium = {Medium.AIR: " in air", Medium.VACUUM: " in vacuum", Medium.UNKNOWN: ""}[spectrum.medium]
    frame = "" if spectrum.frame is Frame.UNKNOWN else f", {spectrum.frame.value} frame"
    return f"Wavelength{medium} (Å){frame}" + (", logarithmic" if logarithmic else "")


def draw_flux(axes: Axes, spectrum: Spectrum, axis: FluxAxis, ends: tuple[float, float]) -> DrawnFlux:
    """Draw the line and, where the uncertainty is known, its band; gaps stay gaps.

    Where there are many more points than pixels, the line is the median behind each column, before the range of all.
    """
    flux, name = axis.scaled(spectrum.flux), "error" if is_error(spectrum) else "flux"
    error = None if spectrum.uncertainty is None else axis.scaled(np.abs(spectrum.uncertainty))
    columns = round(axes.get_window_extent().width)
    behind = 0
    if is_crowded(flux.size, columns):
        behind = round(flux.size / columns)
        dense = _columns(spectrum.wavelength, flux, error, ends, columns=columns, log=axis.logarithmic)
        _draw_range(axes, dense, axis)
        unseen = _draw_band(axes, dense.middle, dense.median, dense.error, axis)
        _draw_line(axes, dense.middle, dense.median, axis, name=f"{name} (median)")
    else:
        unseen = _draw_band(axes, spectrum.wavelength, flux, error, axis)
        places, line = with_gaps(spectrum.wavelength, flux)
        _draw_line(axes, places, line, axis, name=name)
    beyond = _mark_beyond(axes, spectrum.wavelength, flux, axis)
    return DrawnFlux(flux.size, beyond, _shade_gaps(axes, spectrum.wavelength, flux, ends), behind, unseen)


def _columns(
    wavelength: Floats, flux: Floats, error: Floats | None, ends: tuple[float, float], *, columns: int, log: bool
) -> PixelColumns:
    places, values, *errors = with_gaps(wavelength, flux, *([] if error is None else [error]))
    return pixel_columns(places, values, errors[0] if errors else None, ends, columns=columns, log=log)


def _draw_range(axes: Axes, dense: PixelColumns, axis: FluxAxis) -> None:
    least, greatest = np.clip(dense.least, *axis.drawable()), np.clip(dense.greatest, *axis.drawable())
    look: dict[str, Any] = {"facecolor": RANGE, "edgecolor": RANGE, "linewidth": 0.5, "zorder": 2.4}
    half, height = (greatest - least) / 2, axes.get_window_extent().height
    seen = band_is_seen((least + greatest) / 2, half, axis, height=height)
    axes.fill_between(dense.middle, least, greatest, label="least to greatest" if seen else "_", **look)


def _draw_line(axes: Axes, places: Floats, values: Floats, axis: FluxAxis, *, name: str) -> None:
    line = np.clip(values, *axis.drawable())
    width = 0.9 if places.size < 1500 else 0.7
    axes.plot(places, line, color=LINE, linewidth=width, linestyle="-", marker="", zorder=3, label=name)
    alone = _alone(line)
    axes.plot(places[alone], line[alone], color=LINE, linestyle="", marker=".", markersize=4, zorder=3)


def _draw_band(axes: Axes, places: Floats, flux: Floats, error: Floats | None, axis: FluxAxis) -> float | None:
    """Draw it if it can be seen; if not, how large it typically is."""
    typical = None if error is None else typical_error(flux, error)
    if error is None or typical is None:
        return None
    if not band_is_seen(flux, error, axis, height=axes.get_window_extent().height):
        return typical
    places, lower, upper = with_gaps(places, flux - error, flux + error)
    lower, upper = np.clip(lower, *axis.drawable()), np.clip(upper, *axis.drawable())
    look: dict[str, Any] = {"facecolor": BAND, "edgecolor": "none", "linewidth": 0, "zorder": 2.5, "alpha": 0.75}
    axes.fill_between(places, lower, upper, label=f"±1σ, typically {percent(typical)}", **look)
    return None


def _alone(values: Floats) -> NDArray[np.bool_]:
    """Where a value stands between two that are missing: no line leads to it, so it gets a dot."""
    missing = np.concatenate([[True], ~np.isfinite(values), [True]])
    found: NDArray[np.bool_] = ~missing[1:-1] & missing[:-2] & missing[2:]
    return found


def _mark_beyond(axes: Axes, wavelength: Floats, flux: Floats, axis: FluxAxis) -> int:
    """Small arrows on the frame wherever values lie above or below it; how many there are."""
    above, below = flux > axis.high, flux < axis.low
    draw_arrows(axes, wavelength[above], up=True)
    draw_arrows(axes, wavelength[below], up=False)
    return int(np.count_nonzero(above) + np.count_nonzero(below))


def _shade_gaps(axes: Axes, wavelength: Floats, flux: Floats, ends: tuple[float, float]) -> int:
    """Grey where a stretch of more than a two-hundredth of the picture has no values; how many there are."""
    known = wavelength[np.isfinite(flux) & np.isfinite(wavelength)]
    if known.size < 2:
        return 0
    jumps, least = np.diff(known), (ends[1] - ends[0]) / 200
    wide = np.flatnonzero(jumps > max(least, 4 * float(np.median(jumps))))
    wide = wide[[not _even(jumps, int(place)) for place in wide]] if wide.size < 1000 else wide[:0]
    gaps = [(float(known[start]), float(known[start + 1])) for start in wide[:_MOST_GAPS]]
    own = wavelength[np.isfinite(wavelength)]
    gaps += [(a, b) for a, b in ((float(own[0]), float(known[0])), (float(known[-1]), float(own[-1]))) if b - a > least]
    for start, end in gaps:
        axes.axvspan(start, end, facecolor=GAP, edgecolor="none", linewidth=0, zorder=1)
    return len(gaps)


def _even(jumps: Floats, place: int) -> bool:
    """Most of its neighbours are as long: the points are sparse there, none is missing."""
    return bool(jumps[place] < 8 * np.median(jumps[max(0, place - 5) : place + 6]))


def draw_legend(axes: Axes) -> None:
    """Tell what the line and the band are, above the frame and beside the subtitle; a line alone is not explained."""
    if len(axes.get_legend_handles_labels()[1]) < 2:
        return
    figure: Any = axes.get_figure(root=True)
    place: dict[str, Any] = {
        "loc": "lower right", "bbox_to_anchor": (1170 / canvas.WIDTH, 1 - 70 / canvas.HEIGHT), "ncols": 3,
        "borderaxespad": 0.0, "bbox_transform": figure.transFigure,
    }  # fmt: skip
    legend = axes.legend(**place, **{**canvas.LEGEND, "borderpad": 0.1}, prop=canvas.font("legend"))
    canvas.set_legend(legend)
    canvas.keep_clear(figure, legend)


def remarks(drawn: Sequence[DrawnFlux]) -> list[str]:
    """What a reader must know of what is not shown, and of how it is."""
    beyond, points = sum(one.beyond for one in drawn), sum(one.points for one in drawn)
    told = [f"{beyond:,} of {points:,} points lie beyond the range shown (red arrows)"] if beyond else []
    behind, unseen = max(one.behind for one in drawn), [one.unseen_error for one in drawn if one.unseen_error]
    if behind:
        told.append(
            f"about {behind:,} points to a column of pixels: line, the median; light, the least to the greatest"
        )
    if unseen:
        # Beside a tall line most of the flux is next to nothing, and a part of that would say that σ is large.
        part = max(unseen)
        told.append("±1σ is thinner than the line" + (f": typically {percent(part)} of the flux" if part < 0.1 else ""))
    return [*told, "grey: no data"] if any(one.gaps for one in drawn) else told
