"""The words between kernel and engines: what to read, what to write, and what came back.

Nothing changes them once they are made. They are structs and not dataclasses because every read and change makes some,
and a frozen dataclass takes five times as long to make.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from penstock.conditions import Condition
from penstock.kinds import key_text
from penstock.shape import EntityShape, PatternShape
from penstock.updates import Update

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


class Put(Struct, frozen=True, eq=False):
    """Write a whole record, replacing what stands there."""

    shape: EntityShape
    values: Mapping[str, Any]
    when: Condition | None = None
    witness: bool = False
    """True when no other commit can ever write these very values: finding them proves that the commit was applied. A
    witness may leave out fields that have no value."""

    @property
    def key(self) -> Mapping[str, Any]:
        return self.values


class Patch(Struct, frozen=True, eq=False):
    """Change some fields of a record that stands; a patch never creates one.

    ``relied`` holds values that the patch leaves as they are and that index keys are made of; its condition makes sure
    that they still stand. The kernel fills it, so that an engine which stores index keys has nothing to guess.
    """

    shape: EntityShape
    key: Mapping[str, Any]
    updates: tuple[Update, ...]
    when: Condition | None = None
    relied: Mapping[str, Any] = field(default_factory=dict)
    exact: bool = True
    """Is it applied once even when its answer is lost? Of a patch that counts or appends, exactness has a price:
    DynamoDB takes twice the units for it. False is for counters that may err a little."""


class Delete(Struct, frozen=True, eq=False):
    """Remove a record; removing what is not there succeeds."""

    shape: EntityShape
    key: Mapping[str, Any]
    when: Condition | None = None


class Check(Struct, frozen=True, eq=False):
    """Write nothing, but refuse the commit unless the condition holds."""

    shape: EntityShape
    key: Mapping[str, Any]
    when: Condition


Write: TypeAlias = Put | Patch | Delete | Check


class Page(Struct, Generic[E], frozen=True):
    """Some records in order, and whether more follow."""

    records: list[E]
    more: bool


ADVICE = "for an administrator"
"The kind of a step that the store's user may not take; its detail says who can, and how."


class Step(Struct, frozen=True):
    """One thing ``ensure`` did or would do: never a removal."""

    kind: str
    name: str
    detail: str = ""

    @property
    def is_advice(self) -> bool:
        """Is it for somebody else to do?"""
        return self.kind == ADVICE


class FeedEntry(Struct, frozen=True):
    """One committed change of one record, as the feed tells it."""

    shape: EntityShape
    kind: str
    "insert, update or remove"
    key: Mapping[str, Any]
    old: Any
    new: Any
    cause: str
    "user or expiry"
    position: str
    "Where the feed goes on after this entry."
    id: str
    "What tells this change from every other, also when the feed is read again."
    project: str | None = None
    "The project whose change it is; None when it is of none, or when it cannot be told."


class Told(list[FeedEntry]):
    """Changes in order, and the position behind all that was looked at for them.

    That may lie far behind the last of them, also where there is none: others' changes are not looked at again.
    """

    def __init__(self, entries: Iterable[FeedEntry] = (), *, position: str | None) -> None:
        super().__init__(entries)
        self.position = position


def changed_project(shape: EntityShape, old: Any, new: Any) -> str | None:
    """The project a record was of before and after a change; None where these differ, or there is none."""
    if shape.project is None:
        return None
    projects = {image.__dict__.get(shape.project.name) for image in (old, new) if image is not None}
    return key_text(shape.project, projects.pop()) if len(projects) == 1 and None not in projects else None


Records: TypeAlias = Sequence[Any]
