"""Views of one video: counted exactly, each with its request id, and in a burst that is written four times a second.

Both in one process of the library, by the wall, and through the whole service, by the CPU of its process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from uuid import UUID, uuid4

from bench import family_cpu
from bench.contender import Limit
from bench.measure import Clock, Effort, Work, contest
from bench.served import Client, PenstockUp
from bench.topic import Contests
from penstock import Store, open_store
from penstock.domains.videos.burst_counter import PERIOD, BurstCounter
from penstock.domains.videos.model import DOMAIN, Video
from penstock.domains.videos.video_library import VideoLibrary
from penstock.domains.videos.view_counting import count_view
from penstock.runtime.composition import open_objects

LIBRARY, HTTP = "views.library", "views.http"
GROUPS = {LIBRARY: "wall time of one process", HTTP: "CPU of the server"}
EXACT, BURST = "exact", "burst"
BASELINE = EXACT
OWN = (EXACT, BURST)
LIMITS = (
    Limit(f"{LIBRARY}: a burst of at least 20,000 views a second", LIBRARY, BURST, None, 50.0),
    Limit(f"{HTTP}: a burst takes at most 0.5 of what exact views do", HTTP, BURST, EXACT, 0.5),
)


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """See one video again and again, in both ways."""
    for group in groups:
        with ExitStack() as stack:
            works: dict[str, Work] = {}
            clocks: dict[str, Clock] = {}
            for name in filter(effort.wants, OWN):
                works[name], clocks[name] = stack.enter_context(_OPENERS[group](name))
            yield group, contest(works, effort, clocks=clocks)


@contextmanager
def _library(name: str) -> Iterator[tuple[Work, Clock]]:
    with TemporaryDirectory() as folder, closing(open_store(f"sqlite:///{folder}/vm.db")) as store:
        store.ensure(DOMAIN)
        video_id = _put(store)
        if name == BURST:
            with BurstCounter(store) as counter:
                yield _seeing_in_a_burst(counter, store, video_id), perf_counter
        else:
            library = VideoLibrary(store, open_objects(f"files:///{folder}/files"))
            yield _seeing(library, video_id), perf_counter


def _seeing(library: VideoLibrary, video_id: UUID) -> Work:
    numbers = count()

    def work(times: int) -> None:
        for _ in range(times):
            count_view(library, video_id, request_id=str(next(numbers)))

    return work


def _seeing_in_a_burst(counter: BurstCounter, store: Store, video_id: UUID) -> Work:
    numbers, began = count(), perf_counter()

    def work(times: int) -> None:
        for _ in range(times):
            counter.count(video_id, request_id=str(next(numbers)))
        updates = store.engine.log_size([Video.__shape__]).entries - 1
        allowed = 1 + (perf_counter() - began) / PERIOD.total_seconds()
        assert updates <= allowed, f"{updates} writes, of which {allowed:.1f} are allowed"

    return work


@contextmanager
def _served(name: str) -> Iterator[tuple[Work, Clock]]:
    with PenstockUp({"VM_COUNTING": name}) as server:
        with closing(open_store(f"sqlite:///{server.home}/{_STORE}")) as store:
            video_id = _put(store)
        yield _asking(server, video_id), family_cpu.clock(server.pid)


def _asking(server: PenstockUp, video_id: UUID) -> Work:
    numbers, path = count(), f"/api/vm/videos/{video_id}/views"

    def work(times: int) -> None:
        with Client(server.port, server.key) as client:
            for _ in range(times):
                told = client.ask("POST", path, json.dumps({"request_id": str(next(numbers))}).encode())
        assert json.loads(told)["view_count"] > 0

    return work


def _put(store: Store) -> UUID:
    """A video that nobody has sent."""
    video = Video(video_id=uuid4(), user_id="user_789", created_at=1717645200, title="Launch", duration=354000)
    store.create(video)
    return video.video_id


_STORE = Path(".penstock") / "penstock.db"
_OPENERS: Mapping[str, Callable[[str], AbstractContextManager[tuple[Work, Clock]]]] = {LIBRARY: _library, HTTP: _served}
