"""The routes that a declaration has: each request of theirs is answered by one plain call, in a thread.

A read takes one thread for everything: who calls, what is asked for, and the answer. What would change something is
let in first and read then, as of any route.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from functools import cached_property

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from penstock.net.pool import THREADS, Pool
from penstock.web.identity import Guard
from penstock.web.plain_arguments import Misfit, PlainArguments
from penstock.web.pools import Pools
from penstock.web.route import READING, Answering, SegmentRoute


class RecordRoute(SegmentRoute):
    """A route whose path names a record, by the parts of its key. Its endpoint returns a response."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in (self.methods or ()):
            await super().handle(scope, receive, send)
            return
        request = Request(scope, receive, send)
        response = await self._admit_and_answer(request)
        await response(scope, receive, send)

    @cached_property
    def _arguments(self) -> PlainArguments:
        return PlainArguments(self.dependant)

    @cached_property
    def _admit_and_answer(self) -> Answering:
        admit = self.get_route_handler()
        reads = set(self.methods or ()) <= READING
        return self._at_once(admit) if reads and self.access.role is not None else admit

    def answering(self) -> Answering:
        complain = _with_stacks(super().answering())

        async def answer(request: Request) -> Response:
            try:
                return await THREADS.run(self._answer, request, await request.body())
            except Misfit:
                return await complain(request)

        return answer

    def _answer(self, request: Request, body: bytes = b"") -> Response:
        response: Response = self.endpoint(**self._arguments.read(request, body))
        return response

    def _at_once(self, in_turn: Answering) -> Answering:
        """Admit and answer in one go where nobody has to wait for a place; or else one after the other."""
        access = self.access

        async def answer(request: Request) -> Response:
            pools: Pools = request.app.state.pools
            guard: Guard = request.app.state.guard
            admission, work = pools.admission(access), pools.work(self.endpoint)
            if guard.outages.store.doubted or not _take(admission, work):
                return await in_turn(request)
            try:
                return await THREADS.run(self._admit, request, guard, admission, work)
            except Misfit:
                return await in_turn(request)

        return answer

    def _admit(self, request: Request, guard: Guard, admission: Pool, work: Pool) -> Response:
        try:
            try:
                request.state.caller = guard.admit(request, self.path_format, self.access)
            finally:
                admission.leave()
            return self._answer(request)
        finally:
            work.leave()


class ClosedRoute(RecordRoute):
    """Stands where people might look for a route that they have not, and says why there is none."""


def _take(first: Pool, second: Pool) -> bool:
    """A place of each, or none of either."""
    if not first.take():
        return False
    if second.take():
        return True
    first.leave()
    return False


def _with_stacks(answer: Answering) -> Answering:
    """FastAPI's own answer, with what it keeps its dependencies in, of which there are none."""

    async def answer_so(request: Request) -> Response:
        async with AsyncExitStack() as stack:
            request.scope["fastapi_inner_astack"] = request.scope["fastapi_function_astack"] = stack
            return await answer(request)

    return answer_so
