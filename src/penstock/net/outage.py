"""Outages: what a process knows of a part of the system that may be away, and who asks it next.

Whoever meets a failure says so. From then on one caller at a time asks the part, with pauses that grow, while all
others wait; the first answer lets everybody go on. Nothing is believed to be away before it was asked: one failure may
be that of a single request.

An outage is logged when it begins, every ten minutes, and when it is over.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from threading import Event, Lock, get_ident

from penstock.errors import Unavailable
from penstock.net.backoff import Backoff
from penstock.net.per_process import watch

log = logging.getLogger("penstock.outage")

FIRST, LONGEST = 0.25, 2.0
"Seconds before the second question, and between later ones at most: work has to go on within five after the return."
_GLANCE = 0.25
"Seconds after which one who waits sees that it is over, or that there is no more time."
_STILL = 600.0
_SETTLED = 30.0
"Seconds for which a part has to be there before its next failure is another outage, and pauses begin anew."


class Lookout:
    """One part of the system, as one process knows it; shared by its threads, and made anew where it forks.

    ``probe`` asks the part, and raises if it is away. ``monotonic`` may be a clock that stands still; what it says and
    what has really passed both count, so that nobody waits for a clock that nobody moves.
    """

    def __init__(
        self,
        part: str,
        *,
        probe: Callable[[], object] | None = None,
        first: float = FIRST,
        longest: float = LONGEST,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.part, self.probe = part, probe
        self._backoff, self._monotonic = Backoff(first=first, longest=longest, jitter=0.0), monotonic
        self._returned: list[Callable[[], object]] = []
        watch(self)
        self.forked()

    def keep_time_by(self, monotonic: Callable[[], float]) -> None:
        """Have another clock count as well."""
        self._monotonic = monotonic
        self.forked()

    def forked(self) -> None:
        # What the parent knew may be old, and a thread of it may have held the lock.
        self._lock = Lock()
        self.away = False
        "It was asked, and did not answer."
        self.doubted = False
        "Somebody has met a failure, and nobody an answer since."
        self._why: BaseException | None = None
        self._asker: int | None = None
        self._failures = 0
        self._asked = self._since = self._told = self._now()
        self._over: tuple[float, float] | None = None

    # What is met

    def failed(self, error: BaseException, *, sure: bool = False) -> None:
        """Somebody has met a failure; one who is ``sure`` need not have it asked first."""
        with self._lock:
            now = self._now()
            asked = self._asker == get_ident()
            if not self.doubted:
                self._doubt(now, at_once=not sure)
            if not asked and (self.away or not sure):
                return
            self._asker, self._asked, self._failures = None, now, max(1, self._failures + asked)
            if self.away:
                self._go_on(error)
            else:
                self._begin(error)

    def _doubt(self, now: tuple[float, float], *, at_once: bool) -> None:
        """Whoever comes first asks at once; not so where it answers and yet fails again and again."""
        again = self._over is not None and self._passed(self._over) < _SETTLED
        self.doubted, self._since = True, now
        self._failures = self._failures + 1 if again else 0
        self._asked = now if again or not at_once else (float("-inf"), float("-inf"))

    def answered(self) -> None:
        """Somebody has met an answer: everybody goes on."""
        if not self.doubted:
            return
        with self._lock:
            was, length = self.away, self._passed(self._since)
            self.away = self.doubted = False
            self._asker = None
            self._over = self._now()
        if was:
            log.warning("%s is back, after %s", self.part, _span(length))
        for returned in self._returned:
            returned()

    def on_return(self, action: Callable[[], object]) -> None:
        """Do something whenever a doubt is over."""
        self._returned.append(action)

    # Who asks

    def turn(self) -> bool:
        """May this caller go ahead? While the part is away, one may at a time, and says what came of it."""
        if not self.doubted:
            return True
        with self._lock:
            if not self.doubted or self._asker == get_ident():
                return True
            if not self._is_due():
                return False
            self._asker, self._asked = get_ident(), self._now()
            return True

    def pass_on(self) -> None:
        """Whoever had the turn has nothing to ask."""
        with self._lock:
            if self._asker == get_ident():
                self._asker = None

    def check(self) -> None:
        """Unavailable, at once, while the part is away and it is not this caller's turn."""
        if self.away and not self.turn():
            raise Unavailable(f"{self.part} is away, and is asked again soon: {self._why}", part=self.part)

    @property
    def due(self) -> bool:
        """Is it time to ask again?"""
        with self._lock:
            return self.doubted and self._is_due()

    def ask(self) -> bool:
        """Is it there? It is asked if that is in doubt, nobody else is at it, and it is time."""
        if not self.doubted:
            return True
        if not self.turn():
            return False
        try:
            if self.probe is not None and self.doubted:
                self.probe()
        except (Unavailable, OSError) as error:
            self.failed(error)
            return False
        except Exception:
            log.debug("%s answers, if only with a refusal", self.part, exc_info=True)
        self.answered()
        return True

    def wait(self, stop: Event) -> bool:
        """Wait until it answers, asking it now and then; False when told to stop."""
        while not stop.is_set():
            if self.ask():
                return True
            stop.wait(_GLANCE)
        return False

    def lately(self, seconds: float) -> bool:
        """Is it away, or was it within so many seconds?"""
        return self.away or (self._over is not None and self._passed(self._over) < seconds)

    # Time, and words

    def _is_due(self) -> bool:
        """By either clock. One who has the turn and never says what came of it loses it after a minute."""
        passed = self._passed(self._asked)
        if self._asker is not None and passed < max(60.0, self._pause()):
            return False
        return passed >= self._pause()

    def _pause(self) -> float:
        return self._backoff.bound(self._failures) if self._failures else 0.0

    def _now(self) -> tuple[float, float]:
        return time.monotonic(), self._monotonic()

    def _passed(self, since: tuple[float, float]) -> float:
        return max(now - then for now, then in zip(self._now(), since, strict=True))

    def _begin(self, error: BaseException) -> None:
        self.away, self._why, self._told = True, error, self._now()
        log.warning("%s is away, and waited for: %s", self.part, error)

    def _go_on(self, error: BaseException) -> None:
        self._why = error
        if self._passed(self._told) >= _STILL:
            self._told = self._now()
            log.warning("%s is still away, after %s: %s", self.part, _span(self._passed(self._since)), error)


def _span(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
