"""Health: which parts are away, what is overdue, how far feeds are behind; and small time series for charts."""

from __future__ import annotations

import os
import threading
import time
from datetime import datetime
from itertools import islice
from typing import Any

from fastapi import FastAPI, Request
from pydantic import BaseModel

from penstock.auth.caller import caller_of
from penstock.errors import PenstockError
from penstock.events.feed import FeedLag
from penstock.kernel.outages import outages_of
from penstock.kernel.store import Store
from penstock.runtime.operated_system import OperatedSystem
from penstock.schema.role import Role
from penstock.web.metrics import Metrics
from penstock.web.operating.metric_series import STEP, MetricSeries, MetricStep
from penstock.web.operating.operator_route import add_route, check_unbound
from penstock.web.operating.schedule_routes import ScheduleNow, standings_of
from penstock.work.unserved_queue import UnservedQueue, unserved_queues
from penstock.work.worker_presence import WorkerPresence

_FRESH = 10.0
"Seconds for which an answer is used again, however often somebody asks."
_WORKERS = 200


class PartStanding(BaseModel):
    """A part of the system, as this process knows it."""

    part: str
    away: bool
    doubted: bool
    "Somebody has met a failure of it, and nobody an answer since."


class HealthView(BaseModel):
    """How a system stands."""

    status: str
    "ok, or troubled: something below needs a look."
    store_reachable: bool
    parts: list[PartStanding]
    schedules: list[ScheduleNow]
    "Those that are overdue, or have failed."
    feeds: list[FeedLag]
    numbers: dict[str, dict[str, float]]
    "What the store holds, by name and state; counted up to 1000."
    unserved_queues: list[UnservedQueue]
    "Something waits in them, and no worker is heard of that takes it."
    workers: int
    "Those that were heard of within a minute; 200 are looked at."
    silent_workers: int
    process: str
    "Which process says so."


class SeriesPoint(BaseModel):
    """Ten seconds of a service."""

    at: datetime
    requests: int
    refused: int
    errors: int
    p50_seconds: float | None
    p95_seconds: float | None
    stored: dict[str, float]
    "What the store held; empty where nobody looked."


class MetricSeriesView(BaseModel):
    """The last hour of the service that answers, whichever of its processes does."""

    process: str
    "Which process says so."
    since: datetime
    "Since when the service counts."
    step_seconds: int
    points: list[SeriesPoint]


def add_health(app: FastAPI, store: Store, system: OperatedSystem, metrics: Metrics, series: MetricSeries) -> None:
    """The routes of health and of charts. The store is the whole one: schedules and feeds are of no project."""
    standing = _Standing(store, system, metrics)

    def health(request: Request) -> HealthView:
        """Parts that are away, schedules that are overdue, how far feeds are behind, and how much waits.

        It is read anew every ten seconds at most.
        """
        check_unbound(caller_of(request), "health and charts")
        return standing.read()

    def points(request: Request) -> MetricSeriesView:
        """A few numbers for every ten seconds of the last hour, of all processes of the service."""
        check_unbound(caller_of(request), "health and charts")
        found = series.read(metrics.numbers)
        return MetricSeriesView(
            process=str(os.getpid()), since=series.since, step_seconds=STEP, points=[_point(s) for s in found]
        )

    more: dict[str, Any] = {"role": Role.ADMIN, "tag": "ops"}
    add_route(app, "GET", "/api/ops/health", health, model=HealthView, name="ops_health", **more)
    add_route(app, "GET", "/api/ops/metrics/series", points, model=MetricSeriesView, name="ops_metrics_series", **more)


class _Standing:
    """How the system stands, read by one at a time."""

    def __init__(self, store: Store, system: OperatedSystem, metrics: Metrics) -> None:
        self._store, self._system, self._metrics = store, system, metrics
        self._lock = threading.Lock()
        self._known: HealthView | None = None
        self._until = 0.0

    def read(self) -> HealthView:
        with self._lock:
            if self._known is None or time.monotonic() >= self._until:
                self._known, self._until = self._read(), time.monotonic() + _FRESH
            return self._known

    def _read(self) -> HealthView:
        numbers = self._metrics.numbers()
        reachable = numbers.get("penstock_store_reachable", {}).get("", 0.0) == 1.0
        parts = [PartStanding(part=p, away=a, doubted=d) for p, (a, d) in outages_of(self._store).parts.items()]
        schedules, feeds, present, unserved = self._stored() if reachable else ([], [], [], [])
        now = self._store.clock.now()
        silent = sum(w.is_silent(now) for w in present)
        late = any(f.missed_at is not None or f.tries for f in feeds)
        dead = sum(v for states in numbers.values() for state, v in states.items() if state == "dead")
        troubled = not reachable or late or bool(schedules or unserved) or dead > 0 or any(p.away for p in parts)
        return HealthView(
            status="troubled" if troubled else "ok",
            store_reachable=reachable,
            parts=parts,
            schedules=schedules,
            feeds=feeds,
            numbers=numbers,
            unserved_queues=unserved,
            workers=len(present) - silent,
            silent_workers=silent,
            process=str(os.getpid()),
        )

    def _stored(self) -> tuple[list[ScheduleNow], list[FeedLag], list[WorkerPresence], list[UnservedQueue]]:
        try:
            schedules = [s for s in standings_of(self._store, self._system.schedules) if s.overdue or s.failures]
            feeds = [feed.lag() for feed in self._system.feeds.values()]
            present = list(islice(self._store.find(WorkerPresence.all_there_are()), _WORKERS))
            unserved = unserved_queues(self._store)
        except PenstockError as error:
            if outages_of(self._store).met(error) is None:
                raise
            return [], [], [], []
        return schedules, feeds, present, unserved


def _point(step: MetricStep) -> SeriesPoint:
    return SeriesPoint(
        at=step.at,
        requests=step.requests,
        refused=step.refused,
        errors=step.errors,
        p50_seconds=step.length(0.5),
        p95_seconds=step.length(0.95),
        stored=step.stored,
    )
