"""What is wrong with an axis, and the code that says so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from penstock.astronomy.judgement import FileVerdict
from penstock.astronomy.spectra import CODES, SpectrumHints, SpectrumJudgement, judge_spectrum
from tests.astronomy.spectra.fits_bytes import CardValue, Column, fluxes, image, table, wat, waves
from tests.astronomy.spectra.made_spectra import MADE

LINE: dict[str, CardValue] = {"CRVAL1": 4000.0, "CRPIX1": 1.0, "CDELT1": 1.0}
DOCS = Path(__file__).parents[3] / "docs" / "spectra.md"


def judged(tmp_path: Path, data: bytes) -> SpectrumJudgement:
    """The judgement of a file of these bytes."""
    path = tmp_path / "primary.fits"
    path.write_bytes(data)
    return judge_spectrum(path)


def code(found: SpectrumJudgement) -> str:
    """Why it was refused."""
    assert found.finding is not None, found
    assert found.verdict is CODES[found.finding.code].verdict
    return found.finding.code


CARDS: list[tuple[dict[str, CardValue], str]] = [
    ({"CRVAL1": 1.0}, "IMPLAUSIBLE_RANGE"),
    ({"CRVAL1": -100.0}, "NON_POSITIVE_WAVELENGTH"),
    ({"CDELT1": 0.0}, "ZERO_DISPERSION"),
    ({"CDELT1": "one"}, "BAD_CARD"),
    ({"CRPIX1": True}, "BAD_CARD"),
    ({"CTYPE1": "PIXEL"}, "NO_WAVELENGTH"),
    ({"CTYPE1": "RA---TAN"}, "NO_WAVELENGTH"),
    ({"CTYPE1": "flubber"}, "NO_WAVELENGTH"),
    ({"CTYPE1": "WAVE-F2W", "CUNIT1": "Angstrom"}, "NO_WAVELENGTH"),
    ({"CUNIT1": "pixel"}, "NO_WAVELENGTH"),
    ({"CUNIT1": "flubber"}, "UNKNOWN_UNIT"),
    ({"CUNIT1": "km/s"}, "NO_WAVELENGTH"),
    ({"CUNIT1": "nm", "WAT1_001": "units=angstroms"}, "CONTRADICTORY_CARDS"),
    ({"CTYPE1": "FREQ", "CUNIT1": "Angstrom"}, "CONTRADICTORY_CARDS"),
    ({"CTYPE1": "LOGLIN", "DC-FLAG": 0}, "CONTRADICTORY_CARDS"),
    ({"DC-FLAG": -1}, "NO_WAVELENGTH"),
    ({"DC-FLAG": 7}, "BAD_CARD"),
    ({"DC-FLAG": 1}, "NON_FINITE_WAVELENGTH"),
    ({"DC-FLAG": 1, "CRVAL1": 3.6, "CDELT1": 1e-4, "COEFF0": 3.7, "COEFF1": 1e-4}, "CONTRADICTORY_CARDS"),
    ({"WAT1_002": "half"}, "MISSING_CARD"),
    ({"BUNIT": "flubber/s"}, "UNKNOWN_UNIT"),
    ({"BUNIT": 5}, "BAD_CARD"),
    ({"BANDID1": "sigma - of something"}, "AMBIGUOUS_ROWS"),
]


@pytest.mark.parametrize(("cards", "wanted"), CARDS)
def test_a_card_that_makes_the_axis_unknowable_is_named(
    cards: dict[str, CardValue], wanted: str, tmp_path: Path
) -> None:
    data = image(fluxes()[np.newaxis] if "BANDID1" in cards else fluxes(), {**LINE, **cards})
    assert code(judged(tmp_path, data)) == wanted


@pytest.mark.parametrize("gone", ["CRVAL1", "CDELT1"])
def test_without_a_card_the_axis_needs_it_is_named(gone: str, tmp_path: Path) -> None:
    found = judged(tmp_path, image(fluxes(), {key: value for key, value in LINE.items() if key != gone}))
    assert code(found) == "MISSING_CARD"
    assert found.finding is not None
    assert found.finding.details["card"] in ("CRVAL1", "CD1_1")


@pytest.mark.parametrize(
    ("flux", "wanted"),
    [
        (np.full(60, np.nan), "NON_FINITE_FLUX"),
        (np.full(60, np.inf), "NON_FINITE_FLUX"),
        (np.where(np.arange(60) < 31, np.nan, fluxes()), "NON_FINITE_FLUX"),
        (np.zeros(60), "CONSTANT_FLUX"),
        (np.where(np.arange(60) < 20, np.nan, 7.0), "CONSTANT_FLUX"),
        (np.ones(1), "TOO_FEW_POINTS"),
        (np.ones((9, 60)), "AMBIGUOUS_ROWS"),
        (np.ones((2, 2, 2, 60)), "AMBIGUOUS_ROWS"),
    ],
)
def test_fluxes_in_which_nothing_was_measured_are_refused(flux: np.ndarray, wanted: str, tmp_path: Path) -> None:
    assert code(judged(tmp_path, image(flux, LINE))) == wanted


def columns(
    wave: Sequence[object],
    flux: Sequence[object],
    unit: str = "Angstrom",
    *,
    names: tuple[str, str] = ("WAVELENGTH", "FLUX"),
) -> bytes:
    """A table of two columns."""
    told = [Column(names[0], wave, unit), Column(names[1], flux, "Jy")]
    return image(None, {}) + table(told, {})


TABLES = [
    (columns([waves(4000.0, 5000.0)], [fluxes(59)]), "LENGTH_MISMATCH"),
    (columns([waves(4000.0, 5000.0)], [1.0]), "LENGTH_MISMATCH"),
    (columns(list(waves(4000.0, 5000.0)[::-1]), list(fluxes()), "flubber"), "UNKNOWN_UNIT"),
    (columns([4000.0, 4002.0, 4001.0], [1.0, 2.0, 3.0]), "NOT_MONOTONIC"),
    (columns([4000.0, 4000.0, 4000.0], [1.0, 2.0, 3.0]), "ZERO_DISPERSION"),
    (columns([0.0, 1.0, 2.0], [1.0, 2.0, 3.0]), "NON_POSITIVE_WAVELENGTH"),
    (columns([4000.0, np.nan, 4002.0], [1.0, 2.0, 3.0]), "NON_FINITE_WAVELENGTH"),
    (columns([400.0, 401.0, 402.0], [1.0, 2.0, 3.0], ""), "IMPLAUSIBLE_RANGE"),
    (columns([400.0, 401.0, 402.0], [1.0, 2.0, 3.0], "m"), "IMPLAUSIBLE_RANGE"),
    (columns([4000.0, 4001.0], [1.0, 2.0], names=("FLUX", "FLUX")), "AMBIGUOUS_COLUMNS"),
    (columns([4000.0, 4001.0], [1.0, 2.0], names=("X", "Y")), "UNKNOWN_PROFILE"),
    (columns([waves(4000.0, 5000.0)] * 400, [fluxes()] * 400), "TOO_MANY_SPECTRA"),
]


@pytest.mark.parametrize(("data", "wanted"), TABLES)
def test_columns_that_are_no_spectrum_are_refused(data: bytes, wanted: str, tmp_path: Path) -> None:
    assert code(judged(tmp_path, data)) == wanted


def test_columns_wider_than_their_row_are_refused(tmp_path: Path) -> None:
    data = columns([4000.0, 4001.0, 4002.0], [1.0, 2.0, 3.0]).replace(b"'1D      '", b"'1E      '", 1)
    found = judged(tmp_path, data)
    assert found.verdict is not FileVerdict.VALID


SPECS = {
    "1 1 2 4000. 2. 60 0. 1. 2. 1. 0. 9 3 1. 60. 5000. 1000. 10.": "function type 9",
    "1 1 2 4000. 2. 60 0. 1. 2. 1. 0. 1 3 1. 60. 5000. 1000.": "ends before a coefficient",
    "1 1 2 4000. 2. 60 0. 1. 2. 1. 0. 1 1e9 1. 60. 5000.": "its order is",
    "1 1 0 4000. 2. 60 0. 1. 2. 5.": "left over",
    "1 1 0 4000. 2. 61 0. 1. 2.": "nw is 61",
    "1 1 0 4000. 2. 60 -1. 1. 2.": "z -1.0",
    "1 1 5 4000. 2. 60 0. 1. 2.": "dispersion type 5",
    "1 1 0 4o00. 2. 60 0. 1. 2.": "no number",
    "1 1 -1 4000. 2. 60 0. 1. 2.": "not calibrated",
}


@pytest.mark.parametrize("spec", SPECS)
def test_a_dispersion_function_that_cannot_be_read_is_refused(spec: str, tmp_path: Path) -> None:
    cards: dict[str, CardValue] = {
        "WAT0_001": "system=multispec",
        "WAT1_001": "units=angstroms",
        "CTYPE1": "MULTISPE",
        "LTV1": 0.0,
    }
    found = judged(tmp_path, image(fluxes(), {**cards, **wat(2, f'wtype=multispec spec1 = "{spec}"')}))
    assert code(found) in ("MALFORMED_DISPERSION", "NO_WAVELENGTH")
    assert found.finding is not None
    assert SPECS[spec] in found.finding.message


def test_a_product_of_eso_that_names_no_target_lacks_what_it_must_have(tmp_path: Path) -> None:
    data = MADE["sdp"]().data.replace(b"OBJECT  =", b"OBJEKT  =")
    assert code(judged(tmp_path, data)) == "MISSING_METADATA"


def test_a_product_of_eso_without_a_unit_gets_none(tmp_path: Path) -> None:
    data = MADE["sdp"]().data.replace(b"TUNIT1  =", b"TUNUT1  =")
    assert code(judged(tmp_path, data)) == "MISSING_UNIT"


def test_a_refused_file_keeps_its_numbers_for_whoever_decides(tmp_path: Path) -> None:
    path = tmp_path / "a.fits"
    cards: dict[str, CardValue] = {**LINE, "CUNIT1": "furlong", "DC-FLAG": 0}
    path.write_bytes(image(fluxes(), cards))
    found = judge_spectrum(path)
    assert found.finding is not None
    assert found.finding.code == "UNKNOWN_UNIT"
    assert found.finding.details["hints"] == ["unit"]
    assert found.stored[0] is not None
    assert found.stored[0].tolist() == fluxes().tolist()


def test_a_page_of_html_is_called_one(tmp_path: Path) -> None:
    path = tmp_path / "a.fits"
    path.write_text("<!DOCTYPE html><html><body>404 Not Found</body></html>")
    found = judge_spectrum(path)
    assert found.finding is not None
    assert "an HTML page" in found.finding.message
    assert "'<!DOCTYPE html>" in found.finding.message


def test_a_hint_that_nobody_knows_is_called_that_with_examples(tmp_path: Path) -> None:
    path = tmp_path / "a.fits"
    path.write_bytes(image(fluxes(), {**LINE, "CUNIT1": "Angstrom"}))
    found = judge_spectrum(path, hints=SpectrumHints(flux_unit="bananas"))
    assert found.finding is not None
    assert found.finding.code == "UNKNOWN_HINT"
    assert "such as erg/s/cm2/Angstrom" in found.finding.message


def test_the_page_has_the_codes_and_the_profiles_that_there_are() -> None:
    from penstock.astronomy.spectra import spectrum_profiles

    lines = DOCS.read_text(encoding="utf-8").splitlines()
    told = {line.split("`")[1]: line for line in lines if line.startswith("| `")}
    codes = {name: line for name, line in told.items() if name.isupper()}
    assert list(codes) == list(CODES)
    for name, line in codes.items():
        assert line == f"| `{name}` | {CODES[name].verdict} | {CODES[name].meaning} |"
    for name, profile in spectrum_profiles().items():
        assert told[name].endswith(f"| {profile.plausible[0]:g} to {profile.plausible[1]:,.0f} |"), name


def test_a_table_of_one_dimension_is_told_as_what_it_is(tmp_path: Path) -> None:
    data = MADE["sdp"]().data
    second = data.index(b"NAXIS   =                    2")
    found = judged(tmp_path, data[: second + 29] + b"1" + data[second + 30 :])
    assert code(found) == "UNKNOWN_PROFILE"
    assert found.finding is not None
    assert "NAXIS" in found.finding.message
