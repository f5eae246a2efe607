"""The rate at which one may send, learned from a service that refuses because of load.

Nothing is held back until it does. Then calls are spread at less than the rate at which it refused, which grows back as
TCP's CUBIC does: quickly at first, slowly near the old rate, and beyond it until the limit is forgotten. That is what
AWS's clients call adaptive retries.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from threading import Lock

from penstock.net.per_process import watch

_MEASURED = 64
"So many of the last calls tell the rate."
_LEAST = 10.0
"Calls a second that are let through in any case: one who seldom calls is not in the way."
_CUT, _GROWTH = 0.7, 0.4


class SendRate:
    """What all callers of a service share. Times are in seconds."""

    def __init__(self, *, sleep: Callable[[float], None], now: Callable[[], float] = time.monotonic) -> None:
        self._sleep, self._now = sleep, now
        self._sent: deque[float] = deque(maxlen=_MEASURED)
        self._most: float | None = None
        "The rate at which it was last refused; None while nothing is held back."
        self._refused_at = self._next = 0.0
        self._lock = Lock()
        watch(self)

    def wait(self) -> None:
        """Return when one more call may be sent: at once, unless calls were refused lately."""
        moment = self._now()
        self._sent.append(moment)
        if self._most is not None and (pause := self._turn(moment)) > 0:
            self._sleep(pause)

    def refused(self) -> None:
        """A call was refused because of load."""
        with self._lock:
            moment = self._now()
            measured = max(self._measured(moment), _LEAST)
            allowed = self._allowed(moment)
            self._most = measured if allowed is None else max(min(measured, allowed), _LEAST)
            self._refused_at = moment

    @property
    def rate(self) -> float | None:
        """Calls a second that are let through now; None while any number is."""
        return self._allowed(self._now())

    def forked(self) -> None:
        # A thread of the parent may have held the lock.
        self._lock = Lock()

    def _turn(self, moment: float) -> float:
        """How long to wait for one's turn."""
        with self._lock:
            allowed = self._allowed(moment)
            if allowed is None:
                self._most = None
                return 0.0
            turn = max(moment, self._next)
            self._next = turn + 1 / allowed
            return turn - moment

    def _allowed(self, moment: float) -> float | None:
        if self._most is None:
            return None
        back = (self._most * (1 - _CUT) / _GROWTH) ** (1 / 3)
        allowed = self._most + _GROWTH * (moment - self._refused_at - back) ** 3
        return allowed if allowed < 2 * self._most else None

    def _measured(self, moment: float) -> float:
        past = moment - self._sent[0] if self._sent else 0.0
        return len(self._sent) / past if past > 0 else 0.0
