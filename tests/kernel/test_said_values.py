"""What is said to a store, and what it hands out, is a value: threads share it, and nothing changes it any more."""

from __future__ import annotations

import copy
from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

from penstock.kernel.history import HistoryEntry, HistoryKind, HistoryPage
from penstock.kernel.idempotency import Replay
from penstock.kernel.lease import Lease
from penstock.kernel.store import Counted, Listing
from penstock.operations.conditions import All, Any_, Between, Compare, Missing, Not, OneOf, Present
from penstock.operations.reads import Page, Range
from penstock.operations.updates import Add, Append, Exclude, Include, Remove, Set, SetIfAbsent
from penstock.operations.writes import Check, Delete, Patch, Put
from penstock.testing.entities import MOMENT, Specimen, specimen

SHAPE, KEY = Specimen.__shape__, specimen().ref.key
VALUES: list[Any] = [
    Compare("count", "=", 1),
    Between("count", 1, 2),
    OneOf("count", (1, 2)),
    Present("count"),
    Missing("count"),
    All((Present("count"),)),
    Any_((Present("count"),)),
    Not(Present("count")),
    Set("count", 1),
    Remove("count"),
    Add("count", 1),
    SetIfAbsent("count", 1),
    Append("notes", ("x",)),
    Include("labels", frozenset({"x"})),
    Exclude("labels", frozenset({"x"})),
    Range(1, 2),
]
OTHERS: list[Any] = [
    Put(SHAPE, specimen().__dict__),
    Patch(SHAPE, KEY, (Set("count", 1),)),
    Delete(SHAPE, KEY),
    Check(SHAPE, KEY, Present()),
    Specimen.at(**KEY),
    Specimen.by_shelf(shelf="top"),
    Page([], more=False),
]
HANDED_OUT: list[Any] = [
    Lease(Specimen.at(**KEY), "ann", 1, MOMENT),
    Replay({"id": 7}),
    Listing([], None),
    Counted(7),
    HistoryEntry(MOMENT, HistoryKind.CHANGE, "create"),
    HistoryPage([], None),
]


@pytest.mark.parametrize("said", [*VALUES, *OTHERS], ids=lambda said: type(said).__name__)
def test_nothing_of_what_was_said_can_be_made_another(said: Any) -> None:
    for name in said.__struct_fields__:
        with pytest.raises(AttributeError, match="immutable"):
            setattr(said, name, None)


@pytest.mark.parametrize("handed_out", HANDED_OUT, ids=lambda given: type(given).__name__)
def test_nothing_that_was_handed_out_can_be_made_another(handed_out: Any) -> None:
    for field in fields(handed_out):
        with pytest.raises(FrozenInstanceError):
            setattr(handed_out, field.name, None)


def test_what_says_the_same_is_the_same() -> None:
    assert len({*VALUES, *map(copy.deepcopy, VALUES)}) == len(VALUES)
