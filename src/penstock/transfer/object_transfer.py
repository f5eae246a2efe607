"""Files from one object store to another, each read back by its checksum."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from penstock.errors import NotFound, Unavailable
from penstock.files.object_reads import examine, lookup
from penstock.ports.object_store import Objects
from penstock.ports.stored_object import ListedObject, is_key

_SKEW = timedelta(minutes=5)
"How far the clocks of two object stores may differ."


@dataclass(frozen=True, slots=True)
class TransferredObject:
    """A file that is at both ends."""

    key: str
    size: int
    sha256: str


class ObjectTransfer:
    """Carries files over. What is there already, and cannot have changed since, is left alone."""

    def __init__(self, source: Objects, target: Objects) -> None:
        self._source, self._target = source, target

    def run(self, told: Callable[[int], object] = lambda size: None) -> int:
        """Carry over every file that the target has not, or has from before it was written anew; how many."""
        carried = 0
        for listed in every_object(self._source):
            if self.is_there(listed):
                continue
            if self.carry(listed.key) is not None:
                carried += 1
            told(listed.size)
        return carried

    def remove_others(self) -> int:
        """Remove what the target has and the source has not any more; how many."""
        gone = [o.key for o in every_object(self._target) if lookup(self._source, o.key) is None]
        self._target.delete(gone)
        return len(gone)

    def is_there(self, listed: ListedObject) -> bool:
        """Has the target this very file?"""
        found = lookup(self._target, listed.key)
        if found is None or found.size != listed.size:
            return False
        if found.modified_at > listed.modified_at + _SKEW:
            return True
        try:
            return examine(self._target, listed.key).sha256 == examine(self._source, listed.key).sha256
        except NotFound:
            return False

    def carry(self, key: str) -> TransferredObject | None:
        """Carry one file over; None where it is gone meanwhile."""
        digest, size = hashlib.sha256(), 0

        def pieces() -> Iterator[bytes]:
            nonlocal size
            for piece in download:
                digest.update(piece)
                size += len(piece)
                yield piece

        try:
            with self._source.get(key) as download:
                stored = self._target.put(key, pieces())
        except NotFound:
            return None
        arrived = stored.sha256 or examine(self._target, key).sha256
        if (stored.size, arrived) != (size, digest.hexdigest()):
            raise Unavailable(f"the file {key} did not arrive as it was read; nothing relies on it yet, try again")
        return TransferredObject(key, size, arrived)


def every_object(objects: Objects, prefix: str = "") -> Iterator[ListedObject]:
    """Every file that can be asked for."""
    cursor: str | None = None
    while True:
        listing = objects.list(prefix, cursor=cursor)
        yield from (listed for listed in listing.objects if is_key(listed.key))
        cursor = listing.cursor
        if cursor is None:
            return
