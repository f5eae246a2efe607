"""Growth: how much is stored of what the system keeps for itself, how old it is, and whether that is within bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from penstock.declare.entity import Entity
from penstock.events.feed_records import FeedPlace
from penstock.events.trimmed_log import TrimmedLog
from penstock.kernel.store import Store
from penstock.ports.clock import by_the_slowest
from penstock.ports.engine import TableSize
from penstock.runtime.bounds import Bound, bound_of

LATE = timedelta(hours=1)
"So long after its end a record may wait for the reaper before somebody should look."


@dataclass(frozen=True, slots=True)
class Stored:
    """One table of the system's own, beside its bound."""

    name: str
    records: int
    exact: bool
    oldest: timedelta | None
    "How old the oldest is, as far as the store can tell."
    kept: str
    wrong: str | None = None
    "What is beyond its bound."


def stored(store: Store, entities: Sequence[type[Entity]], log: TrimmedLog) -> Iterator[Stored]:
    """How much there is of each kind of record, and of the log of changes."""
    bounds = {entity.__shape__.label: bound_of(entity) for entity in entities}
    for size in store.engine.sizes([entity.__shape__ for entity in entities]):
        yield _stored(store, size, [bounds[label] for label in size.entities])
    entries = log.size()
    if entries is not None:
        yield _log(store, log, entries.entries)


def _stored(store: Store, size: TableSize, bounds: Sequence[Bound]) -> Stored:
    kept = bounds[0].kept if len(bounds) == 1 else size.kept or f"{len(bounds)} kinds of records, each as documented"
    longest = bounds[0].longest if len(bounds) == 1 else None
    since = _moment(size.oldest)
    wrong = None
    if (end := _moment(size.first_end)) is not None:
        if since is None and longest is not None:
            since = end - longest
        late = by_the_slowest(store.clock) - end
        wrong = f"some have waited {_rough(late)} for the reaper; does a service run?" if late > LATE else None
    oldest = None if since is None else max(store.clock.now() - since, timedelta(0))
    return Stored(size.name, size.records, size.exact, oldest, kept, wrong)


def _moment(second: int | None) -> datetime | None:
    return None if second is None else datetime.fromtimestamp(second, UTC)


def _rough(age: timedelta) -> timedelta:
    return timedelta(seconds=int(age.total_seconds()))


def _log(store: Store, log: TrimmedLog, entries: int) -> Stored:
    since = log.oldest()
    oldest = None if since is None else max(store.clock.now() - since, timedelta(0))
    missed = sorted(place.name for place in store.find(FeedPlace.by_name()) if place.missed_at is not None)
    wrong = None
    if missed:
        wrong = f"trimmed before {', '.join(missed)} came so far; is it followed?"
    elif entries > 2 * log.most:
        wrong = "it is not trimmed; does a service run?"
    return Stored("log of changes", entries, True, oldest, log.kept, wrong)
