"""Two who move audit lines: one that has lost its lease changes nothing more, and no seal is named files for twice."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.kernel.audit import SystemAudit
from penstock.kernel.audit_register import AuditedProject
from penstock.kernel.lease import NamedLease, taken_by
from penstock.kernel.seals import Seal, seal
from penstock.lifecycle.audit_archive import AuditArchive, MovedLines
from penstock.lifecycle.folder_archive import FolderArchive
from penstock.operations.updates import Remove, Set
from penstock.ports.archive import Archive
from penstock.ports.clock import SKEW
from penstock.ports.stored_object import Body
from penstock.runtime.system_records import SYSTEM_RECORDS
from tests.kernel.test_audit_attacks import write

DAY = timedelta(days=1)
TRAIL = "penstock.SystemAudit"
SEAL = Seal.at(project_id="one", trail=TRAIL, number=1)
LEASE = NamedLease.at(name="audit-archive")


class Interrupted:
    """An archive at which something happens once before it keeps a file, or once before it gives one back."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.before_keeping: Callable[[], object] | None = None
        self.before_giving: Callable[[], object] | None = None

    def put(self, name: str, content: Body) -> bool:
        if (act := self.before_keeping) is not None:
            self.before_keeping = None
            act()
        return self._archive.put(name, content)

    def get(self, name: str) -> bytes:
        self._give()
        return self._archive.get(name)

    def pieces(self, name: str) -> Iterator[bytes]:
        self._give()
        return self._archive.pieces(name)

    def exists(self, name: str) -> bool:
        return self._archive.exists(name)

    def list(self, prefix: str = "") -> Iterator[str]:
        return self._archive.list(prefix)

    def _give(self) -> None:
        if (act := self.before_giving) is not None:
            act()


@pytest.fixture
def archive(tmp_path: Path) -> Interrupted:
    return Interrupted(FolderArchive(tmp_path / "archive"))


@pytest.fixture
def line(store: Store) -> SystemAudit:
    """The only one of its project, sealed and old enough to be moved."""
    write(store, SystemAudit, "one", "ann")
    assert seal(store, "one", by="sealer", margin=timedelta(0)) is not None
    store.clock.advance(2 * DAY)  # type: ignore[attr-defined]
    (found,) = store.find(SystemAudit.of_project(project_id="one"))
    return found


def moving(store: Store, archive: Archive) -> AuditArchive:
    return AuditArchive(store, archive, owner="archivist", keep=DAY)


def take_away(store: Store) -> None:
    """The lease is another's from now on; by the clock nobody could tell."""
    store.patch(LEASE, *taken_by("another", store.clock.now() + DAY))


def moved(done: list[MovedLines] | None) -> list[Any]:
    assert done is not None
    return [(m.seals, m.removed, m.error) for m in done]


def test_whoever_has_lost_the_lease_names_no_files(
    store: Store, archive: Interrupted, line: SystemAudit, caplog: pytest.LogCaptureFixture
) -> None:
    archive.before_keeping = lambda: take_away(store)
    with caplog.at_level(logging.WARNING, "penstock.audit"):
        assert moved(moving(store, archive).run()) == []
    assert store.get(SEAL).archived is None
    assert store.get(line.ref) == line
    assert [r.levelname for r in caplog.records] == ["WARNING"], "another is at it: nothing is wrong with the lines"


def test_whoever_has_lost_the_lease_removes_nothing(
    store: Store, archive: Interrupted, line: SystemAudit, caplog: pytest.LogCaptureFixture
) -> None:
    def once_marked() -> None:
        if store.get(SEAL).archived is not None:
            take_away(store)

    archive.before_giving = once_marked
    with caplog.at_level(logging.WARNING, "penstock.audit"):
        moving(store, archive).run()
    assert store.get(line.ref) == line
    assert ["taken over" in r.getMessage() for r in caplog.records] == [True]


@pytest.mark.parametrize(
    "meanwhile", [Set("archived", ["another.jsonl.gz"]), Set("digest", "of other lines")], ids=["archived", "digest"]
)
def test_a_seal_that_is_another_by_now_is_left_as_it_is(
    store: Store, archive: Interrupted, line: SystemAudit, meanwhile: Set
) -> None:
    """Whatever else was done to it: its lines were written for the seal that was read."""
    archive.before_keeping = lambda: store.patch(SEAL, meanwhile)
    ((seals, removed, error),) = moved(moving(store, archive).run())
    assert (seals, removed) == (0, 0)
    assert error
    assert store.get(line.ref) == line
    assert store.get(SEAL).archived in (None, ["another.jsonl.gz"])


def test_what_a_seal_says_is_moved_is_not_due_whatever_the_register_says(
    store: Store, archive: Interrupted, line: SystemAudit
) -> None:
    moving(store, archive).run()
    store.patch(AuditedProject.at(trail=TRAIL, project_id="one"), Remove("archived"))
    assert moving(store, archive).plan() == []
    assert moved(moving(store, archive).run()) == []


def test_the_last_line_that_one_who_died_has_left_is_removed_by_the_next(
    store: Store, archive: Interrupted, line: SystemAudit
) -> None:
    class Died(BaseException):
        pass

    def die() -> None:
        if store.get(SEAL).archived is not None:
            raise Died

    archive.before_giving = die
    with pytest.raises(Died):
        moving(store, archive).run()
    assert store.get(line.ref) == line
    archive.before_giving = None
    assert moved(moving(store, archive).run()) == [(0, 1, None)]
    assert store.lookup(line.ref) is None


def test_a_line_is_old_enough_when_it_is_so_by_every_clock(
    store: Store, archive: Interrupted, clock: FrozenClock
) -> None:
    write(store, SystemAudit, "one", "ann")
    assert seal(store, "one", by="sealer", margin=timedelta(0)) is not None
    clock.advance(DAY + SKEW - timedelta(seconds=1))
    careful = FrozenClock(clock.now(), skew=SKEW)
    own = Store(store.engine, clock=careful, own=SYSTEM_RECORDS)
    assert moving(own, archive).plan() == []
    careful.advance(timedelta(seconds=1))
    assert [m.lines for m in moving(own, archive).plan()] == [1]
