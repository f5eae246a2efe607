"""Who makes a request, and what is theirs. The service finds it out; routes, also those of domains, ask for it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any

from penstock.kernel.idempotency import Claim
from penstock.kernel.store import Store
from penstock.schema.role import Role

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who was let in."""

    name: str
    "For the audit trail."
    role: Role | None
    "None for anybody, on a public route."
    project: str | None
    "The only project that is theirs; None for all."
    store: Store
    "Sees what they may see. A route that uses another shows one project's records to another."
    address: str = "unknown"
    "Where the request comes from: the client's own address, also behind a proxy that is trusted. Personal."
    claim: Claim | None = None
    """The claim of a request with an Idempotency-Key. A route whose change ends it (``change(once=claim)``) happens
    exactly once; one that does not happens once unless the process dies just before the answer is noted."""


def read_address(text: str) -> Address | None:
    """An address, the same however it is written: IPv4 within IPv6 is IPv4; None for what is none."""
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv4Address):
        return found
    # Without its zone, which is a word of whoever wrote it.
    return found.ipv4_mapped or ipaddress.IPv6Address(int(found))


def network_of(address: Address | None) -> str:
    """What is counted as one client: of IPv6 a /64, as everybody has so many addresses."""
    if address is None:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def caller_of(request: Any) -> Caller:
    """Who makes this request."""
    caller: Caller = request.state.caller
    return caller
