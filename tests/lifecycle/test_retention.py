"""Retention: archived, read back, and only then removed; and the reaper, for what simply ends."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from penstock import Domain, FrozenClock, Store, the
from penstock.domains import DOMAINS
from penstock.domains.assetcreator.bookkeeping import Idempotency
from penstock.domains.assetcreator.model import DOMAIN, AssetVersion, Job, JobPlace, Step
from penstock.domains.assetcreator.stages import AssetKind, AssetType, Status, StepName
from penstock.errors import DeclarationError
from penstock.kernel.audit import SystemAudit
from penstock.kernel.lease import take_named
from penstock.lifecycle.archived_file import DamagedArchive
from penstock.lifecycle.bundle import bundles, restore
from penstock.lifecycle.folder_archive import FolderArchive
from penstock.lifecycle.reaper import Reaper
from penstock.lifecycle.retention import Archived, Retention
from penstock.objects import LocalObjects
from penstock.operations.reads import Ref
from penstock.operations.writes import Delete, Write
from penstock.ports.engine import Features
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.testing.entities import Colour, Measure
from penstock.work.working import WORKING
from tests.kernel.shelf import (
    BINDERS,
    PAPERS,
    Binder,
    Crash,
    Edition,
    Fuse,
    FusedArchive,
    FusedEngine,
    MeddledArchive,
    Paper,
    Sheet,
    archived,
)

DAY = timedelta(days=1)
NO_FILES = LocalObjects(Path(__file__).parent / "nothing")
"The records here tell of files, and none of them is there."


@pytest.fixture
def furniture() -> tuple[Domain, ...]:
    return *DOMAINS, WORKING, PAPERS


@pytest.fixture
def kept(store: Store) -> Store:
    return store


@pytest.fixture
def archive(tmp_path: Path) -> FolderArchive:
    return FolderArchive(tmp_path / "archive")


def job(store: Store, job_id: str, *, days: float, status: Status = Status.DONE, **fields: Any) -> Job:
    """A job that came to its state some days ago, with the pointer to it."""
    moment = store.clock.now() - timedelta(days=days)
    made = Job.model_validate(
        {
            "project_id": "p",
            "job_id": job_id,
            "asset_type": AssetType.PROP,
            "status": status,
            "current_step": StepName.RIG,
            "request": {"prompt": f"a chair for {job_id}", "seeds": [1, 2.5]},
            "created_at": moment,
            "updated_at": moment,
            **fields,
        }
    )
    store.put_many([made, JobPlace(job_id=job_id, project_id="p")])
    return made


def step(store: Store, job_id: str, *, days: float, status: Status = Status.DONE) -> Step:
    moment = store.clock.now() - timedelta(days=days)
    made = Step.model_validate(
        {
            "project_id": "p",
            "job_id": job_id,
            "step_name": StepName.MESH,
            "ts": moment,
            "status": status,
            "artifacts": ["assets/p/mesh.glb"],
            "metrics": {"polygons": 1200},
        }
    )
    store.put(made)
    return made


def version(store: Store, asset_id: str, number: int) -> AssetVersion:
    made = AssetVersion(
        project_id="p",
        asset_id=asset_id,
        version=number,
        type=AssetKind.SOLID if asset_id < "m" else AssetKind.FLAT,
        files=[f"assets/p/{asset_id}/v{number}/model.glb"],
        created_at=store.clock.now() + timedelta(seconds=number),
    )
    store.put(made)
    return made


def papers(store: Store, count: int, *, days: float = 31) -> list[Paper]:
    moment = store.clock.now() - timedelta(days=days)
    made = [Paper(name=f"n{i:05}", filed_at=moment + timedelta(milliseconds=i), text="x" * 50) for i in range(count)]
    store.put_many(made)
    return made


def retention(store: Store, archive: Any, *, owner: str = "retention", **options: Any) -> Retention:
    return Retention(store, archive, [DOMAIN, PAPERS], owner=owner, objects=NO_FILES, **options)


def of(entity: type, outcomes: list[Any]) -> Any:
    return next(o for o in outcomes if o.entity.endswith(f".{entity.__name__}"))


# What leaves, and when


def test_jobs_and_steps_leave_after_90_days_for_the_archive(kept: Store, archive: FolderArchive) -> None:
    """AC-42, F-AC-11: 90 days after the job has ended, however old or young its steps are."""
    old, young = job(kept, "old", days=91), job(kept, "young", days=89)
    steps = [step(kept, "old", days=days) for days in (400, 91, 2)]
    ancient = step(kept, "young", days=400)
    outcomes = retention(kept, archive).run()
    assert set(kept.get_many([old.ref, JobPlace.at(job_id="old"), *(s.ref for s in steps)])) == {None}
    assert None not in kept.get_many([young.ref, JobPlace.at(job_id="young"), ancient.ref])
    outcome = of(Job, outcomes)
    assert (outcome.records, outcome.along, outcome.removed, outcome.changed) == (1, 4, 1, 0)
    back = list(restore(archive, outcome.bundles[0], DOMAINS))
    assert back == [old, JobPlace(job_id="old", project_id="p"), *steps]
    assert type(back[0]) is Job


def test_what_was_restored_can_be_put_back(kept: Store, archive: FolderArchive) -> None:
    old = job(kept, "old", days=91)
    (name,) = of(Job, retention(kept, archive).run()).bundles
    kept.put_many(restore(archive, name, DOMAINS))
    assert kept.get(old.ref) == old
    assert [j.job_id for j in kept.find(Job.by_status(status=Status.DONE))] == ["old"]
    assert of(Job, retention(kept, archive).run()).bundles == [name], "the same records make the same bundle"


def test_everything_is_in_the_archive_before_it_is_removed(kept: Store, archive: FolderArchive) -> None:
    """AC-42: looked at from within every commit that removes something."""
    for i in range(3):
        job(kept, f"j{i}", days=100)
        step(kept, f"j{i}", days=100)
    for i in range(12):
        version(kept, "chair", i + 1)
    commit, removed = kept.engine.commit, []

    def watched(writes: Any, **more: Any) -> None:
        gone = [w for w in writes if isinstance(w, Delete)]
        there = archived(archive, DOMAIN)
        for write in gone:
            assert _ref(write) in there
        removed.extend(gone)
        commit(writes, **more)

    kept.engine.commit = watched  # type: ignore[method-assign]
    retention(kept, archive).run()
    assert len([w for w in removed if w.shape.domain == DOMAIN.name]) == 3 + 3 + 3 + 2


def _ref(write: Write) -> str:
    return repr(Ref(write.shape, {n: write.key[n] for n in write.shape.key.fields}))


def test_nothing_leaves_early(kept: Store, archive: FolderArchive, clock: FrozenClock) -> None:
    """The moment is kept to the second, so the second in which 90 days are over still belongs to them."""
    old = job(kept, "old", days=0)
    clock.advance(90 * DAY)
    assert of(Job, retention(kept, archive).plan()).records == 0
    clock.advance(timedelta(microseconds=999_999))
    retention(kept, archive).run()
    assert kept.lookup(old.ref) is not None
    clock.advance(timedelta(microseconds=1))
    retention(kept, archive).run()
    assert kept.lookup(old.ref) is None


def test_a_job_that_still_runs_stays_and_is_reported(kept: Store, archive: FolderArchive) -> None:
    begun = (Status.PENDING, Status.RUNNING, Status.PAUSED, Status.APPROVED)
    waiting = [job(kept, s.value, days=200, status=s) for s in begun]
    over = [job(kept, s.value, days=200, status=s) for s in (Status.DONE, Status.FAILED, Status.REJECTED)]
    planned = of(Job, retention(kept, archive).plan())
    outcome = of(Job, retention(kept, archive).run())
    assert (planned.records, planned.held) == (outcome.records, outcome.held) == (3, 4)
    assert None not in kept.get_many([j.ref for j in waiting])
    assert kept.get_many([j.ref for j in over]) == [None] * 3


def test_the_latest_versions_are_kept_and_older_ones_archived(kept: Store, archive: FolderArchive) -> None:
    """AC-43: ten of each asset, whichever project or type."""
    chairs = [version(kept, "chair", n) for n in range(1, 14)]
    stools = [version(kept, "stool", n) for n in range(1, 11)]
    outcome = of(AssetVersion, retention(kept, archive).run())
    assert (outcome.records, outcome.removed) == (3, 3)
    assert (outcome.oldest, outcome.newest) == ("2037-01-01T00:00:01Z", "2037-01-01T00:00:03Z")
    left = list(kept.find(AssetVersion.of_asset(project_id="p", asset_id="chair")))
    assert left == chairs[:2:-1]
    assert len(list(kept.find(AssetVersion.of_asset(project_id="p", asset_id="stool")))) == len(stools)
    back = {v.version: v for name in outcome.bundles for v in restore(archive, name, DOMAINS)}  # type: ignore[attr-defined]
    assert [back[n] for n in (1, 2, 3)] == chairs[:3]
    assert of(AssetVersion, retention(kept, archive).run()).records == 0


# The dry run


def test_a_plan_tells_what_a_run_then_does_and_changes_nothing(kept: Store, archive: FolderArchive) -> None:
    for i in range(5):
        job(kept, f"j{i}", days=91 + i, status=Status.RUNNING if i == 4 else Status.DONE)
        step(kept, f"j{i}", days=91 + i)
    for i in range(14):
        version(kept, "chair", i + 1)
    papers(kept, 7)
    fuse = Fuse(left=0)
    untouchable = Store(FusedEngine(kept.engine, fuse), clock=kept.clock, own=SYSTEM_RECORDS)
    planned = retention(untouchable, archive).plan()
    assert fuse.calls == []
    assert list(archive.list()) == []
    assert [(d.records, d.along) for d in planned] == [(4, 8), (4, 0), (7, 0)]
    assert of(Job, planned).oldest == "2036-09-29T00:00:00Z"
    assert of(Job, planned).newest == "2036-10-02T00:00:00Z"
    outcomes = retention(kept, archive).run()
    assert [asdict(d) for d in planned] == [_as_planned(o) for o in outcomes]
    for outcome in outcomes:
        assert sum(len(gzip.decompress(archive.get(name))) for name in outcome.bundles) == outcome.bytes
        assert outcome.removed == outcome.records
    assert all(d.records == d.bytes == 0 for d in retention(kept, archive).plan())


def _as_planned(outcome: Archived) -> dict[str, Any]:
    more = ("removed", "changed", "bundles", "busy")
    return {k: v for k, v in asdict(outcome).items() if k not in more}


def test_more_than_one_page_and_more_than_one_bundle(kept: Store, archive: FolderArchive, engine_name: str) -> None:
    count, batch = (1200, 500) if engine_name == "sqlite" else (230, 100)
    made = papers(kept, count)
    planned = of(Paper, retention(kept, archive, batch=batch).plan())
    outcome = of(Paper, retention(kept, archive, batch=batch).run())
    assert (outcome.records, outcome.removed, outcome.bytes) == (count, count, planned.bytes)
    assert len(outcome.bundles) == 3
    back = [r for name in outcome.bundles for r in restore(archive, name, [PAPERS])]
    assert back == made
    assert set(kept.get_many([p.ref for p in made])) == {None}


def test_a_run_may_be_limited(kept: Store, archive: FolderArchive) -> None:
    papers(kept, 12)
    job(kept, "old", days=91)
    first = retention(kept, archive).run(limit=5)
    assert (of(Job, first).removed, of(Paper, first).removed) == (1, 4)
    assert of(Paper, retention(kept, archive).run(limit=5)).removed == 5
    assert of(Paper, retention(kept, archive).run()).removed == 3


def test_a_bundle_is_not_larger_than_asked(kept: Store, archive: FolderArchive) -> None:
    papers(kept, 9)
    size = of(Paper, retention(kept, archive).plan()).bytes
    outcome = of(Paper, retention(kept, archive, batch_bytes=size // 3 + 1).run())
    assert len(outcome.bundles) == 3


def test_every_kind_of_value_comes_back(kept: Store, archive: FolderArchive) -> None:
    measure = Measure(width=1, height=2.5, taken=datetime(2037, 1, 1, tzinfo=UTC))
    paper = Paper(
        name="ü #1",
        filed_at=kept.clock.now() - 31 * DAY,
        text="a\u2028b\r\n'\"%",
        colour=Colour.BLUE,
        identifier=UUID(int=7),
        count=-(2**63),
        ratio=0.1,
        price=Decimal("12345678901234567890123456789012345678"),
        flag=False,
        blob=bytes(range(256)),
        second=kept.clock.now(),
        milli=kept.clock.now(),
        micro=kept.clock.now() + timedelta(microseconds=1),
        day=date(2037, 2, 28),
        labels=frozenset({"é", "z"}),
        notes=["x", ""],
        extra={"b": [1, 2.5, {"c": None, "a": True}], "a": 1.0, "z": 1e30, "empty": [], "s": "", "big": 2.0**60},
        measure=measure,
        measures=[measure, measure],
    )
    kept.put_many([paper, Paper(name="bare", filed_at=kept.clock.now() - 32 * DAY)])
    as_read = kept.get(paper.ref)
    outcome = of(Paper, retention(kept, archive).run())
    assert outcome.removed == 2
    bare, back = restore(archive, outcome.bundles[0], [PAPERS])
    assert bare == Paper(name="bare", filed_at=kept.clock.now() - 32 * DAY)
    assert {n: v for n, v in back.__dict__.items() if n != "extra"} == {
        n: v for n, v in paper.__dict__.items() if n != "extra"
    }
    kept.put(back)
    assert kept.get(paper.ref) == as_read


def test_each_removal_is_audited_with_its_archive(kept: Store, archive: FolderArchive) -> None:
    job(kept, "old", days=91)
    (name,) = of(Job, retention(kept, archive, owner="ann").run()).bundles
    (line,) = kept.find(SystemAudit.of_project(project_id="p"))
    assert (line.actor, line.action) == ("ann", "delete Job")
    assert line.details["why"] == f"kept 90 days after updated_at; 2 records in {name}"
    assert [c["record"] for c in line.details["changes"]] == ["Job(project_id=p, job_id=old)", "JobPlace(job_id=old)"]


# Crashes and damage


@pytest.mark.parametrize("carried_out", [False, True])
def test_a_crash_at_any_point_loses_nothing(
    kept: Store, archive: FolderArchive, clock: FrozenClock, carried_out: bool
) -> None:
    """F-AC-11: before, between and after each step; and the next run ends what the last one began."""
    fused = FusedEngine(kept.engine, Fuse())
    for crash_at in itertools.count():
        made: dict[str, Any] = {}
        for i in range(3):
            name = f"c{crash_at}-{i}"
            made |= {repr(r.ref): r for r in (job(kept, name, days=91), JobPlace(job_id=name, project_id="p"))}
        fuse = fused._fuse = Fuse(left=crash_at, carried_out=carried_out)
        broken = Store(fused, clock=clock, own=SYSTEM_RECORDS)
        run = Retention(broken, FusedArchive(archive, fuse), [DOMAIN], owner=f"a{crash_at}", objects=NO_FILES, batch=4)
        try:
            run.run()
        except Crash:
            pass
        else:
            break
        _nothing_is_lost(kept, archive, made)
        clock.advance(timedelta(minutes=11))  # nobody gave the lease back
        assert not any(o.busy for o in retention(kept, archive, batch=4).run())
        _nothing_is_lost(kept, archive, made)
        assert set(kept.get_many([r.ref for r in made.values()])) == {None}
    # A lease, two bundles of exists, put, get, put, get and a commit, and the lease again; then the other rules.
    assert crash_at > 14
    assert {"put", "get", "exists", "commit", "patch"} <= set(fuse.calls)


def _nothing_is_lost(store: Store, archive: FolderArchive, made: dict[str, Any]) -> None:
    there = archived(archive, DOMAIN)
    for ref, record in made.items():
        copies = there.get(ref, [])
        assert all(copy == record for copy in copies)
        assert copies or store.lookup(record.ref) == record


def _truncated(name: str, content: bytes) -> bytes:
    return content[: len(content) // 2]


def _flipped(name: str, content: bytes) -> bytes:
    return content[:40] + bytes([content[40] ^ 1]) + content[41:]


def _one_line_less(name: str, content: bytes) -> bytes:
    if not name.endswith(".gz"):
        return content
    return gzip.compress(b"".join(gzip.decompress(content).splitlines(keepends=True)[1:]))


def _other_value(name: str, content: bytes) -> bytes:
    return gzip.compress(gzip.decompress(content).replace(b"chair", b"table")) if name.endswith(".gz") else content


def _nothing(name: str, content: bytes) -> bytes:
    return b""


def _bad_manifest(name: str, content: bytes) -> bytes:
    return content if name.endswith(".gz") else content.replace(b'"records": 2', b'"records": 3')


@pytest.mark.parametrize("spoil", [_truncated, _flipped, _one_line_less, _other_value, _nothing, _bad_manifest])
def test_a_damaged_archive_is_found_out_and_nothing_is_removed(
    kept: Store, archive: FolderArchive, spoil: Callable[[str, bytes], bytes]
) -> None:
    """F-AC-11: what was written is read back before anything is removed; the next run writes another copy."""
    old = job(kept, "old", days=91)
    papers(kept, 1)
    with pytest.raises(DamagedArchive):
        retention(kept, MeddledArchive(archive, spoil=spoil)).run()
    assert kept.get(old.ref) == old
    outcome = of(Job, retention(kept, archive).run())
    assert outcome.removed == 1
    assert outcome.bundles[0].endswith(".2.jsonl.gz")
    assert next(restore(archive, outcome.bundles[0], DOMAINS)) == old


def test_one_damaged_rule_keeps_no_other_from_its_work(kept: Store, archive: FolderArchive) -> None:
    old = job(kept, "old", days=91)
    (paper,) = papers(kept, 1)

    def spoil(name: str, content: bytes) -> bytes:
        return b"" if "/Job/" in name else content

    with pytest.raises(DamagedArchive, match="assetcreator/Job/"):
        retention(kept, MeddledArchive(archive, spoil=spoil)).run()
    assert kept.lookup(old.ref) is not None
    assert kept.lookup(paper.ref) is None


# Meanwhile


def test_a_record_that_is_changed_meanwhile_stays(kept: Store, archive: FolderArchive, clock: FrozenClock) -> None:
    """Any change counts: of the state, of a document, of a field that had no value, and a removal."""
    made = papers(kept, 5)
    other = job(kept, "rewound", days=91, status=Status.FAILED)
    untouched = job(kept, "over", days=91)
    papers_seen: list[str] = []

    def meanwhile(name: str) -> None:
        if "/Job/" in name and name.endswith(".gz"):
            with kept.change() as change:
                change.save(change.get(other.ref).rewind(step=StepName.RIG, at=clock.now()))
        if "/Paper/" in name and not papers_seen:
            papers_seen.append(name)
            kept.patch(made[0].ref, the(Paper.extra).set({"note": "wait"}))
            kept.patch(made[1].ref, the(Paper.views).add(1))
            kept.patch(made[2].ref, the(Paper.labels).set(frozenset({"new"})))
            kept.delete(made[3].ref)

    outcomes = retention(kept, MeddledArchive(archive, meanwhile=meanwhile)).run()
    assert (of(Job, outcomes).removed, of(Job, outcomes).changed) == (1, 1)
    assert kept.lookup(untouched.ref) is None
    assert kept.get(other.ref).status is Status.RUNNING
    assert kept.lookup(JobPlace.at(job_id="rewound")) is not None, "it goes along, so it stays along"
    assert (of(Paper, outcomes).removed, of(Paper, outcomes).changed) == (1, 4)
    assert kept.get(made[0].ref).extra == {"note": "wait"}
    again = of(Paper, retention(kept, archive).run())
    assert (again.records, again.removed) == (3, 3)
    copies = archived(archive, PAPERS, DOMAIN)[repr(made[0].ref)]
    assert sorted((c.extra for c in copies), key=str) == [None, {"note": "wait"}]  # type: ignore[attr-defined]


def test_a_record_that_lost_a_field_since_it_was_archived_stays(
    dynamo: Store, raw_table: Callable[[str], Any], archive: FolderArchive
) -> None:
    """What is missing reads as the default, which is not what the archive has; where it is, nothing has changed."""
    dynamo.ensure(PAPERS, WORKING)
    moment = dynamo.clock.now() - timedelta(days=31)
    for name, views in (("read", 7), ("unread", 0)):
        dynamo.put(Paper(name=name, views=views, filed_at=moment))
    lost: list[Any] = []

    def meanwhile(name: str) -> None:
        for paper in ("read", "unread") if not lost else ():
            key = {"PK": f"PAPER#{paper}", "SK": "PAPER"}
            lost.append(_removed(raw_table("penstock_test_papers"), key, "views"))

    done = of(Paper, retention(dynamo, MeddledArchive(archive, meanwhile=meanwhile)).run())
    assert (len(lost), done.removed, done.changed) == (2, 1, 1)
    assert dynamo.get(Paper.at(name="read")).views == 0
    assert dynamo.lookup(Paper.at(name="unread")) is None


def test_what_each_reading_makes_anew_keeps_no_record_from_leaving(
    dynamo: Store, raw_table: Callable[[str], Any], archive: FolderArchive
) -> None:
    """Another writer's step has no id; whoever reads it gets one, another each time."""
    dynamo.ensure(PAPERS, WORKING)
    job(dynamo, "j1", days=91)
    made = step(dynamo, "j1", days=91)
    table = raw_table(Step.__shape__.table.name)
    partition, sort = made.__shape__.key.partition, made.__shape__.key.sort
    assert sort is not None
    key = {"PK": partition.encode(made.__dict__), "SK": sort.encode(made.__dict__)}
    _removed(table, key, "id")
    assert dynamo.get(made.ref).id != dynamo.get(made.ref).id
    assert of(Job, retention(dynamo, archive).run()).removed == 1
    assert dynamo.lookup(made.ref) is None


