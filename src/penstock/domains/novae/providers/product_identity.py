"""What makes two answers the same product.

| what the provider tells | identity | how sure |
|---|---|---|
| a key of its own | ``id:`` and the key | the same, whatever else changes |
| a URL | ``url:`` and the URL without what changes from day to day | the same while it stays where it is |
| a time and a size | ``weak:`` and both | a guess: told as weak |

Of a URL, what differs between two askings and not between two files is left out: TLS or not, the usual port, the order
of parameters, and those that can only be a login, a signature or a nonce.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

LONGEST_IDENTITY = 1024
_USUAL_PORTS = {"http": 80, "https": 443}
_LOGINS = """
    token access_token auth_token authorization apikey api_key sessionid session_id jsessionid phpsessid
    sig signature expires awsaccesskeyid key-pair-id nonce cachebust _
"""
_NOISE = frozenset(_LOGINS.split())
"Only what is never part of a name: an observing session, a time or a trace may be what tells two files apart."
_NOISY = ("x-amz-", "x-goog-", "utm_")
_SESSION_IN_PATH = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/;]*", re.I)
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class ProductIdentity:
    """An identity, and whether it is but a guess."""

    text: str
    weak: bool = False


def product_identity(
    *, native_id: str | None, locators: tuple[str, ...], observed_at: str | None = None, size: int | None = None
) -> ProductIdentity | None:
    """The identity of a product; None if nothing tells it from others."""
    if native_id and (key := _SPACES.sub(" ", native_id).strip()):
        return ProductIdentity(_bounded(f"id:{key}"))
    if locators:
        return ProductIdentity(_bounded(f"url:{lasting_url(locators[0])}"))
    if observed_at and size:
        return ProductIdentity(_bounded(f"weak:{observed_at}:{size}"), weak=True)
    return None


def lasting_url(url: str) -> str:
    """A URL without what changes though the file does not; what is no URL stays as it is."""
    try:
        parts = urlsplit(url.strip())
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return url.strip()
    if parts.scheme not in _USUAL_PORTS or not host:
        return url.strip()
    place = host if port in (None, *_USUAL_PORTS.values()) else f"{host}:{port}"
    path = quote(unquote(_SESSION_IN_PATH.sub("", parts.path)), safe="/~!$&'()*+,;=:@") or "/"
    asked = sorted(
        (name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if not _is_noise(name)
    )
    return f"//{place}{path}" + (f"?{urlencode(asked)}" if asked else "")


def _is_noise(name: str) -> bool:
    return name.lower() in _NOISE or name.lower().startswith(_NOISY)


def _bounded(text: str) -> str:
    """Two long ones that begin alike stay two."""
    if len(text) <= LONGEST_IDENTITY:
        return text
    return f"{text[: LONGEST_IDENTITY - 66]}…{sha256(text.encode()).hexdigest()}"
