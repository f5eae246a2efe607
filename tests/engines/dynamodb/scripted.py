"""A wire that answers as a test tells it to, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from penstock.engines.dynamodb import DynamoEngine
from penstock.engines.dynamodb.wire import Reply, WireError

Answer = dict[str, Any] | Exception

_FOR_EVER = 5000


class Scripted:
    """Takes the place of the wire."""

    def __init__(self, *answers: Answer, otherwise: Callable[[str, dict[str, Any]], Answer] | None = None) -> None:
        self.answers = list(answers)
        self.otherwise = otherwise
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.slept: list[float] = []

    def call(self, operation: str, body: bytes) -> Reply:
        request = msgspec.json.decode(body)
        self.calls.append((operation, request))
        assert len(self.calls) < _FOR_EVER, f"{operation} is called for ever"
        answer = self.answers.pop(0) if self.answers else self.otherwise and self.otherwise(operation, request)
        assert answer is not None, f"no answer left for {operation} {request}"
        if isinstance(answer, Exception):
            raise answer
        return Reply(msgspec.json.encode(answer), False)

    def close(self) -> None:
        pass

    def engine(self) -> DynamoEngine:
        return DynamoEngine(connect=lambda: self, sleep=self.slept.append)


def refusal(code: str, message: str = "no", *, ambiguous: bool = False, **body: Any) -> WireError:
    """An error answer of DynamoDB; ``ambiguous``: an attempt before it may have been executed."""
    return WireError(code, message, 400, msgspec.json.encode(body), ambiguous)
