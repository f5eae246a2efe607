"""Placement: a file is put where its record will point, and never over another's."""

from __future__ import annotations

from hashlib import file_digest
from pathlib import Path

from penstock.errors import Conflict, NotFound
from penstock.files.object_reads import examine
from penstock.ports.object_store import Objects


def put_in_free_place(objects: Objects, key: str, path: Path) -> bool:
    """Put a file where none stands; True if its bytes are there now, False if others are, which stay.

    Before the commit that decides whose the place is nobody may replace anything there: who is refused by it has then
    changed nothing. A try that died has left the same bytes.
    """
    with path.open("rb") as file:
        try:
            objects.put(key, file, absent=True)
        except Conflict:
            file.seek(0)
            return _stands(objects, key, file_digest(file, "sha256").hexdigest())
        return True


def _stands(objects: Objects, key: str, sha256: str) -> bool:
    try:
        return examine(objects, key).sha256 == sha256
    except NotFound:
        return False