def _removed(table: Any, key: dict[str, str], attribute: str) -> Any:
    return table.update_item(Key=key, UpdateExpression="REMOVE #a", ExpressionAttributeNames={"#a": attribute})


def test_a_lagging_index_archives_nothing_that_is_no_longer_so(kept: Store, archive: FolderArchive) -> None:
    """The index finds, the record decides."""
    first, second, third = papers(kept, 3)
    find = kept.engine.find
    stale: dict[tuple[str, str], Any] = {}

    def lagging(query: Any, **more: Any) -> Any:
        if query.pattern.entity is Paper.__shape__:
            return stale.setdefault((str(query.values), str(more["after"])), find(query, **more))
        return find(query, **more)

    kept.engine.find = lagging  # type: ignore[method-assign]
    kept.engine.features = Features(kept.engine.features.native_expiry, strong_index_reads=False)
    planned = of(Paper, retention(kept, archive).plan())
    kept.patch(first.ref, the(Paper.filed_at).set(kept.clock.now()), given=first)
    kept.patch(second.ref, the(Paper.text).set("new"))
    kept.delete(third.ref)
    outcome = of(Paper, retention(kept, archive).run())
    assert (planned.records, outcome.records, outcome.removed, outcome.changed) == (3, 1, 1, 0)
    (back,) = restore(archive, outcome.bundles[0], [PAPERS])
    assert back.text == "new"  # type: ignore[attr-defined]


