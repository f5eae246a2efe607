"""What the tests of every sink say: some messages, alone or committed with the projects they are about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from penstock import FrozenClock, Store
from penstock.domains.musicvideo.model import Project
from penstock.events.relay import Delivery, Relay
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.ports.sink import Envelope

AT = datetime(2037, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)


def envelope(
    id: str = "e-1", *, aggregate: str = "Project(1)", type: str = "project.edited", **payload: Any
) -> Envelope:
    return Envelope(id, type, aggregate, "p-1", payload, AT)


def announce(store: Store, *, projects: int, messages: int) -> dict[str, list[str]]:
    """Change several projects by turns, telling of each change; the ids in order, by what they are about."""
    now = store.clock.now()
    told: dict[str, list[str]] = defaultdict(list)
    records = []
    for _ in range(projects):
        record = Project(
            project_id=uuid4(), concept_prompt="a", character_description="b", created_at=now, updated_at=now
        )
        store.create(record)
        records.append(record)
    for number in range(messages):
        for record in records:
            with store.change() as change:
                project = change.get(record.ref)
                project.concept_prompt += "!"
                change.save(project)
                told[repr(record.ref)].append(change.emit("project.edited", project, number=number, word="café"))
    return dict(told)


def tell_everything(relay: Relay, clock: FrozenClock, *, rounds: int = 60) -> Delivery:
    """Deliver, and let time pass between the attempts, until nothing is left to be tried."""
    done = Delivery()
    for _ in range(rounds):
        last = relay.drain()
        done += last
        if not last.postponed:
            return done
        clock.advance(timedelta(minutes=6))
    raise AssertionError(f"still not settled after {rounds} rounds: {done}")


def messages(store: Store, status: MessageStatus) -> list[SystemMessage]:
    return list(store.find(SystemMessage.by_status(status=status)))


def in_order_of_arrival(arrivals: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """What a receiver makes of (aggregate, id) as they come: repetitions are recognised and dropped."""
    seen: set[str] = set()
    told: dict[str, list[str]] = defaultdict(list)
    for aggregate, event_id in arrivals:
        if event_id not in seen:
            seen.add(event_id)
            told[aggregate].append(event_id)
    return dict(told)
