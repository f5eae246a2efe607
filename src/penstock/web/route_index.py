"""Finds the route of a request among the few that begin as its path does: a service has hundreds, and to ask each of
them would take longer than many an answer."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

_TELLING = 4
"So many first segments tell routes apart, the empty one before the first slash among them."

Beginning = tuple[str, ...]


class RouteIndex:
    """Stands before a router, whose routes it knows once they are all there.

    Of those that begin alike the first one that matches answers, as it would without; what none of them answers in
    full is left to the router.
    """

    def __init__(self, router: APIRouter) -> None:
        self._router, self._otherwise = router, router.middleware_stack
        begun = [(beginning_of(route), route) for route in router.routes]
        self._alike = {
            wanted: tuple(route for beginning, route in begun if may_begin(beginning, wanted))
            for wanted in {beginning for beginning, _ in begun}
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            for route in self.candidates(scope):
                match, found = route.matches(scope)
                if match is Match.FULL:
                    scope.setdefault("router", self._router)
                    scope.update(found)
                    await route.handle(scope, receive, send)
                    return
        await self._otherwise(scope, receive, send)

    def candidates(self, scope: Scope) -> Sequence[BaseRoute]:
        """The routes that begin as the path of a request does, as far as its beginning is known."""
        path: str = scope["path"].removeprefix(scope.get("root_path", ""))
        asked = tuple(path.split("/", _TELLING)[:_TELLING])
        while asked and asked not in self._alike:
            asked = asked[:-1]
        return self._alike.get(asked, ())


def beginning_of(route: BaseRoute) -> Beginning:
    """The first segments of a route's path that are the same in every request to it."""
    words: list[str] = []
    for word in str(getattr(route, "path", "")).split("/")[:_TELLING]:
        if "{" in word:
            break
        words.append(word)
    return tuple(words)


def may_begin(beginning: Beginning, wanted: Beginning) -> bool:
    """Can a path that begins as wanted be one of a route with this beginning?"""
    return all(one == other for one, other in zip(beginning, wanted, strict=False))
