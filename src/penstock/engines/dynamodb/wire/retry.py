"""When to try again, and how long to wait first."""

from collections.abc import Callable

from penstock.engines.dynamodb.wire.failure import Cause
from penstock.net.backoff import Backoff, RetryBudget
from penstock.net.send_rate import SendRate

BUDGET = 500
"What all calls of a wire share for their retries."
_COST = 5
_TIMEOUT_COST = 10
_REWARD = 1

_BACKOFF = Backoff(first=0.025, longest=2.0)
_THROTTLED_BACKOFF = Backoff(first=0.050, longest=2.0)

_WORTH_RETRYING = frozenset({Cause.FAILED, Cause.THROTTLED, Cause.TIMED_OUT})


class RetryPolicy:
    """How often and how fast attempts follow each other. Time and chance come from outside."""

    def __init__(self, attempts: int, sleep: Callable[[float], None], random: Callable[[], float]) -> None:
        self.attempts = attempts
        self.budget = RetryBudget(BUDGET)
        self.pace = SendRate(sleep=sleep)
        self._sleep = sleep
        self._random = random

    def begin(self) -> "Retries":
        """Start counting for one call whose first attempt has been made."""
        return Retries(self)

    def reward(self) -> None:
        """A call succeeded at its first attempt."""
        if self.budget.left != self.budget.size:
            self.budget.give(_REWARD)

    def pause(self, cause: Cause, retry: int) -> None:
        """Full jitter: anything from no wait at all to a bound that doubles with every retry (1, 2, ...)."""
        backoff = _THROTTLED_BACKOFF if cause is Cause.THROTTLED else _BACKOFF
        self._sleep(backoff.pause(retry, self._random))


class Retries:
    """The retries of one call."""

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self._made = 0
        self._drawn = 0

    def allow(self, cause: Cause) -> bool:
        """Whether one more attempt may be made; if so, returns after the wait that is due before it."""
        if cause is Cause.THROTTLED:
            self._policy.pace.refused()
        if cause not in _WORTH_RETRYING or self._made + 1 >= self._policy.attempts:
            return False
        cost = _TIMEOUT_COST if cause is Cause.TIMED_OUT else _COST
        if not self._policy.budget.take(cost):
            return False
        self._drawn = cost
        self._made += 1
        self._policy.pause(cause, self._made)
        return True

    def succeeded(self) -> None:
        """Give back what the last retry cost: it was worth it. What earlier ones cost stays spent."""
        self._policy.budget.give(self._drawn or _REWARD)
