"""Processes of a simulation: each has a clock, a store and chances of its own, and can die at any call."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from random import Random
from typing import Any, Protocol, TypeVar

import msgspec

from penstock.declare.domain import Domain
from penstock.errors import Conflict, Unavailable
from penstock.kernel.layouts.knowledge import HERE
from penstock.kernel.store import Store
from penstock.operations.feed_entry import FeedEntry
from penstock.operations.reads import Page, Query
from penstock.ports.engine import Engine, Waiter
from penstock.ports.object_store import ObjectStore
from penstock.schema.shape import EntityShape
from penstock.testing.simulation.objects import SimulatedObjects
from penstock.testing.simulation.schedule import Happening

T = TypeVar("T")
READS = frozenset({"get", "find", "scan", "changes", "feed_end", "sizes", "log_size"})
WRITES = frozenset({"commit", "patch", "load", "expire", "trim", "hold_writes"})


class Death(BaseException):
    """The process is no more. No code catches it, and whoever does is told again at its next call."""


class SimulatedTime:
    """The true time, which passes only when the simulation lets it."""

    def __init__(self, at: datetime) -> None:
        self.now = at
        self.passed = 0.0

    def advance(self, by: timedelta) -> None:
        self.now += by
        self.passed += by.total_seconds()


class ProcessClock:
    """The time as one process has it: its clock may have been set."""

    def __init__(self, time: SimulatedTime, *, skew: timedelta) -> None:
        self._time, self.skew = time, skew
        self.off = timedelta(0)

    def now(self) -> datetime:
        return self._time.now + self.off

    def monotonic(self) -> float:
        return self._time.passed

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)  # which is the run's own while it is on


class Call:
    """What an actor is about to do."""

    __slots__ = ("about", "name", "part")

    def __init__(self, part: str, name: str, about: Any = None) -> None:
        self.part, self.name, self.about = part, name, about

    @property
    def writes(self) -> bool:
        return self.name in WRITES if self.part == "store" else self.part != "clock"

    @property
    def through_index(self) -> bool:
        return isinstance(self.about, Query) and self.about.pattern.index is not None

    def __str__(self) -> str:
        if isinstance(self.about, Query):
            return f"looks for {self.about.pattern.label}"
        return f"{self.part}.{self.name}"


class Baton(Protocol):
    """Hands the right to go on to whoever is to have it."""

    def __call__(self, call: Call) -> Happening | None: ...


class Process:
    """One process of an actor, from its start to its death."""

    def __init__(
        self,
        name: str,
        engine: Any,
        time: SimulatedTime,
        *,
        own: Domain,
        seed: str,
        skew: timedelta,
        baton: Baton,
        outside: dict[str, list[Any]],
        objects: SimulatedObjects,
    ) -> None:
        self.name, self.time, self.outside = name, time, outside
        self.chance = Random(seed)
        self.clock = ProcessClock(time, skew=skew)
        self.dead = False
        self.heard = b""
        "What it was told so far, which alone decides what it does next."
        self._baton, self._real = baton, engine
        self.engine: Engine = PointedEngine(engine, self)
        self.store = Store(self.engine, clock=self.clock, secret=b"of the simulation", own=own)
        learns_by_itself(self.store)
        self.objects: ObjectStore = self.pointed(objects, "objects")
        "Files, the same for all processes."

    def pointed(self, real: T, part: str, *names: str) -> T:
        """Something of the world outside, each call of which is a point: an object store, a sink, a payment service."""
        return _Pointed(self, real, part, frozenset(names))  # type: ignore[return-value]

    def at_point(self, call: Call, act: Callable[[], T]) -> T:
        """Let others go first if they are to; then make the call, unless something happens to it."""
        happening = self._await(call)
        if happening is Happening.REFUSAL:
            raise self._unavailable(call)
        result = self._made(call, act)
        if happening is Happening.LOST_ANSWER:
            self._remember(b"lost")
            raise self._unavailable(call)
        return result

    def _await(self, call: Call) -> Happening | None:
        if self.dead:
            raise Death
        happening = self._baton(call)
        if happening is Happening.CRASH:
            self.dead = True
            raise Death
        return happening

    def _made(self, call: Call, act: Callable[[], T]) -> T:
        try:
            result = act()
        except Exception as error:
            told = getattr(error, "found", None) if isinstance(error, Conflict) else str(error)
            self._remember(_told(type(error).__name__, told))
            raise
        self._remember(_told(call.name, result))
        return result

    def _remember(self, told: bytes) -> None:
        """What a process does next depends on what it was told, and on when."""
        seen = (self.heard, told, repr((self.time.passed, self.clock.off)).encode())
        self.heard = blake2b(b"|".join(seen), digest_size=12).digest()

    def _unavailable(self, call: Call) -> Unavailable:
        return Unavailable(f"{call.part} could not be reached, as the simulation has it", part=call.part)


def learns_by_itself(store: Store) -> None:
    """Let nobody else, who is in this process too but only because it is a simulation, tell a store of new layouts."""
    knowledge = getattr(store.engine, "knowledge", None)
    if knowledge is not None:
        HERE.pop(knowledge.process, None)


class PointedEngine:
    """An engine every call of which is a point."""

    def __init__(self, real: Any, process: Process) -> None:
        self._real, self._process = real, process
        self.features = real.features

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if name not in READS and name not in WRITES:
            return found

        def call(*args: Any, **options: Any) -> Any:
            about = args[0] if args else None
            return self._process.at_point(Call("store", name, about), lambda: found(*args, **options))

        setattr(self, name, call)
        return call

    def bound(self, project: str) -> PointedEngine:
        return self

    def listen(self) -> Waiter:
        return _PointWaiter(self._process)

    def close(self) -> None:
        """It belongs to all."""


class _PointWaiter:
    def __init__(self, process: Process) -> None:
        self._process = process

    def wait(self, seconds: float) -> bool:
        self._process.at_point(Call("store", "wait"), lambda: None)
        return True

    def heard(self, shape: EntityShape) -> None:
        """It looks anyway."""

    def busy(self) -> None:
        """It looks again anyway."""

    def close(self) -> None:
        """Nothing waits."""


class _Pointed:
    def __init__(self, process: Process, real: Any, part: str, names: frozenset[str]) -> None:
        self._process, self._real, self._part, self._names = process, real, part, names

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if not callable(found) or (self._names and name not in self._names):
            return found
        return lambda *args, **options: self._process.at_point(
            Call(self._part, name, args[0] if args else None), lambda: found(*args, **options)
        )


_encode = msgspec.msgpack.Encoder(enc_hook=repr, order="deterministic").encode


def _told(name: str, result: Any) -> bytes:
    """What a call has told, so that two runs can be compared."""
    try:
        return name.encode() + _encode(_plain(result))
    except (TypeError, ValueError, OverflowError):
        return name.encode() + repr(result).encode()


def _plain(result: Any) -> Any:
    if isinstance(result, Page):
        return [_plain(result.records), result.more]
    if isinstance(result, FeedEntry):
        return [result.id, result.kind, result.cause]
    if isinstance(result, Sequence) and not isinstance(result, str | bytes):
        return [_plain(each) for each in result]
    return getattr(result, "__dict__", result)
