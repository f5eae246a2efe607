"""When to try again, and how long to wait first."""

from collections.abc import Callable
from threading import Lock

from penstock.engines.dynamodb.wire.failure import Cause
from penstock.net.per_process import watch

QUOTA = 500
_COST = 5
_TIMEOUT_COST = 10
_REWARD = 1

_BASE = 0.025
_THROTTLED_BASE = 0.050
_LONGEST = 2.0

_WORTH_RETRYING = frozenset({Cause.FAILED, Cause.THROTTLED, Cause.TIMED_OUT})


class RetryBudget:
    """A purse all calls of a Wire share: retries draw from it, successes fill it.

    When the service is down the purse runs empty, and calls fail at once instead of piling retries on top.
    """

    def __init__(self, size: int = QUOTA) -> None:
        self.size = size
        self.left = size
        self._lock = Lock()
        watch(self)

    def take(self, amount: int) -> bool:
        """Draw `amount`; False, and nothing drawn, when there is less than that."""
        with self._lock:
            if self.left < amount:
                return False
            self.left -= amount
            return True

    def give(self, amount: int) -> None:
        with self._lock:
            self.left = min(self.size, self.left + amount)

    def forked(self) -> None:
        # A thread of the parent may have held the lock.
        self._lock = Lock()


class RetryPolicy:
    """How often and how fast attempts follow each other. Time and chance come from outside."""

    def __init__(self, attempts: int, sleep: Callable[[float], None], random: Callable[[], float]) -> None:
        self.attempts = attempts
        self.quota = RetryBudget()
        self._sleep = sleep
        self._random = random

    def begin(self) -> "Retries":
        """Start counting for one call whose first attempt has been made."""
        return Retries(self)

    def reward(self) -> None:
        """A call succeeded at its first attempt."""
        if self.quota.left != self.quota.size:
            self.quota.give(_REWARD)

    def pause(self, cause: Cause, retry: int) -> None:
        """Full jitter: anything from no wait at all to a bound that doubles with every retry (1, 2, ...)."""
        base = _THROTTLED_BASE if cause is Cause.THROTTLED else _BASE
        self._sleep(self._random() * min(_LONGEST, base * 2 ** (retry - 1)))


class Retries:
    """The retries of one call."""

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self._made = 0
        self._drawn = 0

    def allow(self, cause: Cause) -> bool:
        """Whether one more attempt may be made; if so, returns after the wait that is due before it."""
        if cause not in _WORTH_RETRYING or self._made + 1 >= self._policy.attempts:
            return False
        cost = _TIMEOUT_COST if cause is Cause.TIMED_OUT else _COST
        if not self._policy.quota.take(cost):
            return False
        self._drawn = cost
        self._made += 1
        self._policy.pause(cause, self._made)
        return True

    def succeeded(self) -> None:
        """Give back what the last retry cost: it was worth it. What earlier ones cost stays spent."""
        self._policy.quota.give(self._drawn or _REWARD)
