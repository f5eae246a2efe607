"""Processes that are ended between any two writes, and asked again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any, TypeVar

from penstock import Store
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.testing.faults.blade import WRITES_OF_ENGINES, WRITES_OF_OBJECTS, Blade, Killed
from tests.domains.novae.story import later, work_through, workers

W = TypeVar("W")


def process(catalogue: NovaCatalogue, blade: Blade) -> NovaCatalogue:
    """The catalogue of another process, with its own connection to what is stored."""
    engine = blade.cut(catalogue.store.engine, *WRITES_OF_ENGINES)
    store = Store(engine, clock=catalogue.store.clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    return replace(catalogue, store=store, objects=blade.cut(catalogue.objects, *WRITES_OF_OBJECTS))


def kill_at_every_write(
    catalogue: NovaCatalogue,
    prepare: Callable[[], W],
    act: Callable[[NovaCatalogue, W], Any],
    check: Callable[[W], Any],
    *,
    every: int = 1,
    least: int = 1,
) -> None:
    """Do something in a process that dies at its first, second … write, and again in one that lives; then look."""
    for at in count(1, every):
        world, blade = prepare(), Blade(at)
        with suppress(Killed):
            act(process(catalogue, blade), world)
        if blade.dead:
            later(catalogue, minutes=10)  # the leases of the dead one are over
            workers(catalogue).rescue()
            later(catalogue, minutes=1)
            act(process(catalogue, Blade()), world)
        work_through(catalogue)
        try:
            check(world)
        except AssertionError as wrong:
            raise AssertionError(f"killed at write {at}: {wrong}") from wrong
        if not blade.dead:
            assert at > least, f"there is more to be killed at than {at} writes"
            return