def test_a_lagging_index_does_not_count_what_was_removed_among_the_latest(kept: Store, archive: FolderArchive) -> None:
    kept.ensure(BINDERS)
    made = [Edition(edition_id=f"e{n}", title="t", number=n) for n in range(4)]
    kept.put_many(made)
    find = kept.engine.find
    stale: dict[tuple[str, str], Any] = {}

    def lagging(query: Any, **more: Any) -> Any:
        asked = (str((query.pattern.index, query.values)), str(more["after"]))
        return stale.setdefault(asked, find(query, **more))

    kept.engine.find = lagging  # type: ignore[method-assign]
    kept.engine.features = Features(kept.engine.features.native_expiry, strong_index_reads=False)
    runner = Retention(kept, archive, [BINDERS], owner="retention")
    assert of(Edition, runner.plan()).records == 2
    kept.delete(made[3].ref)
    assert of(Edition, runner.run()).removed == 1
    assert [e and e.number for e in kept.get_many([e.ref for e in made])] == [None, 1, 2, None]


@pytest.mark.parametrize(("sheets", "text"), [(250, ""), (9, "x" * 390_000)], ids=["many", "large"])
def test_what_goes_along_may_be_more_than_one_commit_holds(
    kept: Store, archive: FolderArchive, sheets: int, text: str
) -> None:
    kept.ensure(BINDERS)
    old = kept.clock.now() - timedelta(days=31)
    binder = Binder(name="b", sheets=sheets, filed_at=old)
    refs = [Sheet.at(binder="b", number=n) for n in range(sheets)]
    kept.put_many([binder, *(Sheet(binder="b", number=n, text=text) for n in range(sheets))])
    changed = Retention(
        kept, MeddledArchive(archive, meanwhile=lambda _: _rewrite(kept, refs[-1])), [BINDERS], owner="r"
    )
    outcome = of(Binder, changed.run())
    assert (outcome.removed, outcome.changed) == (0, 1)
    assert kept.lookup(binder.ref) is not None, "by which the rest is found again"
    outcome = of(Binder, Retention(kept, archive, [BINDERS], owner="r").run())
    assert (outcome.removed, outcome.changed) == (1, 0)
    assert kept.get_many([binder.ref, *refs]) == [None] * (sheets + 1)
    assert len(archived(archive, BINDERS)) == sheets + 1


