"""The crowd: the connections of one process, no more than there are files for, and with room for every client."""

from __future__ import annotations

import asyncio
import resource
from itertools import islice
from typing import Protocol

from penstock.auth.caller import network_of, read_address
from penstock.web.client import Clients
from penstock.web.options import WebOptions

_MOST = 1000
"Each may hold some hundred kilobytes of what was sent and not yet read."
_SPARE = 400
"Files for all else: the store has some for each thread, uploads have theirs, and connections are closed a moment late."
_ASIDE = 32
"Connections beyond the limit that may still ask for health."
_OF_A_CLIENT = 4
"One client has a quarter of all connections; a proxy that is trusted speaks for many."
_FEW = 64
"So many one client may have in any case, if there are so many."
_LOOKED_AT = 64
"Connections, before one is found that does nothing: a crowd that is busy must not be searched for each that arrives."
BREATH = 0.002
"Seconds between two pieces that are thrown away: a body that was refused must not cost more than one that is read."


class Member(Protocol):
    """A connection, as far as the crowd knows it."""

    network: str
    is_aside: bool
    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    client: tuple[str, int] | None

    @property
    def is_idle(self) -> bool: ...

    def end(self) -> None: ...

    def end_if_stalled(self, now: float) -> None: ...


def most_connections(options: WebOptions) -> int:
    """How many connections a process may have, by its options and by its limit of open files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return options.connections or _MOST
    return max(1, min(options.connections or _MOST, files - min(_SPARE, files // 2)))


class Crowd:
    """The connections of one process. Only its event loop's thread asks."""

    def __init__(self, options: WebOptions) -> None:
        self.most = most_connections(options)
        self._each = min(self.most, max(_FEW, self.most // _OF_A_CLIENT))
        self._clients = Clients(options.trusted_proxies)
        self.silence = options.silence.total_seconds()
        self._all: dict[Member, None] = {}
        self._of: dict[str, dict[Member, None]] = {}
        self._aside: dict[Member, None] = {}
        self._throwing_away: dict[Member, None] = {}
        self.slicing: set[Member] = set()
        "Those of which more has come than is read at once."
        self._sweeping = False

    def arrive(self, connection: Member) -> None:
        """A connection was made. One too many takes the place of one that does nothing, or else stands aside."""
        client = connection.network = self._network(connection)
        its_own = self._of.get(client, {})
        crowded = bool(client) and len(its_own) >= self._each and not _make_room(its_own)
        if crowded or (len(self._all) >= self.most and not _make_room(self._all)):
            connection.is_aside = True
            if len(self._aside) >= _ASIDE and not _make_room(self._aside):
                connection.transport.abort()
                return
            self._aside[connection] = None
        else:
            # Only now: with the last of its own that had to give way, the client was forgotten.
            self._all[connection] = self._of.setdefault(client, {})[connection] = None
        self._begin_sweeping(connection.loop)

    def rest(self, connection: Member) -> None:
        """It has nothing to do now; those that have had nothing for longest are the first."""
        self._throwing_away.pop(connection, None)
        for crowd in (self._all, self._of.get(connection.network, {})):
            if connection in crowd:
                del crowd[connection]
                crowd[connection] = None

    def breath(self, connection: Member) -> float:
        """Seconds until a connection may send more that is thrown away; the more there are of them, the longer."""
        self._throwing_away[connection] = None
        return BREATH * len(self._throwing_away)

    def leave(self, connection: Member) -> None:
        self._all.pop(connection, None)
        self._aside.pop(connection, None)
        self._throwing_away.pop(connection, None)
        self.slicing.discard(connection)
        its_own = self._of.get(connection.network, {})
        its_own.pop(connection, None)
        if not its_own:
            self._of.pop(connection.network, None)

    def _network(self, connection: Member) -> str:
        """Whom the connection counts for; nobody where others speak through it."""
        address = read_address((connection.client or ("",))[0])
        return "" if address is not None and self._clients.is_trusted(address) else network_of(address)

    def _begin_sweeping(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._sweeping:
            self._sweeping = True
            loop.call_later(self._interval, self._sweep, loop)

    @property
    def _interval(self) -> float:
        return min(1.0, self.silence / 4)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """End what has waited for too long. Now and then for all: a timer for each request would cost each of them."""
        now = loop.time()
        for connection in [*self._all, *self._aside]:
            connection.end_if_stalled(now)
        self._sweeping = False
        if self._all or self._aside:
            self._begin_sweeping(loop)


def _make_room(crowd: dict[Member, None]) -> bool:
    """End the one that has done nothing for longest; False if all have something to do."""
    for connection in list(islice(crowd, _LOOKED_AT)):
        if connection.is_idle:
            connection.end()
            return True
        del crowd[connection]  # busy: it is looked at again behind all others
        crowd[connection] = None
    return False
