"""What a workload takes and costs, from the file to the bill."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from penstock.cost.price_list import price_list
from penstock.cost.workload import read_workload
from penstock.cost.workload_estimate import WorkloadEstimate, estimate
from penstock.domains import DOMAINS
from penstock.errors import InvalidValue

SHAPES = [shape for domain in DOMAINS for shape in domain.shapes]


def _estimate(tmp_path: Path, text: str) -> WorkloadEstimate:
    path = tmp_path / "workload.toml"
    path.write_text(text)
    return estimate(read_workload(path, SHAPES), SHAPES, price_list())


def _units(told: WorkloadEstimate) -> dict[str, float]:
    return {line.what: line.read_units + line.write_units for line in told.lines}


def test_a_hundred_reads_a_second_of_three_kilobytes(tmp_path: Path) -> None:
    """VM-14, F-VM-1: 100 strong or 50 eventual a second, which is what must be planned."""
    second = 730 * 3600
    strong = _estimate(tmp_path, f'[records."videos.Video"]\nbytes = 3_072\nread = {100 * second}\n')
    assert (strong.planned.reads, strong.planned.writes) == (100, 0)
    eventual = _estimate(
        tmp_path, f'[patterns."videos.Video.by_user"]\nbytes = 3_072\nrequests = {100 * second}\nrecords = 1\n'
    )
    assert eventual.planned.reads == 50


def test_a_write_takes_its_table_and_each_index_as_they_change(tmp_path: Path) -> None:
    """VM-13: a scene is in no index, a project in one, whose key is its state."""
    told = _estimate(
        tmp_path,
        """
        [records."musicvideo.Project"]
        bytes = 1_500
        created = 10
        changed = 10
        moved = 5
        deleted = 10
        read = 10
        [records."musicvideo.Scene"]
        bytes = 1_500
        created = 10
        in_transactions = true
        [patterns."musicvideo.Scene.of_project"]
        requests = 10
        records = 20
        """,
    )
    assert _units(told) == {
        "musicvideo.Project created": 10 * (2 + 2),
        "musicvideo.Project changed": 5 * (2 + 2),
        "musicvideo.Project moved": 5 * (2 + 4),
        "musicvideo.Project deleted": 10 * (2 + 2),
        "musicvideo.Project by key": 10,
        "musicvideo.Scene created": 10 * 4,
        "musicvideo.Scene.of_project": 10 * 8,
    }


def test_an_index_that_is_ordered_by_the_last_change_is_rewritten_by_every_change(tmp_path: Path) -> None:
    """F-AC-14, F-X-4: its entry is deleted and put, whichever field it was."""
    told = _estimate(tmp_path, '[records."assetcreator.Job"]\nbytes = 900\nchanged = 10\nindexes = ["GSI1"]\n')
    shape = next(s for s in SHAPES if s.label == "assetcreator.Job")
    watched = any(shape.last_modified in index.watched for index in shape.indexes.values())
    assert _units(told) == {"assetcreator.Job changed": 10 * (3 if watched else 2)}


def test_what_is_kept_is_stored_with_its_indexes_and_their_overhead(tmp_path: Path) -> None:
    """VM-26: 100 bytes of overhead for each item, in the table and in each index."""
    told = _estimate(
        tmp_path,
        'replicas = 1\nbackup_gb = 2.0\n[records."musicvideo.Project"]\nbytes = 924\nstanding = 1_048_576\n',
    )
    assert (told.gb, told.index_gb) == (Decimal(1), Decimal(1))
    at = price_list().dynamodb
    assert (told.records.storage, told.records.indexes) == (2 * at.storage, 2 * at.storage)
    assert told.records.backups == 2 * at.point_in_time + 2 * at.backup


def test_a_month_of_temporary_speech(tmp_path: Path) -> None:
    """TA-27, F-TA-9, TA-28: two days of files are stored, egress is the largest part, expiry is free."""
    told = _estimate(
        tmp_path,
        """
        point_in_time = false
        [records."speech.TempAudio"]
        bytes = 600
        created = 10_000
        kept_days = 1
        [files.audio]
        bytes = 500_000
        created = 10_000
        read = 10_000
        kept_days = 2
        """,
    )
    assert round(told.file_gb, 2) == Decimal("0.31")
    assert told.files.storage < Decimal("0.01")
    assert (told.files.writes, told.files.reads) == (Decimal("0.05"), Decimal("0.004"))
    assert round(told.files.egress, 2) == Decimal("0.42")
    assert told.records.writes == Decimal("0.00625") * (1 + len(_indexes("speech.TempAudio")))
    assert told.total < Decimal("0.52")


def _indexes(label: str) -> list[str]:
    return list(next(s for s in SHAPES if s.label == label).indexes)


def test_planned_capacity_is_cheaper_once_enough_of_it_is_used(tmp_path: Path) -> None:
    """VM-15: the part of planned units from which on it pays is 28.9 %, and a peak of 3.4 times the average."""
    text = 'peak = {}\n[records."videos.ViewMark"]\nbytes = 100\nindexes = []\ncreated = 2_628_000_000\n'
    steady, busy = (_estimate(tmp_path, text.format(peak)) for peak in (3, 4))
    assert round(steady.planned.break_even, 3) == Decimal("0.289")
    assert (steady.planned.writes, busy.planned.writes) == (3000, 4000)
    assert steady.cheaper_planned
    assert not busy.cheaper_planned


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '[records."videos.Vidoe"]\nbytes = 1\n',
            r"names 'videos.Vidoe', which is not declared; did you mean videos.Video",
        ),
        ('[patterns."videos.Video.by_usr"]\nbytes = 1\nrequests = 1\n', r"did you mean videos.Video.by_user"),
        ('[patterns."videos.Video.by_user"]\nrequests = 1\n', r"say how many bytes a record has"),
        ('[records."videos.Video"]\nbytes = 500_000\n', r"bytes"),
        ('[records."videos.Video"]\nbytes = 1\ncreated = -1\n', r"created"),
        ('[records."videos.Video"]\nbytes = 1\ncreate = 1\n', r"unknown field `create`"),
        ('[records."videos.Video"]\nbytes = 1\nmoved = 1\n', r"is moved 1 times, but changed only 0"),
        ('[records."videos.Video"]\nbytes = 1\nindexes = ["GSI9"]\n', r"is not in the index 'GSI9'; it has"),
        ("peak = 0\n", r"peak"),
        ("peak = \n", r"cannot be read"),
    ],
)
def test_a_workload_that_does_not_fit_is_refused_with_what_is_wrong(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InvalidValue, match=told):
        _estimate(tmp_path, text)
    with pytest.raises(InvalidValue, match="cannot be read"):
        read_workload(tmp_path / "none.toml", SHAPES)
