"""Items at the service: a record with its files, what viewers draw of them, and decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from annotated_types import MaxLen
from fastapi import Query, Request

from penstock.auth.access import again, heavy
from penstock.auth.caller import Caller, caller_of
from penstock.review.review_item import ReviewDesk, ShownFile
from penstock.review.viewer_data import film_of, plot_of, waveform_of
from penstock.web.reviewing.record_parameter import RecordPath, subject_of
from penstock.web.reviewing.review_bodies import FilmView, MakeDecision, PlotView, ReviewItemView, WaveformView
from penstock.web.reviewing.review_views import DECISIONS, ItemTeller, film_view, plot_view, waveform_view
from penstock.web.reviewing.route_entry import RouteEntry

FileParameter = Annotated[str, MaxLen(200), Query(description="One of the item's files, by its name.")]


def item_routes(desk: ReviewDesk) -> Sequence[RouteEntry]:
    """The routes of items."""
    teller = ItemTeller(desk)

    def item(request: Request, record: RecordPath) -> ReviewItemView:
        """A record as people look at it: its files with signed URLs, its versions, its neighbours, and the decisions
        that whoever asks may make."""
        caller = caller_of(request)
        return teller.to_caller(caller, subject_of(caller, desk.known, record))

    def decided(request: Request, told: dict[str, Any]) -> ReviewItemView:
        return item(request, request.query_params["record"])

    @again(decided)
    def decide(request: Request, record: RecordPath, body: MakeDecision) -> ReviewItemView:
        """Approve, request changes or reject; refused if it is not what was looked at any more. Each decision has a
        route of its own in its domain, which the item names; this one makes any of them."""
        caller = caller_of(request)
        subject = subject_of(caller, desk.known, record)
        desk.decide(caller, subject, body.decision, role=caller.role, mark=body.mark, reason=body.reason)
        return teller.to_caller(caller, subject_of(caller, desk.known, record))

    items = "/api/review/items"
    return [
        RouteEntry("GET", items, item, ReviewItemView),
        RouteEntry("POST", DECISIONS, decide, ReviewItemView, gives=(409,)),
        *_viewer_routes(desk),
    ]


def _viewer_routes(desk: ReviewDesk) -> Sequence[RouteEntry]:
    def shown(caller: Caller, record: str, file: str) -> ShownFile:
        return desk.item(subject_of(caller, desk.known, record)).file(file)

    @heavy("decoding")
    def film(request: Request, record: RecordPath, file: FileParameter) -> FilmView:
        """How many frames a film has, and how fast they follow each other. Looked at once, and known from then on."""
        return film_view(film_of(desk.sidecars, shown(caller_of(request), record, file)))

    @heavy("decoding")
    def waveform(request: Request, record: RecordPath, file: FileParameter) -> WaveformView:
        """How loud a sound is, or what is heard in a film, at a few zooms. It is small, however long the sound is."""
        return waveform_view(waveform_of(desk.sidecars, shown(caller_of(request), record, file)))

    @heavy("decoding")
    def plot(request: Request, record: RecordPath, file: FileParameter) -> PlotView:
        """The curves in a file: columns with units and errors, at most 20,000 points, the extremes among them."""
        return plot_view(plot_of(desk.sidecars, shown(caller_of(request), record, file)))

    return [
        RouteEntry("GET", "/api/review/film", film, FilmView),
        RouteEntry("GET", "/api/review/waveform", waveform, WaveformView),
        RouteEntry("GET", "/api/review/plot", plot, PlotView),
    ]
