"""Files that are made to cost much or to hide something."""

from __future__ import annotations

import gzip
import time
import tracemalloc
from pathlib import Path

import pytest

from penstock.astronomy.photometry import judge_photometry
from tests.astronomy.photometry.made import TICKET, code, curve, judged

GOOD = "JD,mag,err,band\n2450000.5,12,0.1,V\n"


def test_a_line_of_a_million_cells_is_one_row_that_is_not_read(tmp_path: Path) -> None:
    found = curve(tmp_path, GOOD + "2450001.5" + ",1" * 1_000_000 + "\n")
    assert [(row.row, len(row.text)) for row in found.unread] == [(3, 200)]
    assert "characters, more than" in found.unread[0].why


def test_a_gigantic_line_alone_is_refused(tmp_path: Path) -> None:
    assert code(tmp_path, "1," * 5_000_000)[1] == "NO_COLUMN_MAP"
    assert code(tmp_path, "1," * 5_000_000, ticket=TICKET)[1] == "NOT_AS_DESCRIBED"


def test_many_cells_in_a_short_line_are_one_row_that_is_not_read(tmp_path: Path) -> None:
    found = curve(tmp_path, GOOD + "," * 5000 + "1\n")
    assert found.unread[0].why == "it has 5001 cells, more than 1000"


def test_a_quote_that_is_not_closed_does_not_swallow_the_rows_below(tmp_path: Path) -> None:
    found = curve(tmp_path, GOOD + '2450001.5,13,0.1,"V\n2450002.5,14,0.1,V\n')
    assert [each.row for each in found.measurements] == [2, 4]
    assert found.unread[0].why == "a quotation mark is opened and not closed"


def test_quotes_in_quotes_in_quotes_are_read_in_time(tmp_path: Path) -> None:
    found = judged(tmp_path, GOOD + "2450001.5,13,0.1," + '"' * 60_000 + "\n")
    assert found.curve is not None
    assert len(found.curve.measurements) + len(found.curve.unread) == 2


@pytest.mark.parametrize("place", [0, 5, 30])
def test_nul_in_a_text_is_refused(tmp_path: Path, place: int) -> None:
    content = GOOD.encode()
    assert code(tmp_path, content[:place] + b"\0" + content[place:]) == ("TERMINAL_INVALID", "NOT_TEXT")


def test_a_packed_file_is_read_and_one_of_several_parts_too(tmp_path: Path) -> None:
    packed = gzip.compress(GOOD.encode()) + gzip.compress(b"2450001.5,13,0.1,B\n")
    found = judged(tmp_path, packed)
    assert found.recognition["packed"]
    assert found.curve is not None
    assert len(found.curve.measurements) == 2


def test_a_bomb_of_gzip_ends_at_the_limit(tmp_path: Path) -> None:
    bomb = gzip.compress(b"\n" * 200_000_000, 9)
    tracemalloc.start()
    assert code(tmp_path, bomb, most_bytes=1_000_000) == ("QUARANTINED", "TOO_LARGE")
    assert tracemalloc.get_traced_memory()[1] < 8_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("cut", [3, 11, 20, 30])
def test_a_packed_file_that_is_cut_or_damaged_is_refused(tmp_path: Path, cut: int) -> None:
    packed = gzip.compress(GOOD.encode())
    assert code(tmp_path, packed[:cut]) == ("TERMINAL_INVALID", "BROKEN_ARCHIVE")


def test_a_file_larger_than_allowed_is_not_read_to_its_end(tmp_path: Path) -> None:
    assert code(tmp_path, GOOD, most_bytes=len(GOOD) - 1) == ("QUARANTINED", "TOO_LARGE")
    curve(tmp_path, GOOD, most_bytes=len(GOOD))


def test_more_rows_than_allowed_wait_for_a_person(tmp_path: Path) -> None:
    assert code(tmp_path, GOOD + "2450001.5,12,0.1,V\n" * 5, most_rows=6) == ("QUARANTINED", "TOO_MANY_ROWS")


def test_a_sparse_file_of_a_terabyte_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "sparse.csv"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    found = judge_photometry(path, most_bytes=1_000_000)
    assert found.finding is not None
    assert found.finding.code == "TOO_LARGE"


@pytest.mark.parametrize(
    "cell", ["1" * 60_000, "-" * 60_000, "9" * 60_000, "1:" * 30_000, "1999-" * 10_000, "((((" * 15_000]
)
def test_no_cell_is_slow(tmp_path: Path, cell: str) -> None:
    """Each expression that looks at a cell is linear in it, or looks only at short ones."""
    begun = time.process_time()
    for row in (f"{cell},12,0.1,V", f"2450000.5,{cell},0.1,V", f"2450000.5,12,{cell},V", f"2450000.5,12,0.1,{cell}"):
        judged(tmp_path, GOOD + row + "\n")
    judged(tmp_path, f"JD,mag,{cell}\n2450000.5,12,1\n")
    judged(tmp_path, f"{cell},mag,JD\n1,12,2450000.5\n")
    assert time.process_time() - begun < 5


def test_twice_the_rows_take_about_twice_the_time(tmp_path: Path) -> None:
    def seconds(rows: int) -> float:
        text = "JD,mag,err,band\n" + "".join(f"{2450000 + n / 10},12.{n % 90},0.1,V\n" for n in range(rows))
        best = 60.0
        for _ in range(3):
            begun = time.process_time()
            judged(tmp_path, text)
            best = min(best, time.process_time() - begun)
        return best

    assert seconds(16_000) < 8 * seconds(4_000)
