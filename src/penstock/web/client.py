"""Where a request comes from. Only proxies that are trusted are believed when they say whom they speak for."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any

from penstock.errors import Misconfigured

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_FORWARDED = ("x-forwarded-for", "forwarded", "x-real-ip")


class Clients:
    """Finds the address of whoever makes a request."""

    def __init__(self, trusted_proxies: Iterable[str] = ()) -> None:
        try:
            self._trusted = [ipaddress.ip_network(text.strip(), strict=False) for text in trusted_proxies]
        except ValueError as error:
            raise Misconfigured(f"a trusted proxy is an address or a network, such as 10.0.0.0/8: {error}") from None

    def address(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> Address | None:
        """The client's own address; None when the server does not know it.

        Each proxy adds the address it was spoken to from at the right end, so the list is read from there, as long as
        it was written by proxies that are trusted. What a client wrote itself is never reached.
        """
        peer = _parse((scope.get("client") or ("",))[0])
        for text in reversed(headers.get("x-forwarded-for", "").split(",")):
            if peer is None or not self._is_trusted(peer):
                break
            said = _parse(text.strip())
            if said is None:
                break
            peer = said
        return peer

    def is_this_machine(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> bool:
        """Does the request come from this machine, and not through a proxy on it?"""
        peer = _parse((scope.get("client") or ("",))[0])
        return peer is not None and peer.is_loopback and not any(name in headers for name in _FORWARDED)

    def _is_trusted(self, address: Address) -> bool:
        return any(address in network for network in self._trusted)


def network_of(address: Address | None) -> str:
    """What is counted as one client: of IPv6 a /64, as everybody has so many addresses."""
    if address is None:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def _parse(text: str) -> Address | None:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found