def test_once_a_record_is_changed_nothing_more_leaves_along_with_it(kept: Store, archive: FolderArchive) -> None:
    """Though what went before it had no room in one commit."""
    kept.ensure(BINDERS)
    binder = Binder(name="b", sheets=300, filed_at=kept.clock.now() - timedelta(days=31))
    refs = [Sheet.at(binder="b", number=n) for n in range(300)]
    kept.put_many([binder, *(Sheet(binder="b", number=n) for n in range(300))])
    commit, removing = kept.engine.commit, []

    def watched(writes: Any, **more: Any) -> None:
        if any(isinstance(w, Delete) for w in writes):
            removing.append(len(writes))
            if len(removing) == 2:
                kept.engine.commit = commit  # type: ignore[method-assign]
                kept.patch(binder.ref, the(Binder.filed_at).set(kept.clock.now()), given=binder)
        commit(writes, **more)

    kept.engine.commit = watched  # type: ignore[method-assign]
    outcome = of(Binder, Retention(kept, archive, [BINDERS], owner="r").run())
    assert (outcome.removed, outcome.changed) == (0, 1)
    left = [found for found in kept.get_many([binder.ref, *refs]) if found is not None]
    assert 0 < 301 - len(left) < 100, "those of the first commit"


def _rewrite(store: Store, ref: Ref[Any]) -> None:
    store.patch(ref, the(Sheet.text).set("written again"))


