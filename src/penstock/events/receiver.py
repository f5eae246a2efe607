"""Who is told: a sink, and what its answers say of it and of each message.

| what comes of a message | whose fault it is | what it costs the message |
|---|---|---|
| it is taken | | |
| it will never be taken (`Undeliverable`), or any other error | its own | an attempt, or all |
| nobody answers (`Unavailable`, a failed connection), and no other is taken | the sink's: it is away | nothing |
| the same, but others are taken, in the same round or since it last failed | its own | an attempt |
| too many at once (`Throttled`) | nobody's | nothing; all wait a moment |
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from penstock.errors import Throttled, Unavailable
from penstock.events.outcomes import outcomes_of
from penstock.kernel.outages import outages_of
from penstock.kernel.outbox import Message
from penstock.kernel.store import Store
from penstock.net.outage import Lookout
from penstock.ports.sink import Envelope, Sink, Undeliverable

_FIRST, _LONGEST = 1.0, 60.0
"Seconds between tries of a sink that is away, at first and at most."
_MOMENT = 1.0
"Seconds for which a sink is left alone that takes some and has too many."
_REMEMBERED = 10_000


class Spared(Exception):
    """The message could not be told, and it is not its fault."""


class Receiver:
    """A sink, as one relay knows it."""

    def __init__(self, store: Store, sink: Sink) -> None:
        self._sink, self._clock = sink, store.clock
        name = getattr(sink, "name", None)
        if name is not None:  # several relays of a process may tell the same one, which is tried once for all of them
            self._lookout = outages_of(store).lookout(name, first=_FIRST, longest=_LONGEST)
        else:
            kind, clock = type(sink).__name__, store.clock
            self._lookout = Lookout(f"the sink {kind}", first=_FIRST, longest=_LONGEST, monotonic=clock.monotonic)
        self._taken = 0
        "How many rounds there were in which something was taken."
        self.failing: dict[str, int] = {}
        "What has failed last, the one that was tried longest ago first, and how many such rounds there were then."
        self.is_in_doubt = False
        "Is it away only as far as messages say that have failed before, while others were taken?"
        self._rests_until = float("-inf")

    @property
    def is_away(self) -> bool:
        return self._lookout.away

    def may_be_told(self) -> bool:
        """May it be told anything now? While it is away, one message when its pause is over."""
        return self._clock.monotonic() >= self._rests_until and self._lookout.turn()

    def pass_on(self) -> None:
        """There was nothing to tell."""
        self._lookout.pass_on()

    def next_of(self, things: Collection[str]) -> str:
        """The one to try a sink with that is away: one that has not failed yet, else the one tried longest ago."""
        new = next((thing for thing in things if thing not in self.failing), None)
        return new or next(thing for thing in self.failing if thing in things)

    def tell(self, messages: Sequence[Message]) -> list[Exception | None]:
        """Tell messages about different things; what became of each, `Spared` where it is not its own fault."""
        outcomes = outcomes_of(self._sink, [envelope(m) for m in messages])
        taken = None in outcomes
        self._taken += taken
        judged = [self._judged(m, o, taken=taken) for m, o in zip(messages, outcomes, strict=True)]
        spared = [(m, o) for m, o, j in zip(messages, outcomes, judged, strict=True) if isinstance(j, Spared) and o]
        if taken or not spared:
            self._lookout.answered()
            self.is_in_doubt = False
            if spared:
                self._rests_until = self._clock.monotonic() + _MOMENT
        else:
            self.is_in_doubt = all(message.attempts for message, _ in spared)
            self._lookout.failed(spared[0][1], sure=True)
        return judged

    def _judged(self, message: Message, outcome: Exception | None, *, taken: bool) -> Exception | None:
        """Whose fault it is."""
        known = self.failing.pop(message.aggregate, self._taken)
        if outcome is None:
            return None
        self.failing[message.aggregate] = self._taken
        if len(self.failing) > _REMEMBERED:
            self.failing.pop(next(iter(self.failing)))
        if isinstance(outcome, Undeliverable) or not isinstance(outcome, Unavailable | OSError):
            return outcome
        own_fault = (taken or known < self._taken) and not isinstance(outcome, Throttled)
        return outcome if own_fault else Spared(str(outcome))


def envelope(message: Message) -> Envelope:
    """What a sink gets of a message."""
    return Envelope(message.event_id, message.type, message.aggregate, message.project_id, message.payload, message.ts)
