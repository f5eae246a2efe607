"""Which pages of other origins may use the API; one that may not is answered as every mistake is."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from penstock.web.errors import BadRequest
from penstock.web.problems import problem


class Cors(CORSMiddleware):
    """Starlette's, which would refuse in plain text."""

    def preflight_response(self, request_headers: Headers) -> Response:
        answer = super().preflight_response(request_headers)
        return answer if answer.status_code == 200 else _Refused(answer)


class _Refused(Response):
    """The same refusal as a problem."""

    def __init__(self, answer: Response) -> None:
        super().__init__(answer.body, answer.status_code)
        self._told = {n: v for n, v in answer.headers.items() if n.startswith("access-control-") or n == "vary"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = BadRequest(bytes(self.body).decode())
        await problem(Request(scope), refusal, headers=self._told)(scope, receive, send)
