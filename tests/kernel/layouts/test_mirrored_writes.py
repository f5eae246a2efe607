"""While records move, what is written at one place is written at both; a mirror that refuses is known as one."""

from __future__ import annotations

from penstock.kernel.layouts.mirrored_writes import MirroredWrites
from penstock.operations.conditions import Missing, Present
from penstock.operations.updates import Set
from penstock.operations.writes import Check, Delete, Patch, Write
from penstock.testing.entities import Specimen, Ticket

MOVED, STAYS = Specimen.__shape__, Ticket.__shape__
KEY = {"shelf": "top", "label": "one"}
WRITES: list[Write] = [
    Delete(STAYS, {"queue": "q", "ticket_id": "1"}),
    Check(MOVED, KEY, Present()),
    Patch(MOVED, KEY, (Set("title", "x"),)),
    Delete(MOVED, KEY),
]


def mirrored(absent: set[int]) -> MirroredWrites:
    return MirroredWrites(WRITES, lambda shape: shape if shape is MOVED else None, absent)


def test_what_was_refused_at_the_first_place_is_the_write_s_own() -> None:
    absent: set[int] = set()
    writes = mirrored(absent)
    assert [type(write) for write in writes.writes[len(WRITES) :]] == [Patch, Delete], "a check has no mirror"
    assert not any(writes.is_mirror(position) for position in range(len(WRITES)))
    assert absent == set()


def test_a_mirror_that_does_not_stand_is_expected_not_to_the_next_time_and_the_other_way_round() -> None:
    absent: set[int] = set()
    assert mirrored(absent).is_mirror(len(WRITES))
    assert absent == {2}, "the patch, whose mirror comes first"
    again = mirrored(absent)
    expected = again.writes[len(WRITES)]
    assert isinstance(expected, Check)
    assert isinstance(expected.when, Missing)
    assert again.is_mirror(len(WRITES))
    assert absent == set()
