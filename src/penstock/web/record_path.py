"""The path of a record as a request has it: one segment for each part of its key, whatever characters are in it.

A server decodes the path of a request before a route sees it, and then a slash within a part looks like one between
two parts. So they are told apart in the path as it was sent.
"""

from __future__ import annotations

from urllib.parse import quote, unquote_to_bytes

from starlette.types import Scope

_SEGMENTS = "penstock.segments"


def segments_of(scope: Scope) -> tuple[str, ...]:
    """The segments of a request's path, each decoded by itself; bytes that are no UTF-8 become what no key has."""
    found: tuple[str, ...] | None = scope.get(_SEGMENTS)
    if found is None:
        sent: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
        root = quote(scope.get("root_path", "")).encode()
        sent = sent.partition(b"?")[0].removeprefix(root)
        decoded = map(unquote_to_bytes, sent.split(b"/")) if b"%" in sent else sent.split(b"/")
        found = tuple(s.decode("utf-8", "surrogateescape") for s in decoded)
        scope[_SEGMENTS] = found
    return found
