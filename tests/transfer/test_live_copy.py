"""A store moves to another engine while it is in use; nothing is lost, also when the copy is killed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import Conflict, StoreMoved
from penstock.events.feed import Feed
from penstock.events.feed_records import FeedPlace
from penstock.objects.local import LocalObjects
from penstock.ports.engine import Engine
from penstock.ports.object_store import ObjectStore
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.transfer.export import Export
from penstock.transfer.live_copy import Copied, LiveCopy
from penstock.transfer.transfer_selection import Selection, watched
from penstock.work.working import WORKING
from tests.forked import forked
from tests.transfer.films import DOMAIN, Reel, Shelf, reel
from tests.transfer.test_export import content


@pytest.fixture
def target(open_engine: Callable[[], Engine], clock: FrozenClock) -> Store:
    """An empty store of each engine."""
    store = Store(open_engine(), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    store.ensure(DOMAIN, WORKING)
    return store


class Traffic:
    """Writes at every third step of a copy what a system in use would: new records, changes, removals, files."""

    def __init__(self, store: Store, files: LocalObjects) -> None:
        self.store, self.files, self.steps = store, files, 0
        self.refused = 0

    def __call__(self, what: str, number: int) -> None:
        self.steps += 1
        if self.steps % 3:
            return
        n, at = 100 + self.steps, self.store.clock.now()
        file = f"films/p{n % 3 + 1}/{n:03d}.bin"
        try:
            self.files.put(file, b"film %d" % n)
            self.store.put(reel(n, at=at))
            if self.steps < 23:
                old = reel(self.steps + 2, at=at)
                self.store.delete(old.ref)
                self.files.delete([str(old.clip)])
            self.store.put(reel(1, at=at, title=f"changed {self.steps}"))
            self.store.put(Shelf(name="shelf 1", count=self.steps))
            self.store.delete(Shelf.at(name="shelf 2"))
        except StoreMoved:
            self.files.delete([file])
            self.refused += 1


def copy(
    source: Store, target: Store, selection: Selection, files: LocalObjects, to: LocalObjects, **said: Any
) -> Copied:
    pair = (files, to)
    return LiveCopy(source, target, selection, origin="here", goal="there", files=pair, **said).run()


def check_equal(one: Store, other: Store, selection: Selection, files: ObjectStore, to: ObjectStore, tmp: Path) -> None:
    """Exports of both ends have the same records and the same files."""
    manifests = []
    for name, store, objects in (("at-one", one, files), ("at-other", other, to)):
        pair = (objects, LocalObjects(tmp / name / "files"))
        manifests.append(Export(store, tmp / name, selection, files=pair).run())
    assert content(tmp / "at-one") == content(tmp / "at-other")
    assert manifests[0].records == manifests[1].records > 0
    assert manifests[0].objects_sha256 == manifests[1].objects_sha256


def test_a_store_moves_while_it_is_written_to(
    full: Store, target: Store, selection: Selection, files: LocalObjects, tmp_path: Path
) -> None:
    traffic, to = Traffic(full, files), LocalObjects(tmp_path / "there")

    def tell(what: str, number: int) -> None:
        traffic(what, number)
        if what == "compared":
            files.delete(["films/p9/099.bin"])  # which has been carried over

    done = copy(full, target, selection, files, to, told=tell)
    assert traffic.steps > 20
    assert done.changes > 20
    check_equal(full, target, selection, files, to, tmp_path)
    assert target.get(Reel.at(project_id="p1", number=1)).title.startswith("changed")
    assert target.lookup(Shelf.at(name="shelf 2")) is None
    with pytest.raises(StoreMoved, match="moved to there; set PENSTOCK_STORE"):
        full.put(reel(1, at=full.clock.now()))
    assert full.get(Reel.at(project_id="p1", number=1)) == target.get(Reel.at(project_id="p1", number=1))
    target.put(reel(1, at=full.clock.now(), title="goes on there"))
    assert copy(full, target, selection, files, to).changes == 0, "it has moved, and nothing is carried over again"
    assert target.get(Reel.at(project_id="p1", number=1)).title == "goes on there"


def test_a_copy_that_is_killed_at_any_step_goes_on(
    full: Store, target: Store, selection: Selection, files: LocalObjects, tmp_path: Path
) -> None:
    """Each process is killed at its next step, also within the stop; the last one has nothing left to be killed at."""
    to, killed = LocalObjects(tmp_path / "there"), 0
    for last in (9, 40, 50, 10_000):
        traffic = Traffic(full, files)
        traffic.steps = killed * 100

        def tell(what: str, number: int, last: int = last, traffic: Traffic = traffic, so_far: int = killed) -> None:
            traffic(what, number)
            if traffic.steps % 100 == last % 100 and traffic.steps // 100 == so_far + last // 100:
                os._exit(9)

        def work(tell: Callable[[str, int], None] = tell) -> None:
            copy(full, target, selection, files, to, told=tell)

        code = forked(work)
        killed += code == 9
        assert code in (0, 9)
        if code == 0:
            break
    assert killed == 3
    check_equal(full, target, selection, files, to, tmp_path)


def test_a_copy_that_is_killed_in_the_stop_opens_the_store_until_it_stops_it_again(
    full: Store, target: Store, selection: Selection, files: LocalObjects, tmp_path: Path
) -> None:
    to = LocalObjects(tmp_path / "there")

    class Killed(LiveCopy):
        def _check_same(self) -> None:
            os._exit(9)

    work = Killed(full, target, selection, origin="here", goal="there", files=(files, to))
    assert forked(work.run) == 9
    with pytest.raises(StoreMoved):
        full.put(reel(2, at=full.clock.now()))
    traffic = Traffic(full, files)
    copy(full, target, selection, files, to, told=traffic)
    assert traffic.refused < traffic.steps // 3, "it was open again for a while"
    check_equal(full, target, selection, files, to, tmp_path)


def test_a_difference_is_told_and_writers_go_on_where_they_were(
    full: Store, target: Store, selection: Selection, files: LocalObjects, tmp_path: Path
) -> None:
    def meddle(what: str, number: int) -> None:
        if what == "changes":
            target.put(reel(4, at=full.clock.now(), title="somebody else's"))

    with pytest.raises(Conflict, match=r"reels\.Reel\(project_id=p2, number=4\)"):
        copy(full, target, selection, files, LocalObjects(tmp_path / "there"), told=meddle)
    full.put(reel(2, at=full.clock.now()))


def test_a_store_with_records_is_not_filled(
    full: Store, target: Store, selection: Selection, files: LocalObjects, tmp_path: Path
) -> None:
    target.put(Shelf(name="theirs"))
    with pytest.raises(Conflict, match=r"not empty: it has records of reels\.Shelf"):
        copy(full, target, selection, files, LocalObjects(tmp_path / "there"))


def test_an_abandoned_copy_leaves_the_store_as_it_was(
    full: Store, opened: Callable[[str], Store], selection: Selection, files: LocalObjects, tmp_path: Path
) -> None:
    before = full.engine.sizes([Reel.__shape__, Shelf.__shape__])
    other = opened("other")
    copied = LiveCopy(full, other, selection, origin="here", goal="there")
    copied.run()
    copied.abandon()
    logged = _logged(full)
    full.put(Shelf(name="once more"))
    full.delete(Shelf.at(name="once more"))
    assert _logged(full) == logged
    assert full.lookup(FeedPlace.at(name="copy")) is None
    assert [size.records for size in full.engine.sizes([Reel.__shape__, Shelf.__shape__])][:2] == [
        s.records for s in before
    ][:2]


def test_a_feed_goes_on_in_the_other_store_and_misses_nothing(
    full: Store, target: Store, selection: Selection, files: LocalObjects, tmp_path: Path
) -> None:
    seen: list[str] = []

    def followed(store: Store) -> Feed:
        feed = Feed(store, "reels", owner="test")
        feed.on(Reel, "insert", "update", "remove")(
            lambda entry, claim: seen.append(f"{entry.key['number']} {entry.kind}")
        )
        return feed

    feed = followed(full)
    feed.drain()
    feed.close()
    written: list[int] = []

    def tell(what: str, number: int) -> None:
        if what == "compared" and len(written) < 3:
            written.append(300 + len(written))
            full.put(reel(written[-1], at=full.clock.now()))

    seen.clear()
    done = copy(full, target, selection, files, LocalObjects(tmp_path / "there"), told=tell)
    assert (done.records["reels.Reel"], done.files, done.changes) == (25, 25, 3)
    assert done.compared >= 25
    target.put(reel(400, at=full.clock.now()))
    followed(target).drain()
    assert seen == ["300 insert", "301 insert", "302 insert", "400 insert"]


def _logged(store: Store) -> int:
    """How many changes of shelves, which have no feed, stand in the log."""
    (shape,) = watched([Shelf.__shape__])
    return store.engine.log_size([shape]).entries
