"""The path of a record at the service: its collection, then one segment for each part of its key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from penstock.declare.entity import Entity
from penstock.declare.rendering import rendered


def record_path(collection: str, key: Mapping[str, Any]) -> str:
    """The path of a record, from that of its collection and the parts of its key as JSON has them."""
    return "/".join([collection, *(segment_of(str(part)) for part in key.values())])


def segment_of(part: str) -> str:
    """One percent-encoded segment. Dots are, too, where they are all of it: a bare .. would lead elsewhere."""
    return part.replace(".", "%2E") if part in (".", "..") else quote(part, safe="")


def path_of(record: Entity) -> str:
    """The path of a record, as its own routes have it."""
    shape = record.__shape__
    values = rendered(record, hidden=frozenset(shape.fields) - set(shape.key.fields))
    return record_path(f"/api/{shape.domain}/{shape.collection}", {name: values[name] for name in shape.key.fields})
