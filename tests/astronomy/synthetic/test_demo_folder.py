"""The data a demonstration makes are what they say: lines stand where they should, and the nova fades."""

from __future__ import annotations

import csv
import hashlib
import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits

from penstock.astronomy.products.plots.nova_lines import in_vacuum
from penstock.astronomy.spectrum import Floats
from penstock.astronomy.synthetic.demo_folder import DEMO_NOVAE, DemoFolder, make_demo_folder
from penstock.astronomy.synthetic.synthetic_nova import SyntheticNova, synthetic_nova
from penstock.astronomy.synthetic.synthetic_spectrum import observed_wavelength, synthetic_flux
from penstock.astronomy.synthetic.synthetic_tables import synthetic_points
from penstock.errors import InvalidValue


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoFolder:
    return make_demo_folder(tmp_path_factory.mktemp("demo"), seed=1, nova_name="V1324 Sco")


def spectrum_file(demo: DemoFolder, kind: str) -> Path:
    return next(demo.folder / file.path for file in demo.spectra if file.path.endswith(f"_{kind}.fits"))


def image(path: Path) -> tuple[Floats, Floats]:
    """Wavelength and flux of a line of pixels, read by its own cards."""
    with fits.open(path) as file:
        header, flux = file[0].header, np.asarray(file[0].data, dtype=np.float64)
    scale = header["CRVAL1"] + np.arange(flux.size) * header["CDELT1"]
    return (10.0**scale if header.get("DC-FLAG") == 1 else scale), flux


def centre(wavelength: Floats, flux: Floats, near: float, *, within: float = 25.0) -> float:
    """Where an emission line is: the mean of its wavelengths, by their flux above what is beside it."""
    inside = np.abs(wavelength - near) < within
    above = flux[inside] - np.percentile(flux[inside], 10)
    top = above > 0.4 * above.max()
    return float(np.sum(wavelength[inside][top] * above[top]) / np.sum(above[top]))


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        ("no-units", [6562.80, 4861.33, 5006.84, 4685.68, 5875.64]),
        ("iraf-log", [6562.80]),
        ("calspec", [6562.80, 4861.33, 8446.4]),
        ("eso-sdp", [6562.80, 4861.33]),
    ],
)
def test_lines_are_measured_where_the_nova_has_them(demo: DemoFolder, kind: str, lines: list[float]) -> None:
    path = spectrum_file(demo, kind)
    if kind in ("calspec", "eso-sdp"):
        with fits.open(path) as file:
            names, data = file[1].columns.names, file[1].data
            wavelength, flux = (np.asarray(data[name], dtype=np.float64).ravel() for name in names[:2])
            wavelength = wavelength * (10 if file[1].columns[0].unit == "nm" else 1)
    else:
        wavelength, flux = image(path)
    for line in lines:
        expected = line * (1 + demo.nova.motion / 299_792.458)
        expected = in_vacuum(expected) if kind == "calspec" else expected
        assert centre(wavelength, flux, expected) == pytest.approx(expected, abs=1.2), line


def test_each_order_of_the_multispec_file_has_the_wavelengths_its_header_tells(demo: DemoFolder) -> None:
    with fits.open(spectrum_file(demo, "iraf-multispec")) as file:
        header, rows = file[0].header, np.asarray(file[0].data, dtype=np.float64)
    text = "".join(str(header[f"WAT2_{n:03}"]).ljust(68) for n in range(1, 20) if f"WAT2_{n:03}" in header)
    told = [part.split('"')[1].split() for part in text.split("spec")[2:]]
    assert [words[2] for words in told] == ["0", "2", "2"]
    x = (2 * np.arange(1, 1001) - 1001) / 999
    a, b, c = map(float, told[2][-3:])
    halpha = a + b * x + c * (2 * x**2 - 1)
    assert centre(halpha, rows[2], 6562.8) == pytest.approx(6562.8 * (1 + demo.nova.motion / 299_792.458), abs=1.5)
    first, step, count = float(told[0][3]), float(told[0][4]), int(told[0][5])
    assert (first, count) == (3900.0, 1000)
    assert first + 999 * step == pytest.approx(4700.0)


