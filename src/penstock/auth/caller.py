"""Who makes a request, and what is theirs. The service finds it out; routes, also those of domains, ask for it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from penstock.auth.answered import AnsweredChange, Keeping
from penstock.kernel.idempotency import Claim, new_id
from penstock.kernel.store import Store
from penstock.schema.role import Role

_SHORT = 45
"Characters of the longest address; what is longer has a zone, or is none, and is not worth remembering."
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
    """The claim of a request with an Idempotency-Key. A route whose change ends it (``caller.change()``, or an action's
    ``store.change(once=claim)``) happens exactly once; one that does not happens twice if the process dies before its
    answer is noted."""
    keeping: Keeping | None = None
    "How an answer of the route is kept; the service knows."

    def change(self, *, why: str | None = None) -> AnsweredChange:
        """The change that a request of theirs is done with: by them, ending their claim, and keeping its answer."""
        return AnsweredChange(self.store, by=self.name, why=why, once=self.claim, keeping=self.keeping)

    def may_send(self, begun_by: str | None = None) -> bool:
        """May they send a file that was announced? Those who may announce one; where it is known who did, they alone,
        and an admin."""
        if self.role is None or not self.role.includes(Role.EDITOR):
            return False
        return begun_by in (None, self.name) or self.role is Role.ADMIN

    def id(self, name: str) -> UUID:
        """An id for something that a request makes before its change: the same at each try under one key."""
        return new_id(self.claim, name)


def read_address(text: str) -> Address | None:
    """An address, the same however it is written: IPv4 within IPv6 is IPv4; None for what is none."""
    return _read_short(text) if len(text) <= _SHORT else _read(text)


def _read(text: str) -> Address | None:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv4Address):
        return found
    # Without its zone, which is a word of whoever wrote it.
    return found.ipv4_mapped or ipaddress.IPv6Address(int(found))


_read_short = lru_cache(maxsize=1000)(_read)


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
