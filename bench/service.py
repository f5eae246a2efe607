"""A record through the whole service, as `penstock up` runs it: read by its key, listed by fifty, and created.

Beside it stand the same routes written by hand with FastAPI and SQLAlchemy, with the same keys, ETags and audit trail,
and a bare FastAPI that makes the same call of the kernel. The cost is the CPU of the serving process; its one client
asks over a socket, with an administrator's key.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import count

from bench import family_cpu
from bench.contender import Limit
from bench.measure import Clock, Effort, Work, contest
from bench.served import Bare, Client, Handwritten, PenstockUp
from bench.topic import Contests

GROUPS = dict.fromkeys(("service.get", "service.list", "service.create"), "CPU of the server")
HANDWRITTEN, BARE, SERVICE = "FastAPI + SQLAlchemy", "bare FastAPI", "penstock up"
BASELINE = HANDWRITTEN
OWN = (SERVICE,)
_SHARES = {"service.get": 0.8, "service.list": 0.8, "service.create": 1.0}
LIMITS = tuple(
    Limit(f"{group}: at most {share:g} of routes written by hand", group, SERVICE, HANDWRITTEN, share)
    for group, share in _SHARES.items()
)

RECORDS = 100
PAGE = 50
READ, WRITTEN = "6f9619ff-8b86-4011-b42d-00cf4fc964ff", "0b0e6a5c-51a3-4f0c-9e53-6a6d1d6f2c11"
"The nova whose papers are read, and the one that gets new ones."
_SERVERS = {HANDWRITTEN: Handwritten, BARE: Bare, SERVICE: PenstockUp}
_PATHS = {HANDWRITTEN: "/references", BARE: "/references", SERVICE: "/api/novae/references"}

Asking = Callable[[], Client]
"Opens a connection of a contender."


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """Start all, give each the same records, and ask them for one thing after the other."""
    with ExitStack() as stack:
        asking: dict[str, Asking] = {}
        clocks: dict[str, Clock] = {}
        for name in filter(effort.wants, _SERVERS):
            server = stack.enter_context(_SERVERS[name]())
            asking[name] = partial(Client, server.port, getattr(server, "key", None))
            clocks[name] = family_cpu.clock(server.pid)
            fill(asking[name], _PATHS[name])
        for group in groups:
            works = {name: _WORKS[group](asking[name], name) for name in asking}
            yield group, contest(works, effort, clocks=clocks)


def fill(asking: Asking, path: str) -> None:
    """Create the papers that are read."""
    with asking() as client:
        for number in range(RECORDS):
            client.ask("POST", path, paper(READ, number), status=201)


def paper(nova: str, number: int) -> bytes:
    """The body with which a paper is created."""
    told: Mapping[str, object] = {
        "nova_id": nova,
        "reference_id": f"2013ATel.{number:06d}",
        "title": "Spectroscopic confirmation of a classical nova, and the light of its first forty days",
        "date": "2013-08-14",
        "details": {"authors": ["Ann Ash", "Ben Birch", "Cy Cedar"], "pages": 12, "refereed": True},
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
    }
    return json.dumps(told).encode()


def getting_path(path: str) -> str:
    """Where one of the papers is."""
    return f"{path}/{READ}/2013ATel.000007"


def listing_path(path: str) -> str:
    """Where a page of them is."""
    return f"{path}?pattern=of_nova&nova_id={READ}&limit={PAGE}"


def _getting(asking: Asking, name: str) -> Work:
    asked = getting_path(_PATHS[name])

    def work(times: int) -> None:
        with asking() as client:
            for _ in range(times):
                told = client.ask("GET", asked)
        assert json.loads(told)["details"]["pages"] == 12

    return work


def _listing(asking: Asking, name: str) -> Work:
    asked = listing_path(_PATHS[name])

    def work(times: int) -> None:
        with asking() as client:
            for _ in range(times):
                told = client.ask("GET", asked)
        assert len(json.loads(told)["items"]) == PAGE

    return work


def _creating(asking: Asking, name: str) -> Work:
    numbers, path = count(), _PATHS[name]

    def work(times: int) -> None:
        with asking() as client:
            for _ in range(times):
                client.ask("POST", path, paper(WRITTEN, next(numbers)), status=201)

    return work


_WORKS: Mapping[str, Callable[[Asking, str], Work]] = {
    "service.get": _getting,
    "service.list": _listing,
    "service.create": _creating,
}
