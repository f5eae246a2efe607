"""The most bytes a request may have, also when it does not say how many it has."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import Message

from penstock.web.errors import BodyTooLarge


def limited(request: Request, most: int) -> Request:
    """The same request, which cannot be read beyond so many bytes; one that says it has more is not read at all."""
    said = request.headers.get("content-length", "")
    if said.isdecimal() and int(said[:20]) > most:
        raise _refusal(most)
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await request.receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise _refusal(most)
        return message

    return Request(request.scope, counted)


def _refusal(most: int) -> BodyTooLarge:
    return BodyTooLarge(f"this route takes at most {most} bytes")
