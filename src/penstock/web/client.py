"""Where a request comes from. Only proxies that are trusted are believed when they say whom they speak for."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any

from starlette.datastructures import Headers

from penstock.auth.caller import Address, network_of, read_address
from penstock.errors import Misconfigured
from penstock.kernel.idempotency import once_key

_OF_PROXIES = (
    *("forwarded", "x-forwarded", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "true-client-ip", "via"),
    *("x-original-", "x-proxy", "proxy-", "x-envoy-", "x-request-start", "x-queue-start", "x-arr-", "x-varnish"),
    *("cf-", "cdn-loop", "cloudfront-", "x-amz-cf-", "x-amzn-", "fastly-", "fly-", "akamai-", "x-azure-"),
    "x-appengine-",
)
"How the headers begin that proxies add by default."


class Clients:
    """Finds the address of whoever makes a request."""

    def __init__(self, trusted_proxies: Iterable[str] = ()) -> None:
        try:
            self._trusted = [ipaddress.ip_network(text.strip(), strict=False) for text in trusted_proxies]
        except ValueError as error:
            raise Misconfigured(f"a trusted proxy is an address or a network, such as 10.0.0.0/8: {error}") from None

    def address(self, scope: Mapping[str, Any], headers: Headers) -> Address | None:
        """The client's own address; None when the server does not know it.

        Each proxy adds the address it was spoken to from at the right end, so the list is read from there, as long as
        it was written by proxies that are trusted. What a client wrote itself is never reached, also not where a proxy
        adds a line of its own: all lines are one list.
        """
        peer = read_address((scope.get("client") or ("",))[0])
        for text in reversed(",".join(headers.getlist("x-forwarded-for")).split(",")):
            if peer is None or not self.is_trusted(peer):
                break
            said = read_address(text.strip())
            if said is None:
                break
            peer = said
        return peer

    def forwarded(self, scope: Mapping[str, Any], headers: Headers, name: str) -> str | None:
        """What a proxy that is trusted says in a header about the request it passes on; the last word, if several."""
        peer = read_address((scope.get("client") or ("",))[0])
        said = headers.getlist(name) if peer is not None and self.is_trusted(peer) else []
        return said[-1].rpartition(",")[2].strip() or None if said else None

    def is_this_machine(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> bool:
        """Does the request come from this machine, and, as far as can be seen, not through a proxy on it?"""
        peer = read_address((scope.get("client") or ("",))[0])
        through_proxy = scope.get("http_version") == "1.0" or any(n.lower().startswith(_OF_PROXIES) for n in headers)
        return peer is not None and peer.is_loopback and not through_proxy

    def is_trusted(self, address: Address) -> bool:
        """Is it believed when it says whom it speaks for?"""
        return any(address in network for network in self._trusted)


def mark_of(address: Address | None, *purpose: str, secret: bytes) -> str:
    """Tells clients apart without telling who they are: addresses are so few that a hash without a key is guessed."""
    return hmac.new(secret, once_key(*purpose, network_of(address)).encode(), "sha256").hexdigest()
