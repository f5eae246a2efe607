"""How long until whoever watches sees what another process has committed: from the end of the commit to the event.

The service is `penstock up` with all domains; the one who watches reads its merged stream, as a tab of the console
does. Time is the wall's, as it is waiting that is measured.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from unittest.mock import patch

from bench.contender import Limit
from bench.measure import Contest, Effort
from bench.served import PenstockUp
from bench.topic import Contests
from penstock import Store, open_store
from penstock.work.task import Progress
from penstock.work.working import WORKING
from tests.servers import DynamoDBLocal, Postgres

ENGINES = {"sqlite": 500_000, "postgresql": 500_000, "dynamodb": 2_000_000}
"Microseconds within which half of all changes are seen."
GROUPS = {f"{engine}-live.latency": "wall time, p50" for engine in ENGINES}
BASELINE = STREAM = "penstock's stream"
OWN = (STREAM,)
LIMITS = tuple(
    Limit(
        f"{engine}-live.latency: a commit is seen within {most / 1e6:g} s, p50",
        f"{engine}-live.latency",
        STREAM,
        None,
        most,
    )
    for engine, most in ENGINES.items()
)
COMMITS = 40
IDLE = (0.2, 0.7)
"Seconds between commits: never in step with one who looks now and then."
_LONGEST = 60.0
KEYS = {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench"}


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """One commit after the other, each waited for."""
    for group in groups:
        with ExitStack() as stack:
            stack.enter_context(patch.dict(os.environ, KEYS))
            url = store_url(group, stack)
            up = stack.enter_context(PenstockUp({"PENSTOCK_STORE": url, **KEYS}))
            store = stack.enter_context(closing(open_store(url)))
            store.ensure(WORKING)
            waits = _waits(store, _told(up, stack))
            yield group, Contest({STREAM: partial(next, waits)}, effort.sized(COMMITS, least=3))


def store_url(group: str, stack: ExitStack) -> str:
    if group.startswith("postgresql"):
        return stack.enter_context(Postgres(as_shipped=True)).url
    if group.startswith("dynamodb"):
        return f"dynamodb://us-east-1?endpoint={stack.enter_context(DynamoDBLocal()).url}"
    return f"sqlite:///{Path(stack.enter_context(TemporaryDirectory())) / 'live.db'}"


def _told(up: PenstockUp, stack: ExitStack) -> Iterator[str]:
    """The notes of the progress that the stream tells, one after the other."""
    connection = stack.enter_context(closing(HTTPConnection("127.0.0.1", up.port, timeout=_LONGEST)))
    connection.request("GET", "/api/events", headers=up.key)
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    lines = iter(answer.readline, b"")
    assert b"event: ready\n" in [next(lines) for _ in range(4)]

    def notes() -> Iterator[str]:
        name = b""
        for line in lines:
            if line.startswith(b"event: "):
                name = line.removeprefix(b"event: ").strip()
            elif line.startswith(b"data: ") and name.startswith(b"work.progress."):
                yield str(json.loads(line.removeprefix(b"data: "))["new"]["note"])

    return notes()


def _waits(store: Store, told: Iterator[str]) -> Iterator[float]:
    """Microseconds that one change after the other takes to be seen."""
    chance = Random(1)
    for number in count():
        sleep(chance.uniform(*IDLE))
        now = store.clock.now()
        ttl = int(now.timestamp()) + 3600
        store.put(Progress(task_id="bench", project_id="bench", fraction=0.5, note=str(number), told_at=now, ttl=ttl))
        committed = perf_counter()
        assert next(note for note in told if note == str(number))
        yield max(perf_counter() - committed, 1e-6) * 1e6
