"""Who may use a route, and how much it takes: said beside the route, enforced by the service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from penstock.schema.role import Role

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Access:
    """What a route asks for: a role, or nothing at all, but then not too often."""

    role: Role | None
    per_minute: int | None = None
    "So many requests a minute from one client address; of a public route."


def public(*, per_minute: int) -> Callable[[F], F]:
    """Anybody may use the route, so many times a minute."""
    return _marked(Access(None, per_minute))


def needs(role: Role) -> Callable[[F], F]:
    """Only this role or a higher one may use the route."""
    return _marked(Access(role))


def takes(*, megabytes: int = 0, kilobytes: int = 0) -> Callable[[F], F]:
    """The route takes requests of so many bytes, also where the service as a whole takes fewer."""

    def mark(endpoint: F) -> F:
        endpoint.__takes__ = megabytes * 1_000_000 + kilobytes * 1_000  # type: ignore[attr-defined]
        return endpoint

    return mark


def bytes_taken(endpoint: Callable[..., Any], usual: int) -> int:
    """The most bytes a request to a route may have."""
    return max(usual, getattr(endpoint, "__takes__", 0))


def heavy(kind: str) -> Callable[[F], F]:
    """The route does work of a kind that takes long, such as speaking or decoding: few at once, apart from all else."""

    def mark(endpoint: F) -> F:
        endpoint.__heavy__ = kind  # type: ignore[attr-defined]
        return endpoint

    return mark


def heavy_work_of(endpoint: Any) -> str | None:
    """The kind of work that a route is said to do; None for one that reads and writes records."""
    return getattr(endpoint, "__heavy__", None)


def brief(endpoint: F) -> F:
    """The route takes less than asking who calls: a key that was good a quarter of a second ago is good for it."""
    endpoint.__brief__ = True  # type: ignore[attr-defined]
    return endpoint


def is_brief(endpoint: Any) -> bool:
    """May a caller come in again, just after they were let in, without the store being asked?"""
    return getattr(endpoint, "__brief__", False)


def personal(endpoint: F) -> F:
    """The path of the route tells of a person, as an address does: the log has the route's template instead."""
    endpoint.__personal__ = True  # type: ignore[attr-defined]
    return endpoint


def is_personal(endpoint: Any) -> bool:
    """Is the path of a route kept out of the log?"""
    return getattr(endpoint, "__personal__", False)


def again(answer: Callable[[Any, dict[str, Any]], Any]) -> Callable[[F], F]:
    """Have a POST that is repeated under its Idempotency-Key answered by this, given the request and the first answer.

    For routes whose answers hold URLs that open by themselves. Such a URL is never stored, so the first answer comes
    without them, and this signs new ones.
    """

    def mark(endpoint: F) -> F:
        endpoint.__again__ = answer  # type: ignore[attr-defined]
        return endpoint

    return mark


def access_of(endpoint: Callable[..., Any], methods: set[str]) -> Access:
    """What a route asks for; if it does not say, viewers may read and editors may write."""
    marked: Access | None = getattr(endpoint, "__access__", None)
    if marked is not None:
        return marked
    return Access(Role.VIEWER if methods <= {"GET", "HEAD", "OPTIONS"} else Role.EDITOR)


def _marked(access: Access) -> Callable[[F], F]:
    def mark(endpoint: F) -> F:
        endpoint.__access__ = access  # type: ignore[attr-defined]
        return endpoint

    return mark
