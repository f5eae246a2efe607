"""What an engine tells of committed changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from penstock.operations.reads import Unreadable
from penstock.schema.kinds import FieldShape, key_text
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
    unreadable: tuple[Unreadable, ...] = ()
    "What of old and new does not fit the declaration, and is None there."
    at: datetime | None = None
    "When it was committed, within a second or so; None where the store does not tell."


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
    projects = {_project(shape.project, image) for image in (old, new) if image is not None}
    return projects.pop() if len(projects) == 1 else None


def _project(field: FieldShape, image: Any) -> str | None:
    if isinstance(image, Unreadable):
        return image.project
    value = image.__dict__.get(field.name)
    return None if value is None else key_text(field, value)


def told_change(
    shape: EntityShape,
    kind: str,
    old: Any,
    new: Any,
    *,
    cause: str,
    position: str,
    id: str,
    project: str | None,
    key: Mapping[str, Any] | None = None,
    at: datetime | None = None,
) -> FeedEntry:
    """A change as the feed tells it; an image that cannot be read is told as such, and ends no feed."""
    present = new if new is not None else old
    if key is None:
        known = present.key or {} if isinstance(present, Unreadable) else present.__dict__
        key = {n: known[n] for n in shape.key.fields if n in known}
    unreadable = tuple(image for image in (old, new) if isinstance(image, Unreadable))
    if unreadable:
        old, new = (None if isinstance(image, Unreadable) else image for image in (old, new))
    return FeedEntry(shape, kind, key, old, new, cause, position, id, project, unreadable, at)
