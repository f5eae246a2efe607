"""A POST with an Idempotency-Key, sent to a process that dies between two of its writes, and then to the next process.

For each number of writes that the first process still makes: what is there in the end must be what is there after the
same request to a process that lives, and each further repetition must get the answer that the second one got.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from penstock import FrozenClock, Store, open_store
from penstock.auth.api_keys import create_key
from penstock.kernel.ticks import Ticks
from penstock.objects import LocalObjects, RouteSigner
from penstock.plugin import DomainPlugin
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.role import Role
from penstock.web.api import build_api
from penstock.web.options import WebOptions
from penstock.work.domain_context import DomainContext
from penstock.work.working import WORKING
from tests.faults.mortal import ENGINE, OBJECTS, Killed, Life, Mortal
from tests.web.client import Client

SECRET = b"the secret of these tests"
URL = "http://127.0.0.1"
GIVEN_UP = timedelta(minutes=10)
"After so long another process may take the claim of a dead one over."
_NOT_COUNTED = {
    "penstock_api_keys",
    "penstock_layout_knowers",
    "penstock_untraced_periods",
    "penstock_rate_buckets",
    "penstock_cause",
    "sqlite_sequence",
    "penstock_changes",
}
"Of each process its own, such as the note that it writes to a trail, and what is no part of an answer."


@dataclass(frozen=True)
class Post:
    """A request that succeeds in the prepared world."""

    path: str
    "As the router has it; what stands in braces is a fact of the world."
    given: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    "Under which other name the world knows what stands in braces."
    bound: bool = False
    "By somebody whose key is for one project."

    def __str__(self) -> str:
        return " ".join([self.path, *self.facts.values(), *(["bound"] if self.bound else [])])

    def send(self, client: TestClient, facts: Mapping[str, Any]) -> Any:
        url = re.sub(r"\{(\w+)\}", lambda found: str(facts[self.facts.get(found[1], found[1])]), self.path)
        return client.post(url, **self.given, headers={"Idempotency-Key": "the-same"})


class Place:
    """Where records and files are: one folder after the other."""

    def __init__(self, clock: FrozenClock) -> None:
        self.clock, self.life = clock, Life()
        self.engine: Any = open_store("sqlite:///:memory:", clock=clock).engine
        self.objects: Any = None

    def move_to(self, folder: Path, life: Life) -> None:
        self.engine.close()
        self.life = life
        self.engine = open_store(f"sqlite:///{folder}/posts.db", clock=self.clock).engine
        self.objects = LocalObjects(folder / "objects", signer=RouteSigner(SECRET, url=f"{URL}/o", clock=self.clock))


class Process:
    """A service. It remembers nothing from one life to the next."""

    def __init__(self, installed: DomainPlugin, clock: FrozenClock, settings: Mapping[str, str]) -> None:
        self.place = Place(clock)
        place = self.place
        engine: Any = Mortal(lambda: place.engine, lambda: place.life, ENGINE)
        objects: Any = Mortal(lambda: place.objects, lambda: place.life, OBJECTS)
        self.store = Store(engine, clock=clock, secret=SECRET, own=SYSTEM_RECORDS)
        self.context = DomainContext(self.store, objects, settings.get)
        self._app: FastAPI | None = None
        self._installed = installed

    @property
    def app(self) -> FastAPI:
        if self._app is None:
            options = WebOptions(secret=SECRET)
            self._app = build_api([self._installed], self.context, options=options)
        return self._app

    def live(self, folder: Path, *, writes: int | None = None) -> Life:
        """Begin a new life on what lies in a folder; it may end after so many writes."""
        life = Life(writes=writes)
        self.store.context.trails.clear()
        self.store.context._known.clear()
        self.store.context.ticks = Ticks(self.place.clock)
        self.place.move_to(folder, life)
        return life

    def client(self, token: str) -> TestClient:
        headers = {"Authorization": f"Bearer {token}"}
        return Client(self.app, base_url=URL, headers=headers, raise_server_exceptions=False)


@dataclass
class Outcome:
    """How a request ended whose first process made so many writes."""

    writes: list[str]
    "Those that it made."
    wrong: list[str]
    "What is not as it should be."


class Posts:
    """Everything that can be posted to a domain, and a world in which each of it succeeds."""

    def __init__(
        self,
        installed: DomainPlugin,
        folder: Path,
        prepare: Callable[[TestClient, DomainContext], dict[str, Any]],
        tidy: Callable[[DomainContext, FrozenClock], None],
        settings: Mapping[str, str] | None = None,
    ) -> None:
        # Today, as files know no clock but this machine's; at noon, so that no try is of another day.
        self._began = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
        self.clock, self._tidy = FrozenClock(self._began), tidy
        self._folder = folder
        self.first, self.next = (Process(installed, self.clock, settings or {}) for _ in range(2))
        (folder / "world").mkdir(parents=True)
        self.first.live(folder / "world")
        self.first.store.ensure(installed.domain, WORKING)
        self._tokens = {
            bound: create_key(self.first.store, name="ed", role=Role.EDITOR, project=project, by="tests").token
            for bound, project in ((False, None), (True, str(uuid4())))
        }
        self.facts = prepare(self.first.client(self._tokens[False]), self.first.context)
        self.first.place.engine.close()
        self._worlds = 0

    def paths(self) -> set[str]:
        """The POST routes that are the domain's own."""
        derived = "penstock.web."
        return {
            route.path
            for route in self.first.app.routes
            if isinstance(route, APIRoute)
            and "POST" in (route.methods or ())
            and not route.endpoint.__module__.startswith(derived)
        }

    def check(self, post: Post) -> None:
        """Kill the process after each number of writes; nothing may differ from the request that was let live."""
        made, answer, wanted = self.undisturbed(post)
        outcomes = [self.killed(post, writes, answer, wanted) for writes in range(len(made) + 1)]
        wrong = [f"after {o.writes}:\n    " + "\n    ".join(o.wrong) for o in outcomes if o.wrong]
        assert not wrong, f"{len(wrong)} of {len(outcomes)} deaths are noticed\n" + "\n".join(wrong)

    def _world(self) -> Path:
        """A new copy of the prepared world, at the hour at which it was prepared."""
        self._worlds += 1
        into = self._folder / str(self._worlds)
        shutil.copytree(self._folder / "world", into)
        self.clock.set(self._began)
        return into

    def undisturbed(self, post: Post) -> tuple[list[str], Any, Counter[str]]:
        """The same request to a process that lives: its writes, its answer, and what is there afterwards."""
        world = self._world()
        life = self.first.live(world)
        client = self.first.client(self._tokens[post.bound])
        answer = post.send(client, self.facts)
        assert 200 <= answer.status_code < 300, f"{post.path}: {answer.text}"
        made = list(life.writes)
        again = post.send(client, self.facts)
        assert again.headers.get("Idempotent-Replayed") == "true", f"{post.path}: {again.text}"
        assert _told(again) == _told(answer), f"{post.path} is answered otherwise the second time"
        return made, answer, self._account(world, self.first)

    def killed(self, post: Post, writes: int, answered: Any, wanted: Counter[str]) -> Outcome:
        """Send a request to a process that dies after so many writes, then twice to the next one."""
        world = self._world()
        life = self.first.live(world, writes=writes)
        with suppress(BaseException):  # whatever the server makes of it
            post.send(self.first.client(self._tokens[post.bound]), self.facts)
        if not life.dead:
            with suppress(Killed):  # it dies with the next one, after its answer
                life.write("more", lambda: None)
        self.clock.advance(GIVEN_UP)
        self.next.live(world)
        second, third = (post.send(self.next.client(self._tokens[post.bound]), self.facts) for _ in range(2))
        wrong = []
        if not 200 <= second.status_code < 300:
            wrong.append(f"answered with {second.status_code}: {second.text[:300]}")
        elif _told(second) != _told(answered):
            wrong.append(f"answered {_told(second)}, and not {_told(answered)}")
        if (second.status_code, _told(second)) != (third.status_code, _told(third)):
            wrong.append(f"then answered {third.text[:300]} instead of {second.text[:300]}")
        found = self._account(world, self.next)
        wrong += [f"{n} times too often: {what}" for what, n in (found - wanted).items()]
        wrong += [f"missing {n} times: {what}" for what, n in (wanted - found).items()]
        return Outcome(life.writes, wrong)

    def _account(self, world: Path, process: Process) -> Counter[str]:
        """What is there: the records at once, the files after whoever tidies up has been there."""
        found = Counter(_records(world / "posts.db"))
        self._tidy(process.context, self.clock)
        return found + Counter(_files(world / "objects"))


def _records(path: Path) -> Iterator[str]:
    """Every record, without what no two runs have in common: ids, hours, and digests."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        tables = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
        for table in set(tables) - _NOT_COUNTED:
            for row in connection.execute(f'select * from "{table}"'):
                yield f"{table} {_masked({name: value for name, value in dict(row).items() if value is not None})}"


def _files(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
            yield f"file {_masked(str(path.relative_to(folder)))} {digest}"


_MASKS: Sequence[tuple[str, str]] = (
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
    (r"[0-9a-f]{32,64}", "HASH"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?", "TIME"),
    (r"\d{8}T\d{6,12}", "TIME"),
    (r"\d{4}-\d\d-\d\d", "DAY"),
    (r"\b1[789]\d{8}(\d{6})?\b", "EPOCH"),
)


def _masked(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    for pattern, mask in _MASKS:
        text = re.sub(pattern, mask, text)
    return text


def _told(answer: Any) -> str:
    """An answer, without the ids and URLs that no two have in common."""
    return re.sub(r'"http[^"]*"', '"URL"', _masked(answer.json()))
