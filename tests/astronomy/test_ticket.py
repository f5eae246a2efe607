"""Tickets, and the files of metadata that tickets of spectra name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.astronomy.judgement import Finding
from penstock.astronomy.spectra_metadata import SpectraMetadata, SpectrumEntry, read_spectra_metadata
from penstock.astronomy.ticket import (
    PhotometryTicket,
    SpectraTicket,
    photometry_ticket_of,
    read_ticket,
    ticket_record,
)

SAMPLES = Path(__file__).parents[3] / "shared" / "data" / "novae"
TICKETS = sorted(SAMPLES.glob("tickets*/*.txt")) if SAMPLES.is_dir() else []

PHOTOMETRY = """OBJECT NAME: V1_Tst
TIME UNITS: days
FLUX UNITS: mags
FLUX ERROR UNITS: NA
TIME SYSTEM: JD
ASSUMED DATE OF OUTBURST: 1999-05-22
TELESCOPE: NA
REFERENCE: Somebody et al. (1999): a note
BIBCODE: 1999TEST..1.....1A
DATA FILENAME: V1_Tst.csv
TIME COLUMN NUMBER: 0
FLUX COLUMN NUMBER: 2
FLUX ERROR COLUMN NUMBER: NA
FILTER/FREQUENCY/ENERGY RANGE COLUMN NUMBER: 1
UPPER LIMIT FLAG COLUMN NUMBER:
TICKET STATUS: completed"""
SPECTRA = """OBJECT NAME: V1_Tst
DEREDDENED FLAG: False
METADATA FILENAME: V1_Tst_MetaData.csv
FILENAME COLUMN: 0
WAVELENGTH COLUMN: 1
FLUX COLUMN: 2
FLUX ERROR COLUMN: 3
FLUX UNITS COLUMN: 4
DATE COLUMN: 5
OBSERVER COLUMN: 6
WAVELENGTH RANGE COLUMN: 7,8
TICKET STATUS: Completed"""
METADATA = """#FILENAME,WAVELENGTH COL NUM,FLUX COL NUM,FLUX ERR COL NUM,FLUX UNITS,DATE,OBSERVER,RANGE 1,RANGE 2
a.csv,0,1,NA,ergs/cm^2/sec,2.4481e+06,Williams,3300.0,9570.0
"b, c.csv",2,0,1,,NA,"Doe, J.",NA,9570.0
,0,1,NA,,,,,
../../etc/passwd,0,1,NA,,,,,
d.csv,zero,1,NA,,,,,
"""


def photometry(text: str) -> PhotometryTicket:
    found = read_ticket(text)
    assert isinstance(found, PhotometryTicket)
    return found


def spectra(text: str) -> SpectraTicket:
    found = read_ticket(text)
    assert isinstance(found, SpectraTicket)
    return found


def test_a_ticket_of_photometry_tells_columns_units_and_where_it_is_from() -> None:
    found = photometry(PHOTOMETRY)
    assert (found.time_column, found.flux_column, found.band_column) == (0, 2, 1)
    assert (found.flux_error_column, found.limit_column, found.telescope, found.flux_error_units) == (None,) * 4
    assert (found.reference, found.outburst) == ("Somebody et al. (1999): a note", "1999-05-22")
    assert found.complete


def test_a_ticket_can_name_one_band_in_place_of_a_column() -> None:
    found = photometry(PHOTOMETRY.replace("RANGE COLUMN NUMBER: 1", "RANGE COLUMN NUMBER: V"))
    assert (found.band, found.band_column) == ("V", None)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_ends_of_lines_marks_and_lines_nobody_knows_do_no_harm(end: str) -> None:
    text = "\ufeff" + PHOTOMETRY.replace("\n", end) + f"{end}COLOUR OF THE INK: blue{end}no line of a ticket{end}"
    assert photometry(text).unknown == {"COLOUR OF THE INK": "blue"}
    assert photometry(text).time_column == 0


def test_a_ticket_survives_being_written_down() -> None:
    assert photometry_ticket_of(ticket_record(photometry(PHOTOMETRY))) == photometry(PHOTOMETRY)


@pytest.mark.parametrize(
    ("line", "other", "said"),
    [
        ("TIME COLUMN NUMBER: 0", "TIME COLUMN NUMBER: first", "says 'first'"),
        ("TIME COLUMN NUMBER: 0", "TIME COLUMN NUMBER: -1", "says '-1'"),
        ("TIME COLUMN NUMBER: 0", "TIME COLUMN NUMBER: 1000000", "from 0 to 999"),
        ("TIME COLUMN NUMBER: 0", "TIME COLUMN NUMBER: 2", "another column than that of time_column"),
        ("TIME COLUMN NUMBER: 0", "TIME COLUMN NUMBER: 0\nTIME COLUMN NUMBER: 1", "said once"),
        ("COLUMN NUMBER: 1", "COLUMN NUMBER: 1,2", "the name of one band"),
    ],
)
def test_a_ticket_that_cannot_be_is_told_which_line_is_wrong(line: str, other: str, said: str) -> None:
    found = read_ticket(PHOTOMETRY.replace(line, other))
    assert isinstance(found, Finding)
    assert found.code == "BAD_TICKET"
    assert said in found.message


@pytest.mark.parametrize("text", ["", "hello", "JD,mag\n2450000,12\n", "OBJECT NAME: V1_Tst", "x" * 100_000])
def test_what_is_no_ticket_is_told_so(text: str) -> None:
    found = read_ticket(text)
    assert isinstance(found, Finding)
    assert found.code == "BAD_TICKET"


@pytest.mark.parametrize(
    "said", ["DEREDDENED FLAG: perhaps", "WAVELENGTH RANGE COLUMN: 7", "WAVELENGTH RANGE COLUMN: 7,8,9"]
)
def test_a_ticket_of_spectra_that_cannot_be_is_told_so(said: str) -> None:
    name = said.split(":")[0]
    found = read_ticket(re.sub(f"{name}:.*", said, SPECTRA))
    assert isinstance(found, Finding)
    assert name in found.message


def test_metadata_tells_each_spectrum_and_what_could_not_be_read() -> None:
    found = read_spectra_metadata(METADATA, ticket=spectra(SPECTRA))
    assert isinstance(found, SpectraMetadata)
    assert found.entries == (
        SpectrumEntry(
            "a.csv",
            2,
            0,
            1,
            flux_units="ergs/cm^2/sec",
            date="2.4481e+06",
            observer="Williams",
            wavelength_range=("3300.0", "9570.0"),
        ),
        SpectrumEntry("b, c.csv", 3, 2, 0, flux_error_column=1, observer="Doe, J."),
    )
    assert [(row.row, row.why) for row in found.unread] == [
        (4, "it names no file"),
        (5, "it names no file"),
        (6, "it does not tell the columns of wavelength and flux"),
    ]


def test_metadata_of_a_pending_ticket_waits() -> None:
    found = read_spectra_metadata(METADATA, ticket=SpectraTicket(status="pending"))
    assert isinstance(found, Finding)
    assert found.code == "INCOMPLETE_TICKET"


@pytest.mark.realdata
@pytest.mark.parametrize("path", TICKETS, ids=lambda path: path.name)
def test_every_real_ticket_is_read_line_by_line(path: Path) -> None:
    """What is expected is taken from the text with a regular expression of its own."""
    text = path.read_text()
    found = read_ticket(text)
    assert not isinstance(found, Finding)
    assert isinstance(found, SpectraTicket if "Spectra" in path.name else PhotometryTicket)
    assert found.unknown == {}
    assert found.complete == (re.search(r"^FLUX COLUMN(?: NUMBER)?: *[0-9]", text, re.M) is not None)
    for line in text.splitlines():
        name, value = (part.strip() for part in line.split(":", 1))
        if name in ("OBJECT NAME", "BIBCODE", "REFERENCE", "TICKET STATUS"):
            attribute = {"TICKET STATUS": "status"}.get(name, name.lower().replace(" ", "_"))
            assert getattr(found, attribute) == (None if value in ("", "NA") else value)
    numbers = [int(n) for n in re.findall(r"^[A-Z/ ]*COLUMN(?: NUMBER)?: *([0-9]+) *$", text, re.M)]
    columns = [getattr(found, name) for name in found.__dataclass_fields__ if name.endswith("_column")]
    assert sorted(numbers) == sorted(number for number in columns if number is not None)


@pytest.mark.realdata
@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the folder of real sample files is not here")
def test_real_metadata_names_its_spectra_with_their_columns() -> None:
    name = "GQ_Mus_Williams_Optical_Spectra"
    text = (SAMPLES / "spectra_csv" / f"{name}_MetaData.csv").read_text()
    found = read_spectra_metadata(text, ticket=spectra((SAMPLES / "tickets" / f"{name}.txt").read_text()))
    assert isinstance(found, SpectraMetadata)
    assert found.unread == ()
    assert len(found.entries) == len(re.findall(r"^\w+\.csv,", text, re.M))
    first = found.entries[0]
    assert (first.filename, first.wavelength_column, first.flux_column) == ("GQMUSC_Williams_Optical_Spectra.csv", 0, 1)
    assert (first.date, first.telescope, first.instrument) == ("2.4481e+06", "CTIO 1 m", "2D-Frutti")
    assert (first.dispersion, first.wavelength_range) == ("5.0", ("3300.00000", "9570.00000"))
