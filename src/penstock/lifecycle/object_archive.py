"""An archive in an object store: cold storage for records, written once, read whole."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.errors import Conflict, NotFound
from penstock.files.object_reads import every, lookup
from penstock.ports.object_store import Objects
from penstock.ports.stored_object import Body
from penstock.schema.file_pattern import ARCHIVE


class ObjectArchive:
    """Files under one prefix of an object store. What is there is never replaced."""

    def __init__(self, objects: Objects, *, prefix: str = ARCHIVE) -> None:
        self._objects, self._prefix = objects, prefix

    def put(self, name: str, content: Body) -> bool:
        try:
            self._objects.put(self._prefix + name, content, absent=True)
        except Conflict:
            return False
        return True

    def get(self, name: str) -> bytes:
        try:
            return self._objects.get(self._prefix + name).read()
        except NotFound:
            raise NotFound(f"the archive has no {name}") from None

    def pieces(self, name: str) -> Iterator[bytes]:
        try:
            download = self._objects.get(self._prefix + name)
        except NotFound:
            raise NotFound(f"the archive has no {name}") from None
        with download:
            yield from download

    def exists(self, name: str) -> bool:
        return lookup(self._objects, self._prefix + name) is not None

    def list(self, prefix: str = "") -> Iterator[str]:
        # A store promises no order, and an archive does.
        yield from sorted(found.key.removeprefix(self._prefix) for found in every(self._objects, self._prefix + prefix))
