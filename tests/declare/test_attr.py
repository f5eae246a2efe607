"""``the(Entity.field)`` refuses what no engine could ask or do, before it is sent, and says what to do."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from pydantic import Field

from penstock import Entity, Table, key, select, the
from penstock.errors import InvalidValue
from penstock.operations.conditions import OneOf
from penstock.testing.entities import Specimen

TABLE = Table("DeclaredParcels", partition="PK")


class Parcel(Entity, table=TABLE):
    """Fields that stay as they were created, and a set that is never empty."""

    name: str
    colours: frozenset[str] = frozenset({"red"})
    owner: str | None = Field(None, frozen=True)
    weight: int = Field(0, frozen=True)
    stops: list[str] | None = Field(None, frozen=True)
    marks: frozenset[str] | None = Field(None, frozen=True)

    @key("{name}")
    def at(self, *, name: str) -> None: ...


A_FLAG: Any = Specimen.flag
NOTHING: Any = None
REFUSED: dict[str, tuple[str, Callable[[], Any]]] = {
    "no field": ("write the(Entity.field)", lambda: the("title")),
    "no query": ("select takes a pattern", lambda: select(Specimen.title, Specimen.title)),  # type: ignore[call-overload]
    "equal to nothing": ("exists() and absent()", lambda: the(Specimen.text).equals(NOTHING)),
    "from nothing": ("exists() and absent()", lambda: the(Specimen.count).between(NOTHING, 1)),
    "to nothing": ("exists() and absent()", lambda: the(Specimen.count).between(1, NOTHING)),
    "nothing among others": ("exists() and absent()", lambda: the(Specimen.text).one_of("a", NOTHING)),
    "a flag before another": ("a flag, which has no order", lambda: the(A_FLAG).before(True)),
    "a flag since another": ("a flag, which has no order", lambda: the(A_FLAG).since(True)),
    "a flag between two": ("a flag, which has no order", lambda: the(A_FLAG).between(False, True)),
    "a list equal to another": ("a document; compare", lambda: the(Specimen.notes).equals(["a"])),
    "a set among others": ("texts; compare", lambda: the(Specimen.labels).one_of(frozenset({"a"}))),
    "one of none": ("1 to 100 values, not 0", lambda: the(Specimen.count).one_of()),
    "one of too many": ("1 to 100 values, not 101", lambda: the(Specimen.count).one_of(*range(101))),
    "what no text holds": ("NUL", lambda: the(Specimen.title).differs("a\x00")),
    "another type": ("Specimen.count: Input should be", lambda: the(Specimen.count).set("many")),  # type: ignore[arg-type]
    "a required value removed": ("Specimen.title is required", lambda: the(Specimen.title).remove()),
    "a required value set to nothing": ("Specimen.title is required", lambda: the(Specimen.title).set(NOTHING)),
    "a number added to a text": ("add needs an int", lambda: the(Specimen.title).add(1)),  # type: ignore[misc]
    "a flag added": ("cannot add True", lambda: the(Specimen.seen).add(True)),
    "a fraction added to whole ones": ("cannot add", lambda: the(Specimen.seen).add(Decimal("0.5"))),  # type: ignore[arg-type]
    "a float added": ("cannot add 0.5", lambda: the(Specimen.price).add(0.5)),  # type: ignore[arg-type]
    "no member": ("at least one member", lambda: the(Specimen.labels).include()),
    "a member that is no text": ("at least one member", lambda: the(Specimen.labels).exclude(5)),  # type: ignore[arg-type]
    "a member of what is no set": ("at least one member", lambda: the(Specimen.text).include("a")),  # type: ignore[misc]
    "a member of a list": ("at least one member", lambda: the(Specimen.notes).include("a")),  # type: ignore[misc]
    "a member that no engine holds": ("NUL", lambda: the(Specimen.labels).include("a\x00")),
    "a set that might become empty": ("may not become empty", lambda: the(Parcel.colours).exclude("red")),
    "a frozen field set": ("declared frozen", lambda: the(Parcel.owner).set("ann")),
    "a frozen field removed": ("declared frozen", lambda: the(Parcel.owner).remove()),
    "a frozen field set if absent": ("declared frozen", lambda: the(Parcel.owner).set_if_absent("ann")),
    "a frozen number": ("declared frozen", lambda: the(Parcel.weight).add(1)),
    "a frozen list": ("declared frozen", lambda: the(Parcel.stops).append("x")),
    "a frozen set, included": ("declared frozen", lambda: the(Parcel.marks).include("x")),
    "a frozen set, excluded": ("declared frozen", lambda: the(Parcel.marks).exclude("x")),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_what_cannot_be_asked_of_a_field_or_done_to_it_is_refused(case: str) -> None:
    words, action = REFUSED[case]
    with pytest.raises(InvalidValue) as refused:
        action()
    assert words in str(refused.value)


def test_one_of_takes_from_one_to_a_hundred_values() -> None:
    for values in (range(1), range(100)):
        assert the(Specimen.count).one_of(*values) == OneOf("count", tuple(values))
