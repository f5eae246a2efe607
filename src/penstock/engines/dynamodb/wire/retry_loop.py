"""A call whose first attempt did not succeed: what is done about it until it does, or until it must fail."""

from penstock.engines.dynamodb.wire.channel import Channel
from penstock.engines.dynamodb.wire.checksum import is_good
from penstock.engines.dynamodb.wire.failure import Cause, Failure, of_answer, of_lost
from penstock.engines.dynamodb.wire.retry import RetryPolicy
from penstock.net.answer import Lost, PostAnswer


class RetryLoop:
    """One call after its first attempt. `ambiguous`: a lost attempt may have been executed."""

    def __init__(self, channel: Channel, target: str, body: bytes, policy: RetryPolicy) -> None:
        self.ambiguous = False
        self._channel = channel
        self._target = target
        self._body = body
        self._retries = policy.begin()
        self._mended = False

    def follow(self, outcome: PostAnswer | Lost) -> bytes:
        """Go on from the first attempt's outcome to a good answer's body, or raise what stands in the way."""
        while isinstance(outcome, Lost) or not is_good(outcome):
            outcome = self._again(self._read(outcome))
        self._retries.succeeded()
        self.ambiguous |= outcome.resent
        return outcome.body

    def _read(self, outcome: PostAnswer | Lost) -> Failure:
        if isinstance(outcome, Lost):
            return of_lost(outcome)
        return of_answer(outcome, self._channel.token())

    def _again(self, found: Failure) -> PostAnswer | Lost:
        """Make the next attempt, if there is to be one."""
        self.ambiguous |= found.unsure
        # A dead connection costs no attempt. This cannot go on for ever: a fresh one is never stale.
        if found.cause is Cause.STALE:
            return self._send(fresh=True)
        if self._mend(found) or self._retries.allow(found.cause):
            return self._send(fresh=False)
        raise found.error(self.ambiguous)

    def _send(self, *, fresh: bool) -> PostAnswer | Lost:
        try:
            return self._channel.send(self._target, self._body, fresh=fresh)
        except Lost as lost:
            return lost

    def _mend(self, found: Failure) -> bool:
        """Put right what made the service refuse the signature: once per call, it helps at once or never."""
        if self._mended:
            return False
        if found.cause is Cause.EXPIRED:
            self._mended = self._channel.renew_keys()
        elif found.cause is Cause.SKEWED:
            self._mended = self._channel.follow_clock(found.date)
        return self._mended
