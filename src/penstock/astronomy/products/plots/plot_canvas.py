"""What every picture has: its size, its fonts, a title, axes, footnotes, and bytes that depend on nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter, NullLocator

from penstock.astronomy.products.plots.plot_words import number_words, printable
from penstock.astronomy.products.whole_file import whole_file

WIDTH, HEIGHT = 1200, 700
"Pixels."
_DPI = 100
_LEFT, _RIGHT, TOP = 100, 1170, 76
INK, QUIET, GRID, WARNING = "#1a1a1a", "#555555", "#dddddd", "#a4262c"
FONT_SIZES = {"title": 19, "subtitle": 12, "label": 13, "tick": 11, "legend": 11, "side": 10, "line": 8.5, "foot": 9}
_FOOT_LINES, _FOOT_HEIGHT, _FOOT_EDGE = 4, 16, 14
_BELOW_FRAME = 68
"Pixels that ticks and the name of an axis need below a frame."
LEGEND: dict[str, Any] = {
    "frameon": False, "handlelength": 1.6, "handleheight": 0.7, "handletextpad": 0.8, "labelspacing": 0.5,
    "columnspacing": 1.6, "borderpad": 0.4, "markerscale": 1.0, "numpoints": 1,
}  # fmt: skip
"How legends are laid out, in units of their letters."


def blank_picture(*, title: str, subtitle: str) -> Figure:
    """A white picture with its title and what is said under it, each cut to what one line has room for."""
    size = (WIDTH / _DPI, HEIGHT / _DPI)
    figure = Figure(figsize=size, dpi=_DPI, facecolor="white", edgecolor="white")
    figure.set_layout_engine("none")
    FigureCanvasAgg(figure)
    headline = figure.text(_LEFT / WIDTH, 1 - 36 / HEIGHT, "", color=INK, **words("title", bold=True))
    fit(headline, printable(title), _RIGHT - _LEFT)
    below = figure.text(_LEFT / WIDTH, 1 - 60 / HEIGHT, "", color=QUIET, **words("subtitle"))
    fit(below, printable(subtitle), _RIGHT - _LEFT)
    return figure


def add_plot(figure: Figure, *, left: int = _LEFT, right: int = _RIGHT, top: int = TOP, bottom: int = 110) -> Axes:
    """Axes between these distances from the picture's left, left, top and bottom edges, in pixels."""
    place = (left / WIDTH, bottom / HEIGHT, (right - left) / WIDTH, (HEIGHT - top - bottom) / HEIGHT)
    axes = figure.add_axes(place, facecolor="white")
    frame_axes(axes)
    axes.grid(visible=True, color=GRID, linewidth=0.6, linestyle="-", alpha=1.0)
    axes.set_axisbelow(True)
    return axes


def frame_axes(axes: Axes, *, top: bool = False) -> None:
    """Draw the frame and put the ticks outside of it, below and to the left, or above; whatever a machine prefers."""
    for spine in axes.spines.values():
        spine.set(color=QUIET, linewidth=0.8, visible=True)
    axes.tick_params(
        which="both", direction="out", color=QUIET, labelcolor=INK, length=4, width=0.8, pad=2 if top else 3.5,
        bottom=not top, labelbottom=not top, top=top, labeltop=top, left=True, labelleft=True, right=False,
        labelright=False,
    )  # fmt: skip


def name_axes(axes: Axes, *, x: str, y: str) -> None:
    """Write what stands along the axes."""
    axes.set_xlabel(printable(x), color=INK, labelpad=6, **words("label"))
    axes.set_ylabel(printable(y), color=INK, labelpad=8, **words("label"))


def put_ticks(axis: Any, low: float, high: float, *, most: int = 9, values: Sequence[float] | None = None) -> None:
    """Put ticks with readable numbers between two ends of an axis; those given, or round ones."""
    found = MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high) if values is None else values
    inside = [float(value) for value in found if low <= value <= high]
    put_labels(axis, inside, number_words(inside))


def put_labels(axis: Any, places: Sequence[float], labels: Sequence[str]) -> None:
    """Put these labels at these places, and nothing between them."""
    axis.set_ticks(places, labels=labels)
    axis.set_minor_locator(NullLocator())
    for label in axis.get_ticklabels():
        label.set(color=INK, **words("tick"))


def put_small_ticks(axis: Any, places: Sequence[float]) -> None:
    """Put ticks without words between the others."""
    axis.set_minor_locator(FixedLocator(list(places)))
    axis.set_minor_formatter(NullFormatter())
    axis.set_tick_params(which="minor", length=2.5, width=0.6)


