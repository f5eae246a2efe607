"""What a declaration says of its past is refused where it cannot be."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

import pytest

from penstock import Expires, Formerly, Gone, Retyped, Unique, begins
from penstock.errors import DeclarationError
from penstock.schema.fingerprint import fingerprint_of
from tests.kernel.layouts.films import film

EXACT = Annotated[Decimal, Retyped(was=int, forward=Decimal, back=int)]


def _long(title: str) -> bool:
    return len(title) > 9


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ({"fields": {"title": Annotated[str, Formerly("film_id")]}}, "is a field itself"),
        ({"fields": {"title": Annotated[Unique[str], Formerly("name")]}}, "is unique"),
        (
            {"fields": {"title": Annotated[str, Retyped(was=int, forward=str)]}, "index": ("S#{title}", "{film_id}")},
            "part of a key or an index",
        ),
        (
            {
                "fields": {"title": str, "ends": Annotated[int | None, Formerly("over")]},
                "defaults": {"ends": None},
                "lifetimes": (Expires("ends"),),
            },
            "ends records",
        ),
        ({"gone": (Gone("title", written_as=""),)}, "is called gone, and is a field"),
        ({"fields": {"title": str, "long": bool}, "defaults": {"long": begins(_long, of="name")}}, "no field declared"),
        (
            {"fields": {"title": str, "long": bool | None}, "defaults": {"long": begins(_long, of="title")}},
            "cannot be optional",
        ),
    ],
)
def test_a_past_that_cannot_be_is_refused(words: dict[str, Any], complaint: str) -> None:
    with pytest.raises(DeclarationError, match=complaint):
        film(words.pop("fields", None), **words)


def test_a_new_record_may_be_given_what_a_rule_would_say_otherwise() -> None:
    declared = film({"title": str, "long": bool}, defaults={"long": begins(_long, of="title")})
    assert declared(film_id="a", title="short").long is False
    assert declared(film_id="a", title="short", long=True).long is True


def test_what_is_said_of_the_past_is_part_of_the_fingerprint() -> None:
    declared = film({"length": EXACT, "writer": Annotated[str, Formerly("author")]}, gone=(Gone("year", written_as=0),))
    layout = fingerprint_of(declared.__shape__)
    assert layout.fields["length"].retyped_from == "integer"
    assert layout.fields["writer"].formerly == ("author",)
    assert layout.gone == {"year": "0"}
