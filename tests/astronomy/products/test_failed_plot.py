"""The picture for whoever decides about a file that failed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from penstock.astronomy.judgement import FileFinding
from penstock.astronomy.products.plots.failed_plot import failed_figure, plot_failed
from penstock.astronomy.spectrum import Floats

FINDING = FileFinding(
    "UNKNOWN_UNIT", "BUNIT is 'furlong', which is no unit of flux; say what was meant.", {"card": "BUNIT"}
)


def said(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.texts)


def test_the_failed_check_and_its_details_are_written_on_it() -> None:
    words = said(failed_figure(FINDING, title="a.fits", values=np.arange(50.0)))
    assert "Failed check: UNKNOWN_UNIT" in words
    assert "BUNIT is 'furlong', which is no unit of flux; say what was meant." in words
    assert "card = BUNIT" in words


def test_a_long_message_stays_inside_its_box() -> None:
    figure = failed_figure(FileFinding("CODE" * 40, "word " * 500), title="a.fits", values=np.arange(50.0))
    box = figure.patches[0].get_window_extent() if figure.patches else figure.artists[0].get_window_extent()
    for text in figure.texts[2:]:
        inside = text.get_window_extent()
        assert inside.x1 <= box.x1
        if "word" in text.get_text():
            assert box.y0 <= inside.y0


def test_what_could_be_read_is_drawn_over_its_pixels() -> None:
    values = np.array([3.0, 1.0, 4.0, 1.0, 5.0])
    axes = failed_figure(FINDING, title="a.fits", values=values).axes[0]
    assert np.asarray(axes.lines[0].get_xdata()).tolist() == [1, 2, 3, 4, 5]
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == values.tolist()
    assert axes.get_xlabel() == "Pixel (counted from 1)"
    assert axes.get_ylabel() == "Value as stored"


def test_wavelengths_that_are_wrong_have_a_frame_of_their_own() -> None:
    axis = np.linspace(4000, 5000, 100)
    axis[40:60] = axis[40:60][::-1]
    upper, lower = failed_figure(FINDING, title="a.fits", values=np.ones(100), axis=axis).axes
    assert lower.get_ylabel() == "Wavelength as claimed"
    assert np.array_equal(np.asarray(lower.lines[0].get_ydata()), axis)
    assert upper.get_xlabel() == ""


def test_values_that_are_no_numbers_are_counted() -> None:
    values = np.array([1.0, np.nan, np.inf, 2.0])
    assert "Value as stored: 2 of 4 are no finite numbers" in said(failed_figure(FINDING, title="a", values=values))
    figure = failed_figure(FINDING, title="a", values=np.full(9, np.nan))
    assert [text.get_text() for text in figure.axes[0].texts] == ["no finite value"]


def test_without_numbers_the_header_is_shown() -> None:
    header = [f"CARD{n:04} = {n}" for n in range(100)]
    words = said(failed_figure(FINDING, title="a", header=header))
    assert "CARD0000 = 0" in words
    assert "… 80 more lines" in words
    assert "Nothing could be read from the file" in said(failed_figure(FINDING, title="a"))


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(0),
        np.zeros((3, 7)),
        np.array(5.0),
        np.array(["a", "b"]),
        np.full(4, 1.7e308),
        np.arange(9, dtype=np.int16),
    ],
)
def test_anything_makes_a_picture(tmp_path: Path, values: Floats) -> None:
    plot_failed(FINDING, tmp_path / "a.png", title="a", values=values, axis=values)
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_numbers_stand_beside_the_lines_that_matter_and_comments_are_left_out() -> None:
    header = [
        *(f"COMMENT line {n}" for n in range(40)),
        "OBJECT  = 'V1324 Sco'",
        "CRVAL1  = 4000.0",
        "BUNIT   = 'furlong'",
    ]
    figure = failed_figure(FINDING, title="a.fits", values=np.arange(50.0), header=header)
    words = [text.get_text() for text in figure.texts]
    assert figure.axes[0].get_position().x1 < 0.7
    shown = [text for text in words if "=" in text and text[:2].isupper()]
    assert shown[0].startswith("BUNIT")
    assert shown[1].startswith("CRVAL1")
    assert not any("COMMENT" in text for text in words)
