"""A route of the service: lets its caller in before it reads the request, and carries a POST out once."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from penstock.access import Access, access_of, bytes_taken
from penstock.errors import DeclarationError
from penstock.web.bodylimit import limited
from penstock.web.idempotency import answer_once
from penstock.web.identity import Guard
from penstock.web.options import WebOptions

READING = frozenset({"GET", "HEAD", "OPTIONS"})


class AdmittedRoute(APIRoute):
    """Like any route of FastAPI, behind the guard."""

    @property
    def access(self) -> Access:
        """What the route asks for."""
        return access_of(self.endpoint, set(self.methods or ()))

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def admit(request: Request) -> Response:
            guard: Guard = request.app.state.guard
            options: WebOptions = request.app.state.options
            caller = await run_in_threadpool(guard.admit, request, self.path_format, self.access)
            request.state.caller = caller
            if request.method in READING:
                return await answer(request)
            request = limited(request, bytes_taken(self.endpoint, options.body_limit))
            await request.body()  # here, where one that is too large is still told as such
            if request.method != "POST":
                return await answer(request)
            again = getattr(self.endpoint, "__again__", None)
            return await answer_once(request, caller, options, answer, again=again)

        return admit


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
            route_class_override=AdmittedRoute,
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
