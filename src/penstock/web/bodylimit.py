"""The most bytes a request may have, also when it does not say how many it has; and the most time it may take."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from starlette.requests import Request
from starlette.types import Message

from penstock.net.pace import SILENCE, Pace
from penstock.web.errors import BodyTooLarge
from penstock.web.jsonbody import ReadRequest


def limited(
    request: Request, most: int, *, silence: timedelta = SILENCE, count: Callable[[int], None] | None = None
) -> Request:
    """The same request, which cannot be read beyond so many bytes; one that says it has more is not read at all.

    What ``count`` is told of every piece may refuse the request as well.
    """
    said = request.headers.get("content-length", "")
    if said.isdecimal() and int(said[:20]) > most:
        raise _refusal(most)
    seen = 0
    pace = Pace(silence)

    async def counted() -> Message:
        nonlocal seen
        message = await pace.next(request.receive())
        size = len(message.get("body", b""))
        seen += size
        if seen > most:
            raise _refusal(most)
        pace.count(size)
        if count is not None:
            count(size)
        return message

    return ReadRequest(request.scope, counted)


def _refusal(most: int) -> BodyTooLarge:
    return BodyTooLarge(f"this route takes at most {most} bytes")
