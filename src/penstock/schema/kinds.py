"""What a field may hold, and how each kind is written as text inside a key.

An engine decides how a kind is stored; a key template only needs its text, and whether that text has a fixed width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import Enum
from reprlib import Repr
from typing import Any, Literal, get_args, get_origin
from uuid import UUID

from msgspec import to_builtins

from penstock.errors import InvalidKey, InvalidValue
from penstock.schema.computation import Computation
from penstock.schema.number_bounds import Bounds
from penstock.schema.permission import Permission
from penstock.schema.role import Role

INTEGER_LIMIT = 2**63
DECIMAL_DIGITS = 38


class Kind(Enum):
    """The ways a value can be stored, the same on every engine."""

    TEXT = "text"
    CHOICE = "choice"  # an Enum of strings
    IDENTIFIER = "identifier"  # a UUID
    INTEGER = "integer"  # 64 bits, signed
    FLOAT = "float"
    DECIMAL = "decimal"  # exact to 38 digits
    FLAG = "flag"
    BYTES = "bytes"
    INSTANT = "instant"  # an aware datetime, kept in UTC with a fixed number of fraction digits
    DAY = "day"
    TEXTS = "texts"  # a non-empty set of strings
    DOCUMENT = "document"  # lists, maps and models, as JSON

    @property
    def noun(self) -> str:
        """What a sentence calls such a value: a text, an integer, bytes."""
        word = str(self.value)
        if self in (Kind.BYTES, Kind.TEXTS):
            return word
        return f"an {word}" if word[0] in "aeiou" else f"a {word}"

    def __repr__(self) -> str:
        return self.name

    __hash__ = object.__hash__  # each is the only one of its name; an Enum hashes the name, in Python


ORDERED_KINDS = frozenset(
    {
        Kind.TEXT,
        Kind.CHOICE,
        Kind.IDENTIFIER,
        Kind.INTEGER,
        Kind.FLOAT,
        Kind.DECIMAL,
        Kind.INSTANT,
        Kind.DAY,
        Kind.BYTES,
    }
)
KEY_KINDS = frozenset({Kind.TEXT, Kind.CHOICE, Kind.IDENTIFIER, Kind.INTEGER, Kind.INSTANT, Kind.DAY})


@dataclass(frozen=True, eq=False, slots=True)
class FieldShape:
    """One field of an entity: its three names, its kind, and what is special about it."""

    name: str
    attribute: str
    "The name on DynamoDB and in the documents."
    column: str
    "The name in SQL."
    kind: Kind
    optional: bool = False
    stored: bool = True
    "False when the value lives only inside the key on DynamoDB; SQL always has a column."
    digits: int = 0
    "Fraction digits of an instant."
    python: Any = str
    "The Enum class of a choice, else the plain type."
    bounds: Bounds | None = None
    "What a number may be, where that is declared."
    state: bool = False
    "True when only a Move may change it."
    counts_writes: bool = False
    "True when it is the version, which grows with every write."
    dump: Callable[[Any], Any] | None = None
    "Turns a document into plain JSON values; None when it is plain already."
    load: Callable[[Any], Any] | None = None
    default: Any = None
    "As what a missing value comes back, where that is always the same."
    made: bool = False
    "Is a missing value made anew with each reading?"
    keys: Callable[[Any], Iterable[str]] | None = None
    "Finds the object keys in a value; None when it holds none."
    folders: Callable[[Any], Iterable[str]] | None = None
    "Finds the folders in a value; None when it holds none."
    personal: Role | None = None
    "The role that sees it; None when whoever sees the record does."
    opened_by: Role | None = None
    "The role that may open the files it points at; None when whoever sees the record may."
    computation: Computation | None = None
    "How it is made of other fields; None when it is given."
    unique_within: tuple[str, ...] | None = None
    "The fields of which records must agree that may not share its value; None when any may."
    written_by: Permission | None = None
    "Who gives it its value through a door; None when whoever creates the record does."
    formerly: tuple[str, ...] = ()
    "The names that older declarations have for it."
    retyping: Retyping | None = None
    "What it was stored as in older declarations, where that was something else."
    begins: Computation | None = None
    "What it is in records from before it was declared, where a rule says so."
    instead: Mapping[str, Any] = field(default_factory=dict)
    "What stands for choices that are declared no longer, by their texts."

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts of the values that it can have, where they are declared one by one."""
        if self.kind is Kind.CHOICE:
            return tuple(sorted(member.value for member in self.python))
        given = get_args(self.python) if get_origin(self.python) is Literal else ()
        return tuple(sorted(given)) if all(isinstance(value, str) for value in given) else ()

    @property
    def counted_as(self) -> Any:
        """What a missing value is as good as, in conditions and updates as in reading; None: nothing."""
        return None if self.optional else self.default