def test_the_spectrum_goes_from_p_cygni_to_a_nebula() -> None:
    nova = synthetic_nova("V1324 Sco", seed=1)
    wavelength = np.arange(4000.0, 8000.0, 0.5)

    def near(days: float, line: float) -> float:
        flux = synthetic_flux(nova, wavelength, days)
        place = observed_wavelength(nova, line)
        beside = np.median(flux[np.abs(wavelength - place - 90) < 5])
        return float(np.interp(place, wavelength, flux) / beside)

    blue = 6562.8 * (1 - nova.expansion / 299_792)
    assert near(1, blue) < 0.8
    assert near(150, blue) > 0.95
    assert near(3, 5006.84) < 1.5
    assert near(200, 5006.84) > 5
    assert near(3, 4685.68) < 1.05 < near(200, 4685.68)
    assert near(10, 5169.03) > near(200, 5169.03)


@pytest.mark.parametrize("name", [*DEMO_NOVAE, "Nova Imaginaria 2031"])
def test_a_nova_fades_by_two_and_three_magnitudes_in_its_own_times(name: str) -> None:
    nova = synthetic_nova(name, seed=1)
    found = nova.magnitude(np.array([0.0, nova.t2, nova.t3]))
    assert found - found[0] == pytest.approx([0, 2, 3], abs=0.02)
    assert np.all(np.diff(nova.magnitude(np.linspace(0, 1000, 500))) > 0)
    assert np.all(np.diff(nova.magnitude(np.linspace(-3, 0, 50))) <= 0)
    assert float(nova.magnitude(np.array([-30.0]))[0]) == pytest.approx(nova.quiet_v, abs=0.8)
    assert nova.t2 < nova.t3


def test_it_was_not_seen_before_the_outburst_and_its_bands_differ() -> None:
    nova = synthetic_nova("V1324 Sco", seed=1)
    points = synthetic_points(nova)
    limits = [one for one in points if one.limit]
    assert len(limits) == 9
    assert max(one.jd for one in limits) < min(one.jd for one in points if not one.limit)
    mean = {band: np.mean([p.magnitude for p in points if p.band == band and not p.limit]) for band in "BVRI"}
    assert mean["B"] > mean["V"] > mean["R"]
    away = [
        (one.magnitude - float(nova.magnitude(np.array([one.jd - nova.peak_jd]), one.band)[0])) / one.error
        for one in points
        if not one.limit and one.jd > nova.peak_jd
    ]
    assert 0.8 < np.std(away) < 1.2


def test_tables_have_the_columns_of_their_kinds(demo: DemoFolder) -> None:
    rows = {file.path: read(demo.folder / file.path) for file in demo.photometry}
    export, ticketed, headed = rows.values()
    assert {len(row) for row in export} == {25}
    assert {row[2] for row in export} == {"0", "1"}
    assert {row[18] for row in export} == {"V1324 SCO"}
    assert {len(row) for row in ticketed} == {7}
    assert headed[0] == ["#Nova", "JD", "T", "o_Vmag", "Mag", "e_Mag", "Band"]
    ticket = (demo.folder / "tickets" / "V1324_Sco_Penstock_optical_Photometry.txt").read_text()
    assert "DATA FILENAME: V1324_Sco_Penstock_optical_Photometry.csv" in ticket
    assert "UPPER LIMIT FLAG COLUMN NUMBER: 4" in ticket