def test_two_runners_do_not_do_it_twice(kept: Store, archive: FolderArchive) -> None:
    papers(kept, 3)
    second: list[Archived] = []

    def meanwhile(name: str) -> None:
        second.append(of(Paper, retention(kept, archive, owner="b").run()))

    first = of(Paper, retention(kept, MeddledArchive(archive, meanwhile=meanwhile), owner="a").run())
    assert (first.removed, first.busy) == (3, False)
    assert {(s.records, s.busy) for s in second} == {(0, True)}


def test_a_runner_that_stalled_removes_nothing(kept: Store, archive: FolderArchive, clock: FrozenClock) -> None:
    """While it slept another took over; its own removals are refused by the lease."""
    made = papers(kept, 3)
    second: list[Archived] = []

    def meanwhile(name: str) -> None:
        if not second:
            clock.advance(timedelta(hours=1))
            second.append(of(Paper, retention(kept, archive, owner="b").run()))
            kept.put_many(made)

    first = of(Paper, retention(kept, MeddledArchive(archive, meanwhile=meanwhile), owner="a").run())
    assert (second[0].removed, first.removed, first.busy) == (3, 0, True)
    assert None not in kept.get_many([p.ref for p in made])


def test_a_runner_that_loses_its_lease_at_the_last_moment_removes_nothing(
    kept: Store, archive: FolderArchive, clock: FrozenClock
) -> None:
    """The lease is part of the commit itself."""
    made = papers(kept, 3)
    commit = kept.engine.commit

    def stalled(writes: Any, **more: Any) -> None:
        if any(isinstance(w, Delete) for w in writes):
            kept.engine.commit = commit  # type: ignore[method-assign]
            clock.advance(timedelta(hours=1))
            assert take_named(kept, "retention:papers.Paper", owner="b", period=timedelta(minutes=1)) is not None
        commit(writes, **more)

    kept.engine.commit = stalled  # type: ignore[method-assign]
    outcome = of(Paper, retention(kept, archive, owner="a").run())
    assert (outcome.removed, outcome.busy) == (0, True)
    assert None not in kept.get_many([p.ref for p in made])


