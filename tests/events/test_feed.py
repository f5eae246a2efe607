"""The feed: every change reaches its handlers, in order, at least once, and nothing loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from threading import Event
from uuid import UUID

import pytest

from penstock import Domain, Entity, FrozenClock, Store, Table, key, open_store, the
from penstock.domains.videos.model import Video
from penstock.errors import OBJECTS, InvalidValue, Misconfigured, Unavailable
from penstock.events.feed import Feed
from penstock.events.feed_records import REMEMBERED, FeedLetter, FeedPlace, LetterStatus
from penstock.kernel.change import Change
from penstock.kernel.idempotency import Claim
from penstock.kernel.outages import outages_of
from penstock.operations.feed_entry import FeedEntry
from penstock.operations.writes import Write
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.testing.entities import MOMENT, SUITE, Alarm, Measure, Watched, full_values


@pytest.fixture
def watched(store: Store) -> Store:
    return store


def video(number: int, **fields: object) -> Video:
    identity = UUID(int=number + (4 << 76) + (8 << 60))
    return Video.model_validate(
        {"video_id": identity, "user_id": "u", "created_at": 1717645200, "title": f"t{number}", "duration": 1, **fields}
    )


def test_inserts_reach_the_handler_of_inserts_and_nothing_else_does(watched: Store) -> None:
    """VM-19: INSERT triggers thumbnails; MODIFY and REMOVE do not."""
    feed = Feed(watched, "thumbnails", owner="a")
    seen: list[str] = []

    @feed.on(Video, "insert")
    def make_thumbnail(entry: FeedEntry, claim: Claim) -> None:
        seen.append(entry.new.title)

    watched.create(video(1))
    watched.patch(video(1).ref, the(Video.title).set("other"))
    watched.create(video(2))
    watched.delete(video(1).ref)
    assert feed.drain() == 4
    assert seen == ["t1", "t2"]


def test_several_handlers_follow_one_feed(watched: Store) -> None:
    """VM-20: streams also feed the transcoding queue and the audit log; old and new are told."""
    feed = Feed(watched, "all", owner="a")
    told: list[tuple[str, str | None, str | None]] = []

    @feed.on(Video, "insert", "update", "remove")
    def log(entry: FeedEntry, claim: Claim) -> None:
        told.append((entry.kind, entry.old and entry.old.title, entry.new and entry.new.title))

    queued: list[str] = []

    @feed.on(Video, "insert")
    def transcode(entry: FeedEntry, claim: Claim) -> None:
        queued.append(entry.new.title)

    watched.create(video(1))
    watched.patch(video(1).ref, the(Video.title).set("b"))
    watched.delete(video(1).ref)
    feed.drain()
    assert told == [("insert", None, "t1"), ("update", "t1", "b"), ("remove", "b", None)]
    assert queued == ["t1"]


def test_a_restart_goes_on_where_the_feed_stood(watched: Store) -> None:
    seen: list[str] = []

    def follow(owner: str) -> Feed:
        feed = Feed(watched, "same", owner=owner)

        @feed.on(Video, "insert")
        def note(entry: FeedEntry, claim: Claim) -> None:
            seen.append(entry.new.title)

        return feed

    first = follow("a")
    watched.create(video(1))
    first.drain()
    first.close()
    watched.create(video(2))
    second = follow("b")
    second.drain()
    assert seen == ["t1", "t2"]


def test_only_one_process_follows_at_a_time(watched: Store, clock: FrozenClock) -> None:
    feeds = [Feed(watched, "same", owner=o) for o in "ab"]
    seen: list[str] = []
    for feed in feeds:

        @feed.on(Video, "insert")
        def note(entry: FeedEntry, claim: Claim, who: str = feed._owner) -> None:
            seen.append(who)

    watched.create(video(1))
    assert feeds[0].run_once() == 1
    watched.create(video(2))
    assert feeds[1].run_once() == 0
    clock.advance(timedelta(minutes=2))
    assert feeds[1].run_once() == 1
    assert seen == ["a", "b"]


def test_a_failing_handler_is_tried_again_and_then_leaves_a_letter(watched: Store) -> None:
    """F-VM-6: one bad record does not block the rest for ever."""
    feed = Feed(watched, "f", owner="a", attempts=3)
    tries: list[str] = []
    broken = True

    @feed.on(Video, "insert")
    def fragile(entry: FeedEntry, claim: Claim) -> None:
        tries.append(entry.new.title)
        if broken and entry.new.title == "t1":
            raise ValueError("cannot read it\x00")

    watched.create(video(1))
    watched.create(video(2))
    feed.drain()
    assert tries == ["t1", "t1", "t1", "t2"]
    (letter,) = feed.letters()
    assert letter.error == "ValueError: cannot read it\N{REPLACEMENT CHARACTER}"
    broken = False
    feed.retry(letter)
    assert tries[-1] == "t1"
    assert list(feed.letters()) == []


class _Watch(Event):
    """Time that passes at once, and is written down; over when so many times were waited."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times, self.waited = times, list[float | None]()

    def wait(self, timeout: float | None = None) -> bool:
        self.waited.append(timeout)
        if len(self.waited) == self.times:
            self.set()
        return self.is_set()


