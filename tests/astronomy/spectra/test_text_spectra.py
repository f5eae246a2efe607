"""Spectra in text: those that a ticket describes, those that describe themselves, and those that are recognised."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.astronomy.judgement import Verdict
from penstock.astronomy.spectra import (
    SpectrumDescription,
    SpectrumHints,
    SpectrumJudgement,
    judge_spectrum,
    parse_descriptions,
    parse_spectra_ticket,
)

NOVAE = Path(__file__).parents[4] / "shared" / "data" / "novae"
TABLES = sorted(path.name for path in (NOVAE / "spectra_csv").glob("*.csv")) if NOVAE.is_dir() else []

TICKET = """OBJECT NAME: GQ_Mus
FLUX UNITS: NA
TIME SYSTEM: JD
REFERENCE: Williams et al. (1992)
BIBCODE: 1992AJ....104..725W
DEREDDENED FLAG: False
METADATA FILENAME: meta.csv
FILENAME COLUMN: 0
WAVELENGTH COLUMN: 1
FLUX COLUMN: 2
FLUX ERROR COLUMN: 3
FLUX UNITS COLUMN: 4
DATE COLUMN: 5
TELESCOPE COLUMN: 6
WAVELENGTH RANGE COLUMN: 7,8
TICKET STATUS: Completed"""
METADATA = (
    "#FILENAME,W,F,E,U,D,T,LOW,HIGH\nnova.csv,0,1,NA,ergs/cm^2/sec,2.4481e+06,CTIO 1 m,4000,4002\nbad,x,1,,,,,,\n"
)


def judged(tmp_path: Path, text: str, **more: object) -> SpectrumJudgement:
    """The judgement of a text."""
    path = tmp_path / "nova.csv"
    path.write_text(text, encoding="utf-8")
    return judge_spectrum(path, **more)  # type: ignore[arg-type]


def code(found: SpectrumJudgement) -> str:
    """Why it was refused."""
    assert found.finding is not None, found
    return found.finding.code


@pytest.mark.realdata
@pytest.mark.parametrize("name", [name for name in TABLES if "MetaData" not in name])
def test_every_nova_table_is_valid_with_as_many_points_as_it_has_lines(name: str) -> None:
    """NC-27: first and last numbers are those of the text, cut out of its first and last line."""
    path = NOVAE / "spectra_csv" / name
    ticket = parse_spectra_ticket((NOVAE / "tickets" / "GQ_Mus_Williams_Optical_Spectra.txt").read_text())
    metadata = (NOVAE / "spectra_csv" / "GQ_Mus_Williams_Optical_Spectra_MetaData.csv").read_text()
    description = parse_descriptions(metadata, ticket).get(name)
    found = judge_spectrum(path, description=description)
    lines = path.read_text().split()
    assert found.verdict is Verdict.VALID, found.finding
    spectrum = found.spectra[0]
    assert len(spectrum.wavelength) == len(lines)
    for at in (0, -1):
        assert [spectrum.wavelength[at], spectrum.flux[at]] == [float(word) for word in lines[at].split(",")]
    about = {one.about for one in spectrum.assumptions}
    assert about == ({"wavelength_unit", "observed_jd"} if description else {"wavelength_unit", "flux_unit", "columns"})
    assert spectrum.flux_unit == ("erg s-1 cm-2" if description else "")


@pytest.mark.realdata
def test_a_table_of_metadata_is_no_spectrum() -> None:
    if not TABLES:
        pytest.skip("the folder of real sample files is not beside the repository")
    assert code(judge_spectrum(NOVAE / "spectra_csv" / next(name for name in TABLES if "Meta" in name))) == (
        "NOT_A_SPECTRUM_FILE"
    )


@pytest.mark.realdata
def test_no_photometry_passes_for_a_spectrum() -> None:
    if not NOVAE.is_dir():
        pytest.skip("the folder of real sample files is not beside the repository")
    for path in (NOVAE / "photometry").iterdir():
        assert judge_spectrum(path).verdict is not Verdict.VALID, path.name


def test_a_ticket_and_its_metadata_describe_a_table(tmp_path: Path) -> None:
    described = parse_descriptions(METADATA, parse_spectra_ticket(TICKET))
    assert list(described) == ["nova.csv"]
    found = judged(tmp_path, "4000,1\n4001,2\n4002,1\n", description=described["nova.csv"]).spectra[0]
    assert found.flux_unit == "erg s-1 cm-2"
    assert found.metadata == {
        "target": "GQ Mus",
        "telescope": "CTIO 1 m",
        "reference": "Williams et al. (1992)",
        "bibcode": "1992AJ....104..725W",
        "dereddened": False,
        "observed_jd": 2448100.0,
        "observed_jd_precision_days": 100.0,
    }
    assert "observed_jd" in {one.about for one in found.assumptions}


def test_a_table_that_is_not_what_its_description_says_waits_for_a_person(tmp_path: Path) -> None:
    description = parse_descriptions(METADATA, parse_spectra_ticket(TICKET))["nova.csv"]
    assert code(judged(tmp_path, "5000,1\n5001,2\n", description=description)) == "CONTRADICTORY_CARDS"
    assert code(judged(tmp_path, "4000,1\n4002,2\n", description=SpectrumDescription(0, 5))) == "LENGTH_MISMATCH"
    strange = SpectrumDescription(0, 1, flux_unit="flubber")
    assert code(judged(tmp_path, "4000,1\n4002,2\n", description=strange)) == "UNKNOWN_UNIT"


@pytest.mark.parametrize(
    "text",
    [
        "4000 1 0.1\n4001 2 0.1\n4002 1 0.1\n",
        "# a comment\n4000\t1\t.1\n4001\t2\t.1\n4002\t1\t.1\n",
        "4000;1;.1\n4001;2;.1\n4002;1;.1",
    ],
)
def test_two_or_three_columns_are_recognised_and_flagged(text: str, tmp_path: Path) -> None:
    found = judged(tmp_path, text)
    assert found.verdict is Verdict.VALID, found.finding
    spectrum = found.spectra[0]
    assert (spectrum.wavelength.tolist(), spectrum.flux.tolist()) == ([4000.0, 4001.0, 4002.0], [1.0, 2.0, 1.0])
    assert spectrum.uncertainty is not None
    assert {one.about for one in spectrum.assumptions} == {"columns", "wavelength_unit", "flux_unit"}


def test_a_heading_tells_columns_and_units(tmp_path: Path) -> None:
    text = "Flux (erg/cm2/s/A),Wavelength (nm),Flux Error (erg/cm2/s/A)\n1,402,0.1\n2,401,0.2\n1,400,0.3\n"
    found = judged(tmp_path, text).spectra[0]
    assert found.wavelength.tolist() == [4000.0, 4010.0, 4020.0]
    assert found.flux.tolist() == [1.0, 2.0, 1.0]
    assert found.uncertainty is not None
    assert found.uncertainty.tolist() == [0.3, 0.2, 0.1]
    assert (found.flux_unit, found.assumptions) == ("erg Angstrom-1 s-1 cm-2", ())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("400,1\n401,2\n402,1\n", "IMPLAUSIBLE_RANGE"),
        ("2450000.5,12.1\n2450001.5,12.2\n", "IMPLAUSIBLE_RANGE"),
        ("50000.5,12.1\n50001.5,12.2\n", "IMPLAUSIBLE_RANGE"),
        ("4000,1\n4002,2\n4001,1\n", "NOT_MONOTONIC"),
        ("4000,1\n4000,2\n4001,1\n", "NOT_MONOTONIC"),
        ("4000,1\n4001,1\n4002,1\n", "CONSTANT_FLUX"),
        ("4000,nan\n4001,nan\n4002,1\n", "NON_FINITE_FLUX"),
        ("nan,1\n4001,2\n4002,1\n", "NON_FINITE_WAVELENGTH"),
        ("-4000,1\n4001,2\n4002,1\n", "NON_POSITIVE_WAVELENGTH"),
        ("4000,1\n4001,x\n4002,1\n", "UNREADABLE_ROWS"),
        ("4000,1\n4001\n4002,1\n", "UNREADABLE_ROWS"),
        ("4000,1\n", "TOO_FEW_POINTS"),
        ("4000\n4001\n", "AMBIGUOUS_COLUMNS"),
        ("4000,1,2,3\n4001,2,3,4\n", "AMBIGUOUS_COLUMNS"),
        ("hello\nworld\n", "NOT_A_SPECTRUM_FILE"),
        ("<!DOCTYPE html>", "NOT_A_SPECTRUM_FILE"),
        ('{"a": 1}', "NOT_A_SPECTRUM_FILE"),
        ("\n \n", "NOT_A_SPECTRUM_FILE"),
        ("wave(flubber),flux\n4000,1\n4001,2\n", "UNKNOWN_UNIT"),
    ],
)
def test_a_text_that_cannot_be_known_is_refused(text: str, wanted: str, tmp_path: Path) -> None:
    assert code(judged(tmp_path, text)) == wanted


def test_a_hint_tells_the_unit_of_a_text(tmp_path: Path) -> None:
    found = judged(tmp_path, "400,1\n401,2\n402,1\n", hints=SpectrumHints(unit="nm", medium="air")).spectra[0]
    assert found.wavelength.tolist() == [4000.0, 4010.0, 4020.0]
    assert found.medium == "air"
