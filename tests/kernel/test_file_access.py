"""A record points only at files whose places tell its own values, however that is found out."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from penstock import Domain, Entity, Table, key, the
from penstock.errors import ForeignFile
from penstock.kernel.handle import patch
from penstock.operations.conditions import All, Compare
from penstock.operations.validation import prepare
from penstock.schema.file_pattern import FilePattern
from penstock.schema.object_key import ObjectKey

ID, OTHER = UUID(int=7), UUID(int=8)


class Reel(Entity, table=Table("penstock-test-reels", partition="PK", sort="SK")):
    reel_id: UUID
    studio: str = "mgm"
    number: int = 7
    label: str | None = None
    file: ObjectKey | None = None

    @key("REEL#{reel_id}", "REEL")
    def at(self, *, reel_id: UUID) -> None: ...


REELS = Domain(
    "reels", Reel, files=("r/{reel_id}/film", "s/{studio}/{number:03d}.png", "s/{studio}/{label}.txt", "any/*")
)


def pointing_at(file: str, **values: Any) -> Any:
    return prepare(Reel.__shape__, Reel(reel_id=ID, file=file, **values).__dict__)["file"]


@pytest.mark.parametrize(
    ("file", "values"),
    [
        (f"r/{ID}/film", {}),
        ("s/mgm/007.png", {}),
        ("s/mgm/1000.png", {"number": 1000}),
        ("s/mgm/first.txt", {"label": "first"}),
        ("s/mgm/né.txt", {"label": "né"}),
        ("any/thing", {}),
    ],
)
def test_a_file_of_its_own_is_pointed_at(file: str, values: dict[str, Any]) -> None:
    assert pointing_at(file, **values) == file


@pytest.mark.parametrize(
    ("file", "values"),
    [
        (f"r/{OTHER}/film", {}),
        ("s/mgm/008.png", {}),
        ("s/other/007.png", {}),
        ("s/mgm/second.txt", {"label": "first"}),
        ("s/mgm/None.txt", {}),
        ("s/a/b/007.png", {"studio": "a/b"}),  # or a studio of this name would have the files of the studio a
        ("elsewhere", {}),
    ],
)
def test_a_file_of_another_is_refused(file: str, values: dict[str, Any]) -> None:
    with pytest.raises(ForeignFile, match=f"Reel may not point at {file}; its files lie at r/"):
        pointing_at(file, **values)


def test_a_usual_file_is_admitted_without_reading_what_its_place_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """To read it by every pattern would cost more than the write itself."""
    monkeypatch.setattr(FilePattern, "read", None)
    for file in (f"r/{ID}/film", "s/mgm/007.png"):
        assert pointing_at(file) == pointing_at(file, label="first") == file
    assert pointing_at("s/mgm/first.txt", label="first") == "s/mgm/first.txt"


def test_a_patch_rests_on_what_nobody_has_told_of_its_record() -> None:
    here, pointed = Reel.at(reel_id=ID), the(Reel.file).set("s/mgm/first.txt")
    told = Compare("label", "=", "first"), Compare("studio", "=", "mgm")
    assert patch(here, the(Reel.file).set(f"r/{ID}/film")).when is None
    assert patch(here, pointed).when == All(told)
    assert patch(here, pointed, the(Reel.label).set("first")).when == told[1]
    assert patch(here, pointed, given=Reel(reel_id=ID, label="first")).when is None
    with pytest.raises(ForeignFile):
        patch(here, pointed, the(Reel.label).set("second"))
    with pytest.raises(ForeignFile):
        patch(here, the(Reel.file).set(f"r/{OTHER}/film"))
