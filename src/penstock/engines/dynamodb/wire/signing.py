"""AWS Signature Version 4, narrowed to what DynamoDB needs: a POST to one URL, told apart by target and body.

All that two requests have in common is hashed once and the hash state is kept: the signing key's HMAC for a
day, the string to sign for a second, the canonical request for a second and a target. What is left per
request is the body's hash and three short updates.
"""

import time
from collections.abc import Callable
from hashlib import sha256
from typing import Protocol, Self

from penstock.engines.dynamodb.wire.credentials import AccessKeys

_ALGORITHM = "AWS4-HMAC-SHA256"
_CONTENT_TYPE = "application/x-amz-json-1.0"
# DynamoDB and DynamoDB Streams share this signing name.
_SERVICE = "dynamodb"
_BLOCK = 64
_INNER_PAD = bytes(byte ^ 0x36 for byte in range(256))
_OUTER_PAD = bytes(byte ^ 0x5C for byte in range(256))


class _Hash(Protocol):
    """The state of a hash."""

    def copy(self) -> Self: ...
    def update(self, data: bytes, /) -> None: ...
    def digest(self) -> bytes: ...
    def hexdigest(self) -> str: ...


class RequestSigner:
    """Makes the headers of signed requests to one host. Threads may share it.

    `keys` is asked at most once a second. `skew` is added to the local clock.
    """

    def __init__(
        self, *, host: str, path: str, region: str, keys: Callable[[], AccessKeys], now: Callable[[], float]
    ) -> None:
        self.skew = 0.0
        self._region = region
        self._keys = keys
        self._now = now
        self._opening = sha256(f"POST\n{path}\n\ncontent-type:{_CONTENT_TYPE}\nhost:{host}\nx-amz-date:".encode())
        self._day: _Day | None = None
        self._moment: _Moment | None = None

    def headers(self, target: str, body: bytes) -> list[str]:
        """A new list of header lines, signed for now. Host is signed too, but left to the transport."""
        second = int(self._now() + self.skew)
        moment = self._moment
        if moment is None or moment.second != second:
            moment = self._enter(second)
        sheet = moment.sheets.get(target)
        if sheet is None:
            sheet = moment.prepare(target)

        canonical = sheet.canonical.copy()
        canonical.update(sha256(body).hexdigest().encode())
        inner = moment.inner.copy()
        inner.update(canonical.hexdigest().encode())
        outer = moment.outer.copy()
        outer.update(inner.digest())
        return [*sheet.headers, sheet.authorization + outer.hexdigest()]

    def time(self) -> float:
        """The time requests are signed with."""
        return self._now() + self.skew

    def renew(self) -> None:
        """Ask for the keys again with the next request."""
        self._moment = None

    def _enter(self, second: int) -> "_Moment":
        # Threads may do this at the same time; each result is right and complete, and one of them stays.
        keys = self._keys()
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(second))
        day = self._day
        if day is None or day.date != stamp[:8] or day.keys != keys:
            day = self._day = _Day(stamp[:8], self._region, keys)
        moment = self._moment = _Moment(second, stamp, day, self._opening)
        return moment


class _Day:
    """The signing key of one day: its HMAC with the key's two pads already hashed."""

    __slots__ = ("credential", "date", "inner", "keys", "outer", "scope")

    def __init__(self, date: str, region: str, keys: AccessKeys) -> None:
        self.date = date
        self.keys = keys
        self.scope = f"{date}/{region}/{_SERVICE}/aws4_request"
        self.credential = f"Authorization: {_ALGORITHM} Credential={keys.access_key}/{self.scope}"
        key = b"AWS4" + keys.secret_key.encode()
        for part in (date, region, _SERVICE, "aws4_request"):
            key = _hmac(key, part.encode())
        self.inner, self.outer = _hmac_states(key)


class _Moment:
    """What all requests of one second have in common."""

    __slots__ = ("_day", "_opening", "_stamp", "inner", "outer", "second", "sheets")

    def __init__(self, second: int, stamp: str, day: _Day, opening: "_Hash") -> None:
        self.second = second
        self.sheets: dict[str, _Sheet] = {}
        self.outer = day.outer
        self.inner = day.inner.copy()
        self.inner.update(f"{_ALGORITHM}\n{stamp}\n{day.scope}\n".encode())
        self._day = day
        self._stamp = stamp
        self._opening = opening

    def prepare(self, target: str) -> "_Sheet":
        sheet = self.sheets[target] = _Sheet(target, self._stamp, self._day, self._opening)
        return sheet


class _Sheet:
    """What all requests of one second to one target have in common."""

    __slots__ = ("authorization", "canonical", "headers")

    def __init__(self, target: str, stamp: str, day: _Day, opening: "_Hash") -> None:
        token = day.keys.token
        token_line = f"x-amz-security-token:{token}\n" if token else ""
        signed = f"content-type;host;x-amz-date;{'x-amz-security-token;' if token else ''}x-amz-target"
        self.canonical = opening.copy()
        self.canonical.update(f"{stamp}\n{token_line}x-amz-target:{target}\n\n{signed}\n".encode())
        self.headers = [f"Content-Type: {_CONTENT_TYPE}", f"X-Amz-Date: {stamp}", f"X-Amz-Target: {target}"]
        if token:
            self.headers.append(f"X-Amz-Security-Token: {token}")
        self.authorization = f"{day.credential}, SignedHeaders={signed}, Signature="


def _hmac_states(key: bytes) -> "tuple[_Hash, _Hash]":
    block = (sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
    return sha256(block.translate(_INNER_PAD)), sha256(block.translate(_OUTER_PAD))


def _hmac(key: bytes, message: bytes) -> bytes:
    inner, outer = _hmac_states(key)
    inner.update(message)
    outer.update(inner.digest())
    return outer.digest()
