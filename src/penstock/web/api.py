"""Puts the service together: every domain's routes, the operators', the pages, and what surrounds all requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import anyio.to_thread
from fastapi import FastAPI, Request
from pydantic import BaseModel
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from penstock.auth.access import needs, public
from penstock.declare.entity import Entity
from penstock.errors import DeclarationError
from penstock.events.trimmed_log import TrimmedLog
from penstock.plugin import DomainPlugin
from penstock.review.note import NoteNews
from penstock.runtime.discovery import RESERVED
from penstock.runtime.object_route import route_of
from penstock.runtime.operated_system import OperatedSystem
from penstock.schema.role import Role
from penstock.web.built_console import BuiltConsole, BuiltFile
from penstock.web.collisions import check_routes
from penstock.web.connection import log_accept_errors_seldom
from penstock.web.console_pages import add_console_pages, read_console_files
from penstock.web.cors import Cors
from penstock.web.declared.declared_routes import DeclaredRoutes
from penstock.web.events import EventStreams, add_events, event_part
from penstock.web.heads import Heads
from penstock.web.health import Readiness
from penstock.web.idempotency import HEADER, REPLAYED
from penstock.web.identity import Guard, probe
from penstock.web.merged_events import add_merged_events
from penstock.web.metrics import Metrics
from penstock.web.narrowing import PROJECT_HEADER
from penstock.web.openapi import describe
from penstock.web.operating.metric_series import MetricSeries
from penstock.web.operating.operating_routes import OPERATED, add_operating
from penstock.web.options import WebOptions
from penstock.web.page_policy import PagePolicy
from penstock.web.pools import Pools
from penstock.web.problems import answer_problems, problem
from penstock.web.project_choices import add_projects
from penstock.web.records import RecordRoutes
from penstock.web.requests import Mistakes, Requests, SeenRequest, log_request
from penstock.web.reviewing.review_routes import REVIEW, add_review
from penstock.web.route import AdmittedRoute, adopt
from penstock.web.route_index import RouteIndex
from penstock.web.signing_in.session_routes import add_session
from penstock.web.strict import watch
from penstock.work.domain_context import DomainContext
from penstock.work.task import Progress
from penstock.work.working import WORKING

_OBJECTS = "/objects"
_API_PAGE = "/console/api"
_FLUSHED_WITHIN = 5.0
_NONE_OF_ITS_OWN: Any = dict.fromkeys(("tracing", "metrics", "logs", "operation_spans"), False)
"Spans of requests are told by `web.tracing`, without what is signed or private in them; twice would be once too often."
_EXPOSED = ["ETag", "Location", "Retry-After", "X-Request-ID", REPLAYED]
_ACCEPTED = [
    *("Authorization", "Content-Type", "X-API-Key", "X-Request-ID", HEADER),
    *("If-Match", "If-None-Match", "Last-Event-ID", PROJECT_HEADER),
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
    system = OperatedSystem(installed, context)
    followed = (*(i.domain for i in installed), WORKING, context.store.own)
    log = TrimmedLog(context.store, followed, owner="metrics")
    metrics = Metrics(context.store, system.schedules, system.outboxes, log, shared=options.shared_numbers)
    series = MetricSeries(context.store.clock, shared=options.shared_numbers)
    app = FastAPI(
        title="Penstock",
        version="1",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
        lifespan=_running,
        telemetry=_NONE_OF_ITS_OWN,
    )
    app.router.route_class = AdmittedRoute
    app.state.options, app.state.guard = options, Guard(context.store, options)
    app.state.pools = Pools(options)
    app.state.streams = EventStreams(options.streams, each=options.streams_each)
    answer_problems(app)
    describe(app)
    built, policy = BuiltConsole(), PagePolicy(context.objects)
    _add_console(app, built, policy)
    _add_document(app)
    _add_probes(app, Readiness(context, options.told_parts), metrics)
    add_session(app, context.store, app.state.guard.cookie)
    for each in installed:
        _add_domain(app, each, context)
    _add_streams(app, installed, context, options)
    add_review(app, installed, context, lambda request: built.guest_page(request, policy=policy.now()))
    add_operating(app, context.store, system, metrics, series)
    pages = read_console_files(installed)
    add_console_pages(app, pages)
    add_projects(app, installed)
    DeclaredRoutes(app, installed, operated=OPERATED, files=pages, secret=options.secret).add_all()
    files = route_of(context.objects, problem=problem, traffic=app.state.pools.traffic)
    if files is not None:
        answer_problems(files)
        app.mount(_OBJECTS, files)
    check_routes(app, installed, reserved=RESERVED)
    app.router.middleware_stack = RouteIndex(app.router)
    _surround(app, options, _told_to(log_request, metrics.count, series.count))
    return app


@asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[None]:
    anyio.to_thread.current_default_thread_limiter().total_tokens = app.state.pools.threads
    log_accept_errors_seldom(asyncio.get_running_loop())
    yield
    app.state.streams.close()
    with anyio.move_on_after(_FLUSHED_WITHIN):  # a store that does not answer must not keep the process from ending
        await anyio.to_thread.run_sync(app.state.guard.refusals.flush, abandon_on_cancel=True)


def _add_domain(app: FastAPI, each: DomainPlugin, context: DomainContext) -> None:
    name = each.domain.name
    if name in RESERVED:
        raise DeclarationError(f"the service has routes of its own under /api/{name}; call the domain otherwise")
    prefix = f"/api/{name}"
    if each.routes is not None:
        adopt(app, each.routes(context), tag=name)
    for entity in each.domain.entities:
        if entity.__shape__.collection == "events":
            label = entity.__shape__.label
            raise DeclarationError(f"/api/{name}/events is the stream of changes; give {label} another collection=")
        RecordRoutes(app, entity, prefix=prefix, tag=name, objects=context.objects).add_all()


def _add_streams(app: FastAPI, installed: Sequence[DomainPlugin], context: DomainContext, options: WebOptions) -> None:
    """A stream of each domain's changes, of work's progress and of notes, and one of all of them together."""
    told: dict[str, Sequence[type[Entity]]] = {i.domain.name: i.domain.entities for i in installed}
    told |= {WORKING.name: (Progress,), REVIEW: (NoteNews,)}
    found = [event_part(entities, context.store, name=name, options=options) for name, entities in told.items()]
    parts = [part for part in found if part is not None]
    for part in parts:
        add_events(app, part, context.store, prefix=f"/api/{part.name}", options=options)
    add_merged_events(app, parts, context.store, options=options)


def _add_console(app: FastAPI, files: BuiltConsole, policy: PagePolicy) -> None:
    """The console: one page for every path that is its own, and what that page loads. None of it needs the store."""

    @app.get(_API_PAGE, include_in_schema=False)
    @app.get(f"{_API_PAGE}/", include_in_schema=False)
    @probe
    async def api_page(request: Request) -> Response:
        return files.page(request, policy=await policy.text(reader=True))

    @app.get("/docs", include_in_schema=False)
    @probe
    async def docs() -> Response:
        return RedirectResponse(_API_PAGE)

    @app.get("/", include_in_schema=False)
    @app.get("/console", include_in_schema=False)
    @app.get("/console/{place:path}", include_in_schema=False)
    @probe
    async def console(request: Request) -> Response:
        return files.page(request, policy=await policy.text())

    @app.get("/assets/{name}", include_in_schema=False)
    @probe
    async def asset(request: Request, name: str) -> Response:
        return files.asset(request, name)


def _add_document(app: FastAPI) -> None:
    @cache
    def written() -> BuiltFile:  # once: it is large, and stays as it is
        return BuiltFile("openapi.json", json.dumps(app.openapi(), separators=(",", ":")).encode())

    @app.get("/openapi.json", include_in_schema=False)
    @public(per_minute=120)
    def document(request: Request) -> Response:
        return written().answer(request, {"Cache-Control": "no-cache"})


def _add_probes(app: FastAPI, readiness: Readiness, metrics: Metrics) -> None:
    @app.get("/healthz", tags=["service"], operation_id="healthz")
    @probe
    async def healthz() -> Health:
        """The process is alive. Nothing is asked and nothing waited for, so it is answered whatever else goes on."""
        return Health(status="ok")

    @app.get("/readyz", tags=["service"], operation_id="readyz")
    @probe
    async def readyz() -> Ready:
        """The store and the files can be written to; `degraded` if another part, such as the broker, is away."""
        checks = await readiness.check()
        return Ready(status="degraded" if "away" in checks.values() else "ready", checks=checks)

    text = {"description": "Numbers.", "content": {"text/plain": {"schema": {"type": "string"}}}}

    @app.get(
        "/metrics", tags=["service"], operation_id="metrics", response_class=PlainTextResponse, responses={200: text}
    )
    @needs(Role.ADMIN)
    def numbers() -> Response:
        """Numbers for Prometheus."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")


def _surround(app: FastAPI, options: WebOptions, tell: Callable[[SeenRequest], None]) -> None:
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
    app.add_middleware(Requests, tell=tell)
    if options.tracing:
        from penstock.web.tracing import Tracing

        app.add_middleware(Tracing)


def _told_to(*listeners: Callable[[SeenRequest], None]) -> Callable[[SeenRequest], None]:
    def tell(seen: SeenRequest) -> None:
        for listener in listeners:
            listener(seen)

    return tell
