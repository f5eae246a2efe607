"""The log of changes is kept for those who follow it, and for nobody longer than is said."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.domains import DOMAINS
from penstock.domains.videos.model import Video
from penstock.errors import FeedTrimmed, InvalidValue
from penstock.events.feed import Feed
from penstock.events.feed_records import MISSED, FeedPlace
from penstock.events.trimmed_log import LogMark, LogRound, TrimmedLog, earliest
from penstock.kernel.idempotency import Claim
from penstock.kernel.lease import take_named
from penstock.operations.feed_entry import FeedEntry
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.task import Progress
from penstock.work.working import WORKING
from tests.events.test_feed import video

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@pytest.fixture(scope="module", autouse=True)
def only_where_the_log_is_ours(engine_name: str) -> None:
    """Asked before a store is made."""
    if engine_name not in ("sqlite", "postgres"):
        pytest.skip("DynamoDB trims its log itself")


@pytest.fixture
def watched(store: Store) -> Store:
    return store


def keeper(store: Store, **options: object) -> TrimmedLog:
    return TrimmedLog(store, DOMAINS, owner="a", **options)  # type: ignore[arg-type]


def follow(store: Store, name: str = "f", seen: list[str] | None = None) -> Feed:
    feed = Feed(store, name, owner=f"{name} follower")

    @feed.on(Video, "insert")
    def note(entry: FeedEntry, claim: Claim) -> None:
        if seen is not None:
            seen.append(entry.new.title)

    return feed


def entries(store: Store) -> int:
    size = keeper(store).size()
    assert size is not None
    return size.entries


def pass_time(store: Store, hours: int, *, feeds: tuple[Feed, ...] = ()) -> list[str]:
    """Hours in which the duty is done; the feeds that were told to have missed something."""
    missed: list[str] = []
    for _ in range(hours):
        store.clock.advance(HOUR)  # type: ignore[attr-defined]
        for feed in feeds:
            feed.drain()
        missed += keeper(store).run_once().missed
    return missed


def test_what_every_feed_has_come_past_goes_after_a_day(watched: Store) -> None:
    feed = follow(watched)
    for number in range(5):
        watched.create(video(number))
    feed.drain()
    assert keeper(watched).oldest() is None
    began = watched.clock.now()
    assert pass_time(watched, 23, feeds=(feed,)) == []
    assert entries(watched) == 5
    assert keeper(watched).oldest() == (began + HOUR).replace(microsecond=0), "since when it is kept is told"
    assert pass_time(watched, 2, feeds=(feed,)) == []
    assert keeper(watched).run_once().removed == 5, "a day after it was first written down where the log ends"
    assert entries(watched) == 0
    watched.create(video(9))
    assert feed.drain() == 1


def test_a_slow_feed_holds_the_log_and_misses_nothing_within_two_days(watched: Store) -> None:
    seen: list[str] = []
    quick, slow = follow(watched, "quick"), follow(watched, "slow", seen)
    watched.create(video(1))
    quick.drain()
    slow.drain()
    watched.create(video(2))
    pass_time(watched, 40, feeds=(quick,))
    assert entries(watched) >= 1
    slow.drain()
    assert seen == ["t1", "t2"]


def test_a_feed_that_stands_still_does_not_hold_the_log_for_ever(
    watched: Store, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []
    gone = follow(watched, "gone", seen)
    watched.create(video(1))
    gone.drain()
    watched.create(video(2))
    with caplog.at_level(logging.ERROR, "penstock.feed"):
        assert pass_time(watched, 60) == ["gone"]
    assert [r.message for r in caplog.records] == [
        "the log of changes was trimmed before the feed gone came so far; is it followed?"
    ]
    assert entries(watched) == 0
    assert watched.get(FeedPlace.at(name="gone")).missed_at is not None
    watched.create(video(3))
    back = follow(watched, "gone", seen)
    watched.clock.advance(HOUR)  # type: ignore[attr-defined]
    back.drain()
    assert seen == ["t1", "t3"], "it goes on with the oldest that is kept"
    (letter,) = back.letters()
    assert (letter.kind, letter.handler) == (MISSED, "*")
    assert "FeedTrimmed" in letter.error
    assert watched.get(FeedPlace.at(name="gone")).missed_at is None
    back.retry(letter)
    assert list(back.letters()) == []


def test_a_feed_that_misses_something_twice_goes_on_twice(watched: Store) -> None:
    """The first time nothing was kept that it could go on with."""
    seen: list[str] = []
    slow = follow(watched, "slow", seen)
    watched.create(video(0))
    slow.drain()
    for kept in (0, 1):
        for number in (2, 4, 6):
            watched.create(video(number + kept))
        keeper(watched, most=kept).run_once()
        assert slow.run_once() == kept
    assert seen == ["t0", "t7"]
    assert [letter.kind for letter in slow.letters()] == [MISSED] * 2


def test_a_follower_that_was_robbed_leaves_it_to_the_robber_to_begin_anew(
    watched: Store, open_engine: Callable[[], Engine], clock: FrozenClock
) -> None:
    """By its own clock it still has the lease; it ends quietly, and the feed stands where it stood."""
    fast = Store(open_engine(), clock=FrozenClock(clock.now() + DAY), own=SYSTEM_RECORDS)
    seen: list[str] = []
    robbed, robber = follow(watched, seen=seen), follow(fast, seen=seen)
    watched.create(video(1))
    assert robbed.run_once() == 1
    assert robber.run_once() == 0
    watched.create(video(2))
    watched.create(video(3))
    assert keeper(watched, most=1).run_once().missed == ["f"]
    stood = watched.get(FeedPlace.at(name="f"))
    assert robbed.run_once() == 0
    assert watched.get(FeedPlace.at(name="f")) == stood
    assert list(robbed.letters()) == []
    assert robber.run_once() == 1
    assert [letter.kind for letter in robber.letters()] == [MISSED]
    assert seen == ["t1", "t3"]


def test_a_feed_that_comes_back_in_the_very_moment_finds_out_itself(watched: Store) -> None:
    """It has missed something, and is not said to stand still: its letter tells of it. One beside it does."""
    ahead, back, gone = (follow(watched, name) for name in ("ahead", "f", "gone"))
    watched.create(video(0))
    for feed in (ahead, back, gone):
        feed.drain()
    for number in range(1, 4):
        watched.create(video(number))
    ahead.drain()

    class Overtaken(Store):
        def patch(self, ref: Any, *updates: Any, **how: Any) -> Any:
            if ref.shape is FeedPlace.__shape__:
                back.drain()
            return super().patch(ref, *updates, **how)

    store = Overtaken(watched.engine, clock=watched.clock, own=SYSTEM_RECORDS)
    assert keeper(store, most=1).run_once() == LogRound(3, ["f", "gone"])
    assert [p.name for p in watched.find(FeedPlace.by_name()) if p.missed_at is not None] == ["gone"]
    assert [letter.kind for letter in back.letters()] == [MISSED]
    assert take_named(watched, "change-log", owner="other", period=DAY) is not None, "others may trim at once"


def test_a_feed_for_which_nothing_comes_does_not_hold_the_log(watched: Store) -> None:
    """Others' changes go by it; how far it has come is written down all the same."""
    watched.ensure(WORKING)
    idle = Feed(watched, "idle", owner="i")

    @idle.on(Progress, "insert")
    def note(entry: FeedEntry, claim: Claim) -> None: ...

    busy = follow(watched)
    watched.create(FeedPlace(name="idle"))  # as it is after its first change, which was long ago
    for number in range(3):
        watched.create(video(number))
    assert idle.drain() == 0
    began = watched.clock.now()
    for minutes, noted in ((9, 0), (1, 10)):  # not each time
        watched.clock.advance(timedelta(minutes=minutes))  # type: ignore[attr-defined]
        watched.create(video(minutes + 10))
        idle.drain()
        assert idle.lag().noted_at == began + timedelta(minutes=noted)
    assert pass_time(watched, 27, feeds=(idle, busy)) == []
    assert entries(watched) == 0


