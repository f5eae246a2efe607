"""The simulated object store: files in memory, each there as a whole, by the time of the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from io import BytesIO
from itertools import count
from pathlib import Path
from threading import Lock

from penstock.errors import Conflict, InvalidValue, NotFound, WrongRange
from penstock.media.content_type import SNIFFED_BYTES, sniff
from penstock.ports.clock import Clock
from penstock.ports.stored_object import (
    DEFAULT_EXPIRY,
    Body,
    Download,
    ListedObject,
    ObjectListing,
    SignedUrl,
    StoredObject,
    UploadedPart,
    checked_expiry,
    checked_key,
    checked_range,
    pieces_of,
)


class SimulatedObjects:
    """Objects by key, and uploads in parts. Threads may share it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._objects: dict[str, tuple[StoredObject, bytes]] = {}
        self._uploads: dict[tuple[str, str], tuple[datetime, dict[int, bytes]]] = {}
        self._numbers = count(1)
        self._lock = Lock()

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._objects))

    def __contains__(self, key: str) -> bool:
        return key in self._objects

    @property
    def digest(self) -> int:
        """The same whenever the same objects are there."""
        return hash((frozenset((key, stored.sha256) for key, (stored, _) in self._objects.items()), len(self._uploads)))

    # Objects

    def put(self, key: str, body: Body, *, absent: bool = False) -> StoredObject:
        checked_key(key)
        content = b"".join(pieces_of(body))
        # Each writing has an etag of its own: whoever has found the former must not take this one for it.
        stored = StoredObject(
            key,
            len(content),
            f"{next(self._numbers):032x}",
            self._clock.now(),
            sniff(content[:SNIFFED_BYTES]),
            sha256(content).hexdigest(),
        )
        with self._lock:
            if absent and key in self._objects:
                raise Conflict(f"there is an object {key} already")
            self._objects[key] = stored, content
        return stored

    def get(self, key: str, *, start: int = 0, stop: int | None = None) -> Download:
        checked_range(start, stop)
        stored, content = self._found(key)
        if start > max(stored.size - 1, 0):
            raise WrongRange(f"{key} has {stored.size} bytes, so none from {start}")
        end = stored.size if stop is None else min(stop, stored.size)
        pieces = pieces_of(BytesIO(content[start:end]))
        return Download(_unread(stored), start=start, stop=end, pieces=pieces, close=lambda: None)

    def head(self, key: str) -> StoredObject:
        return _unread(self._found(key)[0])

    def list(self, prefix: str = "", *, limit: int = 1000, cursor: str | None = None) -> ObjectListing:
        if limit < 1:
            raise InvalidValue(f"a listing shows at least one object, not {limit}")
        keys = [key for key in sorted(self._objects) if key.startswith(prefix) and key > (cursor or "")]
        shown = [self._objects[key][0] for key in keys[:limit]]
        listed = [ListedObject(found.key, found.size, found.etag, found.modified_at) for found in shown]
        return ObjectListing(listed, keys[limit - 1] if len(keys) > limit else None)

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._objects.pop(checked_key(key), None)

    def delete_unchanged(self, found: ListedObject) -> bool:
        with self._lock:
            standing = self._objects.get(checked_key(found.key))
            if standing is not None and standing[0].etag != found.etag:
                return False
            self._objects.pop(found.key, None)
        return True

    def copy(self, source: str, target: str, *, etag: str | None = None, absent: bool = False) -> StoredObject:
        stored, content = self._found(source)
        if etag not in (None, stored.etag):
            raise Conflict(f"{source} has been replaced by other bytes")
        return self.put(target, content, absent=absent)

    def local_file(self, key: str) -> Path | None:
        self._found(key)
        return None

    def _found(self, key: str) -> tuple[StoredObject, bytes]:
        try:
            return self._objects[checked_key(key)]
        except KeyError:
            raise NotFound(f"there is no object {key}") from None

    # Uploads in parts

    def begin_parts(self, key: str, *, content_type: str) -> str:
        upload = f"{next(self._numbers):032x}"
        self._uploads[checked_key(key), upload] = self._clock.now(), {}
        return upload

    def put_part(self, key: str, upload: str, number: int, body: Body) -> UploadedPart:
        content = b"".join(pieces_of(body))
        self._parts(key, upload)[number] = content
        return _part(number, content)

    def parts(self, key: str, upload: str) -> Sequence[UploadedPart]:
        return [_part(*each) for each in sorted(self._parts(key, upload).items())]

    def finish_parts(self, key: str, upload: str, parts: Sequence[UploadedPart]) -> StoredObject:
        arrived = self._parts(key, upload)
        if any(part.number not in arrived or _part(part.number, arrived[part.number]) != part for part in parts):
            raise NotFound(f"a part of {key} is not, or no longer, the one that was sent")
        stored = self.put(key, [arrived[part.number] for part in sorted(parts, key=lambda part: part.number)])
        self.drop_parts(key, upload)
        return stored

    def drop_parts(self, key: str, upload: str) -> None:
        self._uploads.pop((checked_key(key), upload), None)

    def drop_unfinished(self, *, before: datetime) -> int:
        old = [place for place, (begun, _) in self._uploads.items() if begun < before]
        for place in old:
            del self._uploads[place]
        return len(old)

    def _parts(self, key: str, upload: str) -> dict[int, bytes]:
        try:
            return self._uploads[checked_key(key), upload][1]
        except KeyError:
            raise NotFound(f"there is no upload {upload} of {key}") from None

    def close(self) -> None:
        """There is nothing to give back."""

    # Signed URLs, at which nobody listens

    def download_url(
        self, key: str, *, expires: timedelta = DEFAULT_EXPIRY, filename: str | None = None, show_as: str | None = None
    ) -> SignedUrl:
        return self._signed(key, "GET", expires)

    def upload_url(self, key: str, *, size: int, content_type: str, expires: timedelta = DEFAULT_EXPIRY) -> SignedUrl:
        return self._signed(key, "PUT", expires)

    def part_url(
        self, key: str, upload: str, number: int, *, size: int, expires: timedelta = DEFAULT_EXPIRY
    ) -> SignedUrl:
        return self._signed(key, "PUT", expires, f"?upload={upload}&part={number}")

    def _signed(self, key: str, method: str, expires: timedelta, more: str = "") -> SignedUrl:
        ends = self._clock.now() + checked_expiry(expires)
        return SignedUrl(f"http://127.0.0.1/objects/{checked_key(key)}{more}", method, ends)


def _unread(stored: StoredObject) -> StoredObject:
    """As one knows it who has not seen its bytes pass."""
    return replace(stored, sha256=None)


def _part(number: int, content: bytes) -> UploadedPart:
    return UploadedPart(number, len(content), sha256(content).hexdigest())
