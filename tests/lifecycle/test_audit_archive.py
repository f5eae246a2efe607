"""Audit lines in an archive: their seals still vouch for them, and whatever is done to them there shows."""

from __future__ import annotations

import gzip
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from penstock import Store
from penstock.domains.assetcreator.bookkeeping import Audit
from penstock.errors import Unavailable
from penstock.kernel.audit import AuditLine, SystemAudit
from penstock.kernel.seals import Chain, Kept, Seal, Verdict, read_chain, seal, verify, verify_all
from penstock.lifecycle.archived_trails import ArchivedTrails
from penstock.lifecycle.audit_archive import AuditArchive, MovedLines
from penstock.lifecycle.folder_archive import FolderArchive
from penstock.ports.archive import Archive
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS
from tests.faults.mortal import ENGINE, Killed, Life, Mortal
from tests.kernel.forger import Forger, hire_forger
from tests.kernel.test_audit_attacks import PROJECTS, TRAILS, lived, sealed, write

DAY = timedelta(days=1)
ARCHIVE = frozenset({"put"})


@pytest.fixture
def archive(tmp_path: Path) -> FolderArchive:
    return FolderArchive(tmp_path / "archive")


@pytest.fixture
def forger(store: Store, engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Forger:
    return hire_forger(store, engine_name, tmp_path, request)


def moving(store: Store, archive: Archive, **options: Any) -> AuditArchive:
    return AuditArchive(store, archive, TRAILS, owner="archivist", keep=DAY, **options)


def aged(store: Store) -> Kept:
    """Twelve sealed lines that are older than a day in each of two trails of two projects; the digest kept before."""
    kept = lived(store)
    store.clock.advance(2 * DAY)  # type: ignore[attr-defined]
    return kept


def judged(store: Store, archive: Archive, *kept: Kept) -> tuple[Chain, list[Verdict]]:
    chain = read_chain(store, expect=kept)
    return chain, list(verify_all(store, chain, trails=TRAILS, archive=ArchivedTrails(archive)))


def wrong(store: Store, archive: Archive) -> list[tuple[str, str]]:
    """Which projects are not sound, and what is found there."""
    chain, verdicts = judged(store, archive)
    assert chain.sound
    return sorted({(v.project, f.kind) for v in verdicts for f in v.findings})


def standing(store: Store, trail: type[AuditLine], project: str) -> list[str]:
    return [line.actor for line in store.find(cast(Any, trail).of_project(project_id=project))]


def files(archive: FolderArchive) -> list[Path]:
    return sorted(archive.folder.rglob("*.jsonl.gz"))


def test_what_was_moved_is_verified_as_before(store: Store, archive: FolderArchive) -> None:
    kept = aged(store)
    before = {(v.project, v.trail): v.digest for v in judged(store, archive)[1]}
    planned = moving(store, archive).plan()
    assert [(p.project, p.trail, p.seals, p.lines) for p in planned] == [
        (project, trail, 3, 6) for trail in ("penstock.SystemAudit", "assetcreator.Audit") for project in PROJECTS
    ]
    done = moving(store, archive).run()
    assert done is not None
    assert [(m.lines, m.removed, m.error) for m in done] == [(6, 6, None)] * 4
    assert [standing(store, trail, project) for trail in TRAILS for project in PROJECTS] == [[]] * 4
    chain, verdicts = judged(store, archive, kept)
    assert chain.sound
    assert chain.proved == kept
    moved = {(v.project, v.trail): v for v in verdicts if v.project in PROJECTS}
    assert [(v.sound, v.sealed, v.archived) for v in moved.values()] == [(True, 6, 6)] * 4
    assert {key: v.digest for key, v in moved.items()} == {key: before[key] for key in moved}
    assert moving(store, archive).run() == []


def test_only_sealed_lines_that_are_old_enough_leave(store: Store, archive: FolderArchive) -> None:
    aged(store)
    write(store, SystemAudit, "one", "young")
    sealed(store)
    write(store, SystemAudit, "one", "unsealed")
    moving(store, archive).run()
    assert standing(store, SystemAudit, "one") == ["young", "unsealed"]
    verdict = verify(store, "one", archive=ArchivedTrails(archive))
    assert (verdict.sound, verdict.seals, verdict.sealed, verdict.archived, verdict.unsealed) == (True, 4, 7, 6, 1)
    store.clock.advance(2 * DAY)  # type: ignore[attr-defined]
    moving(store, archive).run()
    assert standing(store, SystemAudit, "one") == ["unsealed"]
    verdict = verify(store, "one", archive=ArchivedTrails(archive))
    assert (verdict.sound, verdict.sealed, verdict.archived) == (True, 7, 7)


def test_a_seal_with_many_lines_fills_several_files(store: Store, archive: FolderArchive) -> None:
    write(store, SystemAudit, "one", *(f"a{number}" for number in range(7)))
    sealed(store)
    write(store, SystemAudit, "one", "b")
    sealed(store)
    store.clock.advance(2 * DAY)  # type: ignore[attr-defined]
    (moved,) = cast(list[MovedLines], moving(store, archive, batch=3).run())
    assert (moved.lines, moved.removed, len(moved.files)) == (8, 8, 4)
    verdict = verify(store, "one", archive=ArchivedTrails(archive))
    assert (verdict.sound, verdict.archived) == (True, 8)


def test_lines_that_their_seal_does_not_vouch_for_stay(store: Store, archive: FolderArchive, forger: Forger) -> None:
    aged(store)
    line = next(store.find(SystemAudit.of_project(project_id="one")))
    forger.alter(line, action="nothing")
    done = cast(list[MovedLines], moving(store, archive).run())
    assert [(m.project, m.trail) for m in done if m.error] == [("one", "penstock.SystemAudit")]
    assert len(standing(store, SystemAudit, "one")) == 6
    assert standing(store, SystemAudit, "two") == []
    assert wrong(store, archive) == [("one", "altered")]


def test_lines_of_which_one_is_missing_stay(store: Store, archive: FolderArchive, forger: Forger) -> None:
    """Each that is left is whole; only together they do not make what was sealed."""
    aged(store)
    forger.remove(next(store.find(SystemAudit.of_project(project_id="one"))))
    done = cast(list[MovedLines], moving(store, archive).run())
    assert [(m.project, m.trail) for m in done if m.error] == [("one", "penstock.SystemAudit")]
    assert len(standing(store, SystemAudit, "one")) == 5


class TestTampering:
    """Somebody who can write to the archive and to the store, and is found out."""

    @pytest.fixture(autouse=True)
    def moved(self, store: Store, archive: FolderArchive) -> None:
        write(store, SystemAudit, "one", "ann", "bob")
        sealed(store)
        write(store, SystemAudit, "one", "cid")
        write(store, SystemAudit, "two", "dan")
        sealed(store)
        store.clock.advance(2 * DAY)  # type: ignore[attr-defined]
        moving(store, archive).run()
        assert wrong(store, archive) == []
        assert len(files(archive)) == 2

    def of(self, store: Store, project: str, number: int = 1) -> Seal:
        return store.get(Seal.at(project_id=project, trail="penstock.SystemAudit", number=number))

    def file(self, store: Store, archive: FolderArchive, project: str) -> Path:
        (name,) = self.of(store, project).archived or [""]
        return archive.folder / name

    def test_a_line_changed_in_the_archive_is_found(self, store: Store, archive: FolderArchive) -> None:
        file = self.file(store, archive, "one")
        file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()).replace(b"ann", b"eve")))
        assert wrong(store, archive) == [("one", "archive")]

    def test_a_file_that_is_gone_is_found(self, store: Store, archive: FolderArchive) -> None:
        self.file(store, archive, "one").unlink()
        assert wrong(store, archive) == [("one", "archive")]

    def test_files_that_were_swapped_are_found(self, store: Store, archive: FolderArchive) -> None:
        one, two = (self.file(store, archive, project) for project in PROJECTS)
        was = one.read_bytes()
        one.write_bytes(two.read_bytes())
        two.write_bytes(was)
        assert wrong(store, archive) == [("one", "archive"), ("two", "archive")]

    def test_a_file_that_is_no_archive_is_found(self, store: Store, archive: FolderArchive) -> None:
        self.file(store, archive, "two").write_bytes(b"nothing of the kind")
        assert wrong(store, archive) == [("two", "archive")]

    def test_a_seal_that_names_another_file_is_found(
        self, store: Store, archive: FolderArchive, forger: Forger
    ) -> None:
        forger.alter(self.of(store, "one"), archived=self.of(store, "two").archived)
        assert wrong(store, archive) in ([("one", "missing")], [("one", "archive")])

    def test_a_seal_that_names_no_file_any_more_is_found(
        self, store: Store, archive: FolderArchive, forger: Forger
    ) -> None:
        forger.alter(self.of(store, "one"), archived=None)
        forger.alter(self.of(store, "two", 1), archived=[])
        assert wrong(store, archive) == [("one", "missing"), ("two", "missing")]

    def test_a_line_put_back_where_lines_were_moved_is_found(self, store: Store, archive: FolderArchive) -> None:
        moved = self.of(store, "one")
        line = SystemAudit(project_id="one", ts=moved.until - timedelta(minutes=5), actor="eve", action="put")
        line.hash = line.sealed()
        store.put(line)
        assert wrong(store, archive) == [("one", "added")]

    def test_an_archive_that_cannot_be_reached_is_said_to_be(
        self, store: Store, archive: FolderArchive, tmp_path: Path
    ) -> None:
        with pytest.raises(Unavailable, match="cannot be reached, or is another"):
            judged(store, FolderArchive(tmp_path / "elsewhere"))
        with pytest.raises(Unavailable, match="in an archive, which was not given"):
            verify(store, "one")


