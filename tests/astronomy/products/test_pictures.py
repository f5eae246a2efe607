"""What holds for every picture: its bytes, its size, its cost, and that no machine's settings change it."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from penstock.astronomy.judgement import FileFinding
from penstock.astronomy.light_curve import LightCurve, Measurement
from penstock.astronomy.products.plots.failed_plot import plot_failed
from penstock.astronomy.products.plots.light_curve_plot import plot_light_curve
from penstock.astronomy.products.plots.spectrum_plot import plot_spectra, plot_spectrum
from tests.astronomy.products.given import a_light_curve, a_spectrum

DRAWERS: dict[str, Callable[[Path], None]] = {
    "spectrum": lambda path: plot_spectrum(a_spectrum(), path, title="V1324 Sco", subtitle="made"),
    "panels": lambda path: plot_spectra([a_spectrum(), a_spectrum()], path, title="V1324 Sco"),
    "light curve": lambda path: plot_light_curve(a_light_curve(), path, title="V1324 Sco"),
    "failed": lambda path: plot_failed(FileFinding("CODE", "why"), path, title="a.fits", values=np.arange(99.0)),
}


def pixels(path: Path) -> tuple[int, int]:
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    return width, height


@pytest.mark.parametrize("draw", DRAWERS.values(), ids=DRAWERS)
def test_the_same_picture_has_the_same_bytes(tmp_path: Path, draw: Callable[[Path], None]) -> None:
    draw(tmp_path / "one.png")
    draw(tmp_path / "two.png")
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
    assert pixels(tmp_path / "one.png") == (1200, 700)
    assert (tmp_path / "one.png").stat().st_size < 400_000


def test_threads_that_draw_at_the_same_time_draw_what_one_alone_draws(tmp_path: Path) -> None:
    for name, draw in DRAWERS.items():
        draw(tmp_path / f"{name}.png")
    jobs = [(name, tmp_path / f"{name} {turn}.png") for turn in range(3) for name in DRAWERS]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda job: DRAWERS[job[0]](job[1]), jobs))
    for name, path in jobs:
        assert path.read_bytes() == (tmp_path / f"{name}.png").read_bytes(), name


def test_no_picture_is_left_if_it_cannot_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="one length"):
        plot_spectrum(a_spectrum(flux=np.zeros(3)), tmp_path / "a.png", title="t")
    assert [*tmp_path.iterdir()] == []


def test_drawing_leaves_what_others_draw_with_as_it_was(tmp_path: Path) -> None:
    import matplotlib

    loaded, before = "matplotlib.pyplot" in sys.modules, matplotlib.rcParams.copy()
    for draw in DRAWERS.values():
        draw(tmp_path / "a.png")
    assert matplotlib.rcParams.copy() == before
    assert ("matplotlib.pyplot" in sys.modules) == loaded


def cost(points: int, path: Path, *, curve: bool) -> float:
    """Seconds of this thread's processor."""
    if curve:
        chance = np.random.default_rng(0).standard_normal(points)
        many = tuple(Measurement(2.4e6 + n / 99, 9 + v, "mag", 0.1, "V", n) for n, v in enumerate(chance.tolist()))
        what: Callable[[], None] = lambda: plot_light_curve(LightCurve(many), path, title="t")  # noqa: E731
    else:
        spectrum = a_spectrum(points=points)
        what = lambda: plot_spectrum(spectrum, path, title="t")  # noqa: E731
    start = time.thread_time()
    what()
    return time.thread_time() - start


@pytest.mark.long
@pytest.mark.parametrize("curve", [False, True], ids=["spectrum", "light curve"])
def test_a_million_points_cost_at_most_ten_times_a_hundred_thousand(tmp_path: Path, curve: bool) -> None:
    cost(1000, tmp_path / "a.png", curve=curve)
    few = cost(100_000, tmp_path / "a.png", curve=curve)
    assert cost(1_000_000, tmp_path / "a.png", curve=curve) < 10 * few + 0.5


@pytest.mark.long
def test_a_million_points_need_little_memory(tmp_path: Path) -> None:
    spectrum = a_spectrum(points=1_000_000)
    tracemalloc.start()
    plot_spectrum(spectrum, tmp_path / "a.png", title="t")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 25 * spectrum.flux.nbytes


HOSTILE = """
font.size: 30
text.usetex: True
axes.grid: False
axes.facecolor: yellow
figure.facecolor: green
figure.dpi: 300
savefig.dpi: 300
figure.autolayout: True
legend.frameon: True
legend.markerscale: 3
xtick.top: True
xtick.minor.visible: True
xtick.major.pad: 20
axes.spines.top: False
grid.alpha: 0.2
axes.xmargin: 0.5
text.color: red
axes.unicode_minus: False
"""
"What somebody may have in the settings of matplotlib, or in a file of that name in the folder a service runs in."

SCRIPT = """
from pathlib import Path
from tests.astronomy.products.test_pictures import DRAWERS
for name, draw in DRAWERS.items():
    draw(Path({folder!r}) / f"{{name}}.png")
"""


@pytest.mark.parametrize("machine", ["home that cannot be written", "settings of its own"])
def test_no_machine_changes_a_picture(tmp_path: Path, machine: str) -> None:
    """The folder of the user is not needed, and what is set there for other pictures does not matter."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    environ.pop("MPLCONFIGDIR", None)
    if machine == "settings of its own":
        (tmp_path / "matplotlibrc").write_text(HOSTILE)
        environ["MATPLOTLIBRC"] = str(tmp_path / "matplotlibrc")
    else:
        environ |= dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), "/proc/nowhere")
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    script = SCRIPT.format(folder=str(there))
    subprocess.run([sys.executable, "-c", script], env=environ, check=True, timeout=120, capture_output=True)
    for name, draw in DRAWERS.items():
        draw(here / f"{name}.png")
        assert (there / f"{name}.png").read_bytes() == (here / f"{name}.png").read_bytes(), name