def test_each_try_in_vain_is_waited_for_twice_as_long(watched: Store) -> None:
    """What is in doubt for a moment is not given up within that moment."""
    feed = Feed(watched, "f", owner="a", attempts=4)

    @feed.on(Video, "insert")
    def break_down(entry: FeedEntry, claim: Claim) -> None:
        raise ValueError("always")

    watched.create(video(1))
    watch = _Watch(times=5)
    feed.run(watch)
    assert watch.waited == [2.0, 4.0, 8.0, 1.0, 1.0]
    assert len(list(feed.letters())) == 1


def test_each_handler_has_all_its_tries_whatever_becomes_of_the_others(watched: Store) -> None:
    feed = Feed(watched, "f", owner="a", attempts=3)
    calls: list[str] = []

    @feed.on(Video, "insert")
    def broken(entry: FeedEntry, claim: Claim) -> None:
        calls.append("broken")
        raise ValueError("always")

    @feed.on(Video, "insert")
    def hiccups(entry: FeedEntry, claim: Claim) -> None:
        calls.append("hiccups")
        if calls.count("hiccups") == 1:
            raise ValueError("once")

    watched.create(video(1))
    feed.drain()
    assert calls == ["broken", "hiccups", "broken", "hiccups", "broken"]
    assert [letter.handler for letter in feed.letters()] == ["broken"]


def test_an_event_of_a_record_that_is_gone_is_tried_again_without_it(watched: Store) -> None:
    feed = Feed(watched, "f", owner="a", attempts=1)
    heard: list[tuple[str, str | None]] = []

    @feed.on(Video, "insert", "update")
    def fragile(entry: FeedEntry, claim: Claim) -> None:
        heard.append((entry.kind, entry.new and entry.new.title))
        if entry.new is not None:
            raise ValueError("cannot read it")

    watched.create(video(1))
    watched.patch(video(1).ref, the(Video.title).set("other"))
    feed.drain()
    watched.delete(video(1).ref)
    heard.clear()
    for letter in feed.letters():
        feed.retry(letter)
    assert heard == [("insert", None), ("update", None)]
    assert list(feed.letters()) == []


def test_an_event_dealt_with_is_not_dealt_with_again(watched: Store) -> None:
    """F-VM-6: the place is lost, so the feed repeats itself; what was done with a claim is not done again."""
    feed = Feed(watched, "f", owner="a")

    @feed.on(Video, "insert")
    def count(entry: FeedEntry, claim: Claim) -> None:
        with watched.change(once=claim) as change:
            change.patch(entry.new.ref, the(Video.view_count).add(1))

    watched.create(video(1))
    feed.drain()
    from penstock.events.feed_records import FeedPlace

    watched.delete(FeedPlace.at(name="f"))
    feed.drain()
    assert watched.get(video(1).ref).view_count == 1