def run_once(store: Store, archive: FolderArchive, project: str, *, writes: int | None = None) -> bool:
    """Move the lines of one project in a process that dies after so many writes to store or archive; has it lived?"""
    life = Life(writes=writes)
    engine = Mortal(lambda: store.engine, lambda: life, ENGINE)
    own = Store(cast(Engine, engine), clock=store.clock, own=SYSTEM_RECORDS)
    keeper = Mortal(lambda: archive, lambda: life, ARCHIVE)
    try:
        moving(own, cast(Archive, keeper), batch=2).run(project)
    except Killed:
        store.clock.advance(timedelta(minutes=20))  # type: ignore[attr-defined]
    return not life.dead


def told(store: Store, archive: FolderArchive, project: str) -> list[tuple[int, int, list[Any]]]:
    verdicts = [verify(store, project, trail=t, archive=ArchivedTrails(archive)) for t in TRAILS]
    return [(v.sealed, v.archived, v.findings) for v in verdicts]


def test_killed_between_any_two_steps_nothing_is_lost_and_nothing_doubled(store: Store, archive: FolderArchive) -> None:
    lived = False
    deaths = 0
    while not lived:
        project = f"p{deaths}"
        write(store, SystemAudit, project, "ann", "bob", "cid")
        write(store, Audit, project, "eve", "fay")
        for trail in TRAILS:
            assert seal(store, project, by="sealer", trail=trail, margin=timedelta(0)) is not None
        store.clock.advance(2 * DAY)  # type: ignore[attr-defined]
        lived = run_once(store, archive, project, writes=deaths)
        assert [(sealed, findings) for sealed, _, findings in told(store, archive, project)] == [(3, []), (2, [])]
        assert run_once(store, archive, project)
        assert told(store, archive, project) == [(3, 3, []), (2, 2, [])]
        assert [standing(store, trail, project) for trail in TRAILS] == [[], []]
        deaths += 1
    assert deaths > 10
