"""Each form of table, with a file that the test makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.astronomy.light_curve import Measurement
from penstock.astronomy.photometry import judge_photometry
from penstock.astronomy.ticket import PhotometryTicket
from tests.astronomy.photometry.made import TICKET, code, curve, flagged, judged

DOWNLOAD = "2452380.6290,9.5,0,0.02,,Vis.,SQH,T,968,932,-,,,,V,,,,V4741 SGR,,STD,,,,"
HEADED = (
    "JD,Magnitude,Uncertainty,HQuncertainty,Band,Observer Code,Comment Code(s),Comp Star 1,Comp Star 2,Charts,Comments,"
    "Transfomed,Airmass,Validation Flag,Cmag,Kmag,HJD,Star Name,Observer Affiliation,Measurement Method,"
    "Grouping Method,ADS Reference,Digitizer,Credit\n"
)
EXTENDED = (
    "#TYPE=Extended\n#OBSCODE=TST01\n#SOFTWARE=GCX 2.0\n#DELIM=,\n#DATE=JD\n#OBSTYPE=CCD\n"
    "#NAME,DATE,MAG,MERR,FILT,TRANS,MTYPE,CNAME,CMAG,KNAME,KMAG,AMASS,GROUP,CHART,NOTES\n"
    "SS CYG,2450702.1234,11.135,0.003,V,NO,STD,105,na,na,na,na,1,070613,na\n"
    "SS CYG,2450703.1234,<15.0,na,SG,NO,STD,105,na,na,na,na,1,070613,na\n"
)


def test_the_download_of_aavso_is_known_by_its_25_cells(tmp_path: Path) -> None:
    limit = DOWNLOAD.replace("9.5,0,0.02", "14.6,1,")
    found = judged(tmp_path, f"{DOWNLOAD}\n{limit}\n")
    assert found.recognition["form"] == "aavso_download"
    assert found.curve is not None
    assert found.curve.measurements == (
        Measurement(2452380.629, 9.5, "mag", 0.02, "Vis.", 1, False, None, "SQH"),
        Measurement(2452380.629, 14.6, "mag", None, "Vis.", 2, True, None, "SQH"),
    )
    assert found.recognition["counts"]["validation"] == {"V": 2}


def test_a_difference_of_magnitudes_in_the_download_is_no_brightness(tmp_path: Path) -> None:
    found = curve(tmp_path, f"{DOWNLOAD}\n{DOWNLOAD}\n{DOWNLOAD.replace('STD', 'DIFF')}\n")
    assert [(each.row, each.why) for each in found.unread] == [
        (3, "its magnitude is 'DIFF': a difference, and no brightness")
    ]


def test_the_download_of_aavso_with_names_is_known(tmp_path: Path) -> None:
    row = '2456000.1,<12.3,0.5,,TG,ABC,,1,2,,"a, b",0,,V,10.1,9.2,2456000.2,T CRB,AAVSO,STD,,,,\n'
    found = judged(tmp_path, HEADED + row)
    assert found.recognition["form"] == "aavso_download"
    assert found.curve is not None
    assert found.curve.measurements == (Measurement(2456000.1, 12.3, "mag", 0.5, "TG", 2, True, None, "ABC"),)
    assert found.curve.assumptions == ()
    assert found.curve.time_system == "JD"


@pytest.mark.parametrize(
    ("said", "sign"), [(",", ","), ("comma", ","), ("tab", "\t"), (";", ";"), ("|", "|"), ("!", "!")]
)
def test_the_extended_format_is_read_with_its_delimiter(tmp_path: Path, said: str, sign: str) -> None:
    head, rows = EXTENDED.replace("#DELIM=,", f"#DELIM={said}").split("#NAME")
    found = curve(tmp_path, head + ("#NAME" + rows).replace(",", sign))
    assert found.measurements == (
        Measurement(2450702.1234, 11.135, "mag", 0.003, "V", 8, False, None, "TST01"),
        Measurement(2450703.1234, 15.0, "mag", None, "g'", 9, True, None, "TST01"),
    )
    assert found.bands == {"V": "V", "SG": "g'"}
    assert found.source["software"] == "GCX 2.0"


def test_the_extended_format_tells_heliocentric_dates(tmp_path: Path) -> None:
    assert curve(tmp_path, EXTENDED.replace("#DATE=JD", "#DATE=HJD")).time_system == "HJD"


def test_the_visual_format_has_the_eye_for_its_band_and_may_have_dates_of_a_spreadsheet(tmp_path: Path) -> None:
    text = "#TYPE=Visual\n#OBSCODE=TST01\n#DELIM=;\n#DATE=EXCEL\nSS CYG;1/1/2000 12:00 PM;10.0;na;na;na;na;na\n"
    found = curve(tmp_path, text)
    assert found.measurements == (Measurement(2451545.0, 10.0, "mag", None, "Vis.", 5, False, None, "TST01"),)


def test_a_parameter_that_aavso_does_not_know_waits_for_a_person(tmp_path: Path) -> None:
    assert code(tmp_path, EXTENDED.replace("=JD", "=STARDATE")) == ("QUARANTINED", "BAD_PARAMETER")


@pytest.mark.parametrize("sign", [",", ";", "\t", "|", "  "])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_names_are_understood_with_each_delimiter_and_end_of_line(tmp_path: Path, sign: str, end: str) -> None:
    lines = ["#HJD,Mag,e_Mag,Band", "2450000.5,12.30,0.02,RC", "2450001.5,12.40,--,IC"]
    found = curve(tmp_path, "\ufeff" + end.join(line.replace(",", sign) for line in lines) + end)
    assert found.measurements == (
        Measurement(2450000.5, 12.3, "mag", 0.02, "Rc", 2),
        Measurement(2450001.5, 12.4, "mag", None, "Ic", 3),
    )
    assert found.time_system == "HJD"
    assert flagged(found) == [("time_scale", "unknown")]


@pytest.mark.parametrize(
    "names",
    [
        "jd,magnitude,uncertainty,filter",
        "Julian Date,Mag,Error,Band",
        "JD,mag,magerr,passband",
        "JD_UTC,mag (mag),mag_err,FILTER",
        "obsjd,mag,unc,filt",
    ],
)
def test_many_names_mean_the_same(tmp_path: Path, names: str) -> None:
    found = curve(tmp_path, f"{names}\n2450000.5,12.3,0.02,V\n")
    assert found.measurements == (Measurement(2450000.5, 12.3, "mag", 0.02, "V", 2),)


def test_a_table_with_a_column_for_each_band_is_read_cell_by_cell(tmp_path: Path) -> None:
    text = "MJD,Bmag,e_Bmag,Vmag,e_Vmag,B-V\n50000,13.1,0.1,12.1,0.2,1.0\n50001,,,12.2,,\n50002,--,--,--,--,--\n"
    found = judged(tmp_path, text)
    assert found.curve is not None
    assert [(m.jd, m.value, m.uncertainty, m.band, m.row) for m in found.curve.measurements] == [
        (2450000.5, 13.1, 0.1, "B", 2),
        (2450000.5, 12.1, 0.2, "V", 2),
        (2450001.5, 12.2, None, "V", 3),
    ]
    assert [(row.row, row.why) for row in found.curve.unread] == [(4, "it has no brightness")]
    assert found.recognition["counts"]["blank_values"] == 1


def test_a_table_of_vizier_has_units_and_a_rule_below_its_names(tmp_path: Path) -> None:
    text = "#RESOURCE=x\n#Name: J/A+A\nHJD\tFlux\te_Flux\tFilter\n"
    text += "d\tmJy\tmJy\t\n----\t---\t---\t--\n2450000.5\t1.5\t0.1\tK\n"
    found = curve(tmp_path, text)
    assert found.measurements == (Measurement(2450000.5, 1.5, "mJy", 0.1, "K", 6),)


def test_a_table_of_one_column_of_limits_is_read_by_its_flags(tmp_path: Path) -> None:
    text = "JD,mag,upper_limit,band\n2450000.5,12,0,V\n2450001.5,13,1,V\n2450002.5,13,False,V\n2450003.5,13,>,V\n"
    text += "2450004.5,13,maybe,V\n"
    found = curve(tmp_path, text)
    assert [each.upper_limit for each in found.measurements] == [False, True, False, True]
    assert found.unread[0].why == "its flag 'maybe' of a limit is not known"


def test_of_several_columns_of_time_the_julian_date_is_taken(tmp_path: Path) -> None:
    found = curve(tmp_path, "Date,MJD,JD,mag\n1999-05-22,51320.0,2451320.5,12\n")
    assert found.measurements[0].jd == 2451320.5


def test_a_ticket_that_says_another_thing_than_the_names_waits_for_a_person(tmp_path: Path) -> None:
    text = "JD,e_mag,mag,band,limit\n2450000.5,0.1,12,V,0\n"
    assert code(tmp_path, text, ticket=TICKET) == ("QUARANTINED", "CONTRADICTION")


def test_a_ticket_that_takes_the_number_of_observations_for_a_limit_waits_for_a_person(tmp_path: Path) -> None:
    text = "#JD,Mag,e_Mag,Band,o_Vmag\n2450000.5,12,0.1,V,1\n2450001.5,12,0.1,V,5\n"
    assert code(tmp_path, text, ticket=TICKET) == ("QUARANTINED", "CONTRADICTION")


def test_lines_above_the_names_are_counted_and_shown(tmp_path: Path) -> None:
    found = curve(tmp_path, "Light curve of V1 Tst\n2449999.5,11,V\nJD,mag,band\n2450000.5,12,V\n2450001.5,13,V\n")
    assert [(row.row, row.text) for row in found.unread] == [(1, "Light curve of V1 Tst"), (2, "2449999.5,11,V")]
    assert [each.row for each in found.measurements] == [4, 5]


def test_a_ticket_for_more_columns_than_there_are_waits_for_a_person(tmp_path: Path) -> None:
    assert code(tmp_path, "2450000.5,12\n2450001.5,12\n", ticket=TICKET) == ("QUARANTINED", "NOT_AS_DESCRIBED")


def test_a_ticket_that_is_not_completed_waits_for_a_person(tmp_path: Path) -> None:
    pending = PhotometryTicket(status="pending")
    assert code(tmp_path, "2450000.5,12\n", ticket=pending) == ("QUARANTINED", "INCOMPLETE_TICKET")


def test_a_ticket_in_a_unit_that_nobody_knows_waits_for_a_person(tmp_path: Path) -> None:
    ticket = PhotometryTicket(flux_units="crab", time_column=0, flux_column=1)
    assert code(tmp_path, "2450000.5,12\n", ticket=ticket) == ("QUARANTINED", "UNKNOWN_UNIT")


def test_a_ticket_with_one_band_and_a_flux_in_other_units_than_its_error(tmp_path: Path) -> None:
    ticket = PhotometryTicket(
        flux_units="mJy", flux_error_units="uJy", time_system="MJD", time_column=0, flux_column=1, flux_error_column=2
    )
    found = curve(tmp_path, "50000 1.5 250\n50001 <2.5 --\n", ticket=ticket, hints={"band": "5 GHz"})
    assert [(m.jd, m.value, m.unit, m.uncertainty, m.band, m.upper_limit) for m in found.measurements] == [
        (2450000.5, 1.5, "mJy", pytest.approx(0.25), "5 GHz", False),
        (2450001.5, 2.5, "mJy", None, "5 GHz", True),
    ]
    assert flagged(found) == [("band", "5 GHz")]


def test_a_lower_limit_of_a_flux_stays_unread(tmp_path: Path) -> None:
    found = curve(tmp_path, "MJD,flux (mJy),band\n50000,1,K\n50001,1,K\n50002,>1,K\n")
    assert found.unread[0].why == "it is a lower limit: brighter than its value"


@pytest.mark.parametrize("told", ["2450000.5", "1995-10-10", "50000", "1995 Oct 10.0"])
def test_days_since_outburst_are_counted_from_the_date_that_the_ticket_tells(tmp_path: Path, told: str) -> None:
    ticket = PhotometryTicket(
        flux_units="mag", time_system="days since outburst", outburst=told, time_column=0, flux_column=1
    )
    found = curve(tmp_path, "0.5,7\n-1,8\n400.25,9\n", ticket=ticket)
    assert [each.jd for each in found.measurements] == [2449999.5, 2450001.0, 2450400.75]
    assert found.source["time_written_as"] == "DAYS_SINCE_OUTBURST"


def test_days_since_an_outburst_that_nobody_dates_wait_for_a_person(tmp_path: Path) -> None:
    ticket = PhotometryTicket(flux_units="mag", time_system="days since outburst", time_column=0, flux_column=1)
    assert code(tmp_path, "0.5,7\n", ticket=ticket) == ("QUARANTINED", "NO_OUTBURST_DATE")
    found = curve(tmp_path, "0.5,7\n", ticket=ticket, hints={"outburst": "2450000"})
    assert found.measurements[0].jd == 2450000.5


def test_a_person_can_tell_the_columns_of_a_table_without_names(tmp_path: Path) -> None:
    text = "2450000.5,0.1,12.5,V\n2450001.5,0.1,12.6,V\n"
    assert code(tmp_path, text) == ("QUARANTINED", "NO_COLUMN_MAP")
    hints = {"columns": {"time": 0, "brightness": 2, "error": 1, "band": 3}, "unit": "mag", "time_system": "HJD"}
    found = judged(tmp_path, text, hints=hints)
    assert found.recognition["form"] == "hints"
    assert found.curve is not None
    assert found.curve.measurements[0] == Measurement(2450000.5, 12.5, "mag", 0.1, "V", 1)
    assert found.curve.time_system == "HJD"


@pytest.mark.parametrize(
    "hints",
    [
        {"colums": {}},
        {"columns": {"time": -1}},
        {"columns": {"time": True}},
        {"columns": [1]},
        {"unit": "crab"},
        {"time_system": "stardate"},
        {"delimiter": "x"},
        {"epoch": "yesterday"},
        {"table": 0},
        {"time_offset": "1"},
        {"band": 7},
    ],
)
def test_a_hint_that_makes_no_sense_is_told_so(tmp_path: Path, hints: dict[str, object]) -> None:
    assert code(tmp_path, "JD,mag\n2450000.5,12\n", hints=hints) == ("QUARANTINED", "BAD_HINT")


def test_a_table_about_two_objects_waits_until_one_is_named(tmp_path: Path) -> None:
    text = "Name,JD,mag,band\nV1 Tst,2450000.5,12,V\nV2 Tst,2450001.5,13,V\n"
    assert code(tmp_path, text) == ("QUARANTINED", "SEVERAL_OBJECTS")
    found = curve(tmp_path, text, hints={"target": "v1_tst"})
    assert [each.value for each in found.measurements] == [12.0]
    assert found.unread[0].why == "it is about 'V2 Tst'"


def test_two_columns_that_may_be_the_brightness_wait_for_a_person(tmp_path: Path) -> None:
    assert code(tmp_path, "JD,mag,magnitude\n2450000.5,12,13\n") == ("QUARANTINED", "AMBIGUOUS_COLUMNS")


def test_a_flux_without_a_unit_waits_for_a_person(tmp_path: Path) -> None:
    text = "JD,flux,band\n2450000.5,12,V\n"
    assert code(tmp_path, text) == ("QUARANTINED", "UNKNOWN_UNIT")
    assert curve(tmp_path, text, hints={"unit": "mJy"}).measurements[0].unit == "mJy"


def test_a_pipe_a_folder_and_a_file_that_is_not_there_are_told_apart(tmp_path: Path) -> None:
    gone = judge_photometry(tmp_path / "gone.csv")
    assert (gone.verdict.value, gone.finding and gone.finding.code) == ("RETRYABLE_ERROR", "UNREADABLE_FILE")
    folder = judge_photometry(tmp_path)
    assert (folder.verdict.value, folder.finding and folder.finding.code) == ("TERMINAL_INVALID", "NOT_A_FILE")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "EMPTY"),
        (" \r\n\t\n", "EMPTY"),
        ("JD,mag\n", "NO_ROWS"),
        ("Dear colleague,\nplease find the data attached.\n", "NOT_PHOTOMETRY"),
        (b"SIMPLE  =                    T", "NOT_TEXT"),
        (b"PK\x03\x04rest", "NOT_TEXT"),
        ("<html><body>Not found</body></html>", "NOT_PHOTOMETRY"),
        ('<?xml version="1.0"?><html/>', "NOT_PHOTOMETRY"),
    ],
)
def test_what_is_no_table_is_refused_for_good(tmp_path: Path, content: str | bytes, expected: str) -> None:
    assert code(tmp_path, content) == ("TERMINAL_INVALID", expected)


def test_a_table_of_which_most_rows_are_wrong_waits_for_a_person_with_its_rows_shown(tmp_path: Path) -> None:
    found = judged(tmp_path, "JD,mag\n2450000.5,12\n2450001.5,bright\n2450002.5,brighter\n")
    assert found.finding is not None
    assert found.finding.code == "MOSTLY_UNREADABLE"
    assert found.curve is not None
    assert [row.row for row in found.curve.unread] == [3, 4]


def test_a_table_whose_rows_have_no_values_waits_for_a_person(tmp_path: Path) -> None:
    assert code(tmp_path, "JD,mag\n2450000.5,--\n2450001.5,99.99\n") == ("QUARANTINED", "NO_VALUES")
