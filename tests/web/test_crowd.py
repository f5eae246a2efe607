"""Who has a place among the connections of a process, and who looks after them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from penstock.web import crowd as crowds
from penstock.web.crowd import BREATH, Crowd
from penstock.web.options import WebOptions

ANN, BOB, PROXY = "203.0.113.1", "203.0.113.2", "10.0.0.1"


class Timers:
    """As much of an event loop as a crowd needs; its timers are run by hand."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Callable[..., object], tuple[Any, ...]]] = []

    def time(self) -> float:
        return 0.0

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> None:
        self.waiting.append((callback, args))

    def run(self) -> None:
        due, self.waiting = self.waiting, []
        for callback, args in due:
            callback(*args)


class Line(asyncio.Transport):
    is_cut = False

    def abort(self) -> None:
        self.is_cut = True


@dataclass(eq=False)
class Visitor:
    """A connection, which has something to do or not."""

    crowd: Crowd
    loop: asyncio.AbstractEventLoop
    client: tuple[str, int] | None
    is_idle: bool = False
    network: str = ""
    is_aside: bool = False
    transport: asyncio.Transport = field(default_factory=Line)
    looked_at: int = 0

    @property
    def is_cut(self) -> bool:
        return bool(getattr(self.transport, "is_cut", False))

    def end(self) -> None:
        self.crowd.leave(self)
        self.transport.abort()

    def end_if_stalled(self, now: float) -> None:
        self.looked_at += 1


class Door:
    """Where visitors come to one crowd."""

    def __init__(self, connections: int) -> None:
        self.loop = Timers()
        options = WebOptions(secret=b"of the tests", connections=connections, trusted_proxies=(PROXY,))
        self.crowd = Crowd(options)

    def visitor(self, address: str = ANN, *, idle: bool = False) -> Visitor:
        visitor = Visitor(self.crowd, cast(asyncio.AbstractEventLoop, self.loop), (address, 50000), idle)
        self.crowd.arrive(visitor)
        return visitor


def test_where_all_places_are_taken_the_one_that_was_idle_for_longest_gives_way() -> None:
    door = Door(connections=3)
    first, second, busy = door.visitor(idle=True), door.visitor(idle=True), door.visitor()
    door.crowd.rest(first)
    last = door.visitor(BOB)
    assert ([v.is_cut for v in (first, second, busy)], last.is_aside) == ([False, True, False], False)
    door.visitor(BOB)
    assert first.is_cut
    late = door.visitor(BOB)
    assert (late.is_aside, late.is_cut, busy.is_cut) == (True, False, False), "nobody who is served is cut off"


def test_a_few_stand_aside_and_whoever_comes_then_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowds, "_ASIDE", 2)
    door = Door(connections=1)
    door.visitor()
    aside = [door.visitor(BOB), door.visitor(BOB)]
    assert [v.is_aside for v in aside] == [True, True]
    assert door.visitor(BOB).is_cut
    aside[1].is_idle = True
    assert not door.visitor(BOB).is_cut
    assert [v.is_cut for v in aside] == [False, True]


def test_one_client_has_a_quarter_and_all_that_are_behind_a_trusted_proxy_may_have_the_rest() -> None:
    door = Door(connections=260)
    of_ann = [door.visitor() for _ in range(66)]
    assert [v.is_aside for v in of_ann] == [False] * 65 + [True]
    of_others = [door.visitor(PROXY) for _ in range(195)]
    assert not any(v.is_aside for v in of_others)
    for visitor in of_ann:
        door.crowd.leave(visitor)
    assert not any(door.visitor().is_aside for _ in range(65)), "what was left is free"


def test_whoever_takes_the_place_of_their_own_last_connection_is_counted() -> None:
    door = Door(connections=65)
    idle = door.visitor(idle=True)
    others = [door.visitor(BOB) for _ in range(64)]
    assert not door.visitor().is_aside
    assert idle.is_cut
    for other in others:
        door.crowd.leave(other)
    assert [door.visitor().is_aside for _ in range(64)] == [False] * 63 + [True], "64 are all that one client may have"


def test_a_crowd_that_is_busy_is_not_searched_through_for_each_that_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowds, "_LOOKED_AT", 2)
    door = Door(connections=3)
    busy, idle = [door.visitor(), door.visitor()], door.visitor(idle=True)
    assert door.visitor(BOB).is_aside
    assert not idle.is_cut
    assert not door.visitor(BOB).is_aside, "those who were looked at are looked at again behind all others"
    assert (idle.is_cut, [v.is_cut for v in busy]) == (True, [False, False])


def test_all_are_looked_after_together_and_only_while_there_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowds, "_ASIDE", 1)
    door = Door(connections=2)
    for _ in range(2):
        visitors = [door.visitor(BOB) for _ in range(3)]
        assert [v.is_aside for v in visitors] == [False, False, True]
        for times in (1, 2, 3):
            assert len(door.loop.waiting) == 1, "one timer, however many they are"
            door.loop.run()
            assert [v.looked_at for v in visitors] == [times] * 3
        for visitor in visitors[:2]:
            door.crowd.leave(visitor)
        door.loop.run()
        assert (len(door.loop.waiting), visitors[2].looked_at) == (1, 4), "also while only those aside are left"
        door.crowd.leave(visitors[2])
        door.loop.run()
        assert door.loop.waiting == [], "a service that nobody asks is not woken"


def test_the_more_send_what_is_thrown_away_the_longer_each_of_them_waits() -> None:
    door = Door(connections=3)
    one, two, three = door.visitor(), door.visitor(), door.visitor()
    assert [door.crowd.breath(v) for v in (one, two, one, three)] == [BREATH * n for n in (1, 2, 2, 3)]
    door.crowd.rest(one)
    door.crowd.leave(two)
    assert door.crowd.breath(three) == BREATH
