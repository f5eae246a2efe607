"""One transition with its audit line and its message: Penstock, next to the same rows written by hand.

The rate is what counts here, so the clock is the wall's: on PostgreSQL both sides work in turn, and waiting is part of
it. By hand means the driver alone: one statement on PostgreSQL, one transaction of three on SQLite.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from enum import StrEnum
from itertools import cycle, islice
from time import perf_counter
from typing import Any
from uuid import UUID, uuid4

import msgspec
import psycopg

from bench.contender import Limit
from bench.databases import Databases
from bench.measure import Contest, Effort, Work, contest
from bench.topic import Contests
from penstock import Domain, Entity, Move, Store, Table, key, open_store
from penstock.kernel.change import Change
from penstock.ports.ids import sortable_text

GROUPS = {"sqlite-transitions.rate": "wall time", "postgresql-transitions.rate": "wall time"}
BY_HAND, ONE, FIFTY, BATCH = "by hand", "penstock", "penstock, a change of 50", "penstock, a batch of 50 changes"
BASELINE = BY_HAND
OWN = (ONE, FIFTY, BATCH)
MANY = 50
LAMPS = 400


def _limits() -> Iterator[Limit]:
    for group, share in (("postgresql-transitions.rate", 0.8), ("sqlite-transitions.rate", 0.6)):
        claim = f"{group}: one transition with audit and outbox at {share} of the rate by hand, or more"
        yield Limit(claim, group, ONE, BY_HAND, 1 / share)
    group = "postgresql-transitions.rate"
    yield Limit(f"{group}: {MANY} in one change at 8 times the single rate, or more", group, FIFTY, ONE, MANY / 8)


LIMITS = tuple(_limits())

TABLE = Table("BenchLamps", partition="PK", sort="SK")


class Light(StrEnum):
    OFF = "off"
    ON = "on"


class Lamp(Entity, table=TABLE, relation="lamps"):
    """Something that can change its state for ever."""

    lamp_id: UUID
    project_id: str
    light: Light = Light.OFF
    name: str

    @key("LAMP#{lamp_id}", "LAMP")
    def at(self, *, lamp_id: UUID) -> None: ...

    switch_on = Move(Light.OFF, to=Light.ON)
    switch_off = Move(Light.ON, to=Light.OFF)


DOMAIN = Domain("bench", Lamp)


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """Every contender in a database of its own, over the same lamps."""
    for group in groups:
        with ExitStack() as stack:
            yield group, _contest(group, effort, stack)


def _contest(group: str, effort: Effort, stack: ExitStack) -> Contest:
    databases = Databases(group, stack, as_shipped=True)
    works: dict[str, Work] = {}
    for name in filter(effort.wants, (BY_HAND, ONE, FIFTY, BATCH)):
        url = databases.new_url()
        store = open_store(url)
        stack.callback(store.close)
        store.ensure(DOMAIN)
        lamps = sorted([new_lamp(n) for n in range(LAMPS)], key=lambda lamp: lamp.lamp_id)  # as they lie in the table
        store.put_many(lamps)
        works[name] = _work(name, url, store, lamps, stack)
    count = 3 * effort.rounds if databases.are_files else None  # a disk's time varies more than a processor's
    return contest(works, effort, clocks=dict.fromkeys(works, perf_counter), count=count)


def new_lamp(number: int) -> Lamp:
    return Lamp(lamp_id=uuid4(), project_id="bench", name=f"Lamp {number}")


def _work(name: str, url: str, store: Store, lamps: list[Lamp], stack: ExitStack) -> Work:
    turn = cycle(lamps)
    if name == ONE:
        return lambda times: _one_by_one(store, islice(turn, times))
    if name == FIFTY:
        return lambda times: _fifty_at_once(store, turn, times)
    if name == BATCH:
        return lambda times: _in_batches(store, turn, times)
    by_hand = _on_sqlite(url, stack) if url.startswith("sqlite") else _on_postgres(url, stack)
    lit: dict[UUID, bool] = {}

    def work(times: int) -> None:
        for lamp in islice(turn, times):
            on = lit[lamp.lamp_id] = not lit.get(lamp.lamp_id, False)
            by_hand(lamp.lamp_id, "on" if on else "off", "off" if on else "on")

    return work


# With Penstock


def _one_by_one(store: Store, lamps: Iterable[Lamp]) -> None:
    for lamp in lamps:
        with store.change(by="bench") as change:
            switch(change, lamp)


def switch(change: Change, lamp: Lamp) -> None:
    _move(change, lamp)
    change.emit("lamp.switched", lamp, light=lamp.light.value)


def _move(change: Change, lamp: Lamp) -> None:
    change.track(lamp)
    lamp.switch_on() if lamp.light is Light.OFF else lamp.switch_off()
    change.save(lamp)


def _fifty_at_once(store: Store, lamps: Iterator[Lamp], times: int) -> None:
    """One commit, with one line that names them all and one message that tells of them all."""
    for _ in range(times):
        with store.change(by="bench") as change:
            switched = []
            for lamp in islice(lamps, MANY):
                _move(change, lamp)
                switched.append({"lamp_id": str(lamp.lamp_id), "light": lamp.light.value})
            change.emit("lamps.switched", lamp, lamps=switched)


def _in_batches(store: Store, lamps: Iterator[Lamp], times: int) -> None:
    for _ in range(times):
        with store.batch() as batch:
            for lamp in islice(lamps, MANY):
                with batch.change(by="bench") as change:
                    switch(change, lamp)


# By hand: the same rows, with what makes them useful: ordered ids, a message's payload, a line's details and hash


def _rows(lamp: UUID, to: str, was: str) -> tuple[datetime, str, str, str, str]:
    now = datetime.now(UTC)
    event = sortable_text(now)
    payload = _json({"lamp_id": lamp, "light": to})
    details = _json(
        {
            "changes": [{"does": "save", "record": f"Lamp(lamp_id={lamp})", "states": {"light": [was, to]}}],
            "messages": ["lamp.switched"],
        }
    )
    digest = hashlib.sha256(f"bench{now.isoformat()}benchlamp.switched{details}".encode()).hexdigest()
    return now, event, payload, details, digest


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _on_postgres(url: str, stack: ExitStack) -> Callable[[UUID, str, str], None]:
    connection = stack.enter_context(psycopg.connect(url, autocommit=True))

    def switch(lamp: UUID, to: str, was: str) -> None:
        now, event, payload, details, digest = _rows(lamp, to, was)
        done = connection.execute(
            """
            with moved as (
                update bench.lamps set light = %s where lamp_id = %s and light = %s returning 1
            ), told as (
                insert into penstock.outbox (event_id, type, aggregate, project_id, payload, status, ts, attempts)
                select %s, 'lamp.switched', %s, 'bench', %s, 'pending', %s, 0 from moved
            ), noted as (
                insert into penstock.audit (project_id, ts, actor, action, details, hash)
                select 'bench', %s, 'bench', 'lamp.switched', %s, %s from moved
            )
            select count(*) from moved
            """,
            (to, lamp, was, event, f"Lamp(lamp_id={lamp})", payload, now, now, details, digest),
            prepare=True,
        ).fetchone()
        assert done == (1,)

    return switch


def _on_sqlite(url: str, stack: ExitStack) -> Callable[[UUID, str, str], None]:
    connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    stack.callback(connection.close)
    connection.execute("pragma synchronous = normal")  # as Penstock has it

    def switch(lamp: UUID, to: str, was: str) -> None:
        moment, event, payload, details, digest = _rows(lamp, to, was)
        now = moment.isoformat()
        connection.execute("begin immediate")
        done = connection.execute(
            "update bench_lamps set light = ? where lamp_id = ? and light = ?",
            (to, str(lamp), was),
        )
        assert done.rowcount == 1
        connection.execute(
            "insert into penstock_outbox (event_id, type, aggregate, project_id, payload, status, ts, attempts) "
            "values (?, 'lamp.switched', ?, 'bench', ?, 'pending', ?, 0)",
            (event, f"Lamp(lamp_id={lamp})", payload, now),
        )
        connection.execute(
            "insert into penstock_audit (project_id, ts, actor, action, details, hash) "
            "values ('bench', ?, 'bench', 'lamp.switched', ?, ?)",
            (now, details, digest),
        )
        connection.execute("commit")

    return switch
