"""The inbox: what needs a person, in groups, each counted up to a hundred, with its first items and a cursor for more.

A group is a few patterns; what it takes to look at all of them does not grow with what there is. Nobody is told of what
they could not decide. What can be due stands by when it is: what is overdue first, and what is never due last.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import Any

import msgspec

from penstock.declare.entity import Entity
from penstock.errors import InvalidCursor, NotFound
from penstock.kernel.merged_page import merged_page
from penstock.kernel.record_name import name_of
from penstock.kernel.store import Counted, Listing, Store
from penstock.operations.conditions import COMPARISONS, comparable, holds
from penstock.operations.reads import Query
from penstock.runtime.record_link import RecordLink
from penstock.schema.role import Role
from penstock.work.assignment import due_text

COUNTED = 100
"Counting is reading, so nobody counts further."
_EXAMINED = 1000
"So many records are looked at for a count where others' stand among them."
_WITHIN = "due."
"Begins the cursor of a place among things that are sorted by when they are due; no other has a dot."


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
    dated: Callable[[Person, Sequence[Any]], list[tuple[datetime | None, Any]]] | None = None
    """Of records that may be due: those that still need somebody, and when each is due. As many as are counted are
    looked at, and stand by that."""

    def is_for(self, person: Person) -> bool:
        return person.may(self.least) and not (self.whole and person.project is not None)

    def group(self, person: Person, *, limit: int, cursor: str | None = None) -> InboxGroup:
        """The first things of the group, or those behind a cursor."""
        if self.direct is not None:
            found = self.direct(person)
            return InboxGroup(self.key, self.title, self.why, Counted(len(found)), found[:limit])
        if self.dated is not None and (cursor is None or cursor.startswith(_WITHIN)):
            return self._by_due(person, limit, cursor)
        queries = list(self.queries(person, person.store.clock.now()))
        page = self._page(person, queries, limit, cursor)
        items = self.tell(person, page.records)
        count = Counted(len(items))
        if page.cursor is not None or cursor is not None:
            count = _counted(person.store, queries)
        return InboxGroup(self.key, self.title, self.why, count, items, page.cursor, self.domain)

    def _page(self, person: Person, queries: Sequence[Query[Any]], limit: int, cursor: str | None) -> Listing[Any]:
        if not queries:
            return Listing([], None)
        order: dict[str, Any] = {"order": self.order, "newest_first": False, "examining": _EXAMINED}
        return merged_page(person.store, queries, limit=limit, cursor=cursor, **order)

    def _by_due(self, person: Person, limit: int, cursor: str | None) -> InboxGroup:
        """The first hundred things by when they are due, from a place among them; what follows comes as it is found."""
        found, further = self._first(person)
        placed = sorted(((_place_of(self.order, *each), each[1]) for each in found), key=itemgetter(0))
        left = placed if cursor is None else [each for each in placed if each[0] > _place(cursor)]
        shown = left[:limit]
        items = self.tell(person, [record for _, record in shown])
        count = Counted(len(placed), further is not None)
        following = _cursor(shown[-1][0]) if len(left) > limit else further
        return InboxGroup(self.key, self.title, self.why, count, items, following, self.domain)

    def _first(self, person: Person) -> tuple[list[tuple[datetime | None, Any]], str | None]:
        """As many as are counted, and the cursor behind them; what needs nobody any more is passed over."""
        assert self.dated is not None
        queries = list(self.queries(person, person.store.clock.now()))
        page = self._page(person, queries, COUNTED, None)
        found, seen = self.dated(person, page.records), len(page.records)
        while page.cursor is not None and len(found) < COUNTED and seen < _EXAMINED:
            page = self._page(person, queries, COUNTED - len(found), page.cursor)
            found, seen = found + self.dated(person, page.records), seen + max(1, len(page.records))
        return found, page.cursor


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


def _place_of(order: Callable[[Any], Any], due_at: datetime | None, record: Entity) -> tuple[str, str, str]:
    """What is due first, first; then what has waited longest."""
    return due_text(due_at), str(order(record)), name_of(record.ref)


def _cursor(place: tuple[str, str, str]) -> str:
    return _WITHIN + base64.urlsafe_b64encode(msgspec.json.encode(place)).rstrip(b"=").decode()


def _place(cursor: str) -> tuple[str, str, str]:
    text = cursor.removeprefix(_WITHIN)
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        return msgspec.json.decode(raw, type=tuple[str, str, str])
    except (ValueError, msgspec.MsgspecError):
        raise InvalidCursor(
            "the cursor is not one of this list; pass back `next` of the page before, or leave it out to start again"
        ) from None


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
