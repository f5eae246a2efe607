"""What a domain brings with it: its records, and, if it is a whole system, its tasks, schedules and routes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.declare.domain import Domain
from penstock.ports import ObjectStore
from penstock.schedule import Schedule
from penstock.store import Store
from penstock.work.registry import Tasks


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a running system gives to its domains."""

    store: Store
    objects: ObjectStore
    setting: Callable[[str], str | None]
    "A domain's own setting, by the name of its environment variable."


@dataclass(frozen=True, slots=True)
class Installed:
    """A domain as a service runs it."""

    domain: Domain
    tasks: Tasks | None = None
    schedules: Callable[[Surroundings], Sequence[Schedule]] | None = None
    "What is due by the clock."
    routes: Callable[[Surroundings], Any] | None = None
    "A router of its own, beside the routes that every domain has."
