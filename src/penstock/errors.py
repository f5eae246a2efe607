"""Every error Penstock raises, with its slug and the HTTP status a door answers with.

PenstockError
├── DeclarationError       a class, key, index or pattern is declared wrongly (raised while it is defined)
├── InvalidValue           a value does not fit where it was given: wrong form, too long, too large
│   ├── InvalidKey         a key part is empty, unprintable or does not fit
│   ├── TooLarge           a record over 400 KB, a commit over 100 writes
│   ├── InvalidCursor      a page cursor was altered or belongs to another query
│   ├── ForeignFile        a record points at a file that lies where none of its own may
│   └── WrongRange         bytes were asked for that an object does not have
├── IllegalMove            the state machine has no such transition
├── StaleIndex             a write would leave an index key behind; refused before it is sent
│   └── StaleComputed      a write would leave a computed value behind; refused before it is sent
├── NotPermitted           the declaration leaves it to a higher role, to an action of the domain, or to the system
├── OutOfScope             a store bound to one project was asked for something that is not of it
├── UrlRefused             a signed URL was altered, has expired, or is for something else
│   └── WrongHeaders       it was used with other headers than it was signed for
├── AddressRefused         an outgoing request would lead where none may go
├── NotFound               no live record stands there
├── FilterTooWide          a filter was asked of more records than are examined for it
├── FeedTrimmed            a reader of the feed comes so late that changes it has not seen are forgotten
├── Conflict               somebody else changed it first: a condition did not hold
│   ├── NotUnique          another record has the value of a field that is declared unique
│   └── OutOfBounds        an addition would take a number beyond what its field may have
├── DamagedRecord          what is stored does not fit the declaration
├── Unavailable            a part of the system cannot be reached, or stays overloaded
│   ├── Throttled          it refuses for now, because of load
│   ├── StoreMoved         the store takes no more writes, as its records are moved elsewhere
│   ├── Busy               this process does as much at once as it can
│   └── Unanswered         a service elsewhere gave no answer that can be used
│       └── AnswerTooLong  it has more bytes than are taken
├── LayoutMismatch         a declaration and the layout that the store has do not fit; one of them has to follow
│   └── IndexIncomplete    an index does not have every record yet, so it answers no question
├── TooSlow                the body of a request did not come in time
└── Misconfigured          a URL, an extra or a setting is wrong

A message is for whoever runs the system, and may name folders, hosts and what a driver said. What others are told of an
error, in an answer or in a record, is what `told` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

LOG_HAS_IT = "The log has the details."
_E = TypeVar("_E", bound=BaseException)


class PenstockError(Exception):
    """The root of everything Penstock raises on purpose."""

    slug: ClassVar[str] = "error"
    http_status: ClassVar[int] = 500
    tells: ClassVar[bool | None] = None
    "May callers read the message? Unless this says otherwise, only of what they can mend: see `told`."


class DeclarationError(PenstockError, TypeError):
    """A declaration cannot be right; the message names the entity and the fix."""

    slug = "declaration"


class InvalidValue(PenstockError, ValueError):
    """A value does not fit where it was given."""

    slug, http_status = "invalid-value", 422


class InvalidKey(InvalidValue):
    """A key part is empty, unprintable, or does not fit its place."""

    slug = "invalid-key"


class TooLarge(InvalidValue):
    """A record, a key or a commit is over the limit that holds on every engine."""

    slug, http_status = "too-large", 413


class InvalidCursor(InvalidValue):
    """A page cursor was altered, is of another query, or was signed by another key."""

    slug, http_status = "invalid-cursor", 400


class ForeignFile(InvalidValue):
    """The domain's patterns do not let this record point at this file; it may be another project's."""

    slug = "foreign-file"


class WrongRange(InvalidValue):
    """An object ends before the first byte that was asked for."""

    slug, http_status = "wrong-range", 416


class IllegalMove(PenstockError):
    """The state machine has no such transition from where the record stands."""

    slug, http_status = "illegal-move", 409


class StaleIndex(PenstockError):
    """A write touches a field of an index key without telling the key's other fields."""

    slug, http_status = "stale-index", 422


class StaleComputed(StaleIndex):
    """A write touches a field that another is computed of, without telling the others it is computed of."""

    slug = "stale-computed"


class NotPermitted(PenstockError):
    """The declaration leaves this to a higher role, to an action of the domain, or to the system alone."""

    slug, http_status = "not-permitted", 403


class OutOfScope(PenstockError):
    """A store bound to one project was asked for something that is not of it; nothing was read or written."""

    slug, http_status = "out-of-scope", 403


class UrlRefused(PenstockError):
    """A signed URL was altered, has expired, or was signed for another object, method or content."""

    slug, http_status = "url-refused", 403


class WrongHeaders(UrlRefused):
    """A signed URL is good, but was used without the headers it was signed for, or with others."""

    slug = "wrong-headers"


class AddressRefused(PenstockError):
    """A request to this address is not made: the policy of outgoing requests forbids it.

    ``why`` is what follows "the URL"; ``by`` is the host that led there by a redirect.
    """

    slug, http_status = "address-refused", 502

    def __init__(self, why: str, *, by: str | None = None) -> None:
        super().__init__(f"{by} redirects to a URL that {why}" if by else f"the URL {why}")
        self.why, self.by = why, by


