"""Every real table of photometry: read with all its rows, or refused with a reason.

What is expected is derived here by a small reader of its own: lines that are neither blank nor begin with #, split by
Python's csv module, the ticket's columns taken from its text with a regular expression.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from penstock.astronomy.judgement import FileVerdict
from penstock.astronomy.light_curve import LightCurve, Measurement
from penstock.astronomy.photometry import judge_photometry, replay_photometry
from penstock.astronomy.ticket import PhotometryTicket, read_ticket

SAMPLES = Path(__file__).parents[4] / "shared" / "data"
TABLES = SAMPLES / "novae" / "photometry"
pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not TABLES.is_dir(), reason="the folder of real sample files is not here"),
]

NO_TICKET_NO_NAMES = {
    "DD_Cir_Woudt_optical_Photometry.csv",
    "GI_Mon_Woudt_optical_Photometry.csv",
    "PW_Vul_Robb_optical_Photometry.csv",
    "V1039_Cen_Woudt_optical_Photometry.csv",
    "V1186_Sco_Schwarz_optical_Photometry.csv",
    "V2274_Cyg_Voloshina_optical_Photometry.csv",
    "V2275_Cyg_Voloshina_optical_Photometry.csv",
    "V2672_Oph_Munari_optical_Photometry.csv",
    "V2673_Oph_Munari_optical_Photometry.csv",
    "V4444_Sgr_Kato_optical_Photometry.csv",
    "V888_Cen_Tse_optical_Photometry.csv",
    "V992_Sco_Woudt_optical_Photometry.csv",
}
"Tables without a line of names whose ticket is not in the folder: nobody can know their columns."

IMPOSSIBLE_DATES = "V655_CrA_Woudt_optical_Photometry.csv"
"All its dates have a digit too many, 24511515.3319: of the year 62398. It is read, and waits for a person."

UNREAD = {
    "KT_Eri_Munari_Optical_Photometry.csv": 84,  # written --
    "V2615_Oph_Munari_Optical_Photometry.csv": 21,  # written --
    "LV_Vul_Dworak_optical_Photometry.csv": 12,  # nothing but a shortened date
    "V5115_Sgr_Henden_optical_Photometry.csv": 3,  # 243595.9507: a digit is missing
}
"How many rows of a table have no brightness or no possible date, counted by hand with grep."

COLUMN = re.compile(
    r"^(TIME|FLUX|FLUX ERROR|FILTER/FREQUENCY/ENERGY RANGE|UPPER LIMIT FLAG) COLUMN NUMBER: *(\S*)", re.M
)
STROPE = {"TIME": 1, "FLUX": 4, "FLUX ERROR": 5, "FILTER/FREQUENCY/ENERGY RANGE": 6}
SCHAEFER = {"TIME": 2, "FLUX": 5, "FLUX ERROR": 6, "FILTER/FREQUENCY/ENERGY RANGE": 3}
AAVSO = {"TIME": 0, "FLUX": 1, "FLUX ERROR": 3, "FILTER/FREQUENCY/ENERGY RANGE": 5, "UPPER LIMIT FLAG": 2}
BANDS = {"RC": "Rc", "IC": "Ic"}


def ticket_texts() -> dict[str, str]:
    """The text of each photometry ticket, by the name of its table."""
    found = {}
    for path in sorted(SAMPLES.glob("novae/tickets*/*.txt")):
        text = path.read_text()
        name = re.search(r"^DATA FILENAME: *(\S+)", text, re.M)
        if name and re.search(r"^TIME COLUMN NUMBER: *[0-9]", text, re.M):
            found[name[1]] = text
    return found


TICKETS = ticket_texts() if TABLES.is_dir() else {}
NAMES = sorted(path.name for path in TABLES.iterdir()) if TABLES.is_dir() else []
READ = [name for name in NAMES if name not in NO_TICKET_NO_NAMES and name != IMPOSSIBLE_DATES]


def ticket(name: str) -> PhotometryTicket | None:
    if name not in TICKETS:
        return None
    read = read_ticket(TICKETS[name])
    assert isinstance(read, PhotometryTicket)
    return read


def data_rows(name: str) -> list[list[str]]:
    lines = (TABLES / name).read_text("utf-8").splitlines()
    return list(csv.reader(line for line in lines if line.strip() and not line.startswith("#")))


def columns(name: str) -> dict[str, int]:
    if name in TICKETS:
        return {key: int(value) for key, value in COLUMN.findall(TICKETS[name]) if value.isdigit()}
    return AAVSO if "AAVSO" in name else SCHAEFER if "Schaefer" in name else STROPE


def a_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def expected(name: str) -> list[tuple[float, float, float | None, str, bool]]:
    """Time, brightness, uncertainty, band and limit of every row that has them, in no order."""
    at, found = columns(name), []
    for row in data_rows(name):
        time, value = a_number(row[at["TIME"]]), a_number(row[at["FLUX"]])
        if time is None or value is None or not 2_300_000 < time < 2_500_000:
            continue
        error = a_number(row[at["FLUX ERROR"]]) if "FLUX ERROR" in at else None
        band = row[at["FILTER/FREQUENCY/ENERGY RANGE"]]
        limit = row[at["UPPER LIMIT FLAG"]] == "1" if "UPPER LIMIT FLAG" in at else False
        if "Schaefer" in name:
            limit = row[4] == ">"
        found.append((time, value, error, BANDS.get(band, band), limit))
    return found


def read(name: str) -> LightCurve:
    judged = judge_photometry(TABLES / name, ticket=ticket(name))
    assert (judged.verdict, judged.finding) == (FileVerdict.VALID, None)
    assert judged.curve is not None
    return judged.curve


def told(each: Measurement) -> tuple[float, float, float | None, str, bool]:
    return each.jd, each.value, each.uncertainty, each.band, each.upper_limit


def in_order(rows: list[Any]) -> list[Any]:
    return sorted(rows, key=repr)


@pytest.mark.parametrize("name", READ)
def test_a_table_with_a_ticket_or_a_known_form_is_read_whole_and_with_the_values_that_stand_in_it(name: str) -> None:
    curve = read(name)
    assert len(curve.measurements) + len(curve.unread) == len(data_rows(name))
    assert len(curve.unread) == UNREAD.get(name, 0)
    assert in_order([told(each) for each in curve.measurements]) == in_order(expected(name))
    assert {each.unit for each in curve.measurements} == {"mag"}


@pytest.mark.parametrize("name", sorted(NO_TICKET_NO_NAMES))
def test_a_table_whose_columns_nobody_names_waits_for_its_ticket(name: str) -> None:
    judged = judge_photometry(TABLES / name)
    assert judged.verdict is FileVerdict.QUARANTINED
    assert judged.finding is not None
    assert judged.finding.code == "NO_COLUMN_MAP"
    assert "Give its ticket" in judged.finding.message
    assert judged.finding.details["rows"] == len(data_rows(name))


def test_a_table_whose_dates_are_impossible_waits_with_all_its_rows_shown_and_is_read_with_a_hint() -> None:
    path = TABLES / IMPOSSIBLE_DATES
    judged = judge_photometry(path, ticket=ticket(IMPOSSIBLE_DATES))
    assert judged.verdict is FileVerdict.QUARANTINED
    assert judged.finding is not None
    assert judged.finding.code == "IMPLAUSIBLE_TIME"
    assert judged.curve is not None
    assert [row.row for row in judged.curve.unread] == [1, 2, 3, 4]
    hinted = judge_photometry(path, ticket=ticket(IMPOSSIBLE_DATES), hints={"time_offset": -22060000})
    assert hinted.verdict is FileVerdict.VALID
    assert hinted.curve is not None
    assert [round(each.jd, 4) for each in hinted.curve.measurements][:2] == [2451515.3319, 2451516.256]


def test_no_table_of_the_folder_is_left_out() -> None:
    assert len(READ) + len(NO_TICKET_NO_NAMES) + 1 == len(NAMES)
    assert len([name for name in READ if name in TICKETS]) == 80
    unticketed = [name for name in READ if name not in TICKETS]
    assert all("Strope" in name or "AAVSO" in name or name.startswith("RS_Oph_Schaefer") for name in unticketed)


RECOGNISED = [name for name in READ if "AAVSO" in name or "Strope" in name or "Schaefer" in name or "HJD" in name]


@pytest.mark.parametrize("name", RECOGNISED)
def test_a_form_that_is_known_gives_the_same_values_without_its_ticket(name: str) -> None:
    judged = judge_photometry(TABLES / name)
    assert judged.verdict is FileVerdict.VALID
    assert judged.recognition["form"] == ("aavso_download" if "AAVSO" in name else "names")
    assert judged.curve is not None
    assert [told(each) for each in judged.curve.measurements] == [told(each) for each in read(name).measurements]


def test_a_table_of_munari_keeps_its_heliocentric_times_though_its_ticket_says_jd() -> None:
    curve = read("KT_Eri_Munari_Optical_Photometry.csv")
    assert curve.time_system == "HJD"
    assert [(each.about, each.value) for each in curve.assumptions] == [
        ("time_system", "HJD"),
        ("time_scale", "unknown"),
    ]
    assert curve.bands == {"RC": "Rc", "IC": "Ic", "B": "B", "V": "V"}
    assert curve.unread[0].text == "2455834.660,2011-09-30,--,--,RC"
    assert curve.unread[0].why == "it has no brightness"
    assert curve.source["bibcode"] == "2014NewA...27...25M"


def test_first_and_last_row_a_limit_an_error_and_an_observer_are_those_that_are_written() -> None:
    curve = read("V476_Sct_Munari_optical_Photometry.csv")
    asas = "Las Campanas Observatory Telescope (ASAS)"
    first = Measurement(2453637.63, 15.1, "mag", None, "V", 1, True, asas, "Munari, U.")
    assert curve.measurements[0] == first
    last = curve.measurements[-1]
    assert (last.jd, last.row, last.uncertainty, last.observer) == (2453673.6, 16, 0.03, "Munari, U.")
    assert (last.band, last.value) == ("R", 12.2)
    assert curve.source["filter_systems"] == {"Johnson-Cousins": 16}
    assert curve.time_system == "JD"


def test_a_column_of_limits_that_the_ticket_forgot_is_read_and_flagged() -> None:
    curve = read("U_Sco_Schaefer_Optical_Photometry.csv")
    limits = [each for each in curve.measurements if each.upper_limit]
    assert len(limits) == 11
    assert (limits[0].jd, limits[0].value, limits[0].uncertainty) == (2444037.7, 13.7, None)
    assert [(each.about, each.value) for each in curve.assumptions] == [("limit_column", "4")]


def test_the_number_of_observations_is_no_limit() -> None:
    """`o_Vmag` counts observations; most of its numbers are 1, which is the flag of a limit elsewhere."""
    curve = read("V4742_Sgr_Strope_Optical_Photometry.csv")
    assert not any(each.upper_limit for each in curve.measurements)


def test_rows_that_are_written_twice_are_kept_and_counted() -> None:
    judged = judge_photometry(TABLES / "RS_Oph_Schaefer_Optical_Photometry.csv")
    rows = [tuple(row) for row in data_rows("RS_Oph_Schaefer_Optical_Photometry.csv")]
    assert judged.recognition["counts"]["measurements"] == len(rows) == 3403
    # The one column that tells apart and is not part of a measurement is the note on the name, the second.
    assert judged.recognition["counts"]["duplicates"] == len(rows) - len({row[2:] for row in rows})


@pytest.mark.parametrize("name", ["V4741_Sgr_AAVSO.csv", "KT_Eri_Munari_Optical_Photometry.csv", IMPOSSIBLE_DATES])
def test_a_record_of_recognition_is_json_and_judges_the_file_to_the_same_again(name: str) -> None:
    """NC-37: the same inputs choose the same reading, and the record of a choice is enough to repeat it."""
    judged = judge_photometry(TABLES / name, ticket=ticket(name))
    again = replay_photometry(TABLES / name, json.loads(json.dumps(judged.recognition)))
    assert again == judged


VOTABLES = {"kang2010.xml": (50, "SEVERAL_OBJECTS"), "query_photometry.xml": (556, "")}


@pytest.mark.parametrize("name", sorted(VOTABLES))
def test_a_votable_without_times_is_read_and_waits_with_the_right_number_of_rows(name: str) -> None:
    rows, _ = VOTABLES[name]
    assert (SAMPLES / "vo" / name).read_bytes().count(b"<TR>") == rows
    judged = judge_photometry(SAMPLES / "vo" / name)
    assert judged.verdict is FileVerdict.QUARANTINED
    assert judged.finding is not None
    assert judged.finding.code == "NO_TIME"
    assert judged.recognition["counts"]["rows"] == rows
    assert judged.curve is not None
    assert len(judged.curve.unread) == rows


def test_photometry_without_times_is_read_once_a_person_tells_the_moment() -> None:
    """Units stand in the rows of NED's table; those that are logarithms or unheard of stay unread."""
    judged = judge_photometry(SAMPLES / "vo" / "query_photometry.xml", hints={"epoch": "2000-01-01.5"})
    assert judged.verdict is FileVerdict.VALID
    assert judged.curve is not None
    assert len(judged.curve.measurements) + len(judged.curve.unread) == 556
    first = judged.curve.measurements[0]
    assert (first.jd, first.value, first.unit) == (2451545.0, 205.3e-12, "erg s-1 cm-2")
    assert (first.uncertainty, first.band, first.row) == (5.0e-12, "100 MeV-100 GeV LAT", 1)
    several = judge_photometry(SAMPLES / "vo" / "kang2010.xml", hints={"epoch": "2000-01-01.5"})
    assert several.finding is not None
    assert several.finding.code == "SEVERAL_OBJECTS"


@pytest.mark.parametrize("name", ["obscore-image.xml", "query_references.xml", "scs_result.xml", "ssa_result.xml"])
def test_a_votable_about_something_else_is_refused(name: str) -> None:
    judged = judge_photometry(SAMPLES / "vo" / name)
    assert judged.verdict is FileVerdict.TERMINAL_INVALID
    assert judged.finding is not None
    assert judged.finding.code == "NOT_PHOTOMETRY"
