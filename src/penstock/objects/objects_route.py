"""The route that signed URLs of local files lead to: a small ASGI application, to be mounted by the service.

    app.mount("/objects", objects_route(objects))

It knows no users: the signature is the permission. Bodies pass in pieces, in both directions. What it serves is never
run by a browser: a file is saved unless the URL was signed to show it as a picture, sound or film.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from datetime import timedelta
from email.utils import format_datetime
from typing import TypeVar

import anyio
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from penstock.errors import InvalidValue, Misconfigured, PenstockError, WrongHeaders, WrongRange
from penstock.media.content_type import UNKNOWN
from penstock.media.media_type import canonical
from penstock.net.pace import Pace
from penstock.net.pool import Pool
from penstock.net.traffic import Traffic
from penstock.objects.disposition import disposition
from penstock.objects.grant import Grant, RouteSigner
from penstock.objects.local import LocalObjects
from penstock.ports.stored_object import Download, StoredObject, checked_key

T = TypeVar("T")
AnswerProblem = Callable[[Request, PenstockError], Response]

_PIECE = 256 * 1024
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    # Nothing runs; a browser may still play a film and style the page it plays it on.
    "Content-Security-Policy": "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'; sandbox",
    "Referrer-Policy": "no-referrer",
    # A URL that opens by itself must not be kept by anybody on the way.
    "Cache-Control": "private, no-store",
}
# What a browser would run, were it ever to open the file by itself.
_DANGEROUS = ("text/html", "image/svg+xml", "application/xml", "text/javascript", "application/pdf")


def objects_route(
    objects: LocalObjects, *, problem: AnswerProblem | None = None, traffic: Traffic | None = None
) -> Starlette:
    """The application; `LocalObjects` must have a signer. A service may have its own way to answer errors."""
    if objects.signer is None:
        raise Misconfigured("the route serves signed URLs only; give LocalObjects a signer")
    door = _Door(objects, objects.signer, problem or _problem, traffic or Traffic())
    return Starlette(routes=[Route("/{key:path}", door.answer, methods=["GET", "HEAD", "PUT"])])


class _Door:
    def __init__(self, objects: LocalObjects, signer: RouteSigner, problem: AnswerProblem, traffic: Traffic) -> None:
        self._objects, self._signer, self._answer_problem, self._traffic = objects, signer, problem, traffic

    async def answer(self, request: Request) -> Response:
        try:
            key = checked_key(request.path_params["key"])
            grant = self._signer.read(request.method, key, request.query_params.multi_items())
            if request.method == "PUT":
                return await self._take(request, key, grant)
            async with AsyncExitStack() as stack:
                await stack.enter_async_context(self._traffic.downloads.place(self._traffic.client_of(request)))
                answer = await self._traffic.disk.run(self._give, request, key, grant)
                if isinstance(answer, _Sending):
                    answer.afterwards = stack.pop_all()  # it holds its place until all of it is sent
                return answer
        except PenstockError as error:
            return self._problem(request, error)

    def _problem(self, request: Request, error: PenstockError) -> Response:
        answer = self._answer_problem(request, error)
        answer.headers.update(_ALWAYS)
        return answer

    # On the way out

    def _give(self, request: Request, key: str, grant: Grant) -> Response:
        try:
            status, start, stop = _asked(request, self._objects.head(key))
            download = self._objects.get(key, start=start, stop=stop)
        except WrongRange as error:
            refused = self._problem(request, error)
            refused.headers["Content-Range"] = f"bytes */{self._objects.head(key).size}"
            return refused
        headers = _headers(download, grant, partial=status == 206)
        if request.method == "HEAD":
            download.close()
            return Response(status_code=status, headers=headers)
        return _Sending(download, self._traffic.disk, status, headers)

    # On the way in

    async def _take(self, request: Request, key: str, grant: Grant) -> Response:
        _check_claims(request, grant)
        traffic = self._traffic
        # A URL that is used too often waits before it has a place, or it would keep others from theirs.
        async with (
            traffic.of_one_url.place(request.query_params["signature"]),
            traffic.uploads.place(traffic.client_of(request)),
        ):
            try:
                etag = await self._received(request, key, grant)
            except ClientDisconnect:
                return Response(status_code=400)  # nobody is there to read it; nothing was kept
        return Response(status_code=200, headers={**_ALWAYS, "ETag": f'"{etag}"'})

    async def _received(self, request: Request, key: str, grant: Grant) -> str:
        if grant.upload is not None and grant.part is not None:
            arriving = self._objects.receiving_part(key, grant.upload, grant.part)
        else:
            arriving = self._objects.receiving(key)
        disk = self._traffic.disk
        async with _in_threads(arriving, disk) as arrival:
            async for piece in _pieces(request.stream(), grant.size or 0, self._traffic.silence):
                await disk.run(arrival.write, piece)
            return await disk.run(arrival.keep)


class _Sending(StreamingResponse):
    """A file on its way out, piece by piece."""

    afterwards: AsyncExitStack
    "What ends with it; given before it is sent."

    def __init__(self, download: Download, disk: Pool, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(self._read(disk), status, headers)
        self._download = download

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self.afterwards:
            with self._download:
                await super().__call__(scope, receive, send)

    async def _read(self, disk: Pool) -> AsyncIterator[bytes]:
        pieces = iter(self._download)
        while piece := await disk.run(next, pieces, b""):
            yield piece


@asynccontextmanager
async def _in_threads(manager: AbstractContextManager[T], disk: Pool) -> AsyncIterator[T]:
    """A context that begins and ends in threads. It ends also when there is no place in the pool to do so."""
    entered = await disk.run(manager.__enter__)
    try:
        yield entered
    except BaseException as error:
        with anyio.CancelScope(shield=True):
            if not await run_in_threadpool(manager.__exit__, type(error), error, error.__traceback__):
                raise
    else:
        await run_in_threadpool(manager.__exit__, None, None, None)


def _check_claims(request: Request, grant: Grant) -> None:
    """Refuse an upload by what it says of itself, before a byte of it is read."""
    claimed = request.headers.get("content-type", "")
    if grant.content_type is not None and canonical(claimed) != canonical(grant.content_type):
        said = f"not {claimed[:40]!r}" if claimed else "and no Content-Type was sent"
        raise WrongHeaders(f"the URL is for Content-Type: {grant.content_type}, {said}")
    if request.headers.get("content-length") != str(grant.size):
        raise WrongHeaders(f"the URL is for exactly {grant.size} bytes; send their number as Content-Length")


async def _pieces(stream: AsyncIterator[bytes], size: int, silence: timedelta) -> AsyncIterator[bytes]:
    """The body of a request in pieces that are worth a thread's while; refused unless it has so many bytes."""
    pace, seen, gathered = Pace(silence), 0, bytearray()
    while (piece := await pace.next(anext(stream, None))) is not None:
        seen += len(piece)
        if seen > size:
            raise InvalidValue(f"more than the {size} bytes that were announced have come")
        pace.count(len(piece))
        gathered += piece
        if len(gathered) >= _PIECE:
            yield bytes(gathered)
            gathered.clear()
    if seen != size:
        raise InvalidValue(f"{seen} of {size} bytes have come; send the file again")
    if gathered:
        yield bytes(gathered)


