"""Threads: a function is called in one of them as if it were called here, and one that is idle is used again."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar
from datetime import timedelta

import pytest

from penstock.net.pool import Pool
from penstock.net.threads import Threads
from tests.forked import forked

WHO = ContextVar("who", default="nobody")


def test_a_function_runs_elsewhere_in_the_context_of_whoever_waits() -> None:
    async def story() -> None:
        WHO.set("somebody")
        assert await Threads().run(lambda *given: (WHO.get(), *given), 7) == ("somebody", 7)
        assert await Threads().run(threading.get_ident) != threading.get_ident()

    asyncio.run(story())


def test_what_it_raises_is_raised_and_its_thread_goes_on() -> None:
    threads = Threads()

    def fail() -> None:
        raise ZeroDivisionError(str(threading.get_ident()))

    async def story() -> None:
        with pytest.raises(ZeroDivisionError) as failed:
            await threads.run(fail)
        assert str(await threads.run(threading.get_ident)) == str(failed.value)

    asyncio.run(story())


def test_an_idle_thread_is_used_again_by_any_loop_and_others_begin_when_none_is() -> None:
    threads = Threads()
    both = threading.Barrier(2)

    async def one_by_one() -> set[int]:
        return {await threads.run(threading.get_ident) for _ in range(5)}

    async def together() -> set[int]:
        def meet() -> int:
            both.wait(30)
            return threading.get_ident()

        return set(await asyncio.gather(threads.run(meet), threads.run(meet)))

    assert len(asyncio.run(one_by_one()) | asyncio.run(one_by_one())) == 1
    assert len(asyncio.run(together())) == 2


def test_whoever_is_cancelled_goes_on_when_the_thread_is_done_and_its_place_is_held_until_then() -> None:
    pool, begun, end = Pool("work", 1, queue=0), threading.Event(), threading.Event()
    ended: list[bool] = []

    def work() -> None:
        begun.set()
        ended.append(end.wait(30))

    async def story() -> None:
        working = asyncio.create_task(pool.run(work))
        await asyncio.to_thread(begun.wait, 30)
        for _ in range(2):  # said once or twice
            working.cancel()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        assert not working.done()
        assert not pool.take()
        end.set()
        with pytest.raises(asyncio.CancelledError):
            await working
        assert ended == [True]
        assert pool.take()

    asyncio.run(story())


def test_a_thread_that_is_idle_for_long_ends_and_another_begins() -> None:
    """What it has open, such as a connection of its own, does not stay open for a rush that was once."""
    threads = Threads(patience=timedelta(milliseconds=1))
    first = asyncio.run(threads.run(threading.current_thread))
    first.join(30)
    assert not first.is_alive()
    assert asyncio.run(threads.run(threading.current_thread)) is not first


def test_a_thread_that_would_end_does_what_it_was_just_taken_for() -> None:
    """Many, each of them idle for as long as it may just when it is taken."""
    threads = Threads(patience=timedelta(0))

    async def story() -> int:
        return sum([await threads.run(lambda: 1) for _ in range(500)])

    assert asyncio.run(story()) == 500


def test_a_child_has_threads_of_its_own() -> None:
    threads = Threads()
    asyncio.run(threads.run(threading.get_ident))
    assert forked(lambda: asyncio.run(threads.run(lambda: True))) == 0
