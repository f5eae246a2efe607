"""What is asked of a store of objects: files by key, and URLs that lead to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from penstock.ports.stored_object import (
    Body,
    Download,
    ListedObject,
    ObjectListing,
    SignedUrl,
    StoredObject,
    UploadedPart,
)


class Objects(Protocol):
    """Files by key. Every promise is a test of `penstock.testing.ObjectSuite`.

    A key is checked before anything is done with it. What is written appears whole or not at all, and its content type
    is found in its bytes.
    """

    def put(self, key: str, body: Body, *, absent: bool = False) -> StoredObject:
        """Write an object in pieces, replacing what stands there; ``absent``: Conflict where one stands."""
        ...

    def get(self, key: str, *, start: int = 0, stop: int | None = None) -> Download:
        """The bytes from ``start`` up to ``stop``, or to the end, in pieces; NotFound, or WrongRange beyond the end."""
        ...

    def head(self, key: str) -> StoredObject:
        """What is known of an object without its bytes, or NotFound."""
        ...

    def list(self, prefix: str = "", *, limit: int = 1000, cursor: str | None = None) -> ObjectListing:
        """At most ``limit`` objects whose keys begin so, and the cursor of the next ones; in no promised order."""
        ...

    def delete(self, keys: Iterable[str]) -> None:
        """Remove any number of objects; removing what is not there succeeds."""
        ...

    def delete_unchanged(self, found: ListedObject) -> bool:
        """Remove an object if its bytes are still those that were found; False when others are there now."""
        ...

    def copy(self, source: str, target: str, *, etag: str | None = None, absent: bool = False) -> StoredObject:
        """Copy an object within the store, its content type found anew.

        Conflict when the source is no longer the one with this ``etag``, or when the target must be ``absent`` and
        is not.
        """
        ...

    def local_file(self, key: str) -> Path | None:
        """The file of this machine that an object is, to be read and nothing else; None where it lies elsewhere."""
        ...

    # Uploads in parts, for clients that send them to signed URLs, and for ourselves

    def begin_parts(self, key: str, *, content_type: str) -> str:
        """Begin an upload in parts; its id."""
        ...

    def put_part(self, key: str, upload: str, number: int, body: Body) -> UploadedPart:
        """Send one part; sent again, it replaces the former. NotFound when there is no such upload (any more)."""
        ...

    def parts(self, key: str, upload: str) -> Sequence[UploadedPart]:
        """The parts that have arrived, by number; NotFound when there is no such upload (any more)."""
        ...

    def finish_parts(self, key: str, upload: str, parts: Sequence[UploadedPart]) -> StoredObject:
        """Make one object of the parts, replacing what stands there; NotFound when there is no such upload."""
        ...

    def drop_parts(self, key: str, upload: str) -> None:
        """Forget an upload and its parts; one that is not there is forgotten already."""
        ...

    def drop_unfinished(self, *, before: datetime) -> int:
        """Forget everything that was begun before a moment and never finished; how many."""
        ...

    def close(self) -> None:
        """Give back every connection; the store may be used again."""
        ...


class Presigner(Protocol):
    """Signs URLs on demand. They are never stored: whoever has one may do what it says until it expires.

    A URL is for one object, one method and, on the way in, one size and one content type.
    """

    def download_url(
        self, key: str, *, expires: timedelta = ..., filename: str | None = None, show_as: str | None = None
    ) -> SignedUrl:
        """Where the object can be got.

        A browser saves it, under ``filename``; it shows it in place only with ``show_as``, one of the content types
        that run no script.
        """
        ...

    def upload_url(self, key: str, *, size: int, content_type: str, expires: timedelta = ...) -> SignedUrl:
        """Where exactly so many bytes of this type may be put."""
        ...

    def part_url(self, key: str, upload: str, number: int, *, size: int, expires: timedelta = ...) -> SignedUrl:
        """Where one part of an upload may be put."""
        ...


class ObjectStore(Objects, Presigner, Protocol):
    """Files by key, and URLs that lead to them."""
