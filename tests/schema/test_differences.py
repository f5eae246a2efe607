"""Each difference between a stored layout and a declaration is told once, by what it takes."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any
from uuid import uuid4

import pytest
from pydantic import Field

from penstock import Formerly, Gone, RetainFor, Retyped, Unique, UtcMicros, UtcSeconds, attribute, begins, computed
from penstock.schema.differences import Takes, differences, ensured
from penstock.schema.fingerprint import Fingerprint, fingerprint_of, read_fingerprint
from tests.kernel.layouts.films import film


class _Two(Enum):
    A = "a"
    B = "b"


class _Three(Enum):
    A = "a"
    B = "b"
    C = "c"


def _print(*args: Any, **options: Any) -> Fingerprint:
    return fingerprint_of(film(*args, **options).__shape__)


def _shouted(title: str) -> str:
    return title.upper()


TITLE = {"title": str}
SHELF = ("SHELF#{title}", "{film_id}")
CALLED = Annotated[str, Formerly("title")]
EXACT = Annotated[Decimal, Retyped(was=int, forward=Decimal, back=int)]
ELSEWHERE: dict[str, Any] = {"title": attribute("title_2", column="title_2")}
MORE, FILL, MIGRATE, LEFT, REFUSED = Takes.NOTHING_MORE, Takes.BACKFILL, Takes.MIGRATION, Takes.NOBODY, Takes.MORE_WORDS

CASES: dict[str, tuple[Fingerprint, Fingerprint, Takes | None, Takes | None]] = {
    "nothing": (_print(), _print(), None, None),
    "another order of fields": (
        _print({"title": str, "year": int}),
        _print({"year": int, "title": str}),
        None,
        None,
    ),
    "an optional field": (_print(), _print({**TITLE, "note": str | None}, defaults={"note": None}), MORE, MORE),
    "a field with a default": (_print(), _print({**TITLE, "year": int}, defaults={"year": 1900}), MORE, MORE),
    "a field that is made": (
        _print(),
        _print({**TITLE, "number": Annotated[str, Field(default_factory=lambda: str(uuid4()))]}),
        MORE,
        MORE,
    ),
    "a field that is required": (_print(), _print({**TITLE, "year": int}), REFUSED, REFUSED),
    "an optional field no longer": (
        _print({**TITLE, "note": str | None}, defaults={"note": None}),
        _print(),
        LEFT,
        LEFT,
    ),
    "a required field no longer": (_print({**TITLE, "note": str}), _print(), REFUSED, REFUSED),
    "another type": (_print({"title": int}), _print({"title": Decimal}), REFUSED, REFUSED),
    "another precision": (_print({"title": UtcSeconds}), _print({"title": UtcMicros}), REFUSED, REFUSED),
    "another type, elsewhere": (
        _print({"title": int}),
        _print({"title": Decimal}, defaults=ELSEWHERE),
        REFUSED,
        REFUSED,
    ),
    "another type, elsewhere, by functions": (
        _print({"title": int}),
        _print({"title": EXACT}, defaults=ELSEWHERE),
        MIGRATE,
        MIGRATE,
    ),
    "another type than the functions know": (
        _print({"title": str}),
        _print({"title": EXACT}, defaults=ELSEWHERE),
        REFUSED,
        REFUSED,
    ),
    "another name": (_print(), _print({"heading": CALLED}), MIGRATE, MIGRATE),
    "another name, at its place": (
        _print(),
        _print({"heading": CALLED}, defaults={"heading": attribute("title", column="title")}),
        MORE,
        MORE,
    ),
    "another name of what a key is made of": (
        _print(keys=("FILM#{film_id}", "{title}"), index=SHELF),
        _print(
            {"heading": CALLED},
            defaults={"heading": attribute("title", column="title")},
            keys=("FILM#{film_id}", "{heading}"),
            index=("SHELF#{heading}", "{film_id}"),
        ),
        MORE,
        MORE,
    ),
    "a required field no longer, written for others": (
        _print({**TITLE, "note": str}),
        _print(gone=(Gone("note", written_as=""),)),
        LEFT,
        LEFT,
    ),
    "another attribute": (_print(), _print(defaults={"title": attribute("Title")}), MIGRATE, None),
    "another column": (_print(), _print(defaults={"title": attribute(column="heading")}), None, MIGRATE),
    "no longer required": (_print(), _print({"title": str | None}, defaults={"title": None}), MIGRATE, MIGRATE),
    "required, with a default": (
        _print({"title": str | None}, defaults={"title": None}),
        _print(defaults={"title": "untitled"}),
        MORE,
        MORE,
    ),
    "required, without one": (_print({"title": str | None}, defaults={"title": None}), _print(), REFUSED, REFUSED),
    "another default": (_print(defaults={"title": "a"}), _print(defaults={"title": "b"}), MORE, MORE),
    "a new choice": (_print({"title": _Two}), _print({"title": _Three}), MORE, MORE),
    "a choice no longer": (_print({"title": _Three}), _print({"title": _Two}), MIGRATE, MIGRATE),
    "unique": (_print(), _print({"title": Unique[str]}), FILL, FILL),
    "unique no longer": (_print({"title": Unique[str]}), _print(), MORE, MORE),
    "computed": (
        _print({**TITLE, "loud": str}),
        _print({**TITLE, "loud": str}, defaults={"loud": computed(_shouted, of="title")}),
        FILL,
        FILL,
    ),
    "another table": (_print(), _print(table="penstock-movies"), MIGRATE, None),
    "another relation": (_print(), _print(relation="movies"), None, MIGRATE),
    "another template of the key": (_print(), _print(keys=("MOVIE#{film_id}", "META")), MIGRATE, None),
    "a template whose texts could be former keys": (_print(), _print(keys=("FILM#{film_id}#", "META")), REFUSED, None),
    "a key of other fields": (_print(), _print(keys=("FILM#{film_id}", "{title}")), REFUSED, REFUSED),
    "a key in another order": (
        _print(keys=("FILM#{film_id}", "{title}")),
        _print(keys=("TITLE#{title}", "{film_id}")),
        REFUSED,
        REFUSED,
    ),
    "another tag": (_print(tag_attribute="kind"), _print(tag_attribute="kind", tag="Movie"), REFUSED, None),
    "an index": (_print(), _print(index=SHELF), FILL, MORE),
    "an index no longer": (_print(index=SHELF), _print(), LEFT, LEFT),
    "another template of an index": (_print(index=SHELF), _print(index=("S#{title}", "{film_id}")), MIGRATE, None),
    "an index of other fields": (_print(index=SHELF), _print(index=("S#{film_id}", "{title}")), MIGRATE, MORE),
    "an index under another condition": (
        _print(index=SHELF),
        _print(index=SHELF, when={"title": frozenset({"x"})}),
        MIGRATE,
        MORE,
    ),
    "other attributes of an index": (
        _print(index=SHELF),
        _print(index=SHELF, index_attributes=("shelf", "GSI1SK")),
        REFUSED,
        None,
    ),
    "an index of SQL": (_print(), _print(sql_indexes=(("title",),)), None, MORE),
    "an index of SQL no longer": (_print(sql_indexes=(("title",),)), _print(), None, LEFT),
    "a lifetime": (
        _print({"made": UtcSeconds}),
        _print({"made": UtcSeconds}, lifetimes=(RetainFor(timedelta(days=30), since="made"),)),
        MORE,
        MORE,
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("key_texts", [True, False], ids=["items", "rows"])
def test_a_difference_is_told_by_what_it_takes(case: str, key_texts: bool) -> None:
    stored, declared, for_items, for_rows = CASES[case]
    expected = for_items if key_texts else for_rows
    found = differences(stored, declared, key_texts=key_texts)
    assert {d.takes for d in found} == ({expected} if expected else set())
    assert all(d.what.startswith("cinema.Film") and d.detail for d in found)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("key_texts", [True, False], ids=["items", "rows"])
def test_once_ensured_only_that_differs_which_ensuring_does_not_do(case: str, key_texts: bool) -> None:
    stored, declared, _, _ = CASES[case]
    after = ensured(stored, declared, key_texts=key_texts)
    before = [d for d in differences(stored, declared, key_texts=key_texts) if d.takes is not MORE]
    assert differences(after, declared, key_texts=key_texts) == before
    assert ensured(after, declared, key_texts=key_texts) == after


def test_a_field_that_begins_with_a_rule_is_added_and_filled() -> None:
    stored = _print()
    declared = _print({**TITLE, "loud": str}, defaults={"loud": begins(_shouted, of="title")})
    assert [d.takes for d in differences(stored, declared, key_texts=True)] == [MORE, FILL]
    after = ensured(stored, declared, key_texts=True)
    assert [d.takes for d in differences(after, declared, key_texts=True)] == [FILL]
    assert ensured(after, declared, key_texts=True) == after


def test_a_fingerprint_comes_back_from_its_document_with_the_same_digest() -> None:
    for stored, declared, _, _ in CASES.values():
        for layout in (stored, declared):
            assert read_fingerprint(layout.document) == layout
            assert read_fingerprint({**layout.document, "of a later Penstock": 1}).digest == layout.digest


def test_every_difference_is_another_digest() -> None:
    for name, (stored, declared, _, _) in CASES.items():
        assert (stored.digest == declared.digest) is name.startswith(("nothing", "another order")), name