def test_a_long_run_keeps_its_lease(kept: Store, archive: FolderArchive, clock: FrozenClock) -> None:
    papers(kept, 6)

    def meanwhile(name: str) -> None:
        clock.advance(timedelta(minutes=2))
        assert take_named(kept, "retention:papers.Paper", owner="b", period=timedelta(minutes=1)) is None

    outcome = of(Paper, retention(kept, MeddledArchive(archive, meanwhile=meanwhile), batch=1).run())
    assert (outcome.removed, outcome.busy) == (6, False)


# The reaper


def idempotency(store: Store, number: int, *, hours: int = 24) -> Idempotency:
    now = store.clock.now()
    made = Idempotency(
        idempotency_key=f"k{number}",
        project_id="p",
        job_id="j",
        step_name=StepName.RIG,
        created_at=now,
        ttl=int((now + timedelta(hours=hours)).timestamp()),
    )
    store.put(made)
    return made


def test_the_reaper_removes_what_has_expired(kept: Store, clock: FrozenClock) -> None:
    """AC-44, F-X-2: it is invisible at once, and gone when the reaper has been there."""
    before = clock.now()
    short, long = idempotency(kept, 1), idempotency(kept, 2, hours=72)
    clock.advance(timedelta(hours=24))
    assert kept.lookup(short.ref) is None
    native = kept.engine.features.native_expiry
    removed = Reaper(kept, DOMAINS, owner="a").run_once()
    assert removed.get("assetcreator") == (None if native else 1)
    clock.set(before)  # what is only invisible would be seen again
    assert kept.lookup(short.ref) == (short if native else None)
    assert kept.lookup(long.ref) == long