def test_whoever_takes_the_feed_over_takes_over_the_event_that_was_begun(watched: Store, clock: FrozenClock) -> None:
    """F-VM-6: the first dies in its handler, and its claim would last longer than its lease."""
    watched.create(video(1))

    class Killed(BaseException):
        pass

    def follow(owner: str, *, dies: bool) -> Feed:
        feed = Feed(watched, "f", owner=owner)

        @feed.on(Video, "insert")
        def count(entry: FeedEntry, claim: Claim) -> None:
            if dies:
                raise Killed
            with watched.change(once=claim) as change:
                change.patch(entry.new.ref, the(Video.view_count).add(1))

        return feed

    dead, successor = follow("a", dies=True), follow("b", dies=False)
    assert successor.run_once() == 1
    successor.close()
    watched.create(video(2))
    with pytest.raises(Killed):
        dead.run_once()
    clock.advance(timedelta(seconds=20))
    with pytest.raises(Killed):
        dead.run_once()
    clock.advance(timedelta(seconds=40))
    assert successor.run_once() == 1
    assert watched.get(video(2).ref).view_count == 1
    assert list(successor.letters()) == []


def test_a_follower_that_was_relieved_ends_quietly_and_finishes_nothing(watched: Store, clock: FrozenClock) -> None:
    """F-VM-6: it stalled in its handler; what it does with its claim afterwards does not count."""
    feeds = [Feed(watched, "f", owner=o) for o in "ab"]
    done: list[str] = []

    @feeds[0].on(Video, "insert")
    def count(entry: FeedEntry, claim: Claim) -> None:
        clock.advance(timedelta(minutes=2))
        assert feeds[1].run_once() == 1
        with watched.change(once=claim) as change:
            change.patch(entry.new.ref, the(Video.view_count).add(10))
        done.append("a")

    def count_too(entry: FeedEntry, claim: Claim) -> None:
        with watched.change(once=claim) as change:
            change.patch(entry.new.ref, the(Video.view_count).add(1))
        done.append("b")

    count_too.__name__ = "count"
    feeds[1].on(Video, "insert")(count_too)
    watched.create(video(1))
    assert feeds[0].run_once() == 0
    assert done == ["b"]
    assert watched.get(video(1).ref).view_count == 1
    assert feeds[0].run_once() == 0, "it knows that it is not at work"
    assert [list(f.letters()) for f in feeds] == [[], []]


def test_a_follower_that_was_robbed_by_a_wrong_clock_gets_no_further(
    watched: Store, open_engine: Callable[[], Engine], clock: FrozenClock
) -> None:
    """By its own clock it still has the lease."""
    fast = Store(open_engine(), clock=FrozenClock(clock.now() + timedelta(days=1)), own=SYSTEM_RECORDS)
    seen: list[str] = []

    def follow(store: Store, owner: str) -> Feed:
        feed = Feed(store, "f", owner=owner)

        @feed.on(Video, "insert")
        def note(entry: FeedEntry, claim: Claim) -> None:
            seen.append(f"{owner} {entry.new.title}")

        return feed

    robbed, robber = follow(watched, "a"), follow(fast, "b")
    assert robbed.run_once() == 0
    assert robber.run_once() == 0
    for number in (1, 2, 3):
        watched.create(video(number))
    assert [robbed.run_once() for _ in range(3)] == [0, 0, 0]
    assert seen == ["a t1"]
    assert robber.drain() == 3
    assert seen[1:] == ["b t2", "b t3"], "the first event was dealt with"