def test_the_oldest_of_too_many_entries_go_at_once(watched: Store) -> None:
    slow = follow(watched, "slow")
    watched.create(video(0))
    slow.drain()
    for number in range(1, 31):
        watched.create(video(number))
    watched.clock.advance(HOUR)  # type: ignore[attr-defined]
    done = keeper(watched, most=10).run_once()
    assert (done.removed, done.missed, entries(watched)) == (21, ["slow"], 10)
    with pytest.raises(FeedTrimmed):
        watched.engine.changes([Video.__shape__], after=watched.get(FeedPlace.at(name="slow")).position)


def test_a_round_trims_in_parts_and_not_without_end(watched: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.events.trimmed_log._PART", 2)
    monkeypatch.setattr("penstock.events.trimmed_log._PARTS", 2)
    limits, trim = list[int](), watched.engine.trim

    def noted(shapes: Any, *, before: str, limit: int) -> int:
        limits.append(limit)
        return trim(shapes, before=before, limit=limit)

    monkeypatch.setattr(watched.engine, "trim", noted)
    for number in range(8):
        watched.create(video(number))
    assert keeper(watched, most=5).run_once().removed == 3
    assert limits == [2, 1]
    pass_time(watched, 24)
    assert (keeper(watched).run_once().removed, entries(watched)) == (4, 1)
    assert (keeper(watched).run_once().removed, entries(watched)) == (1, 0)
    assert limits == [2, 1, 2, 2, 2], "fewer than were asked for are the last"


def test_whoever_finds_that_another_has_trimmed_ends(watched: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was robbed of the duty, for example."""
    asked: list[str] = []

    def nothing(shapes: Any, *, before: str, limit: int) -> int:
        asked.append(before)
        assert len(asked) < 3, "it would never end"
        return 0

    monkeypatch.setattr(watched.engine, "trim", nothing)
    for number in range(3):
        watched.create(video(number))
    assert keeper(watched, most=1).run_once() == LogRound()
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("positions", "first"),
    [
        (["10", "9", "11"], "9"),
        (["2:1", "1:10", "1:9"], "1:9"),
        (["s7", "s12"], "s7"),
        (["s7", "12"], None),
        (["7", None], None),
        (["7", "seven"], None),
    ],
)
def test_of_positions_that_cannot_be_compared_none_is_the_earliest(
    positions: list[str | None], first: str | None
) -> None:
    assert earliest(positions) == first


def test_how_long_it_is_kept_is_told(store: Store) -> None:
    told = "2 hours behind the slowest feed, 3 at most, and 5,000 entries at most"
    assert keeper(store, longest=3 * HOUR, for_streams=2 * HOUR, most=5000).kept == told
    assert keeper(store, longest=3 * HOUR).kept.startswith("3 hours behind"), "for streams no longer than for anybody"
    assert keeper(store).kept.startswith("24 hours behind the slowest feed, 48 at most, and 1,000,000 entries")


def test_where_nothing_is_followed_or_the_store_trims_by_itself_nothing_is_trimmed(
    watched: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody_s = TrimmedLog(watched, [], owner="a")
    assert (nobody_s.size(), nobody_s.run_once()) == (None, LogRound())
    watched.create(video(1))
    trims = replace(watched.engine.features, native_trimming=True)
    monkeypatch.setattr(watched.engine, "features", trims, raising=False)
    assert (keeper(watched).size(), keeper(watched, most=0).run_once()) == (None, LogRound())
    assert list(watched.find(LogMark.by_time())) == [], "nor written down"


def test_a_clock_that_jumps_trims_nothing_before_its_time(watched: Store, clock: FrozenClock) -> None:
    slow = follow(watched, "slow")
    watched.create(video(1))
    slow.drain()
    watched.create(video(2))
    pass_time(watched, 3)
    for jump in (30 * DAY, -30 * DAY, 10 * DAY, -9 * DAY):
        clock.advance(jump)
        assert keeper(watched).run_once().removed == 0
    assert entries(watched) == 2


def test_after_a_clock_was_set_back_a_day_is_a_day_again(watched: Store, clock: FrozenClock) -> None:
    """As many marks as a day has were written down, and a day has not passed."""
    feed = follow(watched)
    watched.create(video(1))
    pass_time(watched, 25, feeds=(feed,))
    clock.advance(-DAY)
    assert keeper(watched).run_once().removed == 0
    clock.advance(DAY)
    assert keeper(watched).run_once().removed == 1


def test_one_process_at_a_time_trims(watched: Store) -> None:
    watched.create(video(1))
    assert take_named(watched, "change-log", owner="other", period=DAY) is not None
    assert keeper(watched, most=1).run_once().removed == 0
    assert list(watched.find(LogMark.by_time())) == []


@pytest.mark.parametrize("hours", [0, 72, 1000])
def test_it_cannot_be_kept_longer_than_a_repetition_is_recognised(clock: FrozenClock, hours: int, store: Store) -> None:
    with pytest.raises(InvalidValue, match="less than 3 days"):
        keeper(store, longest=timedelta(hours=hours))
