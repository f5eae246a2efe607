"""A crowd of processes that write the same records, each in an order of its own.

    python -m tests.engines.crowd '{"kind": "sqlite", "address": …, "processes": 8, "rounds": 5}'

One process imports everything and forks the others, which begin together. What each has met is printed as JSON, one
line a process: how long the slowest of each kind of write took, how much it has added, and every error.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from penstock import Store, the
from penstock.kernel.handle import patch, put
from penstock.operations.conditions import Present
from penstock.operations.writes import Check, Delete, Write
from penstock.ports.engine import Engine
from penstock.testing.entities import Counter, Session, Specimen, specimen

NAMES = [f"{n:02d}" for n in range(40)]
SHELF = "shared"


@dataclass
class Crowd:
    """Where the processes write, how many they are, and how often each does everything."""

    kind: str
    address: str
    prefix: str = ""
    processes: int = 8
    rounds: int = 5


@dataclass
class Report:
    """What one process has met."""

    slowest: dict[str, float] = field(default_factory=dict)
    total: int = 0
    balance: int = 0
    errors: list[str] = field(default_factory=list)


def open_at(crowd: Crowd) -> Engine:
    if crowd.kind == "dynamodb":
        from penstock.engines.dynamodb import DynamoEngine

        return DynamoEngine(
            endpoint=crowd.address,
            region="us-east-1",
            access_key="test",
            secret_key="test",
            table_prefix=crowd.prefix,
        )
    from penstock.engines.sql.engine import SqlEngine
    from penstock.engines.sql.postgres import PostgresConnector
    from penstock.engines.sql.sqlite import SqliteConnector

    return SqlEngine((SqliteConnector if crowd.kind == "sqlite" else PostgresConnector)(crowd.address))


class Writer:
    """One process."""

    def __init__(self, store: Store, number: int) -> None:
        self._store = store
        self._chance = random.Random(number)
        self.report = Report()

    def work(self, rounds: int) -> None:
        actions = [self.change, self.put_many, self.batch, self.mixture, self.delete_many]
        for _ in range(rounds):
            self._chance.shuffle(actions)
            for action in actions:
                self._timed(action)

    def _timed(self, action: Callable[[], None]) -> None:
        began = time.monotonic()
        try:
            action()
        except Exception:
            self.report.errors.append(traceback.format_exc())
        taken, slowest = time.monotonic() - began, self.report.slowest
        slowest[action.__name__] = max(taken, slowest.get(action.__name__, 0.0))

    def change(self) -> None:
        """Thirty patches, with a line for the audit."""
        with self._store.change(by="crowd") as change:
            for name in self._some(30):
                change.patch(Counter.at(name=name), the(Counter.total).add(1))
        self.report.total += 30

    def put_many(self) -> None:
        self._store.put_many([specimen(shelf=SHELF, label=name) for name in self._some(40)])

    def delete_many(self) -> None:
        self._store.delete_many([Specimen.at(shelf=SHELF, label=name) for name in self._some(40)])

    def batch(self) -> None:
        names = self._some(24)
        with self._store.batch() as batch:
            for first in range(0, 24, 3):
                with batch.change(by="crowd") as change:
                    for name in names[first : first + 3]:
                        change.patch(Counter.at(name=name), the(Counter.total).add(1))
        self.report.total += 24

    def mixture(self) -> None:
        """Everything a commit can have, in any order: two texts for one table that are joined, and others alone."""
        names = self._some(30)
        writes: list[Write] = [patch(Counter.at(name=n), the(Counter.total).add(1)) for n in names[:9]]
        writes += [patch(Counter.at(name=n), the(Counter.balance).add(Decimal(1))) for n in names[9:18]]
        writes += [Check(Counter.__shape__, {"name": n}, Present()) for n in names[18:20]]
        users = self._some(10)
        writes += [put(Session(user=user, session_id=SHELF)) for user in users[:7]]
        writes += [Delete(Session.__shape__, {"user": user, "session_id": SHELF}) for user in users[7:]]
        self._chance.shuffle(writes)
        self._store.commit(writes)
        self.report.total += 9
        self.report.balance += 9

    def _some(self, count: int) -> list[str]:
        return self._chance.sample(NAMES, count)


def main(crowd: Crowd) -> None:
    store = Store(open_at(crowd))
    reports, said = os.pipe()
    starting, start = os.pipe()
    for number in range(crowd.processes):
        if os.fork() == 0:
            os.close(start)
            os.read(starting, 1)  # which ends when everybody is there
            writer = Writer(store, number)
            writer.work(crowd.rounds)
            with os.fdopen(said, "w") as out:
                out.write(json.dumps(asdict(writer.report)) + "\n")
            os._exit(0)
    os.close(start)
    os.close(said)
    with os.fdopen(reports) as lines:
        sys.stdout.write(lines.read())


def gather(crowd: Crowd) -> list[Report]:
    """Have a crowd write, and ask what each of them has met."""
    finished = subprocess.run(
        [sys.executable, "-m", "tests.engines.crowd", json.dumps(asdict(crowd))],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    found: list[dict[str, Any]] = [json.loads(line) for line in finished.stdout.splitlines()]
    return [Report(**each) for each in found]


if __name__ == "__main__":
    main(Crowd(**json.loads(sys.argv[1])))
