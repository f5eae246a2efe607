"""What a layout says in texts is read as the values that it stands for."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from penstock.schema.derived_places import read_text
from penstock.schema.kinds import Kind

READ: dict[Kind, tuple[str, Any]] = {
    Kind.TEXT: ("draft", "draft"),
    Kind.CHOICE: ("draft", "draft"),
    Kind.IDENTIFIER: ("550e8400-e29b-41d4-a716-446655440000", UUID("550e8400-e29b-41d4-a716-446655440000")),
    Kind.INTEGER: ("-7", -7),
    Kind.FLOAT: ("0.5", 0.5),
    Kind.DECIMAL: ("1.10", Decimal("1.10")),
    Kind.FLAG: ("True", True),
    Kind.BYTES: ("00ff", b"\x00\xff"),
    Kind.INSTANT: ("2026-01-02T03:04:05.000006Z", datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)),
    Kind.DAY: ("2026-01-02", date(2026, 1, 2)),
    Kind.TEXTS: ('["a","b"]', frozenset({"a", "b"})),
    Kind.DOCUMENT: ('{"a":[1]}', {"a": [1]}),
}


def test_every_kind_has_its_text() -> None:
    assert set(READ) == set(Kind)


@pytest.mark.parametrize("kind", READ)
def test_a_text_is_read_as_the_value_of_its_kind(kind: Kind) -> None:
    text, value = READ[kind]
    assert read_text(kind, text) == value
    assert type(read_text(kind, text)) is type(value)


def test_a_flag_that_does_not_stand_is_read_so() -> None:
    assert read_text(Kind.FLAG, "False") is False