def test_the_reaper_works_in_batches_up_to_a_bound(kept: Store, clock: FrozenClock) -> None:
    for number in range(7):
        idempotency(kept, number)
    clock.advance(timedelta(hours=24))
    if kept.engine.features.native_expiry:
        assert Reaper(kept, DOMAINS, owner="a").run_once() == {}
        return
    assert Reaper(kept, DOMAINS, owner="a", batch=2, batches=2).run_once()["assetcreator"] == 4
    assert Reaper(kept, DOMAINS, owner="a", batch=2).run_once()["assetcreator"] == 3
    assert set(Reaper(kept, DOMAINS, owner="a").run_once().values()) == {0}


def test_one_reaper_at_a_time(kept: Store, clock: FrozenClock) -> None:
    idempotency(kept, 1)
    clock.advance(timedelta(hours=24))
    take_named(kept, "reaper:assetcreator", owner="b", period=timedelta(minutes=2))
    assert "assetcreator" not in Reaper(kept, DOMAINS, owner="a").run_once()


# Declarations


def test_a_rule_whose_records_cannot_be_found_is_refused(kept: Store, archive: FolderArchive) -> None:
    from tests.kernel import lost

    for domain, words in ((lost.UNFOUND, "finds its records by moment"), (lost.UNORDERED, "in order")):
        with pytest.raises(DeclarationError, match=words):
            Retention(kept, archive, [domain], owner="a")


