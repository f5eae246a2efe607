"""A normalised spectrum in ECSV and FITS is read back, by astropy alone, to the same numbers."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy import units
from astropy.io import fits
from astropy.table import Table
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from penstock.astronomy.fill_values import fill_values
from penstock.astronomy.judgement import Assumption
from penstock.astronomy.products.ecsv import write_spectrum_ecsv
from penstock.astronomy.products.fits_tables import notes_of, write_spectrum_fits
from penstock.astronomy.spectrum import Floats, Frame, Medium, Spectrum
from penstock.errors import InvalidValue, TooLarge
from tests.astronomy.products.given import FLUX, a_spectrum, floats

ANY_FLOAT = st.floats(allow_nan=True, allow_infinity=True, width=64)
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
METADATA = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
    st.one_of(ANY_TEXT, st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False, allow_infinity=False)),
    max_size=6,
)


@st.composite
def spectra(draw: st.DrawFn) -> Spectrum:
    """Any arrays, ascending or not, with any words beside them."""
    length = draw(st.integers(0, 40))
    column = st.lists(ANY_FLOAT, min_size=length, max_size=length).map(floats)
    return Spectrum(
        draw(column),
        draw(column),
        draw(st.sampled_from([FLUX, "", "Jy", "adu", "10**-17 erg Angstrom-1 s-1 cm-2", "furlong"])),
        uncertainty=draw(st.none() | column),
        label=draw(ANY_TEXT),
        medium=draw(st.sampled_from(Medium)),
        frame=draw(st.sampled_from(Frame)),
        wavelength_unit=draw(st.sampled_from(["nm", "Angstrom", "µm"])),
        metadata=draw(METADATA),
        assumptions=tuple(draw(st.lists(st.builds(Assumption, ANY_TEXT, ANY_TEXT, ANY_TEXT), max_size=2))),
    )


def bits(values: Any) -> list[int]:
    """The very bits; of numbers that are none, only that they are none."""
    array = np.array(values, dtype="<f8")
    array[np.isnan(array)] = np.nan
    found: list[int] = array.view("<u8").tolist()
    return found


def same_arrays(spectrum: Spectrum, *columns: Floats) -> bool:
    gone = fill_values(spectrum.flux, spectrum.uncertainty)
    error = None if spectrum.uncertainty is None else np.where(gone, np.nan, spectrum.uncertainty)
    expected = [spectrum.wavelength, np.where(gone, np.nan, spectrum.flux), error]
    return [bits(one) for one in expected if one is not None] == [bits(one) for one in columns]


def same_notes(spectrum: Spectrum, notes: dict[str, Any], provenance: dict[str, Any]) -> bool:
    return notes == {
        "kind": "spectrum",
        "label": spectrum.label,
        "medium": spectrum.medium.value,
        "frame": spectrum.frame.value,
        "flux_unit": spectrum.flux_unit,
        "source_wavelength_unit": spectrum.wavelength_unit,
        "metadata": spectrum.metadata,
        "assumptions": [{"about": one.about, "value": one.value, "why": one.why} for one in spectrum.assumptions],
        "provenance": provenance,
    }


ODD = {
    "\n": None,
    "a": "\n\n x \n",
    "\U0001f320": "\x7f\x85\u2028\ufeff",
    "k" * 2000: 1e-05,
    "n": 1e300,
    "yes": "no",
    "#": "'",
}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spectra(), METADATA)
@example(a_spectrum(points=2, metadata=ODD), ODD)
def test_ecsv_gives_back_the_same_numbers_and_words(
    tmp_path: Path, spectrum: Spectrum, provenance: dict[str, Any]
) -> None:
    path = tmp_path / "spectrum.ecsv"
    write_spectrum_ecsv(spectrum, path, provenance=provenance)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = Table.read(path, format="ascii.ecsv")
    assert table.colnames[-1] == "mask"
    columns = [np.ma.filled(table[name].astype("f8"), np.nan) for name in table.colnames[:-1]]
    assert same_arrays(spectrum, *(floats(column) for column in columns))
    assert same_notes(spectrum, dict(table.meta), provenance)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spectra(), METADATA)
@example(a_spectrum(points=2, metadata=ODD), ODD)
def test_fits_gives_back_the_same_numbers_and_words(
    tmp_path: Path, spectrum: Spectrum, provenance: dict[str, Any]
) -> None:
    path = tmp_path / "spectrum.fits"
    write_spectrum_fits(spectrum, path, provenance=provenance)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with fits.open(path) as file:
            file.verify("exception")
            names = file[1].columns.names[:-1]
            assert same_arrays(spectrum, *(floats(file[1].data[name]) for name in names))
    assert same_notes(spectrum, notes_of(path), provenance)


def test_units_are_those_that_astropy_knows(tmp_path: Path) -> None:
    write_spectrum_ecsv(a_spectrum(), tmp_path / "a.ecsv", provenance={})
    write_spectrum_fits(a_spectrum(), tmp_path / "a.fits", provenance={})
    text, binary = Table.read(tmp_path / "a.ecsv"), Table.read(tmp_path / "a.fits")
    for table, names in ((text, ("wavelength", "flux", "uncertainty")), (binary, ("WAVE", "FLUX", "ERR"))):
        assert table[names[0]].unit == units.AA
        assert table[names[1]].unit == table[names[2]].unit == units.Unit("erg / (s cm2 AA)")


def test_an_uncertainty_that_is_not_known_has_no_column(tmp_path: Path) -> None:
    write_spectrum_ecsv(a_spectrum(error=False), tmp_path / "a.ecsv", provenance={})
    write_spectrum_fits(a_spectrum(error=False), tmp_path / "a.fits", provenance={})
    assert Table.read(tmp_path / "a.ecsv").colnames == ["wavelength", "flux", "mask"]
    assert Table.read(tmp_path / "a.fits").colnames == ["WAVE", "FLUX", "MASK"]


@pytest.mark.parametrize("medium", Medium)
@pytest.mark.parametrize("frame", Frame)
def test_the_virtual_observatory_finds_its_words(tmp_path: Path, medium: Medium, frame: Frame) -> None:
    metadata = {"target": "V1324 Sco", "observed_at": "2012-06-20T03:04:05Z", "exposure_seconds": 600.0}
    spectrum = a_spectrum(medium=medium, frame=frame, metadata=metadata)
    write_spectrum_fits(spectrum, tmp_path / "a.fits", provenance={})
    header = fits.getheader(tmp_path / "a.fits", 1)
    assert header["VOCLASS"] == "SPECTRUM V2.0"
    assert header["TUTYP1"] == "spec:Spectrum.Data.SpectralAxis.Value"
    assert header["TUCD1"] == ("em.wl;obs.atmos" if medium is Medium.AIR else "em.wl")
    assert header.get("AIRORVAC") == {"air": "air", "vacuum": "vac", "unknown": None}[medium.value]
    assert (header.get("SPECSYS") is None) == (frame is Frame.UNKNOWN)
    assert (header["OBJECT"], header["DATE-OBS"], header["EXPTIME"]) == ("V1324 Sco", "2012-06-20T03:04:05", 600.0)


@pytest.mark.parametrize("write", [write_spectrum_ecsv, write_spectrum_fits])
def test_the_same_spectrum_makes_the_same_bytes(tmp_path: Path, write: Any) -> None:
    for name in ("a", "b"):
        write(a_spectrum(metadata={"z": 1, "a": {"x": [1, 2]}}), tmp_path / name, provenance={"from": "here"})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("write", [write_spectrum_ecsv, write_spectrum_fits])
def test_what_cannot_be_a_spectrum_leaves_no_file(tmp_path: Path, write: Any) -> None:
    wrong = a_spectrum(flux=np.zeros(3))
    with pytest.raises(InvalidValue, match="one length"):
        write(wrong, tmp_path / "a", provenance={})
    with pytest.raises(TooLarge, match="leave out what is long"):
        write(a_spectrum(metadata={"all": "x" * 600_000}), tmp_path / "a", provenance={})
    assert [*tmp_path.iterdir()] == []


def test_values_of_other_programs_are_told_as_plain_ones(tmp_path: Path) -> None:
    metadata = {"n": np.float64(1.5), "i": np.int32(2), "a": np.array([1, 2]), "none": float("nan"), "t": (1, {3})}
    write_spectrum_ecsv(a_spectrum(metadata=metadata), tmp_path / "a.ecsv", provenance={})
    told = Table.read(tmp_path / "a.ecsv").meta["metadata"]
    assert told == {"n": 1.5, "i": 2, "a": [1, 2], "none": "nan", "t": [1, [3]]}


def test_what_was_not_measured_is_masked_and_flags_come_along(tmp_path: Path) -> None:
    flux = np.array([0.0, 1.5, 2.5, 3.5, 0.0])
    flags = np.array([0, 0, -16, 0, 4])
    spectrum = a_spectrum(points=5, flux=flux, uncertainty=np.array([0.0, 0.1, 0.1, 0.1, 0.0]), quality=flags,
                          bad=flags != 0)  # fmt: skip
    write_spectrum_ecsv(spectrum, tmp_path / "a.ecsv", provenance={})
    write_spectrum_fits(spectrum, tmp_path / "a.fits", provenance={})
    for path, names in (("a.ecsv", ("flux", "uncertainty", "mask", "quality")),
                        ("a.fits", ("FLUX", "ERR", "MASK", "QUALITY"))):  # fmt: skip
        table = Table.read(tmp_path / path)
        assert [table[name].mask.tolist() for name in names[:2]] == [[True, False, False, False, True]] * 2
        assert table[names[0]][2] == 2.5
        assert [bool(each) for each in table[names[2]]] == [True, False, True, False, True]
        assert list(table[names[3]]) == flags.tolist()


def test_time_and_place_are_told_as_the_fits_standard_has_them(tmp_path: Path) -> None:
    metadata = {"observed_at": "2012-06-20T03:04:05Z", "observed_mjd": 56098.1278356, "right_ascension": 267.7,
                "declination": -32.6}  # fmt: skip
    write_spectrum_fits(a_spectrum(metadata=metadata), tmp_path / "a.fits", provenance={})
    header = fits.getheader(tmp_path / "a.fits", 1)
    assert (header["MJD-OBS"], header["TIMESYS"], header["TREFPOS"]) == (56098.1278356, "UTC", "TOPOCENTER")
    assert (header["RA"], header["DEC"], header["EQUINOX"]) == (267.7, -32.6, 2000.0)
    middle = a_spectrum(metadata={**metadata, "observed_at_is": "middle"})
    write_spectrum_fits(middle, tmp_path / "b.fits", provenance={})
    header = fits.getheader(tmp_path / "b.fits", 1)
    assert (header["MJD-AVG"], header["DATE-AVG"], "MJD-OBS" in header) == (56098.1278356, "2012-06-20T03:04:05", False)
