"""A picture for whoever decides about a file that failed: what could be read of it, and the check it failed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from penstock.astronomy.judgement import FileFinding
from penstock.astronomy.products.plots import plot_canvas as canvas
from penstock.astronomy.products.plots.flux_drawing import LINE
from penstock.astronomy.products.plots.header_lines import lines_that_matter
from penstock.astronomy.products.plots.plot_range import flux_range, padded, shown_exponent
from penstock.astronomy.products.plots.plot_words import power_of_ten, printable
from penstock.astronomy.products.plots.thinning import thinned
from penstock.astronomy.spectrum import Floats

_BANNER_TOP, _BANNER_LINES, _LINE_HEIGHT = 72, 4, 19
_FRAMES_TOP, _BOTTOM = 178, 100
_TEXT_LINES = 21
_RIGHT, _FRAME_RIGHT = 1170, 770


def plot_failed(
    finding: FileFinding,
    path: Path,
    *,
    title: str,
    subtitle: str = "",
    values: Floats | None = None,
    axis: Floats | None = None,
    header: Sequence[str] = (),
) -> None:
    """Draw the evidence into a PNG of 1200 × 700 pixels.

    ``values`` are the numbers as they stand in the file, ``axis`` the wavelengths it claims for them, right or wrong;
    both are drawn over the pixel number. ``header`` is shown beside them, or alone where there are no numbers: first
    the lines that an axis or a unit is told by.
    """
    figure = failed_figure(finding, title=title, subtitle=subtitle, values=values, axis=axis, header=header)
    canvas.save_picture(figure, path, title=title)


def failed_figure(
    finding: FileFinding,
    *,
    title: str,
    subtitle: str = "",
    values: Floats | None = None,
    axis: Floats | None = None,
    header: Sequence[str] = (),
) -> Figure:
    """The picture before it is saved."""
    figure = canvas.blank_picture(title=title, subtitle=subtitle)
    _draw_banner(figure, finding)
    rows = [("Value as stored", values), ("Wavelength as claimed", axis)]
    frames = [(words, _flat(array)) for words, array in rows if array is not None and np.size(array)]
    lines = lines_that_matter(header, finding)
    right = _FRAME_RIGHT if lines else _RIGHT
    notes = [note for words, array in frames for note in [_draw_frame(figure, frames, words, array, right)] if note]
    _draw_text(figure, lines, len(header), beside=bool(frames))
    told = {name: value for name, value in finding.details.items() if name != "hints"}
    details = [f"{name} = {value}" for name, value in list(told.items())[:12]]
    canvas.add_footnotes(figure, [*notes, *details])
    return figure


def _draw_banner(figure: Figure, finding: FileFinding) -> None:
    """The failed check in words, on a ground that cannot be missed."""
    height = _BANNER_LINES * _LINE_HEIGHT + 12
    box = (100 / canvas.WIDTH, 1 - (_BANNER_TOP + height) / canvas.HEIGHT)
    size = (1070 / canvas.WIDTH, height / canvas.HEIGHT)
    figure.add_artist(Rectangle(box, *size, facecolor="#fdecea", edgecolor=canvas.WARNING, linewidth=1.0))
    lines = canvas.filled(figure, finding.message, "subtitle", 1046, lines=_BANNER_LINES - 1)
    for number, text in enumerate([f"Failed check: {printable(finding.code)[:60]}", *lines]):
        place = 1 - (_BANNER_TOP + 20 + number * _LINE_HEIGHT) / canvas.HEIGHT
        figure.text(112 / canvas.WIDTH, place, text, color=canvas.WARNING, **canvas.words("subtitle", bold=number == 0))


def _flat(array: Floats) -> Floats:
    """The first row of what has several."""
    values = np.asarray(array)
    while values.ndim > 1:
        values = values[0]
    kind = values if values.dtype.kind in "fiub" else np.full(values.shape, np.nan)
    return np.atleast_1d(kind).astype(np.float64)


def _draw_frame(figure: Figure, frames: Sequence[tuple[str, Floats]], words: str, array: Floats, right: int) -> str:
    """One array over its pixel numbers; what is to be said of it below the picture."""
    row = [name for name, _ in frames].index(words)
    height = (canvas.HEIGHT - _FRAMES_TOP - _BOTTOM) / len(frames)
    top, last = _FRAMES_TOP + row * height + 10 * row, row == len(frames) - 1
    bottom = round(_BOTTOM + (len(frames) - 1 - row) * height)
    axes = canvas.add_plot(figure, right=right, top=round(top), bottom=bottom)
    pixels = np.arange(1, array.size + 1, dtype=np.float64)
    _draw_values(axes, pixels, array, words, whole_range=row > 0 or words.startswith("Wave"))
    axes.set_xlim(0.5, array.size + 0.5)
    canvas.put_ticks(axes.xaxis, 0.5, array.size + 0.5, most=9 if right == _RIGHT else 6)
    if last:
        axes.set_xlabel("Pixel (counted from 1)", color=canvas.INK, labelpad=6, **canvas.words("label"))
    else:
        axes.tick_params(axis="x", labelbottom=False)
    missing = int(np.count_nonzero(~np.isfinite(array)))
    return f"{words}: {missing:,} of {array.size:,} are no finite numbers" if missing else ""


def _draw_values(axes: Axes, pixels: Floats, array: Floats, words: str, *, whole_range: bool) -> None:
    finite = array[np.isfinite(array)]
    if finite.size == 0:
        axes.set_ylim(0, 1)
        canvas.put_labels(axes.yaxis, [], [])
        place: dict[str, Any] = {"ha": "center", "va": "center", "transform": axes.transAxes}
        axes.text(0.5, 0.5, "no finite value", color=canvas.WARNING, **place, **canvas.words("title"))
        exponent = 0
    else:
        exponent = _draw_line(axes, pixels, array, whole_range=whole_range)
    unit = f" ({power_of_ten(exponent)})" if exponent else ""
    axes.set_ylabel(printable(words + unit), color=canvas.INK, labelpad=8, **canvas.words("label"))


def _draw_line(axes: Axes, pixels: Floats, array: Floats, *, whole_range: bool) -> int:
    finite = array[np.isfinite(array)]
    ends = (float(finite.min()), float(finite.max())) if whole_range else flux_range(pixels, array)
    low, high = ends or (0.0, 1.0)
    exponent = shown_exponent(low, high)
    low, high = padded(low / 10.0**exponent, high / 10.0**exponent)
    axes.set_ylim(low, high)
    canvas.put_ticks(axes.yaxis, low, high, most=6)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.where(np.isfinite(array), array / 10.0**exponent, np.nan)
    room = 3 * (high - low)
    places, line = thinned(pixels, np.clip(scaled, low - room, high + room))
    marker = "." if array.size < 200 else ""
    axes.plot(places, line, color=LINE, linewidth=0.9, linestyle="-", marker=marker, markersize=4, zorder=3)
    return exponent


def _draw_text(figure: Figure, lines: Sequence[str], count: int, *, beside: bool) -> None:
    """What the header says, alone or beside the numbers; or that nothing could be read."""
    if not lines and not beside:
        place: dict[str, Any] = {"ha": "center", "va": "center"}
        figure.text(
            0.5, 0.45, "Nothing could be read from the file", color=canvas.QUIET, **place, **canvas.words("title")
        )
    shown = [printable(line) for line in lines[:_TEXT_LINES]]
    if count > len(shown) and shown:
        shown[-1] = f"… {count - len(shown) + 1:,} more lines"
    left, role = (_FRAME_RIGHT + 20, "foot") if beside else (100, "tick")
    for number, line in enumerate(shown):
        place_down = 1 - (_FRAMES_TOP + 12 + number * 19) / canvas.HEIGHT
        text = figure.text(left / canvas.WIDTH, place_down, "", color=canvas.INK, **canvas.words(role))
        canvas.fit(text, line, _RIGHT + 15 - left)
