"""Puts the service together: every domain's routes, the operators', the pages, and what surrounds all requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio.to_thread
from fastapi import FastAPI, Request
from pydantic import BaseModel
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from penstock.auth.access import needs, public
from penstock.errors import DeclarationError
from penstock.events.trimmed_log import TrimmedLog
from penstock.kernel.outbox import Message, SystemMessage
from penstock.plugin import DomainPlugin
from penstock.runtime.discovery import RESERVED
from penstock.runtime.object_route import route_of
from penstock.schema.role import Role
from penstock.web.collisions import check_routes
from penstock.web.connection import log_accept_errors_seldom
from penstock.web.cors import Cors
from penstock.web.events import EventStreams, add_events
from penstock.web.heads import Heads
from penstock.web.health import Readiness
from penstock.web.idempotency import HEADER, REPLAYED
from penstock.web.identity import Guard, probe
from penstock.web.metrics import Metrics
from penstock.web.openapi import describe
from penstock.web.ops import add_ops
from penstock.web.options import WebOptions
from penstock.web.pages import HEADERS, docs_page, start_page
from penstock.web.pools import Pools
from penstock.web.problems import answer_problems, problem
from penstock.web.records import RecordRoutes
from penstock.web.requests import Mistakes, Requests, SeenRequest, log_request
from penstock.web.route import AdmittedRoute, adopt
from penstock.web.strict import watch
from penstock.work.domain_context import DomainContext
from penstock.work.task import Progress
from penstock.work.working import WORKING

_OBJECTS = "/objects"
_FLUSHED_WITHIN = 5.0
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


def build_api(installed: Sequence[DomainPlugin], context: DomainContext, *, options: WebOptions) -> FastAPI:
    """The whole service, ready for a server; nothing is connected before the first request."""
    if options.strict_claims:
        watch(context.store)
    schedules = [s for i in installed for s in i.all_schedules(context)]
    outboxes = [o for o in (i.domain.outbox for i in installed) if o is not None and issubclass(o, Message)]
    log = TrimmedLog(context.store, [*(i.domain for i in installed), WORKING], owner="metrics")
    metrics = Metrics(context.store, schedules, dict.fromkeys([SystemMessage, *outboxes]), log)
    app = FastAPI(
        title="Penstock",
        version="1",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
        lifespan=_running,
    )
    app.router.route_class = AdmittedRoute
    app.state.options, app.state.guard = options, Guard(context.store, options)
    app.state.pools = Pools(options)
    app.state.streams = EventStreams(options.streams, each=options.streams_each)
    answer_problems(app)
    describe(app)
    _add_pages(app, installed, options)
    _add_probes(app, Readiness(context), metrics)
    for each in installed:
        _add_domain(app, each, context, options)
    add_events(app, [Progress], context.store, prefix="/api/work", tag="work", options=options)
    add_ops(app, context.store, schedules, [i.tasks for i in installed if i.tasks is not None])
    files = route_of(context.objects, problem=problem, traffic=app.state.pools.traffic)
    if files is not None:
        answer_problems(files)
        app.mount(_OBJECTS, files)
    check_routes(app, installed, reserved=RESERVED)
    _surround(app, options, metrics)
    return app


@asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[None]:
    anyio.to_thread.current_default_thread_limiter().total_tokens = app.state.pools.threads
    log_accept_errors_seldom(asyncio.get_running_loop())
    yield
    app.state.streams.close()
    with anyio.move_on_after(_FLUSHED_WITHIN):  # a store that does not answer must not keep the process from ending
        await anyio.to_thread.run_sync(app.state.guard.refusals.flush, abandon_on_cancel=True)


def _add_domain(app: FastAPI, each: DomainPlugin, context: DomainContext, options: WebOptions) -> None:
    name = each.domain.name
    if name in RESERVED:
        raise DeclarationError(f"the service has routes of its own under /api/{name}; call the domain otherwise")
    prefix = f"/api/{name}"
    if each.routes is not None:
        adopt(app, each.routes(context), tag=name)
    add_events(app, each.domain.entities, context.store, prefix=prefix, tag=name, options=options)
    for entity in each.domain.entities:
        if entity.__shape__.collection == "events":
            label = entity.__shape__.label
            raise DeclarationError(f"/api/{name}/events is the stream of changes; give {label} another collection=")
        RecordRoutes(app, entity, prefix=prefix, tag=name).add_all()


def _add_pages(app: FastAPI, installed: Sequence[DomainPlugin], options: WebOptions) -> None:
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
    async def healthz() -> Health:
        """The process is alive. Nothing is asked and nothing waited for, so it is answered whatever else goes on."""
        return Health(status="ok")

    @app.get("/readyz", tags=["service"], operation_id="readyz")
    @probe
    async def readyz() -> Ready:
        """The store and the files can be written to."""
        return Ready(status="ready", checks=await readiness.check())

    text = {"description": "Numbers.", "content": {"text/plain": {"schema": {"type": "string"}}}}

    @app.get(
        "/metrics", tags=["service"], operation_id="metrics", response_class=PlainTextResponse, responses={200: text}
    )
    @needs(Role.ADMIN)
    def numbers() -> Response:
        """Numbers for Prometheus."""
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
    app.add_middleware(Heads)
    app.add_middleware(Requests, tell=_told_to(log_request, metrics.count))
    if options.tracing:
        from penstock.web.tracing import Tracing

        app.add_middleware(Tracing)


def _told_to(*listeners: Callable[[SeenRequest], None]) -> Callable[[SeenRequest], None]:
    def tell(seen: SeenRequest) -> None:
        for listener in listeners:
            listener(seen)

    return tell
