"""The inbox: what needs a person, in groups, each counted up to a hundred, with its first items and a cursor for more.

A group is a few patterns; what it takes to look at all of them does not grow with what there is. Nobody is told of what
they could not decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from penstock.declare.entity import Entity
from penstock.errors import NotFound
from penstock.kernel.merged_page import merged_page
from penstock.kernel.store import Counted, Listing, Store
from penstock.operations.conditions import COMPARISONS, comparable, holds
from penstock.operations.reads import Query
from penstock.runtime.record_link import RecordLink
from penstock.schema.role import Role

COUNTED = 100
"Counting is reading, so nobody counts further."
_EXAMINED = 1000
"So many records are looked at for a count where others' stand among them."


@dataclass(frozen=True, slots=True)
class Person:
    """Whoever looks: what they see, who they are, and what they may do."""

    store: Store
    name: str
    "As people know them, by which they are assigned something."
    role: Role | None
    project: str | None = None

    def may(self, least: Role) -> bool:
        return self.role is not None and self.role.includes(least)


@dataclass(frozen=True, slots=True)
class InboxItem:
    """One thing that needs a person."""

    title: str
    since: datetime | None
    record: RecordLink | None = None
    "What it is about, as the domain has it."
    look_at: RecordLink | None = None
    "What is looked at to decide about it, if that is another record: the run of a step that waits."
    job_id: str | None = None
    task_id: str | None = None
    project: str | None = None
    assignee: str | None = None
    due_at: datetime | None = None
    overdue: bool = False
    detail: str | None = None
    "Why, in a sentence: an error, or a note."
    fields: dict[str, Any] = field(default_factory=dict)
    "What else is short and worth seeing."


@dataclass(frozen=True, slots=True)
class InboxGroup:
    """Things of one kind that need a person."""

    key: str
    title: str
    why: str
    "What a person is to do about them."
    count: Counted
    items: list[InboxItem]
    next: str | None = None
    domain: str | None = None


@dataclass(frozen=True, slots=True)
class InboxSource:
    """Where the things of a group are found, and how they are told."""

    key: str
    title: str
    why: str
    least: Role
    queries: Callable[[Person, datetime], Sequence[Query[Any]]] = lambda person, now: ()
    tell: Callable[[Person, Sequence[Any]], list[InboxItem]] = lambda person, records: []
    order: Callable[[Any], Any] = lambda record: 0
    whole: bool = False
    "Only for those who see all projects: what it finds is of none."
    domain: str | None = None
    direct: Callable[[Person], list[InboxItem]] | None = None
    "What finds them where no pattern does; few."
    about: Callable[[Person], Sequence[Entity]] | None = None
    "The records that its things are about, where other groups may have the same ones; as many as are counted."

    def is_for(self, person: Person) -> bool:
        return person.may(self.least) and not (self.whole and person.project is not None)

    def group(self, person: Person, *, limit: int, cursor: str | None = None) -> InboxGroup:
        """The first things of the group, or those behind a cursor."""
        if self.direct is not None:
            found = self.direct(person)
            return InboxGroup(self.key, self.title, self.why, Counted(len(found)), found[:limit])
        queries = list(self.queries(person, person.store.clock.now()))
        page: Listing[Any] = Listing([], None)
        if queries:
            page = merged_page(
                person.store,
                queries,
                order=self.order,
                newest_first=False,
                limit=limit,
                cursor=cursor,
                examining=_EXAMINED,
            )
        items = self.tell(person, page.records)
        count = Counted(len(items))
        if page.cursor is not None or cursor is not None:
            count = _counted(person.store, queries)
        return InboxGroup(self.key, self.title, self.why, count, items, page.cursor, self.domain)


class Inbox:
    """What needs whoever looks."""

    def __init__(self, sources: Callable[[], Sequence[InboxSource]]) -> None:
        self._sources = sources

    def groups(self, person: Person, *, limit: int) -> Iterator[InboxGroup]:
        """Every group that has something for a person."""
        for source in self._sources():
            if source.is_for(person):
                group = source.group(person, limit=limit)
                if group.items or group.next is not None:
                    yield group

    def group(self, person: Person, key: str, *, limit: int, cursor: str | None) -> InboxGroup:
        """One group, and more of it; NotFound where there is none, or none for this person."""
        for source in self._sources():
            if source.key == key and source.is_for(person):
                return source.group(person, limit=limit, cursor=cursor)
        raise NotFound(f"the inbox has no group {key!r} for you; ask for the whole inbox to see those that there are")

    def total(self, person: Person, groups: Sequence[InboxGroup]) -> Counted:
        """How much there is in all groups; what is in two of them, such as a review that one has claimed, is one.

        Groups that were not counted to the end make it at least so much.
        """
        shown = {group.key for group in groups}
        sources = [source for source in self._sources() if source.key in shown]
        now = person.store.clock.now()
        queries = [q for s in sources if s.about is None for q in s.queries(person, now)]
        records = [r for s in sources if s.about is not None for r in s.about(person)]
        twice = sum(any(_is_in(query, record) for query in queries) for record in records)
        return Counted(sum(g.count.number for g in groups) - twice, any(g.count.more for g in groups))


def _counted(store: Store, queries: Sequence[Query[Any]]) -> Counted:
    number, more = 0, False
    for query in queries:
        counted = store.count(query, up_to=COUNTED, examining=_EXAMINED)
        number, more = number + counted.number, more or counted.more
    return Counted(min(number, COUNTED), more or number > COUNTED)


def _is_in(query: Query[Any], record: Entity) -> bool:
    """Would the pattern find this record?"""
    values, bounds = record.__dict__, query.range
    if record.__shape__ is not query.pattern.entity or any(values[n] != v for n, v in query.values.items()):
        return False
    found = None if query.pattern.ranged is None else values[query.pattern.ranged]
    limits = (
        (bounds.low, ">" if bounds.open_low else ">="),
        (bounds.high, "<" if bounds.open_high else "<="),
    )
    for limit, compared in limits:
        if limit is not None and (found is None or not COMPARISONS[compared](comparable(found), comparable(limit))):
            return False
    begins = bounds.prefix is None or str(found or "").startswith(bounds.prefix)
    return begins and holds(query.filter, values)
