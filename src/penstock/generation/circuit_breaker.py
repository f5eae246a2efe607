"""A circuit breaker: a provider that fails again and again is left alone for a while, and costs no attempts meanwhile.

| state | what becomes of a call |
|---|---|
| closed | it is made; so many failures in a row open the circuit, and more than so many within a minute |
| open | it is refused at once with `ProviderResting`: the task is put off, and the attempt does not count |
| half open | one call is made to see how the provider is, and the others are refused until it is over |

A failure is silence, an error of the provider's own, that it asks to be left alone, or that what it has made cannot be
used. That it refuses what it was asked is none: it is there, and answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock

from penstock.errors import Unavailable, telling
from penstock.net.per_process import PerProcess
from penstock.ports.clock import Clock, SystemClock
from penstock.work.errors import PutOff, RetryLater

FAILURES = 5
WITHIN = timedelta(minutes=1)
REST = timedelta(minutes=1)
_APART, _MOST_APART = timedelta(seconds=1), timedelta(minutes=15)
"Those who are refused come back one after the other: a thousand tasks that wait are not a thousand attempts a minute."


class ProviderResting(PutOff):
    """The provider has failed too often, and is not asked just now."""


@dataclass(slots=True)
class _Circuit:
    """What one process knows of one provider. Moments are by the clock that nobody sets."""

    lock: Lock = field(default_factory=Lock)
    in_a_row: int = 0
    recent: deque[float] = field(default_factory=deque)
    "When it has failed of late."
    is_open: bool = False
    "Or half open."
    until: float = 0.0
    "When one call may see how the provider is."
    trying: bool = False
    "That call is on its way."
    refused: int = 0
    "Calls since it was opened."


class CircuitBreaker:
    """Guards the calls to one provider; may be shared by threads, and each process that forks has its own."""

    def __init__(
        self,
        *,
        failures: int = FAILURES,
        within: timedelta = WITHIN,
        rest: timedelta = REST,
        clock: Clock | None = None,
    ) -> None:
        """So many ``failures`` in a row open the circuit, and more than so many ``within`` a time; after the ``rest``
        one call is let through.
        """
        self._most, self._within, self._rest = failures, within, rest
        self._clock = clock or SystemClock()
        self._circuit = PerProcess(_Circuit)

    @contextmanager
    def guard(self, provider: str) -> Iterator[None]:
        """One call; ProviderResting instead, while the provider is left alone."""
        circuit = self._circuit.get()
        to_see = self._admit(circuit, provider)
        try:
            yield
        except (Unavailable, RetryLater) as failure:
            self._failed(circuit, failure, to_see=to_see)
            raise
        except Exception:
            self._answered(circuit, to_see=to_see)
            raise
        except BaseException:
            # Whoever waited has gone: that says nothing of the provider.
            with circuit.lock:
                circuit.trying = circuit.trying and not to_see
            raise
        self._answered(circuit, to_see=to_see)

    def count(self, failure: Unavailable | RetryLater) -> None:
        """A failure that shows only after calls which were answered."""
        self._failed(self._circuit.get(), failure, to_see=False)

    def _admit(self, circuit: _Circuit, provider: str) -> bool:
        """Whether the call is the one that sees how the provider is."""
        with circuit.lock:
            if not circuit.is_open:
                return False
            left = circuit.until - self._clock.monotonic()
            if left <= 0 and not circuit.trying:
                circuit.trying = True
                return True
            # Those who wait for one call come back some time after it, however long it may take.
            rest = timedelta(seconds=left) if left > 0 else self._rest
            after = rest + min(circuit.refused * _APART, _MOST_APART)
            circuit.refused += 1
            how = self._how_often(circuit)
        why = f"{provider} has failed {how}, and is left alone for {rest.total_seconds():.0f} s"
        raise telling(ProviderResting(why, after=after), why)

    def _how_often(self, circuit: _Circuit) -> str:
        if circuit.in_a_row >= self._most:
            return f"{circuit.in_a_row} times in a row"
        return f"more than {self._most} times within {self._within.total_seconds():.0f} s"

    def _failed(self, circuit: _Circuit, failure: Unavailable | RetryLater, *, to_see: bool) -> None:
        now = self._clock.monotonic()
        pause = failure.after if isinstance(failure, RetryLater) else self._rest
        with circuit.lock:
            circuit.in_a_row += 1
            circuit.recent.append(now)
            while circuit.recent and circuit.recent[0] <= now - self._within.total_seconds():
                circuit.recent.popleft()
            circuit.trying = circuit.trying and not to_see
            if circuit.is_open or circuit.in_a_row >= self._most or len(circuit.recent) > self._most:
                circuit.is_open, circuit.refused = True, 0
                circuit.until = now + max(pause, self._rest).total_seconds()

    def _answered(self, circuit: _Circuit, *, to_see: bool) -> None:
        """Only the call that was made to see closes the circuit: others were begun before it opened."""
        with circuit.lock:
            circuit.in_a_row = 0
            if to_see:
                circuit.is_open = circuit.trying = False
                circuit.recent.clear()
