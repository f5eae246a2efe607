"""What waits for a decision: the records of each kind in each state from which somebody may decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.auth.caller import Caller
from penstock.declare.entity import Entity
from penstock.errors import NotFound
from penstock.kernel.store import Counted, Store
from penstock.operations.reads import Query
from penstock.review.review_item import ReviewDesk
from penstock.review.review_subject import ReviewSubject

COUNTED = 100
"Counting is reading, so nobody counts further."


@dataclass(frozen=True, slots=True)
class WaitingQueue:
    """A list of records of one kind that wait for a decision."""

    entity: type[Entity]
    state: str
    query: Query[Any]

    @property
    def key(self) -> str:
        shape = self.entity.__shape__
        return f"{shape.domain}.{shape.collection}.{self.state}"


@dataclass(frozen=True, slots=True)
class WaitingPage:
    """Some of a queue, and how much it has in all."""

    queue: WaitingQueue
    count: Counted
    subjects: Sequence[ReviewSubject]
    next: str | None


def waiting_queues(desk: ReviewDesk, caller: Caller) -> Iterator[WaitingQueue]:
    """Every queue in which a caller may decide something."""
    role = caller.role
    for entity in desk.known.kinds():
        how, shape = desk.reviewable(entity), entity.__shape__
        decides = any(role is not None and role.includes(choice.role) for choice in how.choices)
        of_theirs = caller.project is None or shape.project is not None
        if decides and of_theirs and shape.is_shown_to(role):
            for state, query in how.waiting.items():
                yield WaitingQueue(entity, state, query)


def find_queue(desk: ReviewDesk, caller: Caller, key: str) -> WaitingQueue:
    """The queue of a key; NotFound if there is none for this caller."""
    for each in waiting_queues(desk, caller):
        if each.key == key:
            return each
    raise NotFound(f"nothing waits under {key[:100]!r} for you; ask for all queues to see those that there are")


def waiting_page(store: Store, queue: WaitingQueue, *, limit: int, cursor: str | None = None) -> WaitingPage:
    """The first of a queue, or those behind a cursor."""
    page = store.page(queue.query, limit=limit, cursor=cursor)
    count = Counted(len(page.records))
    if page.cursor is not None or cursor is not None:
        count = store.count(queue.query, up_to=COUNTED)
    return WaitingPage(queue, count, [ReviewSubject(each.ref, each) for each in page.records], page.cursor)
