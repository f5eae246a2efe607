"""A route of the service: lets its caller in before it reads the request, and carries a POST out once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from threading import RLock
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, compile_path
from starlette.types import Scope

from penstock.auth.access import Access, access_of, bytes_taken, is_brief
from penstock.auth.caller import network_of, read_address
from penstock.errors import DeclarationError, Unavailable
from penstock.web.bodylimit import limited
from penstock.web.held import FREE
from penstock.web.idempotency import KeptAnswers, answer_once
from penstock.web.identity import Guard
from penstock.web.options import WebOptions
from penstock.web.pools import Pools
from penstock.web.record_path import segments_of
from penstock.web.signature import refuse_unknown

Answering = Callable[[Request], Coroutine[Any, Any, Response]]
READING = frozenset({"GET", "HEAD", "OPTIONS"})


class AdmittedRoute(APIRoute):
    """Like any route of FastAPI, behind the guard.

    What FastAPI makes of its signature takes milliseconds, and a service has hundreds of routes: it is made when the
    route is first asked, so that a service is there at once.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self.path, self.endpoint = path, endpoint
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)
        self.methods = {method.upper() for method in options.get("methods") or ("GET",)}
        self.include_in_schema = options.get("include_in_schema", True)
        self.tags = options.get("tags") or []
        self._analysing = RLock()
        self._analyse: Callable[[], None] | None = partial(super().__init__, path, endpoint, **options)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            with self._analysing:  # of several that ask at the same time, one has it made and all others wait
                analyse, self._analyse = self._analyse, None
                try:
                    if analyse is not None:
                        analyse()
                except BaseException:
                    self._analyse = analyse  # whoever asks next is told the same, and not of what is missing since
                    raise
        return object.__getattribute__(self, name)

    @property
    def access(self) -> Access:
        """What the route asks for."""
        return access_of(self.endpoint, set(self.methods or ()))

    def most_bytes(self, options: WebOptions) -> int:
        """The most bytes a request to the route may have; guests are given less room than others."""
        usual = options.guest_body_limit if self.access.role is None else options.body_limit
        return bytes_taken(self.endpoint, usual)

    def answering(self) -> Answering:
        """What answers whoever was let in."""
        return super().get_route_handler()

    def get_route_handler(self) -> Answering:
        answer = self.answering()
        access = self.access
        kept = KeptAnswers(self)
        is_probe = access.role is None and access.per_minute is None
        brief = is_brief(self.endpoint)

        async def admit(request: Request) -> Response:
            if is_probe:
                return await answer(request)  # whatever else is frozen or full, this is answered
            pools: Pools = request.app.state.pools
            guard: Guard = request.app.state.guard
            store = guard.outages.store
            # While it is away nobody waits for it, but the one whose turn it is to ask.
            if store.doubted and not (await pools.admission(access).run(store.ask) if store.due else not store.away):
                raise Unavailable("the store is away; it is asked again every few seconds")
            caller = guard.admit_again(request, self.path_format) if brief else None
            if caller is None:
                caller = await pools.admission(access).run(guard.admit, request, self.path_format, access)
                if brief:
                    guard.remember(request, self.path_format, caller)
            request.state.caller = caller
            client = caller.name if caller.role is not None else network_of(read_address(caller.address))
            work = pools.work(self.endpoint)
            if request.method in READING:
                async with work.place(client):
                    return await answer(request)
            options: WebOptions = request.app.state.options
            with pools.held.body(client) as count:
                request = limited(request, self.most_bytes(options), silence=options.silence, count=count)
                size = len(await request.body())  # here, where one that is too large is still told as such

                async def carry_out() -> Response:
                    async with work.place(client):
                        if request.method != "POST":
                            return await answer(request)
                        return await answer_once(request, caller, options, answer, kept)

                if size <= FREE:
                    return await carry_out()
                # To parse and check much takes long, so it happens on an event loop beside the one that all others use.
                return await pools.large.run(lambda: asyncio.run(carry_out()), client=client)

        return admit


class StrictRoute(AdmittedRoute):
    """A route that refuses a parameter which it does not declare.

    Not so where anybody is let in: players and crawlers add parameters of their own to a link.
    """

    def answering(self) -> Answering:
        answer = super().answering()
        if self.access.role is None:
            return answer
        known = set(_query_names(self.dependant))

        async def ask(request: Request) -> Response:
            refuse_unknown(request, known, repeated=known)
            return await answer(request)

        return ask


class OwnRoute(StrictRoute):
    """A route that a domain brings itself."""


def _query_names(asked: Dependant) -> Iterator[str]:
    yield from (field.alias for field in asked.query_params)
    for further in asked.dependencies:
        yield from _query_names(further)


class SegmentRoute(AdmittedRoute):
    """A route whose path names something: each part of the name is one segment, which may hold any character."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        template = self.path_format.split("/")
        self._parts = {n: s[1:-1] for n, s in enumerate(template) if s.startswith("{")}
        self._words = [(n, s) for n, s in enumerate(template) if n not in self._parts]
        self._length = len(template)
        self._first = min(self._parts, default=self._length)
        self._begins = tuple(template[: self._first])

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http":
            return Match.NONE, {}
        found = segments_of(scope)
        if len(found) != self._length or found[: self._first] != self._begins:  # most routes are told apart so
            return Match.NONE, {}
        if any(found[n] != word for n, word in self._words):
            return Match.NONE, {}
        parts = {name: found[n] for n, name in self._parts.items()}
        child = {"endpoint": self.endpoint, "path_params": {**scope.get("path_params", {}), **parts}, "route": self}
        return (Match.FULL if scope["method"] in (self.methods or ()) else Match.PARTIAL), child


def adopt(app: FastAPI, router: APIRouter, *, tag: str) -> None:
    """Put the routes of a domain's own router behind the guard, beside the ones it has by its declaration."""
    for context in iter_route_contexts(router.routes):
        route = context.original_route
        if not isinstance(route, APIRoute) or context.path is None or context.endpoint is None:
            raise DeclarationError(f"{tag}: a domain's router has plain routes only; {route!r} is something else")
        vars(context.endpoint).setdefault("__gives__", (404,))  # whatever it looks for may not be there
        app.router.add_api_route(
            context.path,  # as the domain's documents name it
            context.endpoint,
            route_class_override=OwnRoute,
            methods=sorted(context.methods or ()),
            tags=[tag, *(t for t in route.tags if t != tag)],
            **{name: getattr(context, name) for name in _KEPT},
        )


_KEPT = (
    *("response_model", "status_code", "dependencies", "summary", "description", "response_description", "responses"),
    *("deprecated", "operation_id", "response_model_include", "response_model_exclude", "response_model_by_alias"),
    *("response_model_exclude_unset", "response_model_exclude_defaults", "response_model_exclude_none"),
    *("include_in_schema", "response_class", "name", "callbacks", "openapi_extra"),
)
