"""Who may use a route: said beside the route, enforced by the service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class Role(StrEnum):
    """What a key allows; each role may do all that the ones before it may."""

    VIEWER = "viewer"
    EDITOR = "editor"
    ADMIN = "admin"

    def includes(self, other: Role) -> bool:
        order = list(Role)
        return order.index(self) >= order.index(other)


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
