"""`penstock serve` with two processes that answer requests, next to one: what a request costs, of them all together.

Eight clients ask at the same time, so that every process has some of them. The cost is the CPU of all processes, also
of the one that does everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import count

from bench import family_cpu
from bench.contender import Limit
from bench.measure import Clock, Effort, Work, contest
from bench.served import Client, PenstockServe
from bench.service import Asking, fill, getting_path, listing_path, paper
from bench.topic import Contests

GROUPS = dict.fromkeys(("processes.get", "processes.list", "processes.create"), "CPU of the servers")
ONE, TWO = "one process", "two processes"
BASELINE = ONE
OWN = (ONE, TWO)
LIMITS = tuple(Limit(f"{group}: at most 1.1 of one process", group, TWO, ONE, 1.1) for group in GROUPS)

CLIENTS, _EACH = 8, 20
"So many clients, each with so many requests a round: a process that is asked by none would tell nothing."
_PATH = "/api/novae/references"
_WRITTEN = "b2d1f5b0-6c0e-4c0e-8a52-7f3f8d0f3a11"
_PROCESSES = {ONE: 1, TWO: 2}

Request = Callable[[Client], object]


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """Start both, give each the same records, and have them asked by all clients."""
    with ExitStack() as stack:
        asking: dict[str, Asking] = {}
        clocks: dict[str, Clock] = {}
        for name in filter(effort.wants, _PROCESSES):
            server = stack.enter_context(PenstockServe(_PROCESSES[name]))
            asking[name] = partial(Client, server.port, server.key)
            clocks[name] = family_cpu.clock(server.pid)
            fill(asking[name], _PATH)
        for group in groups:
            with ThreadPoolExecutor(CLIENTS) as clients:
                works = {name: _together(clients, each, _REQUESTS[group]()) for name, each in asking.items()}
                yield group, contest(works, effort, clocks=clocks, times=effort.sized(_EACH, least=2) * CLIENTS)


def _together(clients: ThreadPoolExecutor, asking: Asking, request: Request) -> Work:
    """Have each client make its share of the requests, over a connection of its own."""

    def ask(times: int) -> None:
        with asking() as client:
            for _ in range(times):
                request(client)

    def work(times: int) -> None:
        shares = [times // CLIENTS + (number < times % CLIENTS) for number in range(CLIENTS)]
        list(clients.map(ask, filter(None, shares)))

    return work


def _getting() -> Request:
    asked = getting_path(_PATH)
    return lambda client: client.ask("GET", asked)


def _listing() -> Request:
    asked = listing_path(_PATH)
    return lambda client: client.ask("GET", asked)


def _creating() -> Request:
    numbers = count()
    return lambda client: client.ask("POST", _PATH, paper(_WRITTEN, next(numbers)), status=201)


_REQUESTS: Mapping[str, Callable[[], Request]] = {
    "processes.get": _getting,
    "processes.list": _listing,
    "processes.create": _creating,
}
