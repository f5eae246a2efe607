"""URLs, read once and strictly, so that nobody along the way can understand another host than was checked."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TypeAlias
from urllib.parse import urljoin, urlsplit

Origin: TypeAlias = tuple[str, str, int]
"Scheme, host and port."

_PORTS = {"http": 80, "https": 443}
_LONGEST = 8192
_PRINTABLE = re.compile(r"[\x21-\x7e]*")
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")


@dataclass(frozen=True, slots=True)
class Url:
    """Where a request goes."""

    scheme: str
    host: str
    "A name, or an address in its usual form; an IPv6 address without brackets."
    port: int
    target: str

    @property
    def origin(self) -> Origin:
        return self.scheme, self.host, self.port

    @property
    def is_secure(self) -> bool:
        return self.scheme == "https"

    @property
    def literal(self) -> IPv4Address | IPv6Address | None:
        """The address, if it is written instead of a name."""
        try:
            return ip_address(self.host)
        except ValueError:
            return None

    def at_root(self) -> Url:
        """The same origin, and nothing that may be a token."""
        return Url(self.scheme, self.host, self.port, "/")

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.target}"

    def __repr__(self) -> str:
        return f"<Url at {self.host}>"  # the rest may hold a token


def read_url(text: str) -> Url:
    """What a URL says; ValueError says what is wrong, as what follows "the URL", without repeating it."""
    if len(text) > _LONGEST:
        raise ValueError(f"is longer than {_LONGEST} characters")
    # Before it is taken apart: that would leave line breaks and spaces out, and so read something else.
    if not _PRINTABLE.fullmatch(text):
        raise ValueError("holds a space or a character that is not ASCII")
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError("cannot be read") from None
    if parts.scheme not in _PORTS:
        raise ValueError(f"begins with {parts.scheme[:20]!r} and not with http or https")
    if not host:
        raise ValueError("names no host")
    if "@" in parts.netloc:
        raise ValueError("holds a user or a password")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Url(parts.scheme, _host(host), _PORTS[parts.scheme] if port is None else port, target)


def joined(base: Url, location: str) -> Url:
    """Where a redirect leads; ValueError says what is wrong with it."""
    if not location:
        raise ValueError("is empty")
    if not _PRINTABLE.fullmatch(location):
        raise ValueError("holds a space or a character that is not ASCII")
    try:
        return read_url(urljoin(str(base), location))
    except ValueError as wrong:
        raise ValueError(str(wrong) if wrong.args else "cannot be read") from None


def _host(host: str) -> str:
    if "%" not in host:
        with suppress(ValueError):
            return str(ip_address(host))
    # "0x7f.1", "0177.0.0.1" and "2130706433" are addresses to whoever connects, and names to whoever compares.
    if _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
        raise ValueError("writes an address in an unusual form")
    if not _NAME.fullmatch(host) or len(host) > 253:
        raise ValueError("names a host that cannot be one")
    return host