class NotFound(PenstockError, LookupError):
    """No live record stands at this key."""

    slug, http_status = "not-found", 404


class FilterTooWide(PenstockError):
    """A filter was asked of more records than are examined for it; what it holds of may lie behind them.

    ``examined`` is how many those were.
    """

    slug, http_status = "filter-too-wide", 422

    def __init__(self, message: str, *, examined: int) -> None:
        super().__init__(message)
        self.examined = examined


class FeedTrimmed(PenstockError):
    """Changes that follow this position of the feed are kept no longer, so they cannot be told."""

    slug, http_status = "feed-trimmed", 410


class Conflict(PenstockError):
    """A condition did not hold, so nothing of the commit was written.

    ``position`` counts the refused write within the commit; ``found`` holds the fields that stood there, or None
    when no live record did.
    """

    slug, http_status = "conflict", 409

    def __init__(self, message: str, *, position: int = 0, found: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.position = position
        self.found = found


class NotUnique(Conflict):
    """Another record has the value of a field that is declared unique; nothing was written."""

    slug = "not-unique"


class OutOfBounds(Conflict):
    """An addition would take a number beyond the bounds of its field; nothing was written."""

    slug = "out-of-bounds"


class DamagedRecord(PenstockError):
    """A stored record does not fit its declaration; the message says which and where.

    Where several were read, ``unreadable`` tells of each such record, and ``records`` has the others.
    """

    slug = "damaged-record"

    def __init__(self, message: str, *, unreadable: Sequence[Any] = (), records: Sequence[Any] | None = None) -> None:
        super().__init__(message)
        self.unreadable = tuple(unreadable)
        self.records = None if records is None else list(records)


STORE, OBJECTS, BROKER, ARCHIVE, SINK = "store", "objects", "broker", "archive", "sink"
"Our own parts. One that is away is waited for, for days if need be, and costs no work an attempt."


class Unavailable(PenstockError):
    """A part of the system could not be reached, or its answer was lost for good."""

    slug, http_status = "unavailable", 503
    part: str | None = STORE
    "Which of our own parts it is; None for what is elsewhere, which is tried as often as its rules say."

    def __init__(self, *said: object, part: str | None = "") -> None:
        super().__init__(*said)
        if part != "":
            self.part = part


class Throttled(Unavailable):
    """A part of the system refuses for now, because of load."""

    slug = "throttled"


class StoreMoved(Unavailable):
    """The store takes no more writes: what it has is moved, or was moved, to another."""

    slug = "store-moved"


class Busy(Unavailable):
    """This process does as much of this at once as it can."""

    slug, tells = "busy", True
    part = None


class LayoutMismatch(PenstockError):
    """This declaration and the layout that the store has do not fit; nothing was read or written."""

    slug, http_status = "layout-mismatch", 503


class IndexIncomplete(LayoutMismatch):
    """An index does not have every record yet, so that an answer by it could leave some out."""

    slug, tells = "index-incomplete", True


class TooSlow(PenstockError):
    """The body of a request did not come in time."""

    slug, http_status = "too-slow", 408


class Unanswered(Unavailable):
    """A service elsewhere gave no answer that can be used; the message has no word of its own."""

    slug, tells = "unanswered", True
    part = None


class AnswerTooLong(Unanswered):
    """A service elsewhere answered with more bytes than are taken."""

    slug = "answer-too-long"

    def __init__(self, host: str, most: int, *, bytes: int) -> None:
        super().__init__(f"{host}: the answer is longer than {most} bytes")
        self.bytes = bytes


class Misconfigured(PenstockError):
    """A URL, an extra or a setting is wrong; the message says what to do."""

    slug = "misconfigured"


def outage_in(error: BaseException) -> Unavailable | None:
    """The failure of one of our own parts that an error tells of, or was raised because of, however it is wrapped.

    What was raised ``from None`` stands for itself: whoever wrote that has decided.
    """
    seen: set[int] = set()
    left: list[BaseException] = [error]
    while left:
        each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, Unavailable) and each.part is not None:
            return each
        if isinstance(each, BaseExceptionGroup):
            left += each.exceptions
        before = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
        if before is not None:
            left.append(before)
    return None


def telling(error: _E, words: str) -> _E:
    """An error of which others are told these words, whatever its message says."""
    error.told = words  # type: ignore[attr-defined]
    return error


def told(error: BaseException) -> str:
    """What may be told of an error to those who do not run the system; its message is for the log.

    Errors that callers can mend speak for themselves, as do others that say so. Of the rest one learns the kind.
    """
    words = getattr(error, "told", None)
    if isinstance(words, str):
        return words
    if isinstance(error, PenstockError):
        speaks = error.http_status < 500 if error.tells is None else error.tells
        return str(error) if speaks else f"{title_of(type(error))}. {LOG_HAS_IT}"
    if isinstance(error, OSError):
        return error.strerror or LOG_HAS_IT  # without the names of files
    return str(error)


def title_of(kind: type[PenstockError]) -> str:
    """The kind of an error in one sentence."""
    return (kind.__doc__ or kind.__name__).split("\n")[0].rstrip(".").replace("``", "")
