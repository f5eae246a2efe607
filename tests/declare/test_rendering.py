"""A record is the same JSON whichever way it is written."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from penstock import Entity, Table, UtcMicros, UtcMillis, UtcSeconds, key
from penstock.declare.rendering import rendered, rendered_json

TABLE = Table("Rendered", partition="PK", sort="SK")
WHEN = datetime(2037, 1, 2, 3, 4, 5, 678901, UTC)


class Colour(StrEnum):
    RED = "red"


class Inner(BaseModel):
    at: UtcSeconds
    size: float


class Straight(Entity, table=TABLE):
    """All kinds that are kept as JSON has them."""

    name: str
    colour: Colour = Colour.RED
    id: UUID = UUID(int=7)
    count: int = 2**53 + 1
    share: float = 1e22
    tiny: float = -2.5e-9
    price: Decimal = Decimal("1.10")
    good: bool = True
    at: UtcSeconds = WHEN
    shortly: UtcMillis = WHEN
    exactly: UtcMicros = WHEN
    day: date = date(2037, 1, 2)
    nothing: str | None = None
    notes: dict[str, Any] = {"ä\u2028\x7f\n": ["<&>", 1.5, None, {"deep": -0.0}]}
    inner: Inner = Inner(at=WHEN, size=1.0)

    @key("STRAIGHT#{name}", "STRAIGHT")
    def at_name(self, *, name: str) -> None: ...


class Turned(Entity, table=TABLE):
    """With bytes and a set as well."""

    name: str
    picture: bytes | None = None
    tags: frozenset[str] | None = None
    at: UtcSeconds = WHEN

    @key("TURNED#{name}", "TURNED")
    def at_name(self, *, name: str) -> None: ...


RECORDS = [
    Straight(name='a "robot" 🤖'),
    Turned(name="r"),
    Turned(name="r", picture=b"\0\xff", tags=frozenset({"b", "a", "ä"})),
]


@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize("hidden", [frozenset(), frozenset({"at", "picture", "tags", "inner"})])
def test_the_text_says_what_the_values_say(record: Entity, hidden: frozenset[str]) -> None:
    values = rendered(record, hidden=hidden & record.__shape__.fields.keys())
    assert json.loads(rendered_json(record, hidden=hidden & record.__shape__.fields.keys())) == values
    assert list(values).count("name") == 1
    assert not values.keys() & hidden
