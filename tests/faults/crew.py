"""Workers and a relay on one store, which a test kills and restarts; and the account that must be right in the end."""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from pathlib import Path
from typing import Any

from penstock.kernel.audit import SystemAudit
from tests.faults.process_group import PATIENCE, ProcessGroup
from tests.faults.yard import (
    HERE,
    PERIOD,
    PROJECT,
    SINK,
    YARD,
    Job,
    Status,
    Yard,
    announce,
    open_yard,
    result_of,
)

ROLES = {"worker-1": "worker", "worker-2": "worker", "relay": "relay"}
AT_A_TIME = 6
"How many jobs are announced in one change."
TOO_LONG = 2.5 * PERIOD.total_seconds()
"Seconds that no lease lasts."


class Crew(ProcessGroup):
    """Two workers and a relay on the store at a URL."""

    def __init__(self, url: str, folder: Path, seed: int) -> None:
        super().__init__("tests.faults.yard", ROLES, url, folder, seed)
        self.sink, self.jobs = folder / SINK, 0

    def begin(self) -> None:
        self.store = open_yard(self.url)
        self.store.ensure(YARD)
        self.store.create(Yard())
        self.enqueue()

    def end(self) -> None:
        self.store.close()

    # Work

    def enqueue(self) -> None:
        announce(self.store, range(self.jobs, self.jobs + AT_A_TIME))
        self.jobs += AT_A_TIME

    def enqueue_if_idle(self) -> None:
        """Keep the crew busy."""
        if self.store.first(Job.by_status(status=Status.WAITING)) is None:
            self.enqueue()

    def finish(self) -> None:
        """Wait until all jobs are done and all messages are told."""
        deadline = time.monotonic() + PATIENCE
        while self._is_open():
            if time.monotonic() > deadline:
                raise AssertionError(f"not finished after {PATIENCE:g} s: {self.store.get(HERE)}")
            with self._news:
                self._news.wait(0.05)

    def _is_open(self) -> bool:
        return self.store.get(HERE).done < self.jobs or any(m["status"] != "published" for m in self._messages())

    # The account

    def check(self) -> None:
        """All work is done, nothing was accepted twice, and everything adds up."""
        jobs = list(self.store.find(Job.of_project(project_id=PROJECT)))
        yard = self.store.get(HERE)
        assert [j.number for j in jobs] == list(range(self.jobs))
        assert all(j.status is Status.DONE and j.result == result_of(j.number) for j in jobs)
        for status in Status:
            wanted = jobs if status is Status.DONE else []
            assert list(self.store.find(Job.by_status(status=status))) == wanted, "the index says what the jobs say"
        assert (yard.announced, yard.done) == (self.jobs, self.jobs)
        assert yard.claimed == sum(j.attempts for j in jobs)
        once_each = Counter({repr(j.ref): 1 for j in jobs})
        attempts = Counter({repr(j.ref): j.attempts for j in jobs})
        messages = self._messages()
        assert _about(messages, "job.announced") == once_each
        assert _about(messages, "job.claimed") == attempts
        assert _about(messages, "job.done") == once_each, "one message for each job"
        self._check_lines(once_each, attempts)
        self._check_sink(messages)

    def _check_lines(self, once_each: Counter[str], attempts: Counter[str]) -> None:
        lines = list(self.store.find(SystemAudit.of_project(project_id=PROJECT)))
        assert all(line.hash == line.sealed() for line in lines)
        said = {action: [x.details for x in lines if x.action == action] for action in {x.action for x in lines}}
        assert set(said) == {"job.announced", "job.claimed", "job.done"}
        assert len(said["job.announced"]) == self.jobs / AT_A_TIME
        for action, wanted in (("job.claimed", attempts), ("job.done", once_each)):
            assert Counter(details["changes"][0]["record"] for details in said[action]) == wanted

    def _check_sink(self, messages: list[dict[str, Any]]) -> None:
        heard = [json.loads(line) for line in self.sink.read_text().splitlines()]
        first: dict[str, dict[str, Any]] = {}
        for message in heard:
            first.setdefault(message["id"], message)
        assert set(first) == {m["event_id"] for m in messages}, "every event, and no other"
        in_order: dict[str, list[str]] = {}
        for message in first.values():
            in_order.setdefault(message["about"], []).append(message["type"])
        for types in in_order.values():
            assert types == ["job.announced", *["job.claimed"] * (len(types) - 2), "job.done"]

    def _messages(self) -> list[dict[str, Any]]:
        """The rows themselves: no pattern finds a message that has been told."""
        names = ("event_id", "type", "aggregate", "status")
        if self.url.startswith("sqlite"):
            connection = sqlite3.connect(self.url.removeprefix("sqlite:///"), timeout=30)
            rows = connection.execute(f"select {', '.join(names)} from penstock_outbox").fetchall()
            connection.close()
        else:
            import psycopg

            with psycopg.connect(self.url) as session:
                rows = session.execute(f"select {', '.join(names)} from penstock.outbox".encode()).fetchall()
        return [dict(zip(names, row, strict=True)) for row in rows]


def _about(messages: list[dict[str, Any]], type: str) -> Counter[str]:
    return Counter(m["aggregate"] for m in messages if m["type"] == type)
