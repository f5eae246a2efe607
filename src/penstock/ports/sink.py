"""Where messages go, and what they look like on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol


class Undeliverable(Exception):
    """A sink will never take this message; trying again is no use."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """A message as others get it; the id is what they recognise a repetition by."""

    id: str
    type: str
    aggregate: str
    project: str | None
    payload: Mapping[str, Any]
    at: datetime


class Sink(Protocol):
    """Where messages go. One that has a ``name`` is waited for once by all who tell it, should it be away."""

    def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
        """Take messages about different things; one outcome for each, None for success.

        `Unavailable`, or an error of the connection, says that the sink is away, and costs the message nothing;
        `Undeliverable` that it will never take this one; any other error that trying again may help.
        """
        ...
