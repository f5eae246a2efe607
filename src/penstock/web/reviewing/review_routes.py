"""Puts the routes of reviews together: those for people under /api/review, and those for guests under /guest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fastapi import FastAPI
from starlette.responses import HTMLResponse

from penstock.plugin import DomainPlugin
from penstock.review.review_item import ReviewDesk
from penstock.web.reviewing.guest_routes import GuestShell, guest_routes
from penstock.web.reviewing.item_routes import item_routes
from penstock.web.reviewing.link_routes import link_routes
from penstock.web.reviewing.note_routes import note_routes
from penstock.web.reviewing.route_entry import RouteEntry
from penstock.web.reviewing.waiting_routes import waiting_routes
from penstock.web.route import StrictRoute
from penstock.work.domain_context import DomainContext

REVIEW = "review"
"What the routes are listed under."
_Routes = Callable[[ReviewDesk], Sequence[RouteEntry]]


def add_review(app: FastAPI, installed: Sequence[DomainPlugin], context: DomainContext, shell: GuestShell) -> None:
    """The routes of reviews, for every domain that is served; guests get the console's page, if there is one."""
    desk = ReviewDesk(context, (i.domain for i in installed), (each for i in installed for each in i.reviews))
    parts: tuple[_Routes, ...] = (waiting_routes, item_routes, note_routes, link_routes)
    found = [*(each for part in parts for each in part(desk)), *guest_routes(desk, shell)]
    for each in found:
        _add(app, each)


def _add(app: FastAPI, entry: RouteEntry) -> None:
    endpoint: Any = entry.endpoint
    endpoint.__gives__ = (*entry.gives, 404)
    more: dict[str, Any] = {"response_class": HTMLResponse} if entry.is_page else {}
    app.router.add_api_route(
        entry.path,
        endpoint,
        methods=[entry.method],
        route_class_override=StrictRoute,
        response_model=entry.model,
        status_code=entry.status,
        tags=[REVIEW],
        operation_id=f"review_{endpoint.__name__}",
        **more,
    )