@dataclass(frozen=True, slots=True)
class Retyping:
    """A field as older declarations have it, and the functions between the two."""

    former: FieldShape
    forward: Callable[[Any], Any]
    back: Callable[[Any], Any] | None
    check: Callable[[Any], Any]
    "Makes a former value of one that may be written in another way."


def said(value: Any) -> str:
    """A value in an error's text: short, however long it is."""
    return _SHORT.repr(value)


_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 60


def instant_text(value: datetime, digits: int) -> str:
    """The one fixed-width form of a moment: 2025-11-17T10:05:00[.123[456]]Z."""
    if value.tzinfo is not UTC:
        value = value.astimezone(UTC)
    # msgspec writes the ISO form in C, many times faster than isoformat. Its fraction has six digits, or is left out.
    text: str = to_builtins(value)
    if digits == 6:
        return text if len(text) == 27 else f"{text[:19]}.000000Z"
    if digits == 0:
        return f"{text[:19]}Z"
    return f"{text[:19]}.{value.microsecond // 1000:03d}Z"


def instant_width(digits: int) -> int:
    return 20 + (digits + 1 if digits else 0)


def parse_instant(text: str) -> datetime:
    """Read any ISO form of a moment, also the ones other writers use (+0000, no fraction); naive means UTC."""
    value = datetime.fromisoformat(text)
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text} lies outside the years 1 to 9999 in UTC") from None


def trim_instant(value: datetime, digits: int) -> datetime:
    """Cut a moment to its field's precision, in UTC."""
    if value.tzinfo is None:
        raise InvalidValue(f"{value!r} has no time zone; give an aware datetime, for example datetime.now(UTC)")
    try:
        value = value.astimezone(UTC)
    except OverflowError:
        raise InvalidValue(f"{value.isoformat()} lies outside the years 1 to 9999 in UTC") from None
    if digits == 6:
        return value
    return value.replace(microsecond=0 if digits == 0 else value.microsecond // 1000 * 1000)


def key_text(field: FieldShape, value: Any) -> str:
    """The text of a value inside a key, before any padding or escaping."""
    kind = field.kind
    if kind is Kind.TEXT:
        return value  # type: ignore[no-any-return]
    if kind is Kind.IDENTIFIER:
        return to_builtins(value)  # type: ignore[no-any-return] # str(uuid), in C
    if kind is Kind.CHOICE:
        return value.value if isinstance(value, Enum) else str(value)
    if kind is Kind.INSTANT:
        return instant_text(value, field.digits)
    return value.isoformat() if kind is Kind.DAY else str(value)


def coerce(field: FieldShape, value: Any) -> Any:
    """A value given for a key part or a bound, in the form the field keeps; InvalidKey when it is of another type."""
    kind = field.kind
    if kind is Kind.INSTANT and isinstance(value, datetime):
        return trim_instant(value, field.digits)
    if kind is Kind.CHOICE:
        if isinstance(value, str) and value in field.python._value2member_map_:
            return field.python(value)
    elif kind is Kind.DAY:
        if isinstance(value, date) and not isinstance(value, datetime):
            return value
    elif kind is not Kind.INSTANT and isinstance(value, _KEY_TYPES[kind]) and not isinstance(value, bool):
        return value
    raise InvalidKey(f"{field.name} = {said(value)} is no {getattr(field.python, '__name__', kind.value)}")


_KEY_TYPES: dict[Kind, type] = {Kind.TEXT: str, Kind.IDENTIFIER: UUID, Kind.INTEGER: int}


def from_key_text(field: FieldShape, text: str) -> Any:
    """The value a key's text stands for; ValueError when it stands for none."""
    kind = field.kind
    if kind is Kind.TEXT:
        return text
    if kind is Kind.CHOICE:
        return field.python(text)
    if kind is Kind.IDENTIFIER:
        value = UUID(text)
        if str(value) != text:
            raise ValueError(text)
        return value
    if kind is Kind.INTEGER:
        return int(text)
    return parse_instant(text) if kind is Kind.INSTANT else date.fromisoformat(text)
