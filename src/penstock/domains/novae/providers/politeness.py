"""Politeness: so many requests a second and at once to one host, for all threads of a process, whichever provider asks.

A host that asks to be left alone (429, 503) is left alone by all of them. Whoever would wait longer than is worth a
worker's time is put off instead, and the attempt does not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Condition, Lock

from penstock.errors import telling
from penstock.net.per_process import PerProcess
from penstock.work.errors import PutOff, RetryLater

PATIENCE = timedelta(seconds=20)
_SOON = timedelta(seconds=5)
_MOST_HOSTS = 10_000


@dataclass(slots=True)
class _HostState:
    """What this process does at one host."""

    place: Condition = field(default_factory=Condition)
    at_once: int = 0
    next_at: float = float("-inf")
    "When the next request may be sent."


@dataclass(slots=True)
class _Hosts:
    lock: Lock = field(default_factory=Lock)
    states: dict[str, _HostState] = field(default_factory=dict)

    def of(self, host: str) -> _HostState:
        with self.lock:
            if len(self.states) >= _MOST_HOSTS:
                self.states = {name: each for name, each in self.states.items() if each.at_once}
            return self.states.setdefault(host.lower(), _HostState())


_SHARED = PerProcess(_Hosts)


class Politeness:
    """Gives turns at hosts; all that are made without ``alone`` share what they know of them."""

    def __init__(
        self,
        *,
        per_second: float,
        at_once: int,
        patience: timedelta = PATIENCE,
        alone: bool = False,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._apart, self._most, self._patience = 1 / per_second, at_once, patience
        self._hosts = PerProcess(_Hosts) if alone else _SHARED
        self._sleep, self._monotonic = sleep, monotonic

    @contextmanager
    def turn(self, host: str) -> Iterator[None]:
        """One request to a host, as soon as it is polite; PutOff if that is not soon."""
        state = self._hosts.get().of(host)
        self._enter(state, host)
        try:
            self._wait(state, host)
            yield
        except RetryLater as asked:
            if not isinstance(asked, PutOff):
                with state.place:
                    state.next_at = max(state.next_at, self._monotonic() + asked.after.total_seconds())
            raise
        finally:
            with state.place:
                state.at_once -= 1
                state.place.notify()

    def _enter(self, state: _HostState, host: str) -> None:
        with state.place:
            if not state.place.wait_for(lambda: state.at_once < self._most, self._patience.total_seconds()):
                raise _put_off(f"{state.at_once} requests to {host} are under way, which is as many as may be", _SOON)
            state.at_once += 1

    def _wait(self, state: _HostState, host: str) -> None:
        with state.place:
            now = self._monotonic()
            pause = max(0.0, state.next_at - now)
            if pause > self._patience.total_seconds():
                raise _put_off(f"{host} is to be left alone for {pause:.0f} s", timedelta(seconds=pause))
            state.next_at = max(now, state.next_at) + self._apart
        if pause:
            self._sleep(pause)


def _put_off(why: str, after: timedelta) -> PutOff:
    return telling(PutOff(why, after=after), why)
