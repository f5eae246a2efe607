"""A session of requests whose only way out is Penstock's own client. Import this module late: it loads requests.

Nothing is taken from the environment: no proxy, no password file. Redirects are the client's to follow, with its rules.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import requests
from requests.adapters import BaseAdapter

from penstock.domains.novae.providers.answer_screen import unusable
from penstock.errors import AnswerTooLong
from penstock.generation.provider_http import ProviderService

ACCEPTED = "application/x-votable+xml, text/xml;q=0.9, application/xml;q=0.9, */*;q=0.1"


class ClientAdapter(BaseAdapter):
    """Sends what requests wants to send by a `ProviderService`, whose errors go through unchanged."""

    def __init__(self, service: ProviderService, *, most: int) -> None:
        super().__init__()
        self._service, self._most = service, most

    def send(self, request: requests.PreparedRequest, *void: Any, **more: Any) -> requests.Response:
        """A whole answer, of at most so many bytes. What requests says about time, certificates and proxies is void."""
        try:
            answer, said = self._service.fetch(
                request.method or "GET",
                str(request.url),
                headers={"Accept": ACCEPTED, **_kept(request)},
                content=_content(request),
                most=self._most,
            )
        except AnswerTooLong as long:
            what = f"answered with more than {self._most} bytes"
            raise unusable("ANSWER_TOO_LONG", self._service.host, what, bytes=long.bytes) from None
        return _as_requests_has_it(request, answer.status, answer.headers, said)

    def close(self) -> None:
        """The service is its owner's to close."""


class _Body(io.BytesIO):
    """A body that was read and is not compressed, with the one argument more that pyvo gives."""

    def read(self, size: int | None = -1, decode_content: bool = False) -> bytes:
        return super().read(size)


def vo_session(service: ProviderService, *, most: int) -> requests.Session:
    """A session that reaches others only through a service's client."""
    session = requests.Session()
    session.trust_env = False
    session.max_redirects = 0
    session.adapters.clear()
    for scheme in ("https://", "http://"):
        session.mount(scheme, ClientAdapter(service, most=most))
    return session


def _kept(request: requests.PreparedRequest) -> dict[str, str]:
    told = request.headers.get("Content-Type")
    return {"Content-Type": str(told)} if told else {}


def _content(request: requests.PreparedRequest) -> bytes | None:
    if request.body is None:
        return None
    return request.body if isinstance(request.body, bytes) else str(request.body).encode()


def _as_requests_has_it(
    request: requests.PreparedRequest, status: int, headers: Mapping[str, str], said: bytes
) -> requests.Response:
    response = requests.Response()
    response.status_code = status
    response.headers.update(headers)
    response.url = str(request.url)
    response.request = request
    response.raw = _Body(said)
    return response
