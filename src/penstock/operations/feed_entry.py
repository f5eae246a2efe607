"""What an engine tells of committed changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from penstock.schema.kinds import key_text
from penstock.schema.shape import EntityShape


class FeedEntry(Struct, frozen=True):
    """One committed change of one record, as the feed tells it."""

    shape: EntityShape
    kind: str
    "insert, update or remove"
    key: Mapping[str, Any]
    old: Any
    new: Any
    cause: str
    "user or expiry"
    position: str
    "Where the feed goes on after this entry."
    id: str
    "What tells this change from every other, also when the feed is read again."
    project: str | None = None
    "The project whose change it is; None when it is of none, or when it cannot be told."


class FeedSlice(list[FeedEntry]):
    """Changes in order, and the position behind all that was looked at for them.

    That may lie far behind the last of them, also where there is none: others' changes are not looked at again.
    """

    def __init__(self, entries: Iterable[FeedEntry] = (), *, position: str | None) -> None:
        super().__init__(entries)
        self.position = position


class LogSize(Struct, frozen=True):
    """How much of its changes a store keeps."""

    entries: int
    oldest: datetime | None = None
    "When the oldest was written, by the database's clock; None when there is none, or when it was not noted."


def changed_project(shape: EntityShape, old: Any, new: Any) -> str | None:
    """The project a record was of before and after a change; None where these differ, or there is none."""
    if shape.project is None:
        return None
    projects = {image.__dict__.get(shape.project.name) for image in (old, new) if image is not None}
    return key_text(shape.project, projects.pop()) if len(projects) == 1 and None not in projects else None
