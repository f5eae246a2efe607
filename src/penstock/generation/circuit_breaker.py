"""A circuit breaker: a provider that fails again and again is left alone for a while, and costs no attempts meanwhile.

| state | what becomes of a call |
|---|---|
| closed | it is made; so many failures in a row open the circuit |
| open | it is refused at once with `ProviderResting`: the task is put off, and the attempt does not count |
| half open | one call is made to see how the provider is, and the others are refused until it is over |

A failure is silence, an error of the provider's own, or that it asks to be left alone. That it refuses what it was
asked is none: it is there, and answers.
"""

from __future__ import annotations

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
REST = timedelta(minutes=1)
_APART, _MOST_APART = timedelta(seconds=1), timedelta(minutes=15)
"Those who are refused come back one after the other: a thousand tasks that wait are not a thousand attempts a minute."


class ProviderResting(PutOff):
    """The provider has failed too often in a row, and is not asked just now."""


@dataclass(slots=True)
class _Circuit:
    """What one process knows of one provider."""

    lock: Lock = field(default_factory=Lock)
    failures: int = 0
    "In a row."
    until: float = 0.0
    "By the clock that nobody sets; while the circuit is open, or half open."
    trying: bool = False
    "One call is on its way to see how the provider is."
    refused: int = 0
    "Calls since it was opened."


class CircuitBreaker:
    """Guards the calls to one provider; may be shared by threads, and each process that forks has its own."""

    def __init__(self, *, failures: int = FAILURES, rest: timedelta = REST, clock: Clock | None = None) -> None:
        """So many ``failures`` in a row open the circuit; after the ``rest`` one call is let through."""
        self._most, self._rest, self._clock = failures, rest, clock or SystemClock()
        self._circuit = PerProcess(_Circuit)

    @contextmanager
    def guard(self, provider: str) -> Iterator[None]:
        """One call; ProviderResting instead, while the provider is left alone."""
        circuit = self._circuit.get()
        self._admit(circuit, provider)
        try:
            yield
        except (Unavailable, RetryLater) as failure:
            self._failed(circuit, failure.after if isinstance(failure, RetryLater) else self._rest)
            raise
        except Exception:
            self._answered(circuit)
            raise
        except BaseException:
            # Whoever waited has gone: that says nothing of the provider.
            with circuit.lock:
                circuit.trying = False
            raise
        self._answered(circuit)

    def _admit(self, circuit: _Circuit, provider: str) -> None:
        with circuit.lock:
            if circuit.failures < self._most:
                return
            left = circuit.until - self._clock.monotonic()
            if left <= 0 and not circuit.trying:
                circuit.trying = True
                return
            # Those who wait for one call come back some time after it, however long it may take.
            rest = timedelta(seconds=left) if left > 0 else self._rest
            after = rest + min(circuit.refused * _APART, _MOST_APART)
            circuit.refused += 1
            failures = circuit.failures
        why = f"{provider} has failed {failures} times in a row, and is left alone for {rest.total_seconds():.0f} s"
        raise telling(ProviderResting(why, after=after), why)

    def _failed(self, circuit: _Circuit, pause: timedelta) -> None:
        with circuit.lock:
            circuit.failures += 1
            circuit.trying = False
            if circuit.failures >= self._most:
                circuit.refused = 0
                circuit.until = self._clock.monotonic() + max(pause, self._rest).total_seconds()

    def _answered(self, circuit: _Circuit) -> None:
        with circuit.lock:
            circuit.failures, circuit.trying = 0, False