def test_no_bundle_is_listed_before_it_is_complete(kept: Store, archive: FolderArchive) -> None:
    papers(kept, 1)
    retention(kept, archive).run()
    (name,) = bundles(archive)
    archive.put("papers/Paper/unfinished.jsonl.gz", archive.get(name))
    assert list(bundles(archive, "papers/")) == [name]


def test_what_cannot_be_read_stays_and_the_rest_leaves(kept: Store, archive: FolderArchive, engine_name: str) -> None:
    if engine_name != "sqlite":
        pytest.skip("damage is done by hand-written SQL here")
    for name in ("a", "bad", "z"):
        job(kept, name, days=400)
    job(kept, "waits", days=400)
    connector: Any = kept.engine.connector  # type: ignore[attr-defined]
    connector.run("update assetcreator_jobs set current_step = 'nonsense' where id = 'bad'", ())
    retention = Retention(kept, archive, DOMAINS, owner="r", objects=NO_FILES)
    due = next(d for d in retention.plan() if d.entity == "assetcreator.Job")
    assert (due.records, due.unreadable) == (3, ["Job(project_id=p, job_id=bad)"])
    done = next(d for d in retention.run() if d.entity == "assetcreator.Job")
    assert (done.removed, done.unreadable) == (3, ["Job(project_id=p, job_id=bad)"])
    assert kept.lookup(JobPlace.at(job_id="bad")) is not None
