"""What may be read: one record, or the records of an access pattern; and what came back.

Nothing changes these once they are made. They are structs and not dataclasses because every read and change makes some,
and a frozen dataclass takes five times as long to make.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from penstock.errors import DamagedRecord, InvalidValue
from penstock.operations.conditions import Condition, both, fields_of, is_of_fields
from penstock.schema.kinds import key_text
from penstock.schema.shape import EntityShape, PatternShape

E = TypeVar("E")
K = TypeVar("K", covariant=True)
"A kind of record. Whoever takes the keys of any kind takes those of one."

T = TypeVar("T")


class Ref(Struct, Generic[K], frozen=True, eq=False):
    """One record, named by the fields of its key."""

    shape: EntityShape
    key: Mapping[str, Any]

    def __repr__(self) -> str:
        return named(self.shape, self.texts())

    def texts(self) -> dict[str, str]:
        """The key's fields as texts."""
        fields = self.shape.fields
        return {n: key_text(fields[n], v) for n, v in self.key.items()}


def named(shape: EntityShape, texts: Mapping[str, str]) -> str:
    """What a record is called in audit lines, messages and errors: Scene(project_id=…, sequence=1)."""
    return f"{shape.name}({', '.join(map('='.join, texts.items()))})"


class Range(Struct, Generic[T], frozen=True):
    """Bounds on the sort field of a pattern; an open end excludes its value."""

    low: T | None = None
    high: T | None = None
    open_low: bool = False
    open_high: bool = False
    prefix: str | None = None


ANYTHING: Range[Any] = Range()


class Query(Struct, Generic[K], frozen=True, eq=False):
    """An access pattern with its parameters bound: which records, in which order."""

    pattern: PatternShape
    values: Mapping[str, Any]
    "The equal fields, by name."
    range: Range[Any] = ANYTHING
    backwards: bool = False
    filter: Condition | None = None
    "What else must hold of a record; those of which it does not are read all the same, and left out."
    fields: tuple[str, ...] | None = None
    "The fields that are read, each record a tuple of them; None: whole records."

    def reversed(self) -> Query[K]:
        """The same records, last first."""
        return replace(self, backwards=not self.backwards)

    def where(self, condition: Condition) -> Query[K]:
        """Those of the records of which this holds as well. Others are examined, and paid for, without being shown."""
        shape = self.pattern.entity
        if not isinstance(condition, Condition) or not is_of_fields(condition):
            raise InvalidValue(
                f"{self.pattern.label}: where takes a condition on fields, such as the({shape.name}.field).equals(…)"
            )
        if unknown := sorted(fields_of(condition) - shape.fields.keys()):
            raise InvalidValue(f"{self.pattern.label}: {shape.name} has no field {', '.join(unknown)} to filter by")
        return replace(self, filter=both(self.filter, condition))


class Unreadable(Struct, frozen=True):
    """A record that stands but does not fit its declaration: which it is, and what is wrong with it."""

    shape: EntityShape
    name: str
    "What it is called, by the key as it is stored."
    why: str
    "What is wrong and what to do; it quotes the key and no other value."
    key: Mapping[str, Any] | None = None
    "The fields of its key, where they can be read,"
    project: str | None = None
    "and the project it says it is of."

    def __str__(self) -> str:
        return self.why


class RawPlace(Struct, frozen=True):
    """A place in the order of a pattern that no record shown stands for, in values of the engine's own."""

    values: tuple[Any, ...]


Place: TypeAlias = Mapping[str, Any] | RawPlace
"Where a page of a query ended: behind the record with these values, or behind one that was not shown."


class Page(Struct, Generic[E], frozen=True):
    """Some records in order, and whether more follow."""

    records: list[E]
    more: bool
    unreadable: tuple[Unreadable, ...] = ()
    "Those that stand among them and cannot be read."
    place: Any = None
    "Where the next page begins, if that is not behind the last of the records."
    examined: int | None = None
    "How many were looked at for it, where that was bounded."
    untold: int = 0
    "The same, where those who ask are not to know it."

    @property
    def looked_at(self) -> int:
        """How many were looked at for it, as far as that is known."""
        return self.untold if self.examined is None else self.examined

    @property
    def end(self) -> Any:
        """Where the next page begins; None when there is none."""
        if not self.more:
            return None
        # Copied, because whoever changes the record must not change where the next page begins.
        return self.place if self.place is not None else dict(self.records[-1].__dict__)


def whole(query: Query[E]) -> Query[E]:
    """The same question, answered with whole records."""
    return replace(query, fields=None)


def chosen(query: Query[Any], page: Page[Any]) -> Page[Any]:
    """A page of whole records as a page of the fields that a query asks for."""
    fields = query.fields or ()
    rows = [tuple(record.__dict__[name] for name in fields) for record in page.records]
    return Page(rows, page.more, page.unreadable, page.end, page.examined)


def damage(unreadable: Sequence[Unreadable], records: Sequence[Any] | None = None) -> DamagedRecord:
    """The error that tells of records which cannot be read; ``records`` are those that could be."""
    told = "; ".join(u.why for u in unreadable[:_TOLD])
    if len(unreadable) > _TOLD:
        told += f"; and {len(unreadable) - _TOLD} more"
    return DamagedRecord(told, unreadable=unreadable, records=records)


_TOLD = 5
"So many unreadable records are named in one error."

Records: TypeAlias = Sequence[Any]
