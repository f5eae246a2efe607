"""One stream of everything that a caller may hear of: the changes of every domain, and the progress of work.

    GET /api/events?of=films,speech.audios,work

A browser gives a page six connections, so a page has one stream. Its ids tell how far every part of it was heard, so
that it is taken up whole: nothing is missed and nothing told twice, whichever process answers. It begins with
``ready``, which says what is heard, and of which parts something was forgotten meanwhile: what one shows of these is
read anew. ``alive`` comes now and then, and moves the id on where nothing happens.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Annotated

from annotated_types import MaxLen
from fastapi import FastAPI, Query, Request
from starlette.responses import StreamingResponse

from penstock.auth.caller import Caller, caller_of
from penstock.errors import FeedTrimmed, PenstockError
from penstock.kernel.store import Store
from penstock.schema.shape import EntityShape
from penstock.web.errors import Forbidden, InvalidRequest
from penstock.web.events import EventPart, EventStreams, OpenStream, add_stream, event_bytes, still_may
from penstock.web.merged_position import MergedPosition, MergedPositions
from penstock.web.options import WebOptions
from penstock.web.signature import refuse_unknown
from penstock.web.watch import Ear, Followed

log = logging.getLogger("penstock.web")
_MOST_NAMES = 100
_LONGEST_WAIT = 1.0
"Seconds after which a stream looks whether it should end, when nothing happens."


@dataclass(frozen=True, slots=True)
class _Heard:
    """A part of a stream, and how it is heard."""

    part: EventPart
    ear: Ear


@dataclass(frozen=True, slots=True)
class _Start:
    """Where the parts of a stream begin."""

    positions: dict[str, str | None] = field(default_factory=dict)
    trimmed: list[str] = field(default_factory=list)
    "Those of which something is forgotten that was not heard."
    begun: list[str] = field(default_factory=list)
    "Those that were there and not listened to: they begin now."


def add_merged_events(app: FastAPI, parts: Sequence[EventPart], store: Store, *, options: WebOptions) -> None:
    """The stream of all parts."""
    known = {part.name: part for part in parts}
    positions = MergedPositions(options.secret)

    async def events(
        request: Request,
        of: Annotated[
            str | None,
            MaxLen(2000),
            Query(
                description="Only these, such as `films,speech.audios,work`: domains, collections of them, and work."
            ),
        ] = None,
    ) -> StreamingResponse:
        """Changes of every domain and the progress of work, as server-sent events of one stream.

        An event is called by domain, collection and kind, such as `films.films.insert`. Reconnect with the last id as
        Last-Event-ID to miss nothing. `ready` comes first: `parts` are heard, of those in `trimmed` changes are
        forgotten that were not told, so read anew what you show of them. `alive` moves the id on.
        """
        refuse_unknown(request, {"of"}, repeated=())
        caller, last = caller_of(request), request.headers.get("last-event-id")
        heard = _chosen(known, of, caller)
        told = positions.read(last) if last else None
        leave = app.state.streams.enter(caller)
        try:
            start = await _begin(heard, told, caller, store)
        except BaseException:
            leave()
            raise
        stream = _MergedStream(request, heard, start, positions, options, others=[n for n in known if n not in heard])
        return OpenStream(stream.run(), leave)

    add_stream(app, "/api/events", events, tag="console", gives=(400,))


# Who hears what


def _chosen(parts: Mapping[str, EventPart], of: str | None, caller: Caller) -> dict[str, _Heard]:
    """The parts that are asked for, each with the collections that its caller may hear of."""
    named: dict[str, set[str] | None] = dict.fromkeys(parts)
    if of is not None:
        named = {}
        for word in _words(of):
            domain, _, collection = word.partition(".")
            if domain not in parts:
                raise _unknown(word, parts)
            if not collection:
                named[domain] = None
            elif (chosen := named.setdefault(domain, set())) is not None:
                chosen.add(_collection(parts[domain], word, collection, caller))
    heard: dict[str, _Heard] = {}
    for name, collections in named.items():
        ear = _ear(parts[name], collections, caller)
        if ear is not None:
            heard[name] = _Heard(parts[name], ear)
    return heard


def _words(of: str) -> list[str]:
    words = list(dict.fromkeys(word.strip() for word in of.split(",") if word.strip()))
    if not words or len(words) > _MOST_NAMES:
        why = f"name one to {_MOST_NAMES} domains or collections, such as films,work"
        raise InvalidRequest(f"of: {why}", [{"where": "query.of", "message": why}])
    return words


def _unknown(word: str, parts: Mapping[str, EventPart]) -> InvalidRequest:
    every = [n for name, part in parts.items() for n in (name, *(f"{name}.{s.collection}" for s in part.shapes))]
    why = f"{word[:80]!r} tells no changes; there are {', '.join(every[:_MOST_NAMES])}"
    return InvalidRequest(f"of: {why}", [{"where": "query.of", "message": why}])


def _collection(part: EventPart, word: str, collection: str, caller: Caller) -> str:
    """A collection that was asked for by name; refused where this caller hears nothing of it."""
    shape = next((s for s in part.shapes if s.collection == collection), None)
    if shape is None:
        raise _unknown(word, {part.name: part})
    if not _hears(shape, caller):
        raise Forbidden(f"this key hears nothing of {word}: its role or its project does not show it")
    return collection


def _hears(shape: EntityShape, caller: Caller) -> bool:
    of_project = caller.project is None or (shape.project is not None and shape.rights.read)
    return of_project and shape.is_shown_to(caller.role)


def _ear(part: EventPart, collections: set[str] | None, caller: Caller) -> Ear | None:
    """How a caller hears a part; None where there is nothing of it for them."""
    every = {s.collection for s in part.shapes}
    own = {s.collection for s in part.shapes if _hears(s, caller)}
    wanted = own if collections is None else own & collections
    if not wanted:
        return None
    return Ear(caller.project, caller.role, None if wanted == every else frozenset(wanted))


# Where it begins


async def _begin(heard: Mapping[str, _Heard], told: MergedPosition | None, caller: Caller, store: Store) -> _Start:
    start = _Start()
    begun = await asyncio.gather(*(_begin_part(each, told, caller, store) for each in heard.values()))
    for name, (position, word) in zip(heard, begun, strict=True):
        start.positions[name] = position
        if word == "trimmed":
            start.trimmed.append(name)
        elif word == "begun":
            start.begun.append(name)
    return start


async def _begin_part(
    heard: _Heard, told: MergedPosition | None, caller: Caller, store: Store
) -> tuple[str | None, str]:
    """Where a part begins: behind what was heard of it, or now."""
    part, ear = heard.part, heard.ear
    if caller.project is not None:
        # Asked once as the caller: whoever may not listen is refused, and not merely told nothing.
        own = [s for s in part.shapes if ear.only is None or s.collection in ear.only]
        end = await part.watch.end()
        await asyncio.to_thread(caller.store.engine.changes, own, after=end, limit=1)
    if told is None:
        return await part.watch.end(), ""
    if part.name in told.unheard:
        return await part.watch.end(), "begun"
    # A domain that was not there yet has told nobody anything: it begins with the oldest that is kept.
    known = part.watch.passed(ear, told.heard.get(part.name))
    try:
        if known is not None:
            await asyncio.to_thread(store.engine.changes, part.shapes, after=known, limit=1)
    except FeedTrimmed:
        return await part.watch.end(), "trimmed"
    return known, ""


# The stream


class _MergedStream:
    """All parts of one listener, one event after the other."""

    def __init__(
        self,
        request: Request,
        heard: Mapping[str, _Heard],
        start: _Start,
        positions: MergedPositions,
        options: WebOptions,
        *,
        others: Iterable[str],
    ) -> None:
        self._request, self._heard, self._start, self._positions = request, heard, start, positions
        self._heartbeat = options.heartbeat.total_seconds()
        self._at = MergedPosition(dict(start.positions), frozenset(others))
        # One change of each part at most waits here: the rest waits where all streams share it.
        self._coming: asyncio.Queue[tuple[str, Followed | None]] = asyncio.Queue(maxsize=1)

    async def run(self) -> AsyncGenerator[bytes, None]:
        streams: EventStreams = self._request.app.state.streams
        ready = {"parts": list(self._heard), "trimmed": self._start.trimmed, "begun": self._start.begun}
        yield event_bytes("ready", self._id, ready)
        followers = [asyncio.create_task(self._follow(name, each)) for name, each in self._heard.items()]
        checked = time.monotonic()
        try:
            while not streams.closing:
                name, followed = await self._next()
                if name and followed is None:
                    return  # a part cannot be followed for now: the client connects again and takes up where it was
                if followed is not None:
                    self._at.heard[name] = followed.position
                    if followed.event is not None:
                        yield f"id: {self._id}\nevent: {name}.".encode() + followed.event
                if time.monotonic() - checked >= self._heartbeat:
                    if not await asyncio.to_thread(still_may, self._request):
                        return
                    checked = time.monotonic()
                    yield event_bytes("alive", self._id, {})
        finally:
            for follower in followers:
                follower.cancel()
            await asyncio.gather(*followers, return_exceptions=True)

    @property
    def _id(self) -> str:
        return self._positions.id_of(self._at)

    async def _next(self) -> tuple[str, Followed | None]:
        """What comes next of any part; nothing of none when nothing does for a while."""
        try:
            async with asyncio.timeout(min(_LONGEST_WAIT, self._heartbeat)):
                return await self._coming.get()
        except TimeoutError:
            return "", None

    async def _follow(self, name: str, heard: _Heard) -> None:
        """Hand on what happens in a part; that it ended, when it does."""
        seen = Followed(self._at.heard[name])
        try:
            async with aclosing(heard.part.watch.follow(heard.ear, seen.position)) as told:
                async for followed in told:
                    if followed != seen:
                        await self._coming.put((name, followed))
                    seen = replace(followed, event=None)
        except PenstockError:
            pass  # the store is away
        except Exception:
            log.exception("a part of an event stream could not be followed")
        await self._coming.put((name, None))