def test_what_a_handler_writes_with_its_claim_does_not_come_back_to_it(watched: Store) -> None:
    """F-VM-6: a thumbnail written back emits MODIFY."""
    feed = Feed(watched, "f", owner="a")
    runs: list[str] = []

    @feed.on(Video, "insert", "update")
    def grow(entry: FeedEntry, claim: Claim) -> None:
        runs.append(entry.kind)
        with watched.change(once=claim) as change:
            change.patch(entry.new.ref, the(Video.view_count).add(1))

    watched.create(video(1))
    feed.drain(rounds=20)
    assert runs == ["insert"]
    watched.patch(video(1).ref, the(Video.title).set("by a user"))
    feed.drain(rounds=20)
    assert runs == ["insert", "update"]
    assert watched.get(video(1).ref).view_count == 2


def _put_all(change: Change, record: Watched) -> None:
    change.put(record.model_copy(update=full_values()))


def _save_all(change: Change, record: Watched) -> None:
    record = change.get(record.ref)
    record.price, record.micro, record.ratio = Decimal("1.10"), MOMENT + timedelta(microseconds=10), 2.0
    record.measure, record.labels, record.day = Measure(width=1, height=2.0, taken=MOMENT), None, None
    change.save(record)


def _patch_all(change: Change, record: Watched) -> None:
    added = the(Watched.price).add(Decimal("0.90")), the(Watched.labels).include("d"), the(Watched.notes).append("last")
    change.patch(
        record.ref, *added, the(Watched.text).remove(), the(Watched.blob).set(b""), the(Watched.flag).set(True)
    )


def test_whatever_a_handler_writes_with_its_claim_is_known_again(watched: Store) -> None:
    """Values of every kind, put, saved and patched, also in a batch."""
    watched.ensure(SUITE)
    feed = Feed(watched, "f", owner="a")
    heard: list[int] = []
    ways = [_put_all, _save_all, _patch_all]

    @feed.on(Watched, "insert", "update")
    def handle(entry: FeedEntry, claim: Claim) -> None:
        heard.append(entry.new.seen)
        with watched.batch() as batch:
            with batch.change(once=claim) as change:
                ways[entry.new.seen](change, entry.new)
            with batch.change() as change:
                change.put(Alarm(shelf="s", bell=f"{entry.new.seen}"))

    watched.put(Watched(shelf="s", label="a"))
    feed.drain(rounds=5)
    for _ in ways[1:]:
        watched.patch(Watched.at(shelf="s", label="a"), the(Watched.seen).add(1))
        feed.drain(rounds=5)
    assert heard == [0, 1, 2]
    assert list(feed.letters()) == []
    assert watched.get(Watched.at(shelf="s", label="a")).price == 2


def test_a_handler_that_writes_the_same_without_its_claim_hears_itself_once(watched: Store) -> None:
    feed = Feed(watched, "f", owner="a")
    runs: list[str] = []

    @feed.on(Video, "insert", "update")
    def stamp(entry: FeedEntry, claim: Claim) -> None:
        runs.append(entry.kind)
        watched.patch(entry.new.ref, the(Video.title).set("stamped"))

    watched.create(video(1))
    feed.drain(rounds=20)
    assert runs == ["insert", "update"]


def test_what_others_write_while_a_handler_is_at_work_reaches_it(watched: Store) -> None:
    """Whether or not the handler itself writes, and whoever is first."""
    feed = Feed(watched, "f", owner="a")
    heard: list[tuple[str, int | None]] = []

    @feed.on(Video, "insert", "update")
    def count(entry: FeedEntry, claim: Claim) -> None:
        heard.append((entry.new.title, entry.new.view_count))
        if entry.kind == "insert":
            watched.patch(entry.new.ref, the(Video.view_count).add(40))
            if entry.new.title == "t2":
                with watched.change(once=claim) as change:
                    change.patch(entry.new.ref, the(Video.view_count).add(1))
                watched.patch(entry.new.ref, the(Video.view_count).add(1))

    watched.create(video(1))
    watched.create(video(2))
    feed.drain(rounds=20)
    assert heard == [("t1", None), ("t2", None), ("t1", 40), ("t2", 40), ("t2", 42)]


