"""What holds for every table that anybody can write."""

from __future__ import annotations

import csv
import io
import json
import random
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.astronomy.judgement import Verdict
from penstock.astronomy.photometry import judge_photometry
from penstock.astronomy.photometry.photometry_hints import COLUMNS, PhotometryHints
from penstock.astronomy.ticket import PhotometryTicket, SpectraTicket, read_ticket

FOLDER = Path(tempfile.mkdtemp(prefix="photometry-"))
RELAXED = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

DELIMITER = st.sampled_from([",", ";", "\t", "|"])
TIME = st.integers(24_000_000_000, 24_990_000_000).map(lambda n: f"{n / 10_000:.4f}")
MAGNITUDE = st.integers(-200, 2500).map(lambda n: f"{n / 100:.2f}")
ERROR = st.one_of(st.integers(0, 500).map(lambda n: f"{n / 1000:.3f}"), st.sampled_from(["", "--", "nan", "99.99"]))
BAND = st.sampled_from(["V", "B", "RC", "Vis.", "g'", "Weird band", "a, b", 'say "V"'])
FLAG = st.sampled_from(["0", "1", "", ">"])
ROW = st.tuples(TIME, MAGNITUDE, ERROR, BAND, FLAG)
JUNK = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n\x85\u2028\u2029"), max_size=40)
NAMES = ("JD", "mag", "e_mag", "band", "l_mag")


def written(rows: list[Any], delimiter: str, *, quoting: Any = csv.QUOTE_MINIMAL) -> bytes:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=quoting).writerows(rows)
    return file.getvalue().encode()


def judged(content: bytes, **more: Any) -> Any:
    path = FOLDER / "table"
    path.write_bytes(content)
    return judge_photometry(path, **more)


def told(row: tuple[str, ...]) -> tuple[Any, ...]:
    error = None if row[2] in ("", "--", "nan", "99.99") else float(row[2])
    return float(row[0]), float(row[1]), error, row[3], row[4] in ("1", ">")


def ticket(order: list[int]) -> PhotometryTicket:
    at = [order.index(n) for n in range(5)]
    return PhotometryTicket(
        flux_units="mags",
        time_system="JD",
        time_column=at[0],
        flux_column=at[1],
        flux_error_column=at[2],
        band_column=at[3],
        limit_column=at[4],
    )


@RELAXED
@given(
    rows=st.lists(ROW, min_size=1, max_size=12),
    delimiter=DELIMITER,
    order=st.permutations(range(5)),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    named=st.booleans(),
)
def test_values_are_exactly_those_written_in_whatever_order_columns_stand(
    rows: list[tuple[str, ...]], delimiter: str, order: list[int], quoting: Any, named: bool
) -> None:
    table: list[Any] = [[row[n] for n in order] for row in rows]
    head = [[NAMES[n] for n in order]] if named else []
    found = judged(written(head + table, delimiter, quoting=quoting), ticket=None if named else ticket(order))
    assert (found.verdict, found.finding) == (Verdict.VALID, None)
    words = found.curve.bands
    got = {each.row - named: each for each in found.curve.measurements}
    assert sorted(got) == list(range(1, len(rows) + 1))
    for number, row in enumerate(rows, 1):
        time, value, error, band, limit = told(row)
        each = got[number]
        assert (each.jd, each.value, each.uncertainty, each.upper_limit) == (time, value, error, limit)
        assert each.band == words[band]
    assert [each.jd for each in found.curve.measurements] == sorted(each.jd for each in found.curve.measurements)


@RELAXED
@given(rows=st.lists(ROW, min_size=1, max_size=8), delimiter=DELIMITER, seed=st.integers(0, 1000))
def test_shuffled_columns_with_their_ticket_give_the_same_curve(
    rows: list[tuple[str, ...]], delimiter: str, seed: int
) -> None:
    order = list(range(5))
    random.Random(seed).shuffle(order)
    straight = judged(written(rows, delimiter), ticket=ticket(list(range(5))))
    shuffled = judged(written([[row[n] for n in order] for row in rows], delimiter), ticket=ticket(order))
    assert straight.curve.measurements == shuffled.curve.measurements


