"""What a domain brings with it: its records; if it is a whole system, its tasks, schedules, routes and settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.declare.domain import Domain
from penstock.declare.setting import Setting
from penstock.errors import DeclarationError
from penstock.events.schedule import Schedule
from penstock.operations.plan import PlanStep
from penstock.work.domain_context import DomainContext
from penstock.work.registry import Tasks


@dataclass(frozen=True, slots=True)
class DomainPlugin:
    """A domain as a service runs it."""

    domain: Domain
    tasks: Tasks | None = None
    schedules: Callable[[DomainContext], Sequence[Schedule]] | None = None
    "What is due by the clock."
    routes: Callable[[DomainContext], Any] | None = None
    "A router of its own, beside the routes that every domain has."
    advice: Callable[[str, Callable[[str], str | None]], Sequence[PlanStep]] | None = None
    "What it asks of whoever keeps the object store at a URL, given its own settings."
    settings: Sequence[Setting] = ()
    "What a deployment may choose about it. It can read no other."


def own_settings(installed: Iterable[DomainPlugin], found: Mapping[str, str]) -> Callable[[str], str | None]:
    """What was found of the settings that domains declare. To ask for another is a mistake: nobody could know of it."""
    known = {s.variable for each in installed for s in each.settings}

    def setting(name: str) -> str | None:
        if name not in known:
            raise DeclarationError(f"{name} is a setting of no domain; add it to the settings of its Installed")
        return found.get(name) or None

    return setting
