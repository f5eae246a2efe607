"""Numbers for Prometheus: what is asked, how long it takes, and how much work waits."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter as Counts
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from penstock.errors import PenstockError
from penstock.events.feed_records import FeedPlace
from penstock.events.schedule import Schedule, overdue
from penstock.events.trimmed_log import TrimmedLog
from penstock.kernel.held_message import HeldMessage
from penstock.kernel.outbox import Message, MessageStatus
from penstock.kernel.store import Store
from penstock.operations.feed_entry import LogSize
from penstock.web.requests import SeenRequest
from penstock.web.shared_numbers import SharedNumbers
from penstock.work.task import Task, TaskStatus
from penstock.work.unserved_queue import live_workers, unserved_queues
from penstock.work.worker_presence import WorkerPresence

_COUNTED = 1000
"Counting is reading, so nobody counts further; an alarm rings long before."
_FRESH = 10.0
"Seconds for which a count is used again, however often somebody asks."
_COUNT_FRESH = 300.0
"Seconds for which the log of changes is not counted again, which may be long."
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """The numbers of one process, or of all that count together, and of the store they use."""

    def __init__(
        self,
        store: Store,
        schedules: Sequence[Schedule],
        outboxes: Iterable[type[Message]],
        log: TrimmedLog | None = None,
        *,
        shared: SharedNumbers | None = None,
    ) -> None:
        self._registry = CollectorRegistry()
        own = self._registry if shared is None else None
        labels = ["method", "route"]
        self._requests = Counter("penstock_requests", "Requests answered.", [*labels, "status"], registry=own)
        self._seconds = Histogram(
            "penstock_request_seconds", "How long requests took.", labels, buckets=_BUCKETS, registry=own
        )
        if shared is not None:
            shared.register(self._registry)
        self._store = _StoreNumbers(store, schedules, list(outboxes), log)
        self._registry.register(self._store)

    def count(self, seen: SeenRequest) -> None:
        """A request is over."""
        method = seen.method if seen.method in _METHODS else "other"
        self._requests.labels(method, seen.route, str(seen.status)).inc()
        self._seconds.labels(method, seen.route).observe(seen.seconds)

    def numbers(self) -> dict[str, dict[str, float]]:
        """What the store holds, by the name of the number and by state; read anew every ten seconds at most."""
        return {
            family.name: {",".join(s.labels.values()): s.value for s in family.samples}
            for family in self._store.collect()
        }

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self._registry)


class _StoreNumbers(Collector):
    def __init__(
        self, store: Store, schedules: Sequence[Schedule], outboxes: list[type[Message]], log: TrimmedLog | None
    ) -> None:
        self._store, self._schedules, self._outboxes, self._log = store, schedules, outboxes, log
        self._lock = threading.Lock()
        self._known: list[Metric] = []
        self._until = 0.0
        self._entries: LogSize | None = None
        self._counted_until = 0.0

    def describe(self) -> Iterable[Metric]:
        return []  # or registering would read the store

    def collect(self) -> Iterator[Metric]:
        with self._lock:
            if time.monotonic() >= self._until:
                self._known, self._until = list(self._read()), time.monotonic() + _FRESH
            yield from self._known

    def _read(self) -> Iterator[Metric]:
        reachable = GaugeMetricFamily("penstock_store_reachable", "Can the numbers below be read?")
        try:
            found = [self._tasks(), *self._working(), self._messages(), self._oldest(), self._overdue()]
            found += self._log_entries()
            reachable.add_metric([], 1)
        except PenstockError:
            found = []
            reachable.add_metric([], 0)
        yield reachable
        yield from found

    def _tasks(self) -> Metric:
        tasks = GaugeMetricFamily("penstock_tasks", f"Tasks by state, up to {_COUNTED}.", labels=["state"])
        for state, statuses in (
            ("waiting", (TaskStatus.WAITING,)),
            ("running", (TaskStatus.RUNNING,)),
            ("dead", (TaskStatus.FAILED, TaskStatus.QUARANTINED)),
        ):
            tasks.add_metric([state], sum(self._count(Task.by_status, status=s) for s in statuses))
        return tasks

    def _working(self) -> Iterator[Metric]:
        """Who works, what became of attempts, and what nobody works on."""
        waiting = self._store.first(Task.by_status(status=TaskStatus.WAITING))
        age = 0.0 if waiting is None else (self._store.clock.now() - waiting.due_at).total_seconds()
        told = "How long the task that has been due for longest has been so."
        yield GaugeMetricFamily("penstock_oldest_task_seconds", told, value=max(0.0, age))
        workers = live_workers(self._store)
        takers = GaugeMetricFamily("penstock_workers", "Workers heard of within a minute, by task.", labels=["task"])
        for name in sorted({name for worker in workers for name in worker.takes}):
            takers.add_metric([name], sum(name in worker.takes for worker in workers))
        yield takers
        unserved = GaugeMetricFamily("penstock_unserved_queues", "Queues that nobody works on.", labels=["task"])
        for name, count in sorted(Counts(queue.name for queue in unserved_queues(self._store)).items()):
            unserved.add_metric([name], count)
        yield unserved
        yield from _ended(workers)

    def _messages(self) -> Metric:
        messages = GaugeMetricFamily("penstock_messages", f"Messages by state, up to {_COUNTED}.", labels=["state"])
        for status in (MessageStatus.PENDING, MessageStatus.DEAD):
            total = sum(self._count(getattr(outbox, "by_status"), status=status) for outbox in self._outboxes)  # noqa: B009
            messages.add_metric([status.value], total)
        held = sum(self._count(HeldMessage.of_outbox, outbox=outbox.__shape__.label) for outbox in self._outboxes)
        messages.add_metric([MessageStatus.HELD.value], held)
        return messages

    def _oldest(self) -> Metric:
        oldest = GaugeMetricFamily(
            "penstock_oldest_message_seconds", "How old the oldest message of a state is.", labels=["state"]
        )
        now = self._store.clock.now()
        for status in (MessageStatus.PENDING, MessageStatus.DEAD):
            first = [self._store.first(getattr(outbox, "by_status")(status=status)) for outbox in self._outboxes]  # noqa: B009
            ages = [(now - message.ts).total_seconds() for message in first if message is not None]
            oldest.add_metric([status.value], max(ages, default=0.0))
        return oldest

    def _log_entries(self) -> Iterator[Metric]:
        if self._log is not None and time.monotonic() >= self._counted_until:
            self._entries, self._counted_until = self._log.size(), time.monotonic() + _COUNT_FRESH
        if (size := self._entries) is not None:
            told = "Changes in the log that feeds and event streams read, of a store that does not trim it itself."
            yield GaugeMetricFamily("penstock_change_log_entries", told, value=size.entries)
            missed = sum(place.missed_at is not None for place in self._store.find(FeedPlace.by_name()))
            yield GaugeMetricFamily("penstock_feeds_behind", "Feeds that have missed trimmed changes.", value=missed)

    def _overdue(self) -> Metric:
        late = set(overdue(self._store, self._schedules))
        schedules = GaugeMetricFamily("penstock_schedule_overdue", "1 while it is overdue.", labels=["schedule"])
        for schedule in self._schedules:
            schedules.add_metric([schedule.name], int(schedule.name in late))
        return schedules

    def _count(self, pattern: Callable[..., Any], **parameters: Any) -> int:
        return sum(1 for _ in itertools.islice(self._store.find(pattern(**parameters)), _COUNTED))


def _ended(workers: Iterable[WorkerPresence]) -> Iterator[Metric]:
    """What each worker has counted since it began; one that is gone takes its numbers along."""
    labels = ["worker", "task", "outcome"]
    attempts = CounterMetricFamily("penstock_task_attempts", "Attempts at tasks that have ended.", labels=labels)
    seconds = CounterMetricFamily("penstock_task_seconds", "How long these took, together.", labels=labels)
    for worker in workers:
        for name, outcomes in worker.ended.items():
            for outcome, (count, took) in outcomes.items():
                attempts.add_metric([worker.worker, name, outcome], count)
                seconds.add_metric([worker.worker, name, outcome], took)
    yield from (attempts, seconds)