def test_the_same_written_by_another_in_the_same_moment_is_told_apart(watched: Store) -> None:
    """Another counts as the handler does, between what the handler's change reads and what it commits."""
    feed = Feed(watched, "f", owner="a")
    heard: list[int | None] = []
    meanwhile = [1, 1]

    class Busy(Store):
        def commit(self, writes: Sequence[Write]) -> None:
            if meanwhile:
                watched.patch(video(1).ref, the(Video.view_count).add(meanwhile.pop()))
            super().commit(writes)

    @feed.on(Video, "insert", "update")
    def count(entry: FeedEntry, claim: Claim) -> None:
        heard.append(entry.new.view_count)
        if entry.kind == "insert":
            with Busy(watched.engine, clock=watched.clock).change(once=claim) as change:
                change.patch(entry.new.ref, the(Video.view_count).add(1))

    watched.create(video(1))
    feed.drain(rounds=20)
    assert watched.get(video(1).ref).view_count == 3
    assert heard == [None, 1, 2]


def test_a_write_that_changed_nothing_silences_nobody_else(watched: Store) -> None:
    feed = Feed(watched, "f", owner="a")
    heard: list[str] = []

    @feed.on(Video, "insert", "update")
    def name_it(entry: FeedEntry, claim: Claim) -> None:
        heard.append(entry.new.title)
        if entry.kind == "insert":
            with watched.change(once=claim) as change:
                change.patch(entry.new.ref, the(Video.title).set("t1"))

    watched.create(video(1))
    for title in ("other", "t1"):
        watched.patch(video(1).ref, the(Video.title).set(title))
    feed.drain(rounds=20)
    assert heard == ["t1", "other", "t1"]


def test_a_handler_is_silenced_once_for_each_of_its_writes_and_hears_the_same_of_another(watched: Store) -> None:
    feed = Feed(watched, "f", owner="a")
    heard: list[str] = []

    @feed.on(Video, "insert", "update")
    def stamp(entry: FeedEntry, claim: Claim) -> None:
        heard.append(entry.new.title)
        if entry.kind == "insert":
            with watched.change(once=claim) as change:
                change.patch(entry.new.ref, the(Video.title).set("stamped"))

    watched.create(video(1))
    feed.drain(rounds=20)
    for title in ("t1", "stamped"):
        watched.patch(video(1).ref, the(Video.title).set(title))
    feed.drain(rounds=20)
    assert heard == ["t1", "t1", "stamped"]


def test_of_two_equal_changes_one_is_its_own_and_it_hears_of_the_other(watched: Store) -> None:
    """It is behind: another has made the same change before and taken it back, and nobody could tell the two apart."""
    feed = Feed(watched, "f", owner="a")
    heard: list[tuple[str, str]] = []

    @feed.on(Video, "update")
    def stamp(entry: FeedEntry, claim: Claim) -> None:
        heard.append((entry.old.title, entry.new.title))
        if entry.new.title == "t1":
            with watched.change(once=claim) as change:
                change.patch(entry.new.ref, the(Video.title).set("stamped"))

    watched.create(video(1, title="t0"))
    for title in ("t1", "stamped", "t1"):
        watched.patch(video(1).ref, the(Video.title).set(title))
    feed.drain(rounds=20)
    assert heard == [("t0", "t1"), ("stamped", "t1"), ("t1", "stamped")]


