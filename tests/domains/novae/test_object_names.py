"""Names of objects: which are the nova's, which are plainly another's, and which are no names."""

from __future__ import annotations

import pytest

from penstock.astronomy.sky_position import Position
from penstock.domains.novae.object_matching import MISMATCH, KnownNova, ToldObject, matched

NOVA = KnownNova(["V1324 Sco", "PNV J17505393-3237207"], Position(267.7246, -32.6223), "an-id")


def _finding(name: str, at: Position | None = None, said: str | None = None) -> str | None:
    found = matched(ToldObject([(name, "the file")], at, said), NOVA).finding
    return None if found is None else found.code


@pytest.mark.parametrize(
    "name",
    ["V1324_Sco", " v1324  sco ", "V1324Sco", "V* V1324 Sco", "v01324 sco", "Nova V1324 Sco", "V1324 Sco blue arm"],
)
def test_a_name_of_the_nova_goes_on_without_a_word(name: str) -> None:
    match = matched(ToldObject([(name, "the file")]), NOVA)
    assert (match.finding, match.remarks) == (None, [])


@pytest.mark.parametrize("name", ["", "target", "None", "0042", "17:50:53.9 -32:37:20", "J175054-323721", "sky"])
def test_what_is_no_name_is_not_compared(name: str) -> None:
    match = matched(ToldObject([(name, "the file")]), NOVA)
    assert (match.finding, match.remarks) == (None, [])


@pytest.mark.parametrize("name", ["CI Aql", "T Pyx", "V339 Del", "HD30501", "HD 30501", "SN 2005kz", "Nova Sgr 2012"])
def test_plainly_another_object_waits_for_a_person(name: str) -> None:
    assert _finding(name) == MISMATCH


@pytest.mark.parametrize("name", ["PH957", "Nova Sco 2012", "AT 2018xyz", "program star 7"])
def test_what_may_be_the_nova_is_only_remarked(name: str) -> None:
    match = matched(ToldObject([(name, "the file")]), NOVA)
    assert match.finding is None
    assert name in match.remarks[0]


def test_the_place_counts_more_than_what_it_is_called() -> None:
    assert _finding("CI Aql", Position(267.7250, -32.6220)) is None
    assert _finding("target", Position(71.4, -20.0)) == MISMATCH
    assert _finding("target", Position(267.7246, -32.6023)) == MISMATCH, "more than an arcminute away"


def test_one_that_has_the_name_may_be_off_by_what_precession_makes() -> None:
    """Or by hours that are taken for degrees; but not be somewhere else altogether."""
    assert _finding("V1324 Sco", Position(266.9, -32.61)) is None
    assert _finding("V1324 Sco", Position(17.848, -32.62)) is None
    assert _finding("V1324 Sco", Position(71.4, -20.0)) == MISMATCH


def test_a_persons_word_counts_and_nothing_else() -> None:
    for said in ("this", "V1324_Sco", "an-id"):
        assert _finding("HD 30501", Position(71.4, -20.0), said) is None
    assert _finding("V1324 Sco", None, "T Pyx") == MISMATCH
