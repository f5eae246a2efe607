"""Views that are counted in memory: written soon, in one update for each video, and lost by nothing but a crash."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.domains.videos import PLUGIN, burst_counter
from penstock.domains.videos.burst_counter import PERIOD, BurstCounter
from penstock.domains.videos.model import DOMAIN, Video, ViewMark
from penstock.domains.videos.video_library import VideoLibrary
from penstock.domains.videos.view_counting import correct_views, count_view
from penstock.errors import InvalidValue, Misconfigured, NotFound, Unavailable
from penstock.operations.writes import Write
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings
from penstock.testing.faults.losing_proxy import LosingProxy
from penstock.testing.faults.switch import Switch
from penstock.work.domain_context import DomainContext
from tests.domains.videos.records import a_video
from tests.engines.crowd import Crowd, open_at
from tests.forked import forked
from tests.work.soon import soon

pytestmark = pytest.mark.every_engine

NEVER = timedelta(days=1)
"By itself, this writes nothing while a test lasts."


def put(store: Store, **said: object) -> UUID:
    video = a_video(**said)
    store.create(video)
    return video.video_id


def written(store: Store, video_id: UUID) -> int | None:
    return store.get(Video.at(video_id=video_id)).view_count


def updates(store: Store) -> int:
    """How often a video was written since it is there."""
    return sum(1 for entry in store.engine.changes([Video.__shape__], limit=1000) if entry.kind == "update")


def test_a_burst_is_written_in_one_update_for_each_video(library: VideoLibrary) -> None:
    store = library.store
    one, other = put(store), put(store, view_count=7)
    with BurstCounter(store, period=NEVER) as counter:
        assert [counter.count(one) for _ in range(1000)] == list(range(1, 1001))
        assert counter.count(other) == 8
        assert (written(store, one), written(store, other), updates(store)) == (None, 7, 0)
        counter.write()
        assert (written(store, one), written(store, other), updates(store)) == (1000, 8, 2)
        assert counter.count(one) == 1001
        counter.write()
        counter.write()
        assert (written(store, one), updates(store)) == (1001, 3)


def test_what_is_counted_is_written_by_itself_and_at_most_four_times_a_second(library: VideoLibrary) -> None:
    store, began = library.store, time.monotonic()
    video = put(store)
    with BurstCounter(store) as counter, ThreadPoolExecutor(4) as pool:

        def watch(_: int) -> None:
            for number in range(5000):
                counter.count(video)
                if number % 500 == 0:
                    time.sleep(0.05)

        list(pool.map(watch, range(4)))
        soon(lambda: written(store, video) == 20_000)
        lasted = time.monotonic() - began
        assert updates(store) <= 1 + lasted / PERIOD.total_seconds()


def test_the_rest_is_written_at_the_end(library: VideoLibrary) -> None:
    store = library.store
    video = put(store)
    counter = BurstCounter(store, period=NEVER)
    counter.count(video)
    counter.close()
    assert written(store, video) == 1
    assert counter.count(video) == 2, "it can be used again"
    counter.close()
    counter.close()
    assert written(store, video) == 2


def test_a_service_that_ends_writes_the_rest(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/vm.db"
    settings = Settings(store=url, objects=f"files:///{tmp_path}/files", variables={"VM_COUNTING": "burst"})
    service = Service(settings, [PLUGIN])
    service.start(background=False)
    video = put(service.context.store)
    assert count_view(VideoLibrary.within(service.context), video) == 1
    service.stop()
    with closing(open_store(url)) as store:
        assert written(store, video) == 1


def test_a_way_to_count_that_there_is_not_is_refused(library: VideoLibrary) -> None:
    context = DomainContext(library.store, library.objects, {"VM_COUNTING": "sometimes"}.get)
    with pytest.raises(Misconfigured, match="VM_COUNTING='sometimes' is no way to count views; write exact or burst"):
        VideoLibrary.within(context)


def test_no_more_videos_are_kept_than_allowed(library: VideoLibrary) -> None:
    store = library.store
    videos = [put(store) for _ in range(70)]
    with BurstCounter(store, period=NEVER, most=30) as counter:
        for video in videos:
            counter.count(video)
        assert [written(store, video) for video in videos] == [1] * 60 + [None] * 10
    assert [written(store, video) for video in videos] == [1] * 70


def test_a_video_that_is_not_there_is_not_counted(library: VideoLibrary, clock: FrozenClock) -> None:
    """VM-22, F-VM-4: one that has ended is not there from that second on."""
    store = library.store
    ended = put(store, expiry_time=int(clock.now().timestamp()) + 60)
    with BurstCounter(store, period=NEVER) as counter:
        with pytest.raises(NotFound):
            counter.count(uuid4())
        assert counter.count(ended) == 1
        clock.advance(timedelta(seconds=60))
        with pytest.raises(NotFound):
            counter.count(ended)
        assert store.lookup(Video.at(video_id=ended)) is None


def test_a_video_that_goes_meanwhile_leaves_no_ghost_and_keeps_no_other_from_being_written(
    everywhere: VideoLibrary,
) -> None:
    store = everywhere.store
    videos = [put(store) for _ in range(8)]
    with BurstCounter(store, period=NEVER) as counter:
        for video in videos:
            counter.count(video)
        for gone in videos[::4]:
            store.delete(Video.at(video_id=gone))
        counter.write()
        for place, video in enumerate(videos):
            found = store.lookup(Video.at(video_id=video))
            assert (found is None) if place % 4 == 0 else (found is not None and found.view_count == 1)
        with pytest.raises(NotFound):
            counter.count(videos[0])


def test_a_request_that_comes_again_soon_is_recognised(library: VideoLibrary) -> None:
    store = library.store
    video, other = put(store), put(store)
    with BurstCounter(store, period=NEVER) as counter:
        assert [counter.count(video, request_id="a") for _ in range(3)] == [1, 1, 1]
        counter.write()
        assert counter.count(video, request_id="a") == 1
        assert counter.count(video, request_id="b") == 2
        assert counter.count(other, request_id="a") == 1
    assert (written(store, video), written(store, other)) == (2, 1)
    assert list(store.find(ViewMark.of_video(video_id=video))) == []


def test_a_request_is_recognised_though_many_others_came_since(
    library: VideoLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(burst_counter, "_RECOGNISED", 3)
    video = put(library.store)
    with BurstCounter(library.store, period=NEVER) as counter:
        for request in "abc":  # so many fill one half of what is known
            counter.count(video, request_id=request)
        assert counter.count(video, request_id="a") == 3


class Between:
    """An engine of whose commits something comes in between, before or after."""

    def __init__(self, engine: Any) -> None:
        self._engine, self.commits = engine, list[tuple[Any, str]]()
        self.before: Callable[[Sequence[Write]], object] = lambda writes: None
        self.after: Callable[[], object] = lambda: None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def commit(self, writes: Sequence[Write], *, now: Any, token: str) -> None:
        self.commits.append((now, token))
        self.before(writes)
        self._engine.commit(writes, now=now, token=token)
        self.after()


class Interrupted(Store):
    """A store with such an engine."""

    def __init__(self, store: Store) -> None:
        self.between = Between(store.engine)
        super().__init__(self.between, clock=store.clock)


def test_what_is_recognised_is_not_written(library: VideoLibrary) -> None:
    store, video = Interrupted(library.store), put(library.store)
    with BurstCounter(store, period=NEVER) as counter:
        for _ in range(2):
            counter.count(video, request_id="a")
            counter.write()
        assert len(store.between.commits) == 1


def test_what_is_sent_again_is_the_same_request(library: VideoLibrary, clock: FrozenClock) -> None:
    """By its token and its moment a store recognises it: tokens are of a whole request."""
    store, video = Interrupted(library.store), put(library.store)
    with BurstCounter(store, period=NEVER) as counter:
        counter.count(video)

        def lost() -> None:
            raise Unavailable("nobody answers")

        store.between.after = lost
        with pytest.raises(Unavailable):
            counter.write()
        store.between.after = lambda: None
        clock.advance(timedelta(seconds=5))
        counter.write()
    first, second = store.between.commits
    assert first == second


def test_two_who_write_at_once_write_one_after_the_other(library: VideoLibrary) -> None:
    store, video = Interrupted(library.store), put(library.store)
    with BurstCounter(store, period=NEVER) as counter:
        counter.count(video)
        other = Thread(target=counter.write)

        def meet(writes: Sequence[Write]) -> None:
            store.between.before = lambda writes: None
            other.start()
            other.join(0.2)  # it waits for its turn

        store.between.before = meet
        counter.write()
        other.join()
    assert written(library.store, video) == 1


def test_one_that_cannot_be_written_keeps_no_other_from_it(library: VideoLibrary) -> None:
    store, videos = Interrupted(library.store), [put(library.store) for _ in range(3)]

    def refuse(writes: Sequence[Write]) -> None:
        if any(write.key["video_id"] == videos[1] for write in writes):
            raise InvalidValue("this one has too much in it")

    store.between.before = refuse
    with BurstCounter(store, period=NEVER) as counter:
        for video in videos:
            counter.count(video)
        counter.write()
    assert [written(library.store, video) for video in videos] == [1, None, 1]


def test_a_count_that_is_corrected_meanwhile_is_added_to(library: VideoLibrary) -> None:
    video = put(library.store)
    with BurstCounter(library.store, period=NEVER) as counter:
        counter.count(video)
        correct_views(library, video, 100, by="the admin", why="so it was")
    assert written(library.store, video) == 101


def test_a_child_writes_nothing_that_its_parent_has_counted(library: VideoLibrary) -> None:
    store = library.store
    video = put(store)
    with BurstCounter(store, period=NEVER) as counter:
        counter.count(video)

        def count_and_end() -> None:
            counter.count(video)
            counter.close()

        assert forked(count_and_end) == 0
        assert written(store, video) == 1
    assert written(store, video) == 2


# Outages


@pytest.fixture(params=["postgres", "dynoxide"])
def away(request: pytest.FixtureRequest) -> Iterator[Crowd]:
    """A store elsewhere, with the tables of videos."""
    if request.param == "postgres":
        yield Crowd("postgres", request.getfixturevalue("postgres_server").create_database(f"burst_{uuid4().hex[:8]}"))
    else:
        yield Crowd("dynamodb", request.getfixturevalue("dynoxide_server").url, f"burst{uuid4().hex[:8]}_")


def through(place: Crowd, port: int) -> Store:
    """The same store, by way of a port."""
    behind = urlsplit(place.address).port
    return Store(open_at(Crowd(place.kind, place.address.replace(f":{behind}", f":{port}"), place.prefix)))


def port_of(place: Crowd) -> int:
    port = urlsplit(place.address).port
    assert port is not None
    return port


def test_what_was_counted_outlasts_an_outage(away: Crowd) -> None:
    direct = Store(open_at(away))
    direct.ensure(DOMAIN)
    video, unknown = put(direct), put(direct)
    with Switch(port_of(away)) as switch:
        store = through(away, switch.port)
        with BurstCounter(store, period=timedelta(milliseconds=20)) as counter:
            counter.count(video)
            soon(lambda: written(direct, video) == 1)
            counter.count(video)
            switch.off()
            with pytest.raises(Unavailable):
                counter.write()
            assert [counter.count(video) for _ in range(5)] == [3, 4, 5, 6, 7], "of one that is known views go on"
            with pytest.raises(Unavailable):
                counter.count(unknown)
            switch.on()
            soon(lambda: written(direct, video) == 7)
        store.close()
    assert written(direct, unknown) is None
    direct.close()


def test_what_may_have_been_written_is_counted_once(away: Crowd) -> None:
    """The store writes and is not heard, until nobody waits any longer."""
    direct = Store(open_at(away))
    direct.ensure(DOMAIN)
    videos = [put(direct) for _ in range(3)]
    with LosingProxy(port_of(away)) as proxy:
        store = through(away, proxy.port)
        counter = BurstCounter(store, period=NEVER)
        put(store)  # so that it is known as one who writes
        for video in videos:
            counter.count(video)
        proxy.lose_next_answer(200)
        with pytest.raises(Unavailable):
            counter.write()
        assert {written(direct, video) for video in videos} == {1}, "it was written, and nobody knows"
        assert counter.count(videos[0]) == 2
        proxy.lose_none()
        counter.close()
        store.close()
    assert [written(direct, video) for video in videos] == [2, 1, 1]
    direct.close()
