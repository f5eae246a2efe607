"""Pools: so many at once, a line that is short and fair, and no place that is lost."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from penstock.errors import Busy, TooSlow
from penstock.net.pace import Pace
from penstock.net.pool import Pool

PATIENT, IMPATIENT = timedelta(seconds=60), timedelta(milliseconds=20)


class Work:
    """Something that takes until it is told to end."""

    def __init__(self) -> None:
        self.running: list[str] = []
        self.refused: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def begin(self, pool: Pool, *names: str) -> None:
        """Each name begins with that of its client."""
        for name in names:
            self._ends[name] = asyncio.Event()
            self._tasks.append(asyncio.create_task(self._run(pool, name)))
        await asyncio.sleep(0.01)

    async def end(self, *names: str) -> None:
        for name in names:
            self._ends[name].set()
        await asyncio.sleep(0.01)

    async def cancel(self, number: int) -> None:
        self._tasks[number].cancel()
        await asyncio.sleep(0.01)

    async def _run(self, pool: Pool, name: str) -> None:
        try:
            async with pool.place(name[0]):
                self.running.append(name)
                try:
                    await self._ends[name].wait()
                finally:
                    self.running.remove(name)
        except Busy:
            self.refused.append(name)


def test_those_beyond_the_places_wait_in_order_and_those_beyond_the_line_are_refused() -> None:
    async def story() -> None:
        pool, work = Pool("work", 2, queue=2, patience=PATIENT), Work()
        await work.begin(pool, "a1", "a2", "a3", "a4", "a5")
        assert (work.running, work.refused) == (["a1", "a2"], ["a5"])
        await work.end("a2")
        assert work.running == ["a1", "a3"]
        await work.end("a1", "a3")
        assert work.running == ["a4"]
        await work.end("a4")
        await work.begin(pool, "b1", "b2")
        assert work.running == ["b1", "b2"]

    asyncio.run(story())


def test_whoever_waits_too_long_is_refused_and_keeps_no_place() -> None:
    async def story() -> None:
        pool, work = Pool("work", 1, queue=9, patience=IMPATIENT), Work()
        await work.begin(pool, "a1", "a2")
        await asyncio.sleep(0.1)
        assert work.refused == ["a2"]
        await work.end("a1")
        await work.begin(pool, "a3")
        assert work.running == ["a3"]

    asyncio.run(story())


def test_one_client_has_its_share_and_others_pass_by_those_of_it_that_wait() -> None:
    async def story() -> None:
        pool, work = Pool("work", 4, queue=8, share=2, patience=PATIENT), Work()
        await work.begin(pool, "a1", "a2", "a3", "a4", "a5", "a6")
        assert (work.running, work.refused) == (["a1", "a2"], ["a5", "a6"]), "in the line it has a quarter"
        await work.begin(pool, "b1", "b2", "c1")
        assert work.running == ["a1", "a2", "b1", "b2"]
        await work.end("b1")
        assert work.running == ["a1", "a2", "b2", "c1"], "a3 has waited longer, but not for this place"
        await work.end("a1")
        assert work.running == ["a2", "b2", "c1", "a3"]

    asyncio.run(story())


def test_whoever_is_cancelled_in_the_line_or_at_work_leaves() -> None:
    async def story() -> None:
        pool, work = Pool("work", 1, queue=9, patience=PATIENT), Work()
        await work.begin(pool, "a1", "a2", "a3")
        await work.cancel(1)
        await work.cancel(0)
        assert work.running == ["a3"]
        await work.begin(pool, "a4")
        await work.end("a3")
        assert work.running == ["a4"]

    asyncio.run(story())


def test_a_place_that_is_given_back_on_one_event_loop_is_taken_on_another() -> None:
    pool = Pool("work", 1, queue=9, patience=PATIENT)

    async def other() -> str:
        async with pool.place():
            return "done"

    async def story() -> str:
        async with pool.place():
            waiting = asyncio.create_task(asyncio.to_thread(asyncio.run, other()))
            await asyncio.sleep(0.1)
            assert not waiting.done()
        return await waiting

    assert asyncio.run(story()) == "done"


@pytest.mark.parametrize(("pause", "size"), [(0.2, 10), (0.01, 1)])
def test_a_body_ends_that_pauses_or_that_comes_by_drops(pause: float, size: int) -> None:
    async def piece() -> int:
        await asyncio.sleep(pause)
        return size

    async def story() -> None:
        pace = Pace(timedelta(milliseconds=100))
        for _ in range(50):
            pace.count(await pace.next(piece()))

    with pytest.raises(TooSlow, match="did not come within"):
        asyncio.run(story())
