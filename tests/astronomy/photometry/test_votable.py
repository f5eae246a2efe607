"""Light curves in VOTables, each made by the test."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from astropy.io.votable import from_table, writeto
from astropy.table import Table

from penstock.astronomy.light_curve import Measurement
from penstock.astronomy.ticket import PhotometryTicket
from tests.astronomy.photometry.made import code, curve, flagged, judged

FIELDS = (
    '<FIELD name="HJD" ucd="time.epoch" datatype="double" unit="d"/>'
    '<FIELD name="Mag" ucd="phot.mag;em.opt" datatype="double" unit="mag"><VALUES null="-1"/></FIELD>'
    '<FIELD name="e_Mag" ucd="stat.error;phot.mag" datatype="double" unit="mag"/>'
    '<FIELD name="l_Mag" datatype="char" arraysize="1"/>'
    '<FIELD name="Band" ucd="instr.bandpass" datatype="char" arraysize="*"/>'
)
ROWS = (
    "<TR><TD>2450000.5</TD><TD>12.30</TD><TD>0.02</TD><TD/><TD>RC</TD></TR>"
    "<TR><TD>2450001.5</TD><TD>15.1</TD><TD></TD><TD>&gt;</TD><TD>V</TD></TR>"
    "<TR><TD>2450002.5</TD><TD>-1</TD><TD></TD><TD/><TD>V</TD></TR>"
    "<TR><TD>2450003.5</TD><TD>12</TD></TR>"
)


def votable(fields: str, rows: str, *, before: str = "") -> str:
    table = f"<TABLE>{fields}<DATA><TABLEDATA>{rows}</TABLEDATA></DATA></TABLE>"
    return f'<?xml version="1.0"?><VOTABLE version="1.4"><RESOURCE>{before}{table}</RESOURCE></VOTABLE>'


def packed(form: str) -> bytes:
    table = Table({"MJD": [50000.0, 50001.0], "mag": [12.25, np.nan], "Band": ["V", "B"]})
    file = io.BytesIO()
    whole = from_table(table)
    whole.get_first_table().format = form
    writeto(whole, file)
    return file.getvalue()


def test_a_votable_is_read_by_the_names_and_ucds_of_its_columns(tmp_path: Path) -> None:
    found = curve(tmp_path, votable(FIELDS, ROWS))
    assert found.measurements == (
        Measurement(2450000.5, 12.3, "mag", 0.02, "Rc", 1),
        Measurement(2450001.5, 15.1, "mag", None, "V", 2, True),
    )
    assert [(row.row, row.why) for row in found.unread] == [
        (3, "it has no brightness"),
        (4, "it has 2 cells, and the table has 5"),
    ]
    assert found.time_system == "HJD"


def test_a_system_of_time_that_the_file_declares_is_followed(tmp_path: Path) -> None:
    clock = '<TIMESYS ID="ts" timeorigin="2455197.5" timescale="TCB" refposition="BARYCENTER"/>'
    fields = '<FIELD name="obs" ref="ts" datatype="double" unit="d"/><FIELD name="mag" datatype="double" unit="mag"/>'
    found = curve(tmp_path, votable(fields, "<TR><TD>1.5</TD><TD>12</TD></TR>", before=clock), hints={"band": "G"})
    assert (found.measurements[0].jd, found.time_system) == (2455199.0, "BJD_TCB")
    assert found.source["time_scale"] == "TCB"


def test_columns_without_names_that_are_known_are_found_by_their_ucds(tmp_path: Path) -> None:
    fields = (
        '<FIELD name="a" ucd="time.epoch" datatype="double" unit="d"/>'
        '<FIELD name="b" ucd="phot.flux.density;em.opt.V" datatype="double" unit="mJy"/>'
        '<FIELD name="c" ucd="stat.error;phot.flux.density;em.opt.V" datatype="double" unit="mJy"/>'
    )
    found = curve(tmp_path, votable(fields, "<TR><TD>50000</TD><TD>3</TD><TD>0.5</TD></TR>"))
    assert found.measurements == (Measurement(2450000.5, 3.0, "mJy", 0.5, "V", 1),)
    assert flagged(found) == [("time_system", "MJD")]


@pytest.mark.parametrize("form", ["tabledata", "binary", "binary2"])
def test_each_way_to_pack_rows_gives_the_same(tmp_path: Path, form: str) -> None:
    found = curve(tmp_path, packed(form))
    assert found.measurements == (Measurement(2450000.5, 12.25, "mag", None, "V", 1),)
    assert [row.row for row in found.unread] == [2]


def test_rows_of_a_ticket_are_read_though_the_names_say_nothing(tmp_path: Path) -> None:
    fields = '<FIELD name="x" datatype="double"/><FIELD name="y" datatype="double"/>'
    ticket = PhotometryTicket(flux_units="mag", time_system="JD", time_column=1, flux_column=0)
    found = curve(tmp_path, votable(fields, "<TR><TD>12</TD><TD>2450000.5</TD></TR>"), ticket=ticket)
    assert (found.measurements[0].jd, found.measurements[0].value) == (2450000.5, 12.0)


def test_two_light_curves_in_one_file_wait_until_one_is_named(tmp_path: Path) -> None:
    one = votable(FIELDS, ROWS)
    start, end = one.index("<TABLE>"), one.index("</RESOURCE>")
    two = one[:end] + one[start:end] + one[end:]
    assert code(tmp_path, two) == ("QUARANTINED", "SEVERAL_TABLES")
    assert len(curve(tmp_path, two, hints={"table": 2}).measurements) == 2
    assert code(tmp_path, two, hints={"table": 3}) == ("QUARANTINED", "BAD_HINT")


def test_a_votable_without_brightness_is_none(tmp_path: Path) -> None:
    assert code(tmp_path, votable('<FIELD name="ra" datatype="double"/>', "")) == ("TERMINAL_INVALID", "NOT_PHOTOMETRY")


BOMB = '<!DOCTYPE VOTABLE [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE VOTABLE [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize("head", [BOMB, OUTSIDE])
def test_entities_are_refused_before_one_is_expanded(tmp_path: Path, head: str) -> None:
    text = votable(FIELDS, ROWS.replace("RC", "&a;")).replace("<VOTABLE", head + "<VOTABLE", 1)
    assert code(tmp_path, text) == ("TERMINAL_INVALID", "UNSAFE_XML")


def test_a_doctype_that_only_names_the_format_is_taken(tmp_path: Path) -> None:
    head = '<!DOCTYPE VOTABLE SYSTEM "http://us-vo.org/xml/VOTable.dtd">'
    assert curve(tmp_path, votable(FIELDS, ROWS).replace("<VOTABLE", head + "<VOTABLE", 1)).measurements


@pytest.mark.parametrize(
    "stream",
    ['href="file:///etc/passwd"', 'href="http://127.0.0.1/x" encoding="base64"', 'encoding="gzip"'],
)
def test_rows_that_lie_elsewhere_are_not_fetched(tmp_path: Path, stream: str) -> None:
    text = votable(FIELDS, "").replace("<TABLEDATA></TABLEDATA>", f"<BINARY><STREAM {stream}></STREAM></BINARY>")
    assert code(tmp_path, text) == ("QUARANTINED", "UNSUPPORTED_DATA")


def test_a_claim_of_many_rows_costs_nothing(tmp_path: Path) -> None:
    text = packed("binary2").replace(b"<TABLE", b'<TABLE nrows="1000000000000"', 1).replace(b'nrows="2"', b"")
    assert code(tmp_path, text) == ("QUARANTINED", "TOO_MANY_ROWS")
    wide = packed("binary2").replace(b'datatype="double"', b'datatype="double" arraysize="1000000x1000000"', 1)
    assert code(tmp_path, wide) == ("TERMINAL_INVALID", "TOO_LARGE")


def test_more_rows_than_allowed_are_not_gathered(tmp_path: Path) -> None:
    assert code(tmp_path, votable(FIELDS, ROWS * 10), most_rows=39) == ("QUARANTINED", "TOO_MANY_ROWS")


@pytest.mark.parametrize("cut", range(5, 1400, 97))
def test_a_file_that_is_cut_is_refused(tmp_path: Path, cut: int) -> None:
    whole = packed("binary2")
    found = judged(tmp_path, whole[: len(whole) - 1 - cut])
    assert found.finding is not None


def test_damaged_numbers_are_refused_or_unread(tmp_path: Path) -> None:
    whole = packed("binary")
    start = whole.index(b"<STREAM") + 40
    for at in range(start, start + 60, 3):
        broken = whole[:at] + b"!?" + whole[at + 2 :]
        assert judged(tmp_path, broken).verdict.value in {"VALID", "QUARANTINED", "TERMINAL_INVALID"}


def test_elements_in_elements_without_end_are_refused(tmp_path: Path) -> None:
    deep = "<VOTABLE>" + "<RESOURCE>" * 100_000
    assert code(tmp_path, deep) == ("TERMINAL_INVALID", "UNSAFE_XML")


def test_rows_outside_of_a_table_and_columns_without_end_are_refused(tmp_path: Path) -> None:
    assert code(tmp_path, "<VOTABLE><TR><TD>1</TD></TR></VOTABLE>") == ("TERMINAL_INVALID", "BROKEN_TABLE")
    fields = "<FIELD name='a'/>" * 2000
    assert code(tmp_path, votable(fields, "")) == ("TERMINAL_INVALID", "TOO_LARGE")
