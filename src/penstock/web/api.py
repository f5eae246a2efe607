"""Puts the service together: every domain's routes, the operators', the pages, and what surrounds all requests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from penstock.access import Role, needs, public
from penstock.errors import DeclarationError
from penstock.installed import Installed, Surroundings
from penstock.objects.local import LocalObjects
from penstock.objects.route import objects_route
from penstock.outbox import Message, SystemMessage
from penstock.web.cors import Cors
from penstock.web.events import Streams, add_events
from penstock.web.health import Readiness
from penstock.web.idempotency import HEADER, REPLAYED
from penstock.web.identity import Guard, open_here, probe
from penstock.web.metrics import Metrics
from penstock.web.openapi import describe
from penstock.web.ops import add_ops
from penstock.web.options import WebOptions
from penstock.web.pages import HEADERS, docs_page, start_page
from penstock.web.problems import answer_problems, problem
from penstock.web.records import RecordRoutes
from penstock.web.requests import Mistakes, Requests, Seen, log_request
from penstock.web.route import AdmittedRoute, adopt
from penstock.work.task import Progress

_OBJECTS = "/objects"
_RESERVED = frozenset({"ops", "work"})
_EXPOSED = ["ETag", "Location", "Retry-After", "X-Request-ID", REPLAYED]
_ACCEPTED = [
    *("Authorization", "Content-Type", "X-API-Key", "X-Request-ID", HEADER),
    *("If-Match", "If-None-Match", "Last-Event-ID"),
]


class Health(BaseModel):
    status: str


class Ready(BaseModel):
    status: str
    checks: dict[str, str]


def build_api(installed: Sequence[Installed], around: Surroundings, *, options: WebOptions) -> FastAPI:
    """The whole service, ready for a server; nothing is connected before the first request."""
    schedules = [s for i in installed if i.schedules is not None for s in i.schedules(around)]
    outboxes = [o for o in (i.domain.outbox for i in installed) if o is not None and issubclass(o, Message)]
    metrics = Metrics(around.store, schedules, dict.fromkeys([SystemMessage, *outboxes]))
    app = FastAPI(
        title="Penstock",
        version="1",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
        lifespan=_closing,
    )
    app.router.route_class = AdmittedRoute
    app.state.options, app.state.guard = options, Guard(around.store, options)
    app.state.streams = Streams(options.streams)
    answer_problems(app)
    describe(app)
    _add_pages(app, installed, options)
    _add_probes(app, Readiness(around), metrics)
    for each in installed:
        _add_domain(app, each, around, options)
    add_events(app, [Progress], prefix="/api/work", tag="work", options=options)
    add_ops(app, around.store, schedules, [i.tasks for i in installed if i.tasks is not None])
    if isinstance(around.objects, LocalObjects) and around.objects.signer is not None:
        files = objects_route(around.objects, problem=problem)
        answer_problems(files)
        app.mount(_OBJECTS, files)
    _surround(app, options, metrics)
    return app


@asynccontextmanager
async def _closing(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.streams.close()
    await run_in_threadpool(app.state.guard.refusals.flush)


def _add_domain(app: FastAPI, each: Installed, around: Surroundings, options: WebOptions) -> None:
    name = each.domain.name
    if name in _RESERVED:
        raise DeclarationError(f"the service has routes of its own under /api/{name}; call the domain otherwise")
    prefix = f"/api/{name}"
    # First, so that a domain may put a route of its own in the place of a derived one.
    if each.routes is not None:
        adopt(app, each.routes(around), tag=name)
    add_events(app, each.domain.entities, prefix=prefix, tag=name, options=options)
    for entity in each.domain.entities:
        if entity.__shape__.relation == "events":
            raise DeclarationError(f"{name}: /api/{name}/events is the stream of changes; give {entity} a relation=")
        RecordRoutes(app, entity, prefix=prefix, tag=name).add_all()


def _add_pages(app: FastAPI, installed: Sequence[Installed], options: WebOptions) -> None:
    @app.get("/", include_in_schema=False)
    @public(per_minute=120)
    def start(request: Request) -> Response:
        """What is running, and what to try."""
        page = start_page(installed, authentication=options.authentication, url=str(request.base_url).rstrip("/"))
        return HTMLResponse(page, headers=HEADERS)

    @app.get("/docs", include_in_schema=False)
    @public(per_minute=120)
    def docs() -> Response:
        return HTMLResponse(docs_page(), headers=HEADERS)

    @app.get("/openapi.json", include_in_schema=False)
    @public(per_minute=120)
    def document() -> Response:
        return JSONResponse(app.openapi())


def _add_probes(app: FastAPI, readiness: Readiness, metrics: Metrics) -> None:
    @app.get("/healthz", tags=["service"], operation_id="healthz")
    @probe
    def healthz() -> Health:
        """The process is alive."""
        return Health(status="ok")

    @app.get("/readyz", tags=["service"], operation_id="readyz")
    @probe
    def readyz() -> Ready:
        """The store and the files answer."""
        return Ready(status="ready", checks=readiness.check())

    text = {"description": "Numbers.", "content": {"text/plain": {"schema": {"type": "string"}}}}

    @app.get(
        "/metrics", tags=["service"], operation_id="metrics", response_class=PlainTextResponse, responses={200: text}
    )
    @open_here
    @needs(Role.ADMIN)
    def numbers() -> Response:
        """Numbers for Prometheus; without a key from this machine."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")


def _surround(app: FastAPI, options: WebOptions, metrics: Metrics) -> None:
    """What every request passes; the last one added is the first it meets."""
    app.add_middleware(Mistakes)
    if options.cors_origins:
        app.add_middleware(
            Cors,
            allow_origins=list(options.cors_origins),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=_ACCEPTED,
            expose_headers=_EXPOSED,
        )
    app.add_middleware(Requests, tell=_told_to(log_request, metrics.count))
    if options.tracing:
        from penstock.web.tracing import Tracing

        app.add_middleware(Tracing)


def _told_to(*listeners: Callable[[Seen], None]) -> Callable[[Seen], None]:
    def tell(seen: Seen) -> None:
        for listener in listeners:
            listener(seen)

    return tell
