"""What went wrong with an attempt, and what that means for the next one. Nothing here does I/O."""

from enum import Enum, auto

import msgspec

from penstock.engines.dynamodb.wire.checksum import is_intact
from penstock.engines.dynamodb.wire.errors import Unreachable, WireError, WireFault, WireThrottled
from penstock.net.answer import Lost, PostAnswer

_THROTTLING = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "ReplicatedWriteConflictException",  # another region writes the same item
        "RequestLimitExceeded",
        "Throttling",
        "ThrottlingException",
        "TransactionInProgressException",
    }
)
_TOO_MANY_REQUESTS = 429
_EXPIRED_KEYS = frozenset({"ExpiredToken", "ExpiredTokenException"})
_WRONG_TIME = frozenset({"InvalidSignatureException", "RequestTimeTooSkewed"})

_CANCELLED = "TransactionCanceledException"
# The bodies of these hold the caller's data, which must stay as it is, and never a signature.
_CARRY_ITEMS = frozenset({"ConditionalCheckFailedException", _CANCELLED})
_PASSING_REASONS = frozenset({"ProvisionedThroughputExceeded", "ThrottlingError", "TransactionConflict"})


class Cause(Enum):
    """Why an attempt failed."""

    REFUSED = auto()  # a definite no
    THROTTLED = auto()  # too fast; nothing was executed
    FAILED = auto()  # the server or the network broke
    TIMED_OUT = auto()
    STALE = auto()  # an idle connection had been closed by the server
    HOPELESS = auto()  # no connection, and there will be none
    EXPIRED = auto()  # the keys are no longer valid
    SKEWED = auto()  # perhaps signed with the wrong time


class Failure(msgspec.Struct, frozen=True):
    """One failed attempt. `unsure`: the server may have executed the request."""

    cause: Cause
    unsure: bool
    message: str
    code: str = ""
    status: int = 0
    body: bytes = b""
    date: bytes | None = None

    def error(self, ambiguous: bool) -> WireFault:
        """The error to raise when this attempt was the last one."""
        if self.cause is Cause.THROTTLED:
            return WireThrottled(self.code, self.message, ambiguous)
        if self.code and self.status < 500:
            return WireError(self.code, self.message, self.status, self.body, ambiguous)
        return Unreachable(self.message, ambiguous)


def of_lost(lost: Lost) -> Failure:
    """Read a broken exchange."""
    if lost.hopeless:
        cause = Cause.HOPELESS
    elif lost.stale:
        cause = Cause.STALE
    elif lost.timed_out:
        cause = Cause.TIMED_OUT
    else:
        cause = Cause.FAILED
    return Failure(cause, lost.sent, f"DynamoDB could not be reached: {lost.reason}")


def of_answer(answer: PostAnswer, token: str | None) -> Failure:
    """Read an answer that is no success. `token` is a secret AWS quotes in some messages: it is cut out."""
    if not is_intact(answer):
        return Failure(Cause.FAILED, True, "DynamoDB's answer was damaged on its way (CRC32 mismatch)")
    code, message = _read(answer.body, answer.status)
    body = answer.body
    if token and code not in _CARRY_ITEMS:
        message, body = message.replace(token, "***"), body.replace(token.encode(), b"***")
    if answer.status >= 500:
        request = (answer.header(b"x-amzn-requestid:") or b"unknown").decode("latin-1")
        message = f"DynamoDB failed with {answer.status} {code}: {message} (request {request})"
    return Failure(
        cause=_cause(code, answer.status),
        unsure=answer.resent or answer.status >= 500,
        message=message,
        code=code,
        status=answer.status,
        body=body,
        date=answer.header(b"date:"),
    )


def transient_cancellation(error: WireError) -> bool:
    """Whether only throttling or another transaction cancelled this one, so that it may be repeated.

    False as soon as one of its parts failed for a reason of its own, such as a condition.
    """
    if error.code != _CANCELLED:
        return False
    try:
        reasons = msgspec.json.decode(error.body, type=_Cancellation).reasons
    except msgspec.DecodeError:
        return False
    codes = {reason.code for reason in reasons} - {"None"}
    return bool(codes) and codes <= _PASSING_REASONS


def _cause(code: str, status: int) -> Cause:
    if code in _THROTTLING or status == _TOO_MANY_REQUESTS:
        return Cause.THROTTLED
    if status >= 500:
        return Cause.FAILED
    if code in _EXPIRED_KEYS:
        return Cause.EXPIRED
    if code in _WRONG_TIME:
        return Cause.SKEWED
    return Cause.REFUSED


def _read(body: bytes, status: int) -> tuple[str, str]:
    """Code and message of an error; what is not DynamoDB's (a proxy's page) gets a code such as Http403."""
    try:
        said = msgspec.json.decode(body, type=_ErrorBody)
    except msgspec.DecodeError:
        said = _ErrorBody()
    return said.type.rpartition("#")[2] or f"Http{status}", said.message or said.capital_message


class _ErrorBody(msgspec.Struct):
    type: str = msgspec.field(name="__type", default="")
    message: str = ""
    capital_message: str = msgspec.field(name="Message", default="")


class _Reason(msgspec.Struct):
    code: str = msgspec.field(name="Code", default="None")


class _Cancellation(msgspec.Struct):
    reasons: list[_Reason] = msgspec.field(name="CancellationReasons", default_factory=list)
