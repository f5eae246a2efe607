"""Grants: what a signed URL of our own route allows, and to whom it was given does not matter.

    https://host/objects/mv/projects/7/final.mp4?expires=1767229200&method=GET&signature=…

The signature is an HMAC of everything the URL says, so nothing in it can be changed. A grant is for one object, one
method and, on the way in, one size and one content type.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, urlencode

from penstock.errors import Misconfigured, UrlRefused
from penstock.objects.disposition import checked_show_as, saved_as
from penstock.ports.clock import Clock, SystemClock
from penstock.ports.stored_object import DEFAULT_EXPIRY, SignedUrl, checked_expiry, checked_key, checked_size

_LONGEST_VALUE = 1024


@dataclass(frozen=True, slots=True)
class Grant:
    """What a URL allows."""

    method: str
    expires: int
    "The epoch second from which on it is refused."
    filename: str | None = None
    "What a download is to be called where it is saved."
    show_as: str | None = None
    "The content type under which a browser may show it in place."
    size: int | None = None
    "How many bytes an upload must have."
    content_type: str | None = None
    "What an upload must say it is."
    upload: str | None = None
    part: int | None = None
    "The part of an upload that may be put."

    @property
    def told(self) -> dict[str, str]:
        """What the URL says of it, without the signature."""
        return {name: str(value) for name, value in asdict(self).items() if value is not None}


class RouteSigner:
    """Signs URLs that lead to the route, and reads them there. ``url`` is where the route is reached."""

    def __init__(self, secret: bytes, *, url: str, clock: Clock | None = None) -> None:
        if len(secret) < 16:
            raise Misconfigured("the secret that signs URLs has fewer than 16 bytes; choose a longer one")
        # A key of its own, so that nothing else which is signed with the secret is ever a grant.
        self._key = hmac.new(secret, b"penstock objects", hashlib.sha256).digest()
        self._url = url.rstrip("/")
        self._clock = clock or SystemClock()

    def download_url(
        self,
        key: str,
        *,
        expires: timedelta = DEFAULT_EXPIRY,
        filename: str | None = None,
        show_as: str | None = None,
    ) -> SignedUrl:
        checked_show_as(show_as)
        # The name as it will be said: a longer one would make a URL that is refused for its length.
        return self._signed(key, Grant("GET", self._end(expires), filename=saved_as(filename), show_as=show_as))

    def upload_url(self, key: str, *, size: int, content_type: str, expires: timedelta = DEFAULT_EXPIRY) -> SignedUrl:
        grant = Grant("PUT", self._end(expires), size=checked_size(size), content_type=content_type)
        return self._signed(key, grant, headers={"Content-Type": content_type})

    def part_url(
        self, key: str, upload: str, number: int, *, size: int, expires: timedelta = DEFAULT_EXPIRY
    ) -> SignedUrl:
        return self._signed(key, Grant("PUT", self._end(expires), size=checked_size(size), upload=upload, part=number))

    def read(self, method: str, key: str, query: Sequence[tuple[str, str]]) -> Grant:
        """The grant that a request brings along, or UrlRefused."""
        said = dict(query)
        given = said.pop("signature", "")
        # A name said twice could mean one thing to us and another to whoever stands before us.
        sound = len(query) == len(said) + 1 and all(len(v) <= _LONGEST_VALUE for v in said.values())
        if not sound or not hmac.compare_digest(self._signature(key, said).encode(), given.encode()):
            raise UrlRefused("the signature does not fit this URL; ask for a new one")
        grant = _read(said)
        if method != grant.method and (method, grant.method) != ("HEAD", "GET"):
            raise UrlRefused(f"the URL is for {grant.method}, not {method}")
        if self._clock.now().timestamp() >= grant.expires:
            raise UrlRefused("the URL has expired; ask for a new one")
        return grant

    def _signed(self, key: str, grant: Grant, headers: dict[str, str] | None = None) -> SignedUrl:
        checked_key(key)
        told = grant.told
        query = urlencode({**told, "signature": self._signature(key, told)}, quote_via=quote)
        end = datetime.fromtimestamp(grant.expires, UTC)
        return SignedUrl(f"{self._url}/{quote(key)}?{query}", grant.method, end, headers or {})

    def _signature(self, key: str, told: dict[str, str]) -> str:
        text = json.dumps([key, told], sort_keys=True, separators=(",", ":"))
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()

    def _end(self, expires: timedelta) -> int:
        return int((self._clock.now() + checked_expiry(expires)).timestamp())


def _read(said: dict[str, str]) -> Grant:
    """A grant as the URL says it; it was signed, so it has the right form."""
    numbers = {name: int(said.pop(name)) for name in ("expires", "size", "part") if name in said}
    return Grant(**said, **numbers)  # type: ignore[arg-type]
