"""The wire, with its errors in Penstock's words."""

from __future__ import annotations

import random as chance
from collections.abc import Callable
from threading import Lock
from typing import Any, Protocol

import msgspec

from penstock.engines.dynamodb.wire import Reply, Unconfigured, Unreachable, WireError, WireThrottled
from penstock.errors import InvalidValue, Misconfigured, PenstockError, TooLarge, Unavailable
from penstock.errors import Throttled as StoreThrottled
from penstock.net.backoff import Backoff, Patience
from penstock.net.per_process import watch

CONDITION_FAILED = "ConditionalCheckFailedException"
CANCELLED = "TransactionCanceledException"
IN_TRANSACTION = "TransactionConflictException"
MISMATCH = "IdempotentParameterMismatchException"
NO_TABLE = "ResourceNotFoundException"
BUSY = "ResourceInUseException"

_MEANT = frozenset({CONDITION_FAILED, CANCELLED, IN_TRANSACTION, MISMATCH, BUSY})
"Answers rather than errors: whoever called knows what to do with them."

_REFUSED = frozenset(
    {
        *("AccessDenied", "AccessDeniedException", "NotAuthorized", "NotAuthorizedException", "OptInRequired"),
        *("InvalidClientTokenId", "MissingAuthenticationToken", "MissingAuthenticationTokenException"),
        *("IncompleteSignature", "IncompleteSignatureException", "InvalidSignatureException", "SignatureDoesNotMatch"),
        *("UnrecognizedClient", "UnrecognizedClientException", "InvalidAccessKeyId"),
    }
)
_UNKNOWN = frozenset({"UnknownOperation", "UnknownOperationException", "InvalidAction", "SerializationException"})
"What the endpoint does not understand, however often it is told."
_BACKOFF = Backoff(first=0.02, longest=1.0)
PATIENCE = 20.0
"For how many seconds nothing may be achieved before a call gives up."


class Sender(Protocol):
    """What is needed of a wire."""

    def call(self, operation: str, body: bytes) -> Reply: ...
    def close(self) -> None: ...


class Calls:
    """Calls operations; opens the wire at the first one, and again after it was closed."""

    def __init__(
        self, connect: Callable[[], Sender], sleep: Callable[[float], None], random: Callable[[], float] = chance.random
    ) -> None:
        self._connect = connect
        self._sleep = sleep
        self._random = random
        self._wire: Sender | None = None
        self._opening = Lock()
        watch(self)

    def call(self, operation: str, body: bytes) -> Reply:
        """One operation. Raises WireError only for the answers a caller can mean to get."""
        wire = self._wire or self._open()
        try:
            return wire.call(operation, body)
        except WireError as error:
            if error.code in _MEANT:
                raise
            raise translated(error, body) from error
        except WireThrottled as error:
            raise StoreThrottled(f"DynamoDB refuses {operation} because of load: {error}") from error
        except Unreachable as error:
            lost = "; it may have been carried out all the same" if error.ambiguous else ""
            raise Unavailable(f"{operation}: {error}{lost}") from error
        except Unconfigured as error:
            raise Misconfigured(str(error)) from error
        except ImportError as error:
            raise Misconfigured(f"DynamoDB needs {error.name}: pip install 'penstock[dynamodb]'") from error

    def pause(self, patience: Patience | None) -> Patience:
        """Wait before trying again what others were in the way of; what to wait with the next time, None the first."""
        patience = patience or Patience(_BACKOFF, PATIENCE, sleep=self._sleep, chance=self._random)
        if not patience.wait():
            raise StoreThrottled(f"DynamoDB stayed too busy for {PATIENCE:g} seconds; try again later")
        return patience

    def close(self) -> None:
        with self._opening:
            wire, self._wire = self._wire, None
        if wire is not None:
            wire.close()

    def forked(self) -> None:
        # A thread of the parent may have held the lock.
        self._opening = Lock()

    def _open(self) -> Sender:
        with self._opening:
            if self._wire is None:
                self._wire = self._connect()
            return self._wire


def translated(error: WireError, body: bytes) -> PenstockError:
    """The error that tells a user of Penstock what is wrong."""
    message = error.message
    if error.code == NO_TABLE:
        return Misconfigured(f"table {_tables(body)} does not exist; run `penstock tables apply`")
    if error.code == "ValidationException":
        return invalid(message, body)
    if error.code == "ItemCollectionSizeLimitExceededException":
        return TooLarge(f"DynamoDB: {message}")
    if error.code in _REFUSED:
        return Misconfigured(f"DynamoDB refuses these credentials: {error}")
    if error.code in _UNKNOWN:
        return Misconfigured(f"what answers at the store's endpoint does not understand what DynamoDB does: {error}")
    # Also keys that have ended and a clock that is wrong: both are put right without this process.
    return Unavailable(f"DynamoDB: {error}")


def invalid(message: str, body: bytes = b"") -> PenstockError:
    """What a ValidationException means."""
    lowered = message.lower()
    if "size" in lowered and ("exceed" in lowered or "maximum" in lowered or "limit" in lowered):
        return TooLarge(f"DynamoDB: {message}")
    if "specified index" in lowered or "backfilling" in lowered:
        return Misconfigured(f"table {_tables(body)}: {message}; run `penstock tables apply`")
    return InvalidValue(f"DynamoDB: {message}")


def _tables(body: bytes) -> str:
    """The tables a request was about."""
    try:
        request: dict[str, Any] = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return "(unknown)"
    names = {request.get("TableName"), *request.get("RequestItems", ())}
    names |= {part.get("TableName") for member in request.get("TransactItems", ()) for part in member.values()}
    return " or ".join(sorted(n for n in names if n)) or "(unknown)"
