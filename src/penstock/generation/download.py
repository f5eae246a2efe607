"""Bringing a file that a service has made: streamed to disk, whole or not at all."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

from penstock.errors import AnswerTooLong, Unanswered, Unavailable
from penstock.generation.provider_http import LONGEST_DOWNLOAD, ProviderService, Response
from penstock.work import Terminal

_TRIES = 4
_LONGEST_REFUSAL = 64 * 1024
_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)")


@dataclass(frozen=True, slots=True)
class Downloaded:
    """What has come, known while it came."""

    byte_length: int
    sha256: str
    etag: str | None
    "As the server writes it; a weak one tells no bytes apart."
    content_type: str | None
    last_modified: str | None


def download(
    service: ProviderService,
    url: str,
    into: Path,
    *,
    most: int,
    types: tuple[str, ...] = (),
    tell: Callable[[float], None] = lambda fraction: None,
    longest: timedelta = LONGEST_DOWNLOAD,
    monotonic: Callable[[], float] = time.monotonic,
) -> Downloaded:
    """Write what lies at a URL to a file, and say what it was.

    It may be on any host, and moved to another one, as long as that is a public one or configured; the service's token
    stays with the service. A download that breaks off is gone on with where it ended, if the file is certain to be the
    same one, and else begun anew, a few times. ``types`` are how the types begin that it may be sent as; ``tell``
    hears how far it is with every piece that arrives, and may raise. ``longest`` is for all tries together.
    """
    until = monotonic() + longest.total_seconds()
    with into.open("wb") as file:
        begun = _Begun(service, url, file, most, types, tell)
        for _ in range(_TRIES - 1):
            try:
                return begun.go_on(timedelta(seconds=until - monotonic()))
            except Unavailable:
                if monotonic() >= until:
                    raise
        return begun.go_on(timedelta(seconds=until - monotonic()))


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
        self._sum = hashlib.sha256()

    def go_on(self, longest: timedelta) -> Downloaded:
        have, headers = self._file.tell(), {}
        if have and self._version:
            headers = {"Range": f"bytes={have}-", "If-Range": self._version}
        with self._service.open(self._url, headers, most=self._most, types=self._types, longest=longest) as response:
            if response.status == 206 and headers:
                self._check_range(response, have)
            elif response.status == 200:
                self._file.seek(0)
                self._file.truncate()
                self._sum = hashlib.sha256()
            elif response.status in (206, 416):
                self._begin_anew(f"{response.host} answered {response.status} and not with the file")
            else:
                raise self._service.refusal(response, _beginning(response))
            etag = response.headers.get("etag", "")
            self._version = etag if etag.startswith('"') else None
            self._take(response)
            return self._downloaded(response)

    def _downloaded(self, response: Response) -> Downloaded:
        told = {name: response.headers.get(name) or None for name in ("etag", "content-type", "last-modified")}
        etag, content_type, last_modified = told.values()
        return Downloaded(self._file.tell(), self._sum.hexdigest(), etag, content_type, last_modified)

    def _take(self, response: Response) -> None:
        before, length = self._file.tell(), response.length
        expected = None if length is None else before + length
        try:
            for piece in response.pieces:
                received = self._file.tell() + len(piece)
                if received > self._most:
                    self._refuse(response.host, received)
                self._file.write(piece)
                self._sum.update(piece)
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
