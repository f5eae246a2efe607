"""The one reader of a feed: nobody is told twice, whoever joins it at whatever moment, and nobody asks without need."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import Store
from penstock.schema.role import Role
from penstock.web import watch
from penstock.web.watch import Ear, Followed, Watch
from tests.web.films import Film
from tests.web.service import Service

EAR = Ear("p1", Role.VIEWER)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Service(tmp_path).store


def watching(store: Store, *, poll: timedelta) -> Watch:
    return Watch(store, [Film.__shape__], lambda entry, hidden: str(entry.key["title"]).encode(), poll=poll)


def make(store: Store, *titles: str) -> None:
    for title in titles:
        store.create(Film(project_id="p1", title=title, created_at=store.clock.now()))


async def heard(told: AsyncGenerator[Followed, None], count: int) -> list[str]:
    """The titles of the next changes."""
    found: list[str] = []
    async with asyncio.timeout(10):
        while len(found) < count:
            event = (await anext(told)).event
            found += [event.decode()] if event is not None else []
    return found


async def joined(told: AsyncGenerator[Followed, None]) -> None:
    """Until nothing that was there is left to be told: what follows is the reader's."""
    await anext(told)
    await anext(told)


def test_whoever_waits_is_woken_by_news_or_by_the_clock_and_by_nothing_else(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    poll, reads, changes = timedelta(milliseconds=2), [0], store.engine.changes

    def counted(*shapes: Any, **asked: Any) -> Any:
        reads[0] += 1
        return changes(*shapes, **asked)

    monkeypatch.setattr(store.engine, "changes", counted)

    async def story() -> None:
        async with aclosing(watching(store, poll=poll).follow(EAR, None)) as told:
            await joined(told)
            began, before = time.monotonic(), reads[0]
            for _ in range(50):
                await anext(told)
            by_the_clock = (time.monotonic() - began) / poll.total_seconds()
            assert by_the_clock + reads[0] - before + 2 >= 50

    asyncio.run(story())


def test_whoever_joins_while_the_reader_reads_has_nobody_told_twice(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, release, changes = threading.Event(), threading.Event(), store.engine.changes

    def slow(*shapes: Any, **asked: Any) -> Any:
        found = changes(*shapes, **asked)
        if found and not held.is_set():
            held.set()
            release.wait(20)
        return found

    monkeypatch.setattr(store.engine, "changes", slow)

    async def story() -> None:
        # One thread is the reader's, and what others do goes through the second in turn.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
        one = watching(store, poll=timedelta(milliseconds=2))
        async with aclosing(one.follow(EAR, None)) as first, aclosing(one.follow(EAR, None)) as second:
            await joined(first)
            make(store, "a")
            await asyncio.to_thread(held.wait, 20)
            joining = asyncio.create_task(heard(second, 1))
            for _ in range(6):
                await asyncio.to_thread(int)
            release.set()
            assert await joining == ["a"]
            assert await heard(first, 1) == ["a"]
            make(store, "b")
            assert [await heard(told, 1) for told in (first, second)] == [["b"], ["b"]]

    asyncio.run(story())


def test_the_reader_has_come_to_the_end_when_somebody_joins_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much has happened since it last read: what was told before is not told again by it."""
    monkeypatch.setattr(watch, "CHANGES", 2)

    async def story() -> None:
        one = watching(store, poll=timedelta(milliseconds=200))
        async with aclosing(one.follow(EAR, None)) as first, aclosing(one.follow(EAR, None)) as second:
            await joined(first)
            make(store, *"abcde")
            assert await heard(second, 5) == [*"abcde"]
            make(store, "f")
            assert await heard(second, 1) == ["f"]
            assert await heard(first, 6) == [*"abcdef"]

    asyncio.run(story())


def test_what_happens_while_somebody_joins_is_told_to_them_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    reads, changes = [0], store.engine.changes
    happens = {2: "a", 3: "b"}
    "Before the reader goes to the end, and before they have read for the last time themselves."

    def meanwhile(*shapes: Any, **asked: Any) -> Any:
        reads[0] += 1
        if reads[0] in happens:
            make(store, happens[reads[0]])
        return changes(*shapes, **asked)

    async def story() -> None:
        one = watching(store, poll=timedelta(milliseconds=200))
        async with aclosing(one.follow(EAR, None)) as first, aclosing(one.follow(EAR, None)) as second:
            await joined(first)
            monkeypatch.setattr(store.engine, "changes", meanwhile)
            assert await heard(second, 2) == ["a", "b"]
            end = await one.end()
            assert [(await anext(second)).position for _ in "12"] == [end] * 2, "they are not put back to the reader's"
            make(store, "c")
            assert await heard(second, 1) == ["c"]

    asyncio.run(story())


def test_no_more_read_alone_at_once_than_there_is_room_for(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    arrived, release, changes = threading.Semaphore(0), threading.Event(), store.engine.changes
    inside: list[int] = []

    def slow(*shapes: Any, **asked: Any) -> Any:
        inside.append(len(inside) + 1)
        arrived.release()
        release.wait(20)
        return changes(*shapes, **asked)

    monkeypatch.setattr(store.engine, "changes", slow)

    async def story() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(8))
        one = watching(store, poll=timedelta(milliseconds=2))
        streams = [one.follow(EAR, None) for _ in range(6)]
        coming = [asyncio.ensure_future(anext(stream)) for stream in streams]
        for _ in range(4):
            await asyncio.to_thread(arrived.acquire)
        for _ in range(6):
            await asyncio.to_thread(int)
        assert len(inside) == 4, "the others wait for one of them"
        release.set()
        await asyncio.gather(*coming)
        for stream in streams:
            await stream.aclose()

    asyncio.run(story())


def test_when_nobody_listens_any_more_nobody_reads_and_little_is_remembered(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_REMEMBERED", 2)
    others = Ear("p2", Role.VIEWER)

    async def story() -> None:
        one = watching(store, poll=timedelta(milliseconds=2))
        left = []
        for title in "abc":
            left.append(await one.end())
            make(store, title)
            async with aclosing(one.follow(others, left[-1])) as told:
                await joined(told)
            await asyncio.sleep(0)
            assert asyncio.all_tasks() == {asyncio.current_task()}, "the reader has ended"
        passed = [one.passed(others, position) for position in left]
        assert passed[0] == left[0], "whoever left first reads it again"
        assert (passed[1] != left[1], passed[2]) == (True, await one.end())

    asyncio.run(story())
