"""No two routes answer the same request: what a domain brings stands beside the derived routes, never in their place.

All of it is found while the service is put together, before anybody asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from fastapi import FastAPI
from starlette.routing import Mount, Route

from penstock.declare.rights import permissions
from penstock.errors import DeclarationError
from penstock.plugin import DomainPlugin
from penstock.schema.permission import Action
from penstock.web.route import OwnRoute


def check_routes(app: FastAPI, installed: Sequence[DomainPlugin], *, reserved: Iterable[str]) -> None:
    """Refuse routes of domains that lie among derived ones, or where others are, and actions that lead nowhere."""
    derived = [f"/api/{name}" for name in (*reserved, *(i.domain.name for i in installed))]
    for route in (r for r in app.routes if isinstance(r, OwnRoute)):
        domain = route.tags[0]
        for prefix in derived:
            if f"{route.path}/".startswith(f"{prefix}/"):
                raise DeclarationError(
                    f"{domain}: {route.path} lies under {prefix}, where the derived routes are; "
                    f"give the domain's own routes a prefix of their own"
                )
        for other in app.routes:
            of_another = not isinstance(other, OwnRoute) or other.tags[0] != domain
            if of_another and _collide(route, other):
                path = getattr(other, "path", other)
                raise DeclarationError(f"{domain}: {route.path} may be the same path as {path}; rename one")
    _check_actions(app, installed)


def _check_actions(app: FastAPI, installed: Sequence[DomainPlugin]) -> None:
    """Refuse declarations that send people to routes there are not; a domain without its routes is left alone."""
    there = {f"{m} {r.path}" for r in app.routes if isinstance(r, Route) for m in r.methods or ()}
    for each in installed:
        if each.routes is None:
            continue
        for entity in each.domain.entities:
            for permission in permissions(entity.__shape__, entity.__moves__):
                for route in permission.routes if isinstance(permission, Action) else ():
                    if route not in there:
                        raise DeclarationError(
                            f"{entity.__shape__.label}: the action {permission!r} names {route}, which is no route"
                        )


def _collide(one: Route, other: object) -> bool:
    """Is there a request that both would answer?"""
    if isinstance(other, Mount):
        return f"{one.path}/".startswith(f"{other.path}/")
    if not isinstance(other, Route) or not (one.methods or set()) & (other.methods or set()):
        return False
    first, second = _segments(one.path), _segments(other.path)
    if _REST in (first[-1], second[-1]):
        length = min(len(each) - (each[-1] == _REST) for each in (first, second))
        first, second = first[:length], second[:length]
    return len(first) == len(second) and all(a == b or "{" in a or "{" in b for a, b in zip(first, second, strict=True))


_REST = "{:path}"
"Takes all that follows."


@cache
def _segments(path: str) -> tuple[str, ...]:
    found = path.split("/")
    rest = next((n for n, segment in enumerate(found) if ":path}" in segment), None)
    return tuple(found) if rest is None else (*found[:rest], _REST)
