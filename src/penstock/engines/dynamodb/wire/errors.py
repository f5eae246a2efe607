"""How a call can fail. No error ever carries a secret key or a session token."""


class Unconfigured(Exception):
    """AWS settings are missing or unusable; the message says what to do. Nothing was sent."""


class WireFault(Exception):
    """A call that brought no result.

    `ambiguous` says that DynamoDB may have executed the request all the same: an attempt was sent and its
    answer was lost. When it is False, nothing was executed.
    """

    ambiguous: bool


class WireError(WireFault):
    """DynamoDB refused the request for good, e.g. with code ConditionalCheckFailedException.

    The refused attempt did nothing; `ambiguous` speaks of attempts before it.
    """

    def __init__(self, code: str, message: str, status: int, body: bytes, ambiguous: bool) -> None:
        super().__init__(code, message, status, body, ambiguous)
        self.code = code
        self.message = message
        self.status = status
        self.body = body
        self.ambiguous = ambiguous

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.message else self.code


class WireThrottled(WireFault):
    """DynamoDB asked to slow down, and still did when the attempts or the retry quota were used up."""

    def __init__(self, code: str, message: str, ambiguous: bool) -> None:
        super().__init__(code, message, ambiguous)
        self.code = code
        self.message = message
        self.ambiguous = ambiguous

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.message else self.code


class Unreachable(WireFault):
    """No usable answer: no connection, a timeout, a broken answer, or a server that kept failing (5xx)."""

    def __init__(self, message: str, ambiguous: bool) -> None:
        super().__init__(message, ambiguous)
        self.message = message
        self.ambiguous = ambiguous

    def __str__(self) -> str:
        return self.message
