"""JSON as clients send it: of a depth and a number of members that the service can bear."""

from __future__ import annotations

import json
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

_DEEPEST = 64
"What nests deeper is no record on any store, and ends in a RecursionError somewhere behind."
_MEMBERS = 300_000
"Reading holds all threads up, and takes by the member, not by the byte; a record of 400 kB has fewer."


class ReadRequest(Request):
    """A request whose JSON is checked before it is believed."""

    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            self._json = parsed(await self.body())
        return self._json


def parsed(body: bytes) -> Any:
    """What a body says; a 400 or 413 for one that is nested too deeply, or has too many members."""
    opened = body.count(b"[") + body.count(b"{")
    if opened + body.count(b",") > _MEMBERS:
        raise HTTPException(413, f"the JSON has more than {_MEMBERS} members")
    try:
        value = json.loads(body)
    except RecursionError:
        raise _too_deep() from None
    if opened > _DEEPEST and _depth(value) > _DEEPEST:
        raise _too_deep()
    return value


def _depth(value: Any) -> int:
    """How deeply it nests, but no further than is of interest."""
    level, depth = [value], 0
    while level and depth <= _DEEPEST:
        members = [m for v in level for m in (v.values() if isinstance(v, dict) else v if isinstance(v, list) else ())]
        level = [m for m in members if isinstance(m, dict | list)]
        depth += 1
    return depth


def _too_deep() -> HTTPException:
    return HTTPException(400, f"the JSON is nested more than {_DEEPEST} deep")
