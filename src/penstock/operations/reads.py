"""What may be read: one record, or the records of an access pattern; and what came back.

Nothing changes these once they are made. They are structs and not dataclasses because every read and change makes some,
and a frozen dataclass takes five times as long to make.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from penstock.schema.kinds import key_text
from penstock.schema.shape import EntityShape, PatternShape

E = TypeVar("E")


T = TypeVar("T")


class Ref(Struct, Generic[E], frozen=True, eq=False):
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


class Query(Struct, Generic[E], frozen=True, eq=False):
    """An access pattern with its parameters bound: which records, in which order."""

    pattern: PatternShape
    values: Mapping[str, Any]
    "The equal fields, by name."
    range: Range[Any] = ANYTHING
    backwards: bool = False

    def reversed(self) -> Query[E]:
        """The same records, last first."""
        return replace(self, backwards=not self.backwards)


class Page(Struct, Generic[E], frozen=True):
    """Some records in order, and whether more follow."""

    records: list[E]
    more: bool


Records: TypeAlias = Sequence[Any]
