"""Reading an object store through: every object of a listing, every byte of an object."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from penstock.errors import NotFound
from penstock.media.content_type import SNIFFED_BYTES, sniff
from penstock.ports.object_store import Objects
from penstock.ports.stored_object import ListedObject, StoredObject


@dataclass(frozen=True, slots=True)
class Examined:
    """What an object really is."""

    size: int
    sha256: str
    content_type: str
    etag: str


def every(objects: Objects, prefix: str = "") -> Iterator[ListedObject]:
    """Every object whose key begins so, fetched page by page as they are consumed."""
    for page in pages(objects, prefix):
        yield from page


def pages(objects: Objects, prefix: str) -> Iterator[list[ListedObject]]:
    """The same a page at a time. What is seen may be removed before the next one is asked for."""
    cursor: str | None = None
    while True:
        page = objects.list(prefix, cursor=cursor)
        yield page.objects
        cursor = page.cursor
        if cursor is None:
            return


def fetch(objects: Objects, key: str, folder: Path) -> Path:
    """Copy an object into a folder, under a name of its own."""
    path = folder / key.replace("/", "_")
    with objects.get(key) as download, path.open("wb") as file:
        for piece in download:
            file.write(piece)
    return path


def lookup(objects: Objects, key: str) -> StoredObject | None:
    """What is known of an object; None when there is none."""
    try:
        return objects.head(key)
    except NotFound:
        return None


def examine(objects: Objects, key: str, *, alive: Callable[[], object] = lambda: None) -> Examined:
    """Read an object from beginning to end, without keeping it; ``alive`` is called with each piece."""
    digest, size, beginning = sha256(), 0, b""
    with objects.get(key) as download:
        for piece in download:
            alive()
            digest.update(piece)
            size += len(piece)
            if len(beginning) < SNIFFED_BYTES:
                beginning += piece[:SNIFFED_BYTES]
        return Examined(size, digest.hexdigest(), sniff(beginning), download.stored.etag)


def same_bytes(objects: Objects, one: str, other: str) -> bool:
    """Are there two objects, with the same bytes?"""
    try:
        return examine(objects, one).sha256 == examine(objects, other).sha256
    except NotFound:
        return False