@RELAXED
@given(
    rows=st.lists(st.one_of(ROW, st.lists(JUNK, max_size=7)), max_size=15),
    delimiter=DELIMITER,
    named=st.booleans(),
)
def test_every_row_is_a_measurement_or_among_the_unread(rows: list[Any], delimiter: str, named: bool) -> None:
    content = written(([list(NAMES)] if named else []) + rows, delimiter)
    lines = content.decode().split("\n")[named:]
    data = [
        number for number, line in enumerate(lines, 1 + named) if line.strip() and not line.lstrip().startswith("#")
    ]
    found = judged(content, ticket=None if named else ticket(list(range(5))))
    if found.curve is None:
        assert found.finding is not None
        return
    seen = {each.row for each in found.curve.measurements} | {each.row for each in found.curve.unread}
    assert seen >= set(data)
    counts = found.recognition["counts"]
    assert counts["rows"] == counts["measurements"] + counts["unread"] == len(data)


@RELAXED
@given(
    content=st.one_of(st.binary(max_size=400), st.text(max_size=400).map(lambda text: text.encode("utf-8", "replace")))
)
def test_nothing_raises_whatever_the_bytes(content: bytes) -> None:
    for more in (
        {},
        {"ticket": ticket(list(range(5)))},
        {"hints": {"columns": {"time": 0, "brightness": 1}, "unit": "mag"}},
    ):
        found = judged(content, **more)
        assert (found.verdict is Verdict.VALID) == (found.finding is None)
        json.dumps(found.recognition)


@RELAXED
@given(
    rows=st.lists(ROW, min_size=1, max_size=4),
    head=st.sampled_from(
        [b"JD,mag,e_mag,band,l_mag\n", b"<VOTABLE>", b"#TYPE=Extended\n#DELIM=,\n", b"\x1f\x8b", b"\xff\xfe"]
    ),
    noise=st.binary(max_size=60),
    at=st.integers(0, 400),
)
def test_nothing_raises_for_a_table_with_noise_in_it(rows: list[Any], head: bytes, noise: bytes, at: int) -> None:
    content = head + written(rows, ",")
    at %= len(content)
    found = judged(content[:at] + noise + content[at:])
    assert (found.verdict is Verdict.VALID) == (found.finding is None)
    json.dumps(found.recognition)


@RELAXED
@given(
    hints=st.dictionaries(
        st.sampled_from([*PhotometryHints.__dataclass_fields__, "more"]),
        st.one_of(
            st.none(),
            st.text(max_size=5),
            st.integers(),
            st.floats(),
            st.dictionaries(st.sampled_from(COLUMNS), st.integers(-1, 5)),
        ),
    )
)
def test_no_hint_raises(hints: dict[str, Any]) -> None:
    assert judged(b"JD,mag,band\n2450000.5,12,V\n", hints=hints).verdict in set(Verdict)


@RELAXED
@given(
    text=st.one_of(
        st.text(max_size=300),
        st.lists(
            st.tuples(
                st.sampled_from(
                    [
                        "TIME COLUMN NUMBER",
                        "FLUX COLUMN NUMBER",
                        "DATA FILENAME",
                        "METADATA FILENAME",
                        "FILENAME COLUMN",
                        "WAVELENGTH RANGE COLUMN",
                        "FILTER/FREQUENCY/ENERGY RANGE COLUMN NUMBER",
                        "DEREDDENED FLAG",
                    ]
                ),
                st.one_of(st.sampled_from(["0", "NA", "", "1,2", "True", "V"]), JUNK),
            ),
            max_size=9,
        ).map(lambda lines: "\n".join(f"{name}: {value}" for name, value in lines)),
    )
)
def test_no_text_of_a_ticket_raises(text: str) -> None:
    found = read_ticket(text)
    assert isinstance(found, (PhotometryTicket, SpectraTicket)) or found.code == "BAD_TICKET"