def _asked(request: Request, stored: StoredObject) -> tuple[int, int, int | None]:
    """Status and bytes of the answer. A range we cannot read is as good as none, as RFC 9110 has it."""
    condition = request.headers.get("if-range")
    found = _RANGE.fullmatch(request.headers.get("range", "").replace(" ", ""))
    if found is None or found.groups() == ("", "") or (condition and condition != f'"{stored.etag}"'):
        return 200, 0, None
    first, last = found.groups()
    if not first:
        if int(last) == 0 or stored.size == 0:
            raise WrongRange(f"{stored.key} has no last {last} bytes")
        return 206, max(stored.size - int(last), 0), None
    if last and int(last) < int(first):
        return 200, 0, None
    if int(first) >= stored.size:
        raise WrongRange(f"{stored.key} has {stored.size} bytes, so none from {first}")
    return 206, int(first), int(last) + 1 if last else None


def _headers(download: Download, grant: Grant, *, partial: bool) -> dict[str, str]:
    stored = download.stored
    inline = grant.show_as is not None
    content_type = grant.show_as or (UNKNOWN if stored.content_type in _DANGEROUS else stored.content_type)
    headers = {
        **_ALWAYS,
        "Accept-Ranges": "bytes",
        "Content-Type": content_type,
        "Content-Length": str(download.stop - download.start),
        "Content-Disposition": disposition(grant.filename, inline=inline),
        "ETag": f'"{stored.etag}"',
        "Last-Modified": format_datetime(stored.modified_at, usegmt=True),
    }
    if partial:
        headers["Content-Range"] = f"bytes {download.start}-{download.stop - 1}/{stored.size}"
    return headers


def _problem(request: Request, error: PenstockError) -> Response:
    """An error as RFC 9457 has it; what it says never contains a signature."""
    body = {"type": error.slug, "title": (type(error).__doc__ or "").split("\n")[0], "detail": str(error)}
    body["status"] = error.http_status  # type: ignore[assignment]
    headers = {"Retry-After": "1"} if error.http_status == 503 else {}
    return JSONResponse(body, error.http_status, headers, media_type="application/problem+json")