def test_a_handler_that_writes_the_same_twice_hears_of_neither(watched: Store) -> None:
    """Both are under way at once, as another has taken back the first meanwhile."""
    feed = Feed(watched, "f", owner="a")
    heard: list[tuple[str, int | None]] = []

    @feed.on(Video, "update")
    def count(entry: FeedEntry, claim: Claim) -> None:
        heard.append((entry.new.title, entry.new.view_count))
        if entry.old.title != entry.new.title:
            with watched.change(once=claim) as change:
                change.patch(entry.new.ref, the(Video.view_count).set(1))
            if entry.new.title == "a":
                watched.patch(entry.new.ref, the(Video.view_count).remove())

    watched.create(video(1))
    for title in ("a", "b"):
        watched.patch(video(1).ref, the(Video.title).set(title))
    feed.drain(rounds=20)
    assert heard == [("a", None), ("b", None), ("b", None)]
    for others in (the(Video.view_count).remove(), the(Video.view_count).set(1)):
        watched.patch(video(1).ref, others)
    feed.drain(rounds=20)
    assert heard[3:] == [("b", None), ("b", 1)], "another's"


def test_a_change_that_the_record_refuses_is_refused_under_a_claim_too(watched: Store) -> None:
    feed = Feed(watched, "f", owner="a", attempts=1)

    @feed.on(Video, "update")
    def claim(entry: FeedEntry, claim: Claim) -> None:
        with watched.change(once=claim) as change:
            change.patch(entry.new.ref, the(Video.title).set("mine"), when=the(Video.title).equals("nobody's"))

    watched.create(video(1))
    watched.patch(video(1).ref, the(Video.title).set("somebody's"))
    feed.drain(rounds=20)
    assert [letter.error.partition(":")[0] for letter in feed.letters()] == ["Conflict"]
    assert watched.get(video(1).ref).title == "somebody's"


def test_expiry_is_told_as_the_cause(watched: Store, clock: FrozenClock, engine_name: str) -> None:
    if watched.engine.features.native_expiry:
        pytest.skip(f"{engine_name} does not expire by itself within a test")
    feed = Feed(watched, "f", owner="a")
    causes: list[str] = []

    @feed.on(Video, "remove", cause="expiry")
    def gone(entry: FeedEntry, claim: Claim) -> None:
        causes.append(entry.old.title)

    now = int(clock.now().timestamp())
    watched.create(video(1, expiry_time=now + 10))
    watched.create(video(2))
    watched.delete(video(2).ref)
    clock.advance(timedelta(seconds=11))
    assert watched.engine.expire([Video.__shape__], now=clock.now()) == 1
    feed.drain()
    assert causes == ["t1"]


def test_an_entity_without_a_feed_cannot_be_followed(watched: Store) -> None:
    class Still(Entity, table=Table("Stills", partition="PK")):
        name: str

        @key("STILL#{name}")
        def at(self, *, name: str) -> None: ...

    with pytest.raises(InvalidValue, match="has no feed"):
        Feed(watched, "f", owner="a").on(Still, "insert")


def test_a_handler_that_would_never_hear_or_has_another_s_name_is_refused(parcels: Store) -> None:
    feed = follow(parcels, "", [])
    with pytest.raises(InvalidValue, match="insert, update or remove, not inserted"):
        feed.on(Parcel, "inserted", "update")

    def hear(entry: FeedEntry, claim: Claim) -> None: ...

    with pytest.raises(InvalidValue, match="has a handler hear already"):
        feed.on(Parcel, "update")(hear)


def test_events_that_nobody_wants_are_no_tries(parcels: Store) -> None:
    feed, fails = Feed(parcels, "parcels", owner="f", attempts=2), [ValueError("too heavy")]

    @feed.on(Parcel, "insert", when=lambda entry: entry.key["name"] == "b")
    def weigh(entry: FeedEntry, claim: Claim) -> None:
        if fails:
            raise fails.pop()

    assert (feed.run_once(), feed.lag().tries) == (1, 1)
    assert (feed.run_once(), feed.lag().tries) == (2, 0)
    assert list(feed.letters()) == []