def add_footnotes(figure: Figure, notes: Sequence[str], *, room: float = 0.0) -> None:
    """Write small notes at the foot, at most four lines, and give the frames the rest of the height, less ``room``.

    What does not fit is cut, with a sign that it was.
    """
    lines = filled(figure, "  ·  ".join(note for note in notes if note), "foot", WIDTH - 48, lines=_FOOT_LINES)
    for number, text in enumerate(lines):
        place = (_FOOT_EDGE + _FOOT_HEIGHT * (len(lines) - 1 - number)) / HEIGHT
        figure.text(24 / WIDTH, place, text, color=QUIET, **words("foot"))
    _stretch_frames(figure, room + _BELOW_FRAME + (_FOOT_EDGE + _FOOT_HEIGHT * len(lines) - 8 if lines else 0))


def _stretch_frames(figure: Figure, bottom: float) -> None:
    """Move the frames so that the lowest one ends so many pixels from the edge; the highest stays where it begins."""
    boxes = [axes.get_position() for axes in figure.axes]
    if not boxes:
        return
    top, low = max(box.y1 for box in boxes), min(box.y0 for box in boxes)
    part = (top - bottom / HEIGHT) / (top - low)
    for axes, box in zip(figure.axes, boxes, strict=True):
        axes.set_position((box.x0, top - (top - box.y0) * part, box.width, box.height * part))


def keep_clear(figure: Figure, legend: Legend) -> None:
    """Cut what is said under the title where a legend beside it begins."""
    below = figure.texts[1]
    fit(below, below.get_text(), legend.get_window_extent().x0 - _LEFT - 12)


def save_picture(figure: Figure, path: Path, *, title: str) -> None:
    """Save as PNG. The same picture makes the same bytes: no date and no version is in them."""
    with whole_file(path) as unfinished:
        drawing: Any = FigureCanvasAgg(figure)
        drawing.print_png(unfinished, metadata={"Software": "Penstock", "Title": printable(title)})


def set_legend(legend: Legend, *, role: str = "legend") -> None:
    """Write the words of a legend as all others."""
    for text in legend.get_texts():
        text.set(color=INK, **words(role))
    legend.get_title().set(color=INK, **words(role, bold=True))


def words(role: str, *, bold: bool = False) -> dict[str, Any]:
    """How a text of this role is set; a dollar sign in it is one, and no formula begins there."""
    return {"fontproperties": font(role, bold=bold), "parse_math": False, "usetex": False}


def font(role: str, *, bold: bool = False) -> FontProperties:
    """The font of a role, from the file that matplotlib brings: no machine looks different for the fonts it has."""
    return FontProperties(fname=_font_file(bold), size=FONT_SIZES[role])


@lru_cache(2)
def _font_file(bold: bool) -> str:
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return str(Path(matplotlib.get_data_path(), "fonts", "ttf", name))


def fit(text: Text, content: str, pixels: float) -> None:
    """Give a text as much of its content as fits into so many pixels."""
    text.set_text(content)
    if _width(text) <= pixels:
        return
    fits, fails = 0, min(len(content), 400)
    while fails - fits > 1:
        middle = (fits + fails) // 2
        text.set_text(content[:middle].rstrip() + "…")
        fits, fails = (middle, fails) if _width(text) <= pixels else (fits, middle)
    text.set_text(content[:fits].rstrip() + "…")


def _width(text: Text) -> float:
    if len(text.get_text()) > 400:
        return float("inf")  # no font sets so many on one line; not worth the measuring
    return float(text.get_window_extent().width)


def filled(figure: Figure, content: str, role: str, pixels: float, *, lines: int) -> list[str]:
    """A text broken into at most so many lines of this width; what is left over is cut, with a sign that it was."""
    gauge = figure.text(0, 0, "", **words(role))
    broken = [""]
    for word in printable(content, most=2000).split(" "):
        longer = f"{broken[-1]} {word}" if broken[-1] else word
        gauge.set_text(longer)
        if _width(gauge) <= pixels:
            broken[-1] = longer
        elif len(broken) == lines:
            fit(gauge, longer + " …", pixels)
            broken[-1] = gauge.get_text()
            break
        else:
            fit(gauge, word, pixels)
            broken.append(gauge.get_text())
    gauge.remove()
    return [text for text in broken if text]
