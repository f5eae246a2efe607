"""The trash: where files lie for a while before they are really gone.

    trash/2026-01-31/mv/projects/7/final.mp4

Moving a file there is a copy and a removal; the removal is refused when other bytes have come meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from penstock.errors import Conflict, InvalidKey, NotFound
from penstock.files.object_reads import every, lookup, same_bytes
from penstock.ports.clock import Clock
from penstock.ports.object_store import Objects
from penstock.ports.stored_object import ListedObject, checked_key, is_key
from penstock.schema.file_pattern import TRASH

_DATED = re.compile(TRASH + r"(\d{4}-\d{2}-\d{2})/.+")


@dataclass(frozen=True, slots=True)
class Purged:
    """What is really gone."""

    objects: int = 0
    bytes: int = 0


class Trash:
    """The trash of an object store. What is put there can be had back for the time of ``window``, and goes then."""

    def __init__(self, objects: Objects, clock: Clock, *, window: timedelta = timedelta(days=7)) -> None:
        self._objects, self._clock, self._window = objects, clock, window

    def put(self, found: ListedObject) -> bool:
        """Move an object to the trash; False when it was not moved.

        That is so when it is gone or has been replaced meanwhile, when a file of the same key went to the trash today
        already, and when its key is too long to be written behind a date: the next day, or a person, decides.
        """
        place = self._place(self._clock.now().date(), found.key)
        try:
            self._objects.copy(found.key, place, etag=found.etag, absent=True)
        except (InvalidKey, NotFound):
            return False
        except Conflict:
            if not same_bytes(self._objects, found.key, place):
                return False
            # A move died half way; its second half follows.
        return self._objects.delete_unchanged(found)

    def takes(self, key: str) -> bool:
        """Can an object of this key ever lie in the trash? Others may have stored what is no key."""
        return is_key(key) and is_key(self._place(self._clock.now().date(), key))

    def files(self) -> Iterator[tuple[str, ListedObject]]:
        """Every file that lies there, behind the key that it had."""
        for found in every(self._objects, TRASH):
            if _day(found.key) != date.max:
                yield found.key.removeprefix(TRASH).partition("/")[2], found

    def find(self, key: str) -> ListedObject | None:
        """The newest file of a key that is still there."""
        today = self._clock.now().date()
        for age in range(self._window.days + 2):
            try:
                found = lookup(self._objects, self._place(today - timedelta(days=age), key))
            except InvalidKey:
                return None
            if found is not None:
                return found
        return None

    def restore(self, key: str) -> bool:
        """Move the newest file of a key back; False when there is none, or another stands there."""
        found = self.find(key)
        if found is None:
            return False
        try:
            self._objects.copy(found.key, key, etag=found.etag, absent=True)
        except Conflict:
            return False
        self._objects.delete([found.key])
        return True

    def purge(self) -> Purged:
        """Remove for good what has been there for the whole window."""
        last = self._clock.now().date() - self._window - timedelta(days=1)
        over = [found for found in every(self._objects, TRASH) if _day(found.key) <= last]
        self._objects.delete(found.key for found in over)
        return Purged(len(over), sum(found.size for found in over))

    def _place(self, day: date, key: str) -> str:
        return f"{TRASH}{day.isoformat()}/{key}"


def _day(key: str) -> date:
    """The day a key of the trash says; for ever, when it is none that could have been made here."""
    dated = _DATED.fullmatch(key)
    try:
        checked_key(key)
        return date.fromisoformat(dated[1]) if dated else date.max
    except (InvalidKey, ValueError):
        return date.max
