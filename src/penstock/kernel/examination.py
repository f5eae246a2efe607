"""Examination: how many records are looked at for a filter, which reads what it does not hold of all the same."""

from __future__ import annotations

from typing import Any

from penstock.errors import FilterTooWide, InvalidValue
from penstock.operations.item_collection import ItemCollection
from penstock.operations.reads import Query

EXAMINED = 10_000
"So many records are looked at for a filter, unless it says otherwise."
MOST_EXAMINED = 1_000_000


def most_examined(query: Query[Any] | ItemCollection[Any], examining: int | None) -> int | None:
    """How many records of a query may be looked at; None for all, as where each that is looked at is found."""
    if examining is None:
        return None
    check_examining(examining)
    return examining if isinstance(query, Query) and query.filter is not None else None


def check_examining(examining: int) -> None:
    """InvalidValue for a number that nobody can mean."""
    if isinstance(examining, bool) or not isinstance(examining, int) or not 1 <= examining <= MOST_EXAMINED:
        raise InvalidValue(f"a filter examines 1 to {MOST_EXAMINED:,} records, not {repr(examining)[:40]}")


def too_wide(query: Query[Any] | ItemCollection[Any], examined: int | None) -> FilterTooWide:
    """The answer where more records follow than are looked at."""
    assert isinstance(query, Query)
    return FilterTooWide(
        f"{query.pattern.label}: {examined:,} records were examined for the filter, and more follow. Read it in pages "
        "(store.page), declare a pattern that finds just these records, or say how many may be examined: "
        "examining=None for all",
        examined=examined or 0,
    )
