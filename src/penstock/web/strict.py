"""For tests: finds the POST whose effect is committed apart from its claim, so that a crash makes it happen twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from starlette.requests import Request

from penstock.errors import DeclarationError
from penstock.kernel.idempotency import Claim
from penstock.kernel.store import Store
from penstock.ports.engine import Engine

_WRITING = frozenset({"commit", "patch", "load"})
_writes: ContextVar[list[str] | None] = ContextVar("penstock_writes", default=None)
"What the request at hand has written; None while nobody watches."


class WatchedEngine:
    """An engine that passes everything on, and notes what is written for the request at hand."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        if name in _WRITING and (writes := _writes.get()) is not None:
            writes.append(name)
        return getattr(self._engine, name)

    def bound(self, project: str) -> Engine:
        bound: Any = WatchedEngine(self._engine.bound(project))
        return bound  # type: ignore[no-any-return]


def watch(store: Store) -> None:
    """Note from now on what requests write to a store."""
    if not isinstance(store.engine, WatchedEngine):
        watched: Any = WatchedEngine(store.engine)
        store.engine = watched


@contextmanager
def watched_writes() -> Iterator[list[str]]:
    """What is written within the block, also by threads that work for it."""
    writes: list[str] = []
    token = _writes.set(writes)
    try:
        yield writes
    finally:
        _writes.reset(token)


def check_claim(request: Request, claim: Claim, writes: list[str]) -> None:
    """DeclarationError for a request that has written something, and has not ended its claim with it."""
    if writes and not claim.ended:
        raise DeclarationError(
            f"{request.method} {request.url.path} wrote to the store {len(writes)} times and ended its claim with none "
            "of it, so that it happens twice if the process dies; use caller.change(), or hand caller.claim to the "
            "action's store.change(once=...)"
        )
