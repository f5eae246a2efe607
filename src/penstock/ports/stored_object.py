"""The words between the kernel and object stores: what lies there, how it travels, and a URL that leads to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import TracebackType
from typing import IO, TypeAlias

from penstock.errors import InvalidKey, InvalidValue
from penstock.schema.object_key import validate_s3_key

Piece: TypeAlias = bytes | bytearray | memoryview
Body: TypeAlias = bytes | IO[bytes] | Iterable[Piece]

DEFAULT_EXPIRY = timedelta(seconds=3600)
LONGEST_EXPIRY = timedelta(days=7)
"S3 signs for no longer."

_PIECE = 256 * 1024


@dataclass(frozen=True, slots=True)
class ListedObject:
    """An object as a listing shows it."""

    key: str
    size: int
    etag: str
    "Differs when the bytes do."
    modified_at: datetime


@dataclass(frozen=True, slots=True)
class StoredObject(ListedObject):
    """An object as its store knows it."""

    content_type: str
    sha256: str | None = None
    "Of the bytes, in hexadecimal; known to the call that saw them all pass."


@dataclass(frozen=True, slots=True)
class ObjectListing:
    """Some of the objects there are, and the cursor of the next ones (None when these are the last)."""

    objects: list[ListedObject]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class UploadedPart:
    """A part of an upload that has arrived."""

    number: int
    size: int
    etag: str


class Download:
    """The bytes of an object on their way: iterate once, then close. Leaving a ``with`` block closes it."""

    def __init__(
        self, stored: StoredObject, *, start: int, stop: int, pieces: Iterator[bytes], close: Callable[[], None]
    ) -> None:
        self.stored, self.start, self.stop = stored, start, stop
        self._pieces, self._close = pieces, close

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def read(self) -> bytes:
        """All of it at once, for what is known to be small."""
        with self:
            return b"".join(self)

    def close(self) -> None:
        self._close()

    def __enter__(self) -> Download:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class SignedUrl:
    """A URL that opens by itself. It is a secret, so it is not shown where the object is printed."""

    url: str = field(repr=False)
    method: str
    expires_at: datetime
    "From then on it is refused: the moment asked for, or sooner where the signer's own credentials end."
    headers: Mapping[str, str] = field(default_factory=dict)
    "What the request must send."


def checked_key(key: str) -> str:
    """An object key that is one; InvalidKey otherwise."""
    try:
        return validate_s3_key(key, "the key")
    except ValueError as error:
        raise InvalidKey(str(error)) from None


def is_key(key: str) -> bool:
    """May an object be asked for by this key? A listing also shows what others have stored under another."""
    try:
        validate_s3_key(key)
    except ValueError:
        return False
    return True


def checked_range(start: int, stop: int | None) -> None:
    """Refuse a range that no object could have."""
    if start < 0 or (stop is not None and stop <= start):
        raise InvalidValue(f"bytes {start} to {stop} are no range; begin at 0 or later, and end behind the beginning")


def checked_expiry(expires: timedelta) -> timedelta:
    """How long a URL lasts: at least a second, and never longer than can be signed for."""
    if expires < timedelta(seconds=1):
        raise InvalidValue("a signed URL lasts at least a second")
    return min(expires, LONGEST_EXPIRY)


def checked_size(size: int) -> int:
    if size < 0:
        raise InvalidValue(f"nothing has {size} bytes")
    return size


def pieces_of(body: Body) -> Iterator[bytes]:
    """A body piece by piece, however it is given."""
    if isinstance(body, bytes):
        yield body
    elif hasattr(body, "read"):
        while piece := body.read(_PIECE):
            yield _checked(piece)
    else:
        for piece in body:
            yield _checked(piece)


def _checked(piece: Piece) -> bytes:
    if not isinstance(piece, Piece):
        raise InvalidValue(f"an object is made of bytes, not of {type(piece).__name__}; encode text first")
    return bytes(piece)  # whoever gave it may fill the same buffer again, while it still waits to be sent