def test_a_handler_hears_of_what_those_before_it_do_not_want_or_have_dealt_with(
    parcels: Store, clock: FrozenClock
) -> None:
    feed, heard, fails = Feed(parcels, "parcels", owner="f"), list[str](), [ValueError("too heavy")]
    since = {"last": "2036-12-31T23:00:00Z", "other": "2036-12-31T23:30:00Z"}
    parcels.put(FeedPlace(name="parcels", in_vain=since))
    feed.on(Parcel, "update")(lambda entry, claim: None)

    @feed.on(Parcel, "insert")
    def first(entry: FeedEntry, claim: Claim) -> None: ...

    @feed.on(Parcel, "insert")
    def last(entry: FeedEntry, claim: Claim) -> None:
        if fails:
            raise fails.pop()
        heard.append(entry.key["name"])

    feed.drain()
    assert heard == ["a", "b", "c"]
    assert list(feed.in_vain()) == ["other"], "who succeeds says so for nobody else"


def test_a_handler_that_needs_what_is_away_spends_no_try_and_leaves_no_letter(
    tmp_path: Path, clock: FrozenClock
) -> None:
    away, heard = True, []

    class Thing(Entity, table=Table("Things", partition="PK", feed=True)):
        name: str

        @key("{name}")
        def at(self, *, name: str) -> None: ...

    with closing(open_store(f"sqlite:///{tmp_path}/s.db", clock=clock)) as store:
        store.ensure(Domain("things", Thing))
        feed = Feed(store, "things", owner="f", attempts=2)

        @feed.on(Thing, "insert")
        def hear(entry: FeedEntry, claim: Claim) -> None:
            try:
                if away:
                    raise Unavailable("the disk is gone", part=OBJECTS)
            except Unavailable:
                raise RuntimeError("no luck")  # noqa: B904 - as careless code has it
            heard.append(entry.key["name"])

        for name in "abc":
            store.create(Thing(name=name))
        for _ in range(24):
            feed.drain()
            clock.advance(timedelta(hours=1))
        assert (heard, list(feed.letters())) == ([], [])
        away = False
        feed.drain()
        assert (heard, list(feed.letters())) == (["a", "b", "c"], [])


class Parcel(Entity, table=Table("FeedParcels", partition="PK", feed=True)):
    name: str

    @key("{name}")
    def at(self, *, name: str) -> None: ...


@pytest.fixture
def parcels(tmp_path: Path, clock: FrozenClock) -> Iterator[Store]:
    with closing(open_store(f"sqlite:///{tmp_path}/parcels.db", clock=clock)) as store:
        store.ensure(Domain("parcels", Parcel))
        for name in "abc":
            store.create(Parcel(name=name))
        yield store


def follow(store: Store, bad: str, heard: list[str]) -> Feed:
    """A feed of which one handler always fails for some parcels, by a store that everybody else can use."""
    feed = Feed(store, "parcels", owner="f", attempts=2)

    @feed.on(Parcel, "insert")
    def hear(entry: FeedEntry, claim: Claim) -> None:
        if entry.key["name"] in bad:
            raise Unavailable("this one statement is never answered")
        heard.append(entry.key["name"])

    return feed


def for_minutes(feed: Feed, clock: FrozenClock, minutes: int) -> None:
    for _ in range(minutes):
        feed.drain()
        clock.advance(timedelta(minutes=1))


def test_a_handler_that_fails_for_a_part_that_is_there_holds_up_its_feed_for_an_hour_at_most(
    parcels: Store, clock: FrozenClock
) -> None:
    heard: list[str] = []
    feed = follow(parcels, "b", heard)
    for_minutes(feed, clock, 59)
    assert (heard, list(feed.letters())) == (["a"], [])
    assert list(feed.in_vain()) == ["hear"]
    for_minutes(feed, clock, 5)
    assert heard == ["a", "c"]
    assert [(letter.subject, "Unavailable" in letter.error) for letter in feed.letters()] == [({"name": "b"}, True)]
    assert feed.in_vain() == {}, "it has succeeded since"


