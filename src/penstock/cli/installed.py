"""The domains that a command serves: found once for each command, by what the command line and the settings say."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from penstock.declare.domain import Domain
from penstock.errors import Misconfigured
from penstock.plugin import DomainPlugin
from penstock.runtime.discovery import discover, domains_of
from penstock.runtime.settings import read_settings


@dataclass
class Serving:
    """What one command serves."""

    named: Sequence[str] = ()
    "What the command line names."
    commands: dict[str, Any] | None = field(default=None, repr=False)
    "What the domains bring to the command line, once somebody has looked."

    strangers: list[str] | None = None
    "What is set under names that nothing reads, once somebody has looked."

    @cached_property
    def found(self) -> tuple[DomainPlugin, ...]:
        """The domains that are installed or named; perhaps none."""
        return discover(read_settings(()), named=self.named)


_SERVING: ContextVar[Serving] = ContextVar("serving")


def serve(named: Sequence[str]) -> None:
    """Begin a command that serves these domains and no others, or all that the settings say."""
    _SERVING.set(Serving(tuple(named)))


def serving() -> Serving:
    """What the command at hand serves."""
    return _SERVING.get()


def installed() -> tuple[DomainPlugin, ...]:
    """The domains that are served; Misconfigured when there are none."""
    plugins = serving().found
    if not plugins:
        raise Misconfigured(
            "no domain is installed, so there is nothing to serve. Write one: penstock new NAME; or name one: "
            "--domain package.module:PLUGIN; those that ship with Penstock are there once it is installed anew"
        )
    return plugins


def domains() -> tuple[Domain, ...]:
    """What they declare."""
    return domains_of(installed())
