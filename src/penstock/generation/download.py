"""Bringing a file that a service has made: streamed to disk, whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from penstock.errors import AnswerTooLong, Unanswered, Unavailable
from penstock.generation.provider_http import ProviderService, Response
from penstock.work import Terminal

_TRIES = 4
_LONGEST_REFUSAL = 64 * 1024
_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)")


def download(
    service: ProviderService,
    url: str,
    into: Path,
    *,
    most: int,
    types: tuple[str, ...] = (),
    tell: Callable[[float], None] = lambda fraction: None,
) -> None:
    """Write what lies at a URL to a file.

    It may be on any host, and moved to another one, as long as that is a public one or configured; the service's token
    stays with the service. A download that breaks off is gone on with where it ended, if the file is certain to be the
    same one, and else begun anew, a few times. ``types`` are how the types begin that it may be sent as; ``tell``
    hears how far it is with every piece that arrives, and may raise.
    """
    with into.open("wb") as file:
        begun = _Begun(service, url, file, most, types, tell)
        for tries_left in reversed(range(_TRIES)):
            try:
                return begun.go_on()
            except Unavailable:
                if not tries_left:
                    raise


class _Begun:
    """A download, and how far it has come."""

    def __init__(
        self,
        service: ProviderService,
        url: str,
        file: BinaryIO,
        most: int,
        types: tuple[str, ...],
        tell: Callable[[float], None],
    ) -> None:
        self._service, self._url, self._file, self._most, self._tell = service, url, file, most, tell
        self._types = types
        self._version: str | None = None
        "What tells that a file is still the same one, to the byte."

    def go_on(self) -> None:
        have, headers = self._file.tell(), {}
        if have and self._version:
            headers = {"Range": f"bytes={have}-", "If-Range": self._version}
        with self._service.open(self._url, headers, most=self._most, types=self._types) as response:
            if response.status == 206 and headers:
                self._check_range(response, have)
            elif response.status == 200:
                self._file.seek(0)
                self._file.truncate()
            elif response.status in (206, 416):
                self._begin_anew(f"{response.host} answered {response.status} and not with the file")
            else:
                raise self._service.refusal(response, _beginning(response))
            etag = response.headers.get("etag", "")
            self._version = etag if etag.startswith('"') else None
            self._take(response)

    def _take(self, response: Response) -> None:
        before, length = self._file.tell(), response.length
        expected = None if length is None else before + length
        try:
            for piece in response.pieces:
                received = self._file.tell() + len(piece)
                if received > self._most:
                    self._refuse(response.host, received)
                self._file.write(piece)
                self._tell(received / expected if expected else 0.0)
        except AnswerTooLong as long:
            self._refuse(response.host, before + long.bytes)
        self._file.flush()
        if not self._file.tell():
            self._begin_anew(f"{response.host} sent an empty file")

    def _check_range(self, response: Response, have: int) -> None:
        found = _RANGE.fullmatch(response.headers.get("content-range", ""))
        if found is None or int(found[1]) != have:
            self._begin_anew(f"{response.host} was asked for the rest of a file and sent another part of it")

    def _begin_anew(self, why: str) -> None:
        self._version = None
        raise Unanswered(why)

    def _refuse(self, host: str, bytes: int) -> None:
        raise Terminal(f"the file from {host} has {bytes} bytes or more; at most {self._most} are taken")


def _beginning(response: Response) -> bytes:
    """As much of a refusal as is worth reading."""
    said = b""
    for piece in response.pieces:
        said += piece
        if len(said) >= _LONGEST_REFUSAL:
            break
    return said[:_LONGEST_REFUSAL]
