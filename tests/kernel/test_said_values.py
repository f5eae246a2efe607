"""What is said to a store is a value: threads share it, sets hold it, and nothing changes it once it is made."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from penstock.operations.conditions import All, Any_, Between, Compare, Missing, Not, OneOf, Present
from penstock.operations.reads import Range
from penstock.operations.updates import Add, Append, Exclude, Include, Remove, Set, SetIfAbsent
from penstock.operations.writes import Check, Delete, Patch, Put
from penstock.testing.entities import Specimen, specimen

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
]


@pytest.mark.parametrize("said", [*VALUES, *OTHERS], ids=lambda said: type(said).__name__)
def test_nothing_of_what_was_said_can_be_made_another(said: Any) -> None:
    for name in said.__struct_fields__:
        with pytest.raises(AttributeError, match="immutable"):
            setattr(said, name, None)


def test_what_says_the_same_is_the_same() -> None:
    assert len({*VALUES, *map(copy.deepcopy, VALUES)}) == len(VALUES)