def test_tries_of_one_moment_count_as_others_do(parcels: Store, clock: FrozenClock) -> None:
    """A clock may tell the same time twice; when the hour is over, as many tries as are due have been made."""
    heard: list[str] = []
    feed = follow(parcels, "b", heard)
    for _ in range(2):
        feed.drain()
    clock.advance(timedelta(hours=1))
    feed.drain()
    assert heard == ["a", "c"]


def test_one_that_fails_for_ever_does_not_take_an_hour_for_each_event(parcels: Store, clock: FrozenClock) -> None:
    feed = follow(parcels, "abc", [])
    for_minutes(feed, clock, 70)
    assert [letter.subject["name"] for letter in feed.letters()] == ["a", "b", "c"]


def test_processes_that_come_and_go_have_no_hour_each(parcels: Store, clock: FrozenClock) -> None:
    heard: list[str] = []
    for _ in range(14):
        feed = follow(parcels, "b", heard)
        for_minutes(feed, clock, 5)
        feed.close()
    assert heard == ["a", "c"]


def test_an_outage_before_is_no_part_of_that_hour(
    parcels: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    feed = follow(parcels, "b", heard)
    for_minutes(feed, clock, 1)
    lookout = outages_of(parcels).store
    answers = lookout.probe

    def silent() -> None:
        raise Unavailable("nobody is there")

    lookout.probe = silent
    for_minutes(feed, clock, 300)
    lookout.probe = answers
    for_minutes(feed, clock, 50)
    assert (heard, list(feed.letters())) == (["a"], []), "the part was away, and is waited for anew"
    for_minutes(feed, clock, 15)
    assert heard == ["a", "c"]


def test_a_feed_that_cannot_go_on_says_so_and_leaves_its_duty_to_others(
    parcels: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What no waiting mends is for whoever runs it, who would otherwise see a feed that stands still."""
    stop, heard = Event(), list[str]()
    feed, asked = follow(parcels, "", heard), list[object]()

    def refuse(*asking: object, **how: object) -> None:
        asked.append(asking)
        if len(asked) > 1:
            stop.set()
        raise Misconfigured("there is no such table")

    with monkeypatch.context() as broken, pytest.raises(Misconfigured, match="no such table"):
        broken.setattr(parcels.engine, "changes", refuse)
        feed.run(stop)
    other = Feed(parcels, "parcels", owner="another")
    other.on(Parcel, "insert")(lambda entry, claim: heard.append(entry.key["name"]))
    assert other.drain() == 3


def test_the_letters_of_all_feeds_are_one_list_and_whoever_settles_one_is_named(
    parcels: Store, clock: FrozenClock
) -> None:
    feeds = [Feed(parcels, name, owner="f", attempts=1) for name in ("one", "two")]
    broken = True
    for feed in feeds:

        @feed.on(Parcel, "insert")
        def weigh(entry: FeedEntry, claim: Claim) -> None:
            if broken and entry.key["name"] == "b":
                raise ValueError("too heavy")

        feed.drain()
    dead = FeedLetter.by_status(status=LetterStatus.DEAD)
    assert [letter.name for letter in parcels.find(dead)] == ["one", "two"]
    broken = False
    letter = next(feeds[0].letters())
    with pytest.raises(InvalidValue, match="has no handler weigh any more"):
        Feed(parcels, "one", owner="without it").retry(letter, by="ann")
    feeds[0].retry(letter, by="ann")
    assert [left.name for left in parcels.find(dead)] == ["two"]
    (told,) = parcels.history(letter.ref).entries
    assert (told.by, told.moved) == ("ann", {"status": ("dead", "settled")})
    assert parcels.lookup(letter.ref) is not None
    clock.advance(REMEMBERED)
    assert parcels.lookup(letter.ref) is None, "it is not kept for ever"
    assert [left.name for left in parcels.find(dead)] == ["two"], "but whatever waits is"
