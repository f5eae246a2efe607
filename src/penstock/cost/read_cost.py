"""What a query takes of DynamoDB, in words: units go by what is examined, and not by what comes back."""

from __future__ import annotations

from typing import Any

from penstock.cost.capacity import READ_BYTES, read_units
from penstock.operations.item_collection import ItemCollection
from penstock.operations.reads import Query


def read_cost(query: Query[Any] | ItemCollection[Any]) -> dict[str, str]:
    """The units of a query, and what they are counted of."""
    first = query.members[0] if isinstance(query, ItemCollection) else query
    strong = first.pattern.index is None
    units = f"{read_units(1, strong=strong):g}"
    seen = "a consistent read" if strong else "an index is read as it was a moment ago"
    return {
        "units": f"{units} for each {READ_BYTES // 1024} KB that a request examines ({seen})",
        "examined": _examined(query),
    }


def _examined(query: Query[Any] | ItemCollection[Any]) -> str:
    if isinstance(query, ItemCollection):
        return "all that lies in the partition from the first key that can match to the last, of whichever kind"
    told = ["each record that is found, and one more to know whether others follow"]
    if query.filter is not None:
        told = ["each record of the pattern, whether the filter holds of it or not, up to the bound of the page"]
    if query.fields == ():
        told.append("as whole records, though only their number comes back")
    elif query.fields is not None:
        told.append("as whole records, though only some fields come back")
    return ", ".join(told)