def read(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return [*csv.reader(file)]


def good_files(demo: DemoFolder) -> Iterator[Path]:
    return (demo.folder / file.path for file in demo.spectra if "cut-short" not in file.path)


def test_every_file_says_that_nobody_observed_it(demo: DemoFolder) -> None:
    for path in good_files(demo):
        header = fits.getheader(path)
        assert header["SYNTHETC"] is True
        assert header["ORIGIN"] == "SYNTHETIC"
    manifest = json.loads(demo.manifest.read_text())
    assert "synthetic" in manifest["novae"][0]["origin"]
    assert all(file["origin"] == "synthetic" for file in manifest["novae"][0]["spectra"])
    assert manifest["papers"][0]["title"].startswith("[synthetic]")
    for row in read(demo.folder / demo.photometry[0].path):
        assert "SYNTHETIC" in row


def test_good_files_are_sound_and_bad_ones_are_bad_as_meant(demo: DemoFolder) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for path in good_files(demo):
            with fits.open(path) as file:
                file.verify("exception")
                assert all(hdu.data is None or hdu.data.size for hdu in file)
    assert "BUNIT" not in fits.getheader(spectrum_file(demo, "no-units"))
    assert fits.getheader(spectrum_file(demo, "unknown-unit"))["BUNIT"] == "furlong/fortnight"
    cut = spectrum_file(demo, "cut-short").stat().st_size
    assert cut % 2880
    assert cut < spectrum_file(demo, "iraf-linear").stat().st_size


def test_the_science_product_has_a_gap_where_the_air_is_opaque(demo: DemoFolder) -> None:
    with fits.open(spectrum_file(demo, "eso-sdp")) as file:
        row = file[1].data[0]
        gap = np.isnan(row["FLUX"])
        assert (row["WAVE"][gap].min(), row["WAVE"][gap].max()) == pytest.approx((759.1, 768.9))
        assert np.array_equal(gap, np.isnan(row["ERR"]))


def test_the_manifest_lists_every_file_with_its_checksum(demo: DemoFolder) -> None:
    nova = json.loads(demo.manifest.read_text())["novae"][0]
    listed = {file["file"]: file["sha256"] for kind in ("spectra", "photometry") for file in nova[kind]}
    there = {path.relative_to(demo.folder).as_posix(): path for path in demo.folder.rglob("*") if path.is_file()}
    assert {*there} - {*listed} == {"manifest.json", "tickets/V1324_Sco_Penstock_optical_Photometry.txt"}
    assert {name: hashlib.sha256(there[name].read_bytes()).hexdigest() for name in listed} == listed
    assert len(nova["bibcodes"][0]) == 19


def test_the_same_seed_makes_the_same_bytes_and_another_seed_others(tmp_path: Path, demo: DemoFolder) -> None:
    again = make_demo_folder(tmp_path / "again", seed=1, nova_name="V1324 Sco")
    other = make_demo_folder(tmp_path / "other", seed=2, nova_name="V1324 Sco")
    for file in (*demo.spectra, *demo.photometry):
        assert (again.folder / file.path).read_bytes() == (demo.folder / file.path).read_bytes()
    assert again.manifest.read_bytes() == demo.manifest.read_bytes()
    assert {file.sha256 for file in other.spectra}.isdisjoint(file.sha256 for file in demo.spectra)


def test_several_novae_share_a_folder(tmp_path: Path) -> None:
    for name in (*DEMO_NOVAE, DEMO_NOVAE[0]):
        make_demo_folder(tmp_path, seed=1, nova_name=name)
    told = json.loads((tmp_path / "manifest.json").read_text())
    assert [nova["name"] for nova in told["novae"]] == sorted(DEMO_NOVAE)
    assert len(told["papers"]) == 3


@pytest.mark.parametrize("name", ["", "  ", "///", "x" * 101])
def test_what_is_no_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidValue, match="no name for a nova"):
        make_demo_folder(tmp_path, seed=1, nova_name=name)


def test_a_name_of_any_signs_makes_files(tmp_path: Path) -> None:
    made = make_demo_folder(tmp_path, seed=1, nova_name="Növa ../Sgr №7")
    assert made.spectra[0].path.startswith("spectra/N_va_Sgr_7/")
    assert isinstance(made.nova, SyntheticNova)
