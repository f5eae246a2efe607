"""Workers and a relay on one store, which a test kills and restarts; and the account that must be right in the end."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from penstock.kernel.audit import SystemAudit
from tests.faults.yard import HERE, PERIOD, PROJECT, YARD, Job, Status, Yard, announce, open_yard, result_of

ROOT = Path(__file__).parents[2]
ROLES = {"worker-1": "worker", "worker-2": "worker", "relay": "relay"}
PATIENCE = 60.0
"Seconds within which something must happen that takes milliseconds on an idle machine."
AT_A_TIME = 6
"How many jobs are announced in one change."


class Crew:
    """Two workers and a relay on the store at a URL."""

    def __init__(self, url: str, folder: Path, seed: int) -> None:
        self.url, self.sink = url, folder / "sink.jsonl"
        self.chance = random.Random(seed)
        self.jobs = 0
        self._folder = folder
        self._pids: dict[str, int] = {}
        self._dead: set[int] = set()
        self._ticks: Counter[int] = Counter()
        self._news = threading.Condition()

    def __enter__(self) -> Self:
        self.store = open_yard(self.url)
        self.store.ensure(YARD)
        self.store.create(Yard())
        self.enqueue()
        self._log = (self._folder / "crew.log").open("wb")
        self._nursery = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.nursery", self.url, str(self.sink)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            bufsize=1,
        )
        threading.Thread(target=self._listen, daemon=True).start()
        for name in ROLES:
            self.start(name)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in list(self._pids):
            self.kill(name)
        assert self._nursery.stdin is not None
        self._nursery.stdin.close()
        self._nursery.wait(PATIENCE)
        self._log.close()
        self.store.close()

    # Births, ticks and deaths

    def start(self, name: str, *, ticks: int = 0) -> None:
        """Start a process; given a number of ticks, it dies with the last of them."""
        assert self._nursery.stdin is not None
        self._nursery.stdin.write(f"{ROLES[name]} {name} {ticks}\n")
        self._wait_until(lambda: name in self._pids, f"{name} is born")

    def kill(self, name: str) -> None:
        """SIGKILL, without a word."""
        with suppress(ProcessLookupError):
            os.kill(self._pids[name], signal.SIGKILL)
        self._bury(name)

    def kill_at_random(self) -> None:
        """Kill one of the crew, wherever it is just then, and start it again under its name."""
        name = self._anybody()
        self._wait_for(name, self.chance.randint(1, 20))
        self.kill(name)
        self.start(name)

    def kill_between_writes(self) -> None:
        """Let one of the crew die at a moment in which it has written something and not yet something else."""
        name = self._anybody()
        self.kill(name)
        self.start(name, ticks=self.chance.randint(1, 20))
        self._bury(name, busy=True)
        self.start(name)

    def stall(self) -> None:
        """Stop one of the crew for longer than its lease lasts, and then let it go on as if nothing had happened."""
        name = self._anybody()
        self._wait_for(name, self.chance.randint(1, 20))
        os.kill(self._pids[name], signal.SIGSTOP)
        with self._news:
            self._news.wait_for(lambda: False, 2.5 * PERIOD.total_seconds())
        os.kill(self._pids[name], signal.SIGCONT)

    def _anybody(self) -> str:
        return self.chance.choice(sorted(ROLES))

    def _wait_for(self, name: str, ticks: int) -> None:
        pid = self._pids[name]
        goal = self._ticks[pid] + ticks
        self._wait_until(lambda: self._ticks[pid] >= goal, f"{name} does something", busy=True)

    def _bury(self, name: str, *, busy: bool = False) -> None:
        pid = self._pids[name]
        self._wait_until(lambda: pid in self._dead, f"{name} is dead", busy=busy)
        del self._pids[name]

    def wait_for_ticks(self, count: int) -> None:
        """Let the crew do something."""
        goal = self._ticks.total() + count
        self._wait_until(lambda: self._ticks.total() >= goal, "the crew does something", busy=True)

    def _listen(self) -> None:
        assert self._nursery.stdout is not None
        for line in self._nursery.stdout:
            what, *more = line.split()
            with self._news:
                if what == "born":
                    self._pids[more[0]] = int(more[1])
                elif what == "died":
                    self._dead.add(int(more[0]))
                else:
                    self._ticks[int(more[0])] += 1
                self._news.notify_all()

    def _wait_until(self, happened: Callable[[], bool], what: str, *, busy: bool = False) -> None:
        """Wait for something; if the crew is to bring it about, see to it that they do not run out of work."""
        deadline = time.monotonic() + PATIENCE
        while True:
            with self._news:
                if self._news.wait_for(happened, 0.5 if busy else PATIENCE):
                    return
            if time.monotonic() > deadline:
                log = (self._folder / "crew.log").read_text()[-2000:]
                raise AssertionError(f"waited {PATIENCE:g} s in vain until {what}\n{log}")
            if busy:
                self.enqueue_if_idle()

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
