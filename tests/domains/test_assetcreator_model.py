"""Game assets: the documents' single table, their SQL tables, and the same answers from both."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import ValidationError

from penstock import KeepLatest, RetainFor, Store, after, between, the
from penstock.domains.assetcreator.asset_table import TABLE
from penstock.domains.assetcreator.bookkeeping import Audit, Idempotency, Outbox
from penstock.domains.assetcreator.model import DOMAIN, Asset, AssetVersion, Job, JobPlace, Project, Step
from penstock.domains.assetcreator.stages import OVER, AssetKind, AssetType, Status, StepName
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.sqlite import SqliteConnector
from penstock.errors import Conflict, IllegalMove, InvalidKey, InvalidValue, NotFound
from penstock.kernel.idempotency import OnceStatus
from penstock.kernel.outbox import MessageStatus
from penstock.operations.reads import Query, Ref
from penstock.schema.shape import KeyAttribute
from tests.beneath import beneath

from .keys import assert_every_pattern_is_a_query, index_key_of, key_of, transitions

pytestmark = pytest.mark.every_engine

EIGHT = datetime(2037, 1, 29, 8, 0, tzinfo=UTC)
QUARTER_PAST = EIGHT + timedelta(minutes=15)
TICK = timedelta(microseconds=1)
_databases = itertools.count()

JOB_ITEM = {
    "PK": "PROJECT#prj_001",
    "SK": "JOB#job_123",
    "asset_type": "3D_CHARACTER",
    "status": "running",
    "current_step": "retopo",
    "created_at": "2037-01-29T08:00:00Z",
    "updated_at": "2037-01-29T08:15:00Z",
    "GSI1PK": "JOB_STATUS#running",
    "GSI1SK": "2037-01-29T08:15:00Z",
}


def job(job_id: str = "job_123", **fields: Any) -> Job:
    given: dict[str, Any] = {
        "project_id": "prj_001",
        "job_id": job_id,
        "asset_type": AssetType.CHARACTER_3D,
        "current_step": StepName.TEXT_TO_IMAGE,
        "created_at": EIGHT,
        "updated_at": EIGHT,
    }
    return Job(**{**given, **fields})


def example_job() -> Job:
    return job(status=Status.RUNNING, current_step=StepName.RETOPO, updated_at=QUARTER_PAST)


def step(name: StepName = StepName.RETOPO, **fields: Any) -> Step:
    return Step(**{"project_id": "prj_001", "job_id": "job_123", "step_name": name, "ts": EIGHT, **fields})


def version(number: int, **fields: Any) -> AssetVersion:
    given = {"project_id": "prj_001", "asset_id": "hero", "version": number, "type": AssetKind.SOLID}
    return AssetVersion(**{**given, "files": ["assets/prj_001/hero.glb"], "created_at": EIGHT, **fields})


def event(event_id: str = "evt_1", **fields: Any) -> Outbox:
    given = {"event_id": event_id, "project_id": "prj_001", "type": "StepCompleted"}
    about = {"aggregate": "job_123", "payload": {"job_id": "job_123"}}
    return Outbox(**{**given, **about, "ts": EIGHT, **fields})


def once(**fields: Any) -> Idempotency:
    given = {"idempotency_key": "abc", "project_id": "prj_001", "job_id": "job_123", "step_name": StepName.RIG}
    return Idempotency(**{**given, "created_at": EIGHT, "ttl": int(EIGHT.timestamp()) + 86400, **fields})


def line(actor: str = "ann", **fields: Any) -> Audit:
    return Audit(**{"project_id": "prj_001", "ts": EIGHT, "actor": actor, "action": "approve", **fields})


def asset(**fields: Any) -> Asset:
    given = {"project_id": "prj_001", "asset_id": "hero", "type": AssetKind.SOLID, "created_at": EIGHT}
    return Asset(**{**given, **fields})


# Layout


def test_the_table_is_the_documents() -> None:
    """AC-1, AC-9…AC-11: one table, three indexes, the attribute of the end."""
    place = TABLE.place
    assert place.name == "asset_creator"
    assert (place.partition, place.sort) == (KeyAttribute("PK"), KeyAttribute("SK")), "which are texts"
    assert (place.expiry, place.tag) == ("ttl", None)
    assert [(i.name, i.partition.name, i.sort and i.sort.name) for i in place.indexes.values()] == [
        ("GSI1", "GSI1PK", "GSI1SK"),
        ("GSI2", "GSI2PK", "GSI2SK"),
        ("GSI3", "GSI3PK", "GSI3SK"),
        ("GSI4", "GSI4PK", "GSI4SK"),  # beyond the documents: what is a project's own
    ]


def test_every_key_is_the_documents() -> None:
    """AC-2…AC-8, F-AC-1, F-AC-3, F-AC-6, F-AC-8: letter for letter, with microseconds and padded versions."""
    project = Project(project_id="prj_001", name="Heroes", created_at=EIGHT)
    assert key_of(project) == ("PROJECT#prj_001", "PROJECT#prj_001")
    assert key_of(job()) == ("PROJECT#prj_001", "JOB#job_123")
    assert key_of(JobPlace(job_id="job_123", project_id="prj_001")) == ("JOB#job_123", "JOB#job_123")
    assert key_of(step()) == ("JOB#job_123", "STEP#retopo#2037-01-29T08:00:00.000000Z")
    assert key_of(step(StepName.TEXT_TO_IMAGE, ts=EIGHT + TICK)) == (
        "JOB#job_123",
        "STEP#text-to-image#2037-01-29T08:00:00.000001Z",
    )
    assert key_of(version(7)) == ("PROJECT#prj_001", "ASSET#hero#V#0000000007")
    assert key_of(asset()) == ("PROJECT#prj_001", "LATEST#hero")
    assert key_of(event()) == ("OUTBOX#evt_1", "OUTBOX#evt_1")
    assert key_of(once()) == ("IDEMPOTENCY#abc", "IDEMPOTENCY#abc")
    assert key_of(line()) == ("PROJECT#prj_001", "AUDIT#2037-01-29T08:00:00.000000Z#ann")


def test_every_index_key_is_the_documents() -> None:
    """AC-9, AC-10, AC-11, F-AC-2: and GSI1 also finds events, while they are pending."""
    assert index_key_of(example_job(), "GSI1") == ("JOB_STATUS#running", "2037-01-29T08:15:00Z")
    assert index_key_of(step(status=Status.PAUSED), "GSI2") == ("STEP_STATUS#paused", "2037-01-29T08:00:00.000000Z")
    assert index_key_of(version(1), "GSI3") == ("ASSET_TYPE#3D", "2037-01-29T08:00:00Z")
    assert index_key_of(version(1, type="2D"), "GSI3") == ("ASSET_TYPE#2D", "2037-01-29T08:00:00Z")
    pending = event()
    assert index_key_of(pending, "GSI1") == ("OUTBOX_STATUS#pending", "2037-01-29T08:00:00.000000Z")
    pending.publish(forget_at=EIGHT + timedelta(days=7))
    assert index_key_of(pending, "GSI1") is None
    unindexed = (asset(), once(), line(), JobPlace(job_id="j", project_id="p"))
    assert [index_key_of(record, name) for record in unindexed for name in ("GSI1", "GSI2", "GSI3")] == [None] * 12


def test_the_attributes_have_the_documents_names() -> None:
    """AC-2…AC-8: each documented field, under its name; keys' parts live in the key, as the example shows."""
    documented = {
        Project: "name style_profile quotas created_at",
        Job: "asset_type status current_step created_at updated_at",
        Step: "status artifacts metrics error approved_by decided_at",
        AssetVersion: "type files metadata cdn_url created_at version",
        Outbox: "type payload status ts",
        Idempotency: "job_id step_name created_at ttl",
        Audit: "action details",
    }
    for entity, names in documented.items():
        assert set(names.split()) <= {f.attribute for f in entity.__shape__.fields.values() if f.stored}
    in_key_only = [f.name for f in Job.__shape__.fields.values() if not f.stored]
    assert in_key_only == ["project_id", "job_id"]


def test_every_record_tells_its_project() -> None:
    """F-AC-7: in the key or beside it."""
    for shape in DOMAIN.shapes:
        assert "project_id" in shape.fields
        assert not shape.fields["project_id"].optional


def test_the_steps_are_the_documents_in_the_order_of_the_work() -> None:
    """AC-21, F-AC-1: each record carries its place, since keys sort by name."""
    names = ["text-to-image", "refine", "3D", "retopo", "rig", "anim", "export"]
    assert [name.value for name in StepName] == names
    assert [step(name).step_index for name in StepName] == list(range(7))
    assert sorted(map(str, StepName)) != names
    with pytest.raises(ValidationError):
        step(step_name="paint")


def test_the_kind_follows_from_the_type() -> None:
    """F-AC-9: 2D or 3D is derived from asset_type, and nothing else is a kind."""
    assert {t.value: t.kind.value for t in AssetType} == {
        "3D_CHARACTER": "3D",
        "2D_SPRITE": "2D",
        "BACKGROUND": "2D",
        "PROP": "3D",
    }
    with pytest.raises(ValidationError):
        version(1, type="3D_CHARACTER")


def test_a_version_is_1_to_ten_digits() -> None:
    """AC-5, F-AC-3: what would not sort is refused."""
    assert key_of(version(10))[1] == "ASSET#hero#V#0000000010"
    for wrong in (0, 10**10):
        with pytest.raises(ValidationError):
            version(wrong)
    with pytest.raises(InvalidKey):
        AssetVersion.at(project_id="prj_001", asset_id="hero", version=10**10)


def test_no_name_can_pose_as_another_key() -> None:
    """F-X-5: a separator inside a part is escaped, and comes back."""
    assert key_of(version(1, asset_id="hero#V#1"))[1] == "ASSET#hero%23V%231#V#0000000001"
    assert key_of(step(job_id="j#1"))[0] == "JOB#j#1"
    assert key_of(line("ann #2"))[1] == "AUDIT#2037-01-29T08:00:00.000000Z#ann #2"
    with pytest.raises(InvalidKey, match="empty"):
        Job.at(project_id="", job_id="job_123")


def test_files_are_keys_never_urls() -> None:
    """F-AC-12, F-X-9: what is signed on reading is stored unsigned."""
    for wrong in ({"files": ["https://cdn/x.glb"]}, {"cdn_url": "https://cdn/x.glb"}):
        with pytest.raises(ValidationError, match="not a URL"):
            version(1, **wrong)
    with pytest.raises(ValidationError, match="not a URL"):
        step(status=Status.RUNNING).finish(artifacts=["s3://b/x.png"], metrics={})


def test_lifetimes_are_declared() -> None:
    """AC-42, AC-43, AC-44: what is kept how long is part of the model."""
    (kept,) = Job.__lifetimes__
    assert isinstance(kept, RetainFor)
    assert (kept.period, kept.since, kept.when) == (timedelta(days=90), "updated_at", OVER)
    along = list((kept.along or list)(job()))
    assert [repr(each) for each in along if isinstance(each, Ref)] == [
        "JobPlace(job_id=job_123)",
        "Job(job_id=assetcreator.Job(project_id=prj_001, job_id=job_123))",
    ]
    found = [each.pattern.entity.name for each in along if isinstance(each, Query)]
    assert found == ["Step", "ChildRun", "ChildCount", "StepRun", "Task"]
    assert kept.files
    assert Step.__lifetimes__ == (), "a step leaves with its job"
    assert set(Status) - set(OVER) == {Status.PENDING, Status.RUNNING, Status.PAUSED, Status.APPROVED}
    (latest,) = AssetVersion.__lifetimes__
    assert isinstance(latest, KeepLatest)
    assert (latest.count, latest.per, latest.said_in) == (10, ("project_id", "asset_id"), "versions_kept")
    assert (latest.spared_until, latest.files) == ("kept_until", True)
    assert {shape.name for shape in DOMAIN.shapes if shape.expiry} == {"Outbox", "Idempotency"}


# States


def test_the_job_machine_is_exactly_this() -> None:
    """AC-3: pending, running, paused, approved or rejected, done or failed; a rejection or a failure may be rewound.

    Beyond the documents, what is done may be made anew.
    """
    assert transitions(Job) == {
        ("pending", "running"),
        ("running", "paused"),
        ("paused", "approved"),
        ("paused", "rejected"),
        ("running", "running"),
        ("approved", "running"),
        ("rejected", "running"),
        ("failed", "running"),
        ("done", "running"),
        ("running", "done"),
        ("approved", "done"),
        ("pending", "failed"),
        ("running", "failed"),
        ("rejected", "failed"),
    }


def test_a_jobs_moment_changes_with_its_state() -> None:
    """AC-12, F-AC-14: every move takes its moment, so GSI1 is rewritten by moves and by nothing else."""
    record = job()
    record.start(at=EIGHT + timedelta(minutes=1))
    record.pause(at=EIGHT + timedelta(minutes=2))
    record.approve(at=EIGHT + timedelta(minutes=3))
    record.advance(step=StepName.REFINE, at=EIGHT + timedelta(minutes=4))
    assert (record.status, record.current_step) == ("running", "refine")
    assert index_key_of(record, "GSI1") == ("JOB_STATUS#running", "2037-01-29T08:04:00Z")
    with pytest.raises(IllegalMove, match="approve needs paused"):
        record.approve(at=EIGHT)
    for move in Job.__moves__.values():
        for origin in move.origins:
            moved = job(status=origin)
            further = {"step": StepName.REFINE} if move.name in ("advance", "rewind", "reopen") else {}
            getattr(moved, move.name)(at=QUARTER_PAST, **further)
            assert moved.updated_at == QUARTER_PAST, move.name


def test_the_step_machine_is_exactly_this() -> None:
    """AC-4, AC-22: a rejected or failed step stays as it is; the next try is a record of its own.

    Beyond the documents, one that waits for a person may be cancelled.
    """
    assert transitions(Step) == {
        ("pending", "running"),
        ("running", "paused"),
        ("running", "done"),
        ("paused", "approved"),
        ("paused", "rejected"),
        ("approved", "done"),
        ("pending", "failed"),
        ("running", "failed"),
        ("paused", "failed"),
    }


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_a_decision_tells_who_and_when(decision: str) -> None:
    """AC-4, AC-22, AC-50: artifacts and metrics at the gate, the reviewer at the decision."""
    record = step()
    record.start()
    record.pause(artifacts=["assets/prj_001/mesh.glb"], metrics={"polygons": 1200})
    getattr(record, decision)(by="ann", at=QUARTER_PAST)
    assert (record.artifacts, record.metrics) == (["assets/prj_001/mesh.glb"], {"polygons": 1200})
    assert (record.approved_by, record.decided_at) == ("ann", QUARTER_PAST)
    assert record.status == f"{decision.removesuffix('e')}ed"


def test_a_failed_step_says_why() -> None:
    """AC-4, AC-22."""
    record = step()
    record.fail(code="GPU", message="out of memory")
    assert (record.status, record.error) == ("failed", {"code": "GPU", "message": "out of memory"})


def test_idempotency_has_a_state_an_owner_and_a_result() -> None:
    """AC-7, F-AC-4: finished work answers, failed or abandoned work is taken over."""
    record = once(owner="w1", owner_expires_at=int(EIGHT.timestamp()))
    assert record.status == "in_progress"
    record.fail()
    assert (record.owner, record.owner_expires_at) == (None, None)
    record.take_over(owner="w2", until=QUARTER_PAST)
    assert (record.owner, record.owner_expires_at) == ("w2", int(QUARTER_PAST.timestamp()))
    record.take_over(owner="w3", until=QUARTER_PAST)
    record.finish(result={"step": "done"})
    assert (record.status, record.result, record.owner) == (OnceStatus.DONE, {"step": "done"}, None)
    with pytest.raises(IllegalMove, match="done is a final state"):
        record.take_over(owner="w4", until=QUARTER_PAST)


def test_an_event_is_published_once() -> None:
    """AC-6, F-AC-2: then it may be forgotten, not before."""
    assert event().ttl is None
    record = event()
    record.publish(forget_at=QUARTER_PAST)
    assert (record.status, record.ttl) == ("published", int(QUARTER_PAST.timestamp()))
    with pytest.raises(IllegalMove):
        record.publish(forget_at=QUARTER_PAST)


# Questions: the same answers on every engine (AC-35)


def test_no_pattern_scans() -> None:
    """AC-13…AC-19: each reads one partition."""
    assert_every_pattern_is_a_query(DOMAIN)


def test_jobs_of_a_project(store: Store) -> None:
    """AC-13, AC-14, AC-35, AC-49: all of them and nothing else under the project's key."""
    store.create(Project(project_id="prj_001", name="Heroes", quotas={"concurrent_jobs": 2}, created_at=EIGHT))
    store.put_many([job("job_2"), job("job_1"), job("other", project_id="prj_002"), version(1), asset(), line()])
    found = list(store.find(Job.of_project(project_id="prj_001")))
    assert [j.job_id for j in found] == ["job_1", "job_2"]
    assert store.get(Job.at(project_id="prj_001", job_id="job_2")) == job("job_2")
    assert store.get(Project.at(project_id="prj_001")).quotas == {"concurrent_jobs": 2}
    with pytest.raises(NotFound):
        store.get(Job.at(project_id="prj_002", job_id="job_2"))


def test_a_job_is_found_by_its_id_alone(store: Store) -> None:
    """F-AC-8: through the pointer, which is no step of the job."""
    with store.change() as change:
        change.create(example_job())
        change.create(JobPlace(job_id="job_123", project_id="prj_001"))
    place = store.get(JobPlace.at(job_id="job_123"))
    assert store.get(Job.at(project_id=place.project_id, job_id=place.job_id)) == example_job()
    assert list(store.find(Step.of_job(job_id="job_123"))) == []


def test_steps_of_a_job(store: Store) -> None:
    """AC-15, AC-35, AC-49, F-AC-1: runs of one step in time, and all by the order of the work."""
    store.create(JobPlace(job_id="job_123", project_id="prj_001"))
    again = step(StepName.TEXT_TO_IMAGE, ts=EIGHT + TICK)
    first = step(StepName.TEXT_TO_IMAGE)
    anim = step(StepName.ANIM, ts=EIGHT + timedelta(hours=1))
    store.put_many([again, anim, first, step(job_id="job_124")])
    found = list(store.find(Step.of_job(job_id="job_123")))
    assert found == [anim, first, again]
    assert sorted(found, key=lambda s: (s.step_index, s.ts)) == [first, again, anim]
    one = Step.of_job(job_id="job_123", step_name=StepName.TEXT_TO_IMAGE)
    assert list(store.find(one)) == [first, again]


def test_a_second_run_in_the_same_tick_is_refused_not_lost(store: Store) -> None:
    """F-AC-1, F-AC-6: whoever meets a record moves on by a microsecond."""
    for record, later in ((step(), step(ts=EIGHT + TICK)), (line(), line(ts=EIGHT + TICK))):
        store.create(record)
        with pytest.raises(Conflict):
            store.create(record)
        store.create(later)
    assert len(list(store.find(Step.of_job(job_id="job_123")))) == 2
    assert len(list(store.find(Audit.of_project(project_id="prj_001")))) == 2


def test_the_latest_version_is_the_tenth(store: Store) -> None:
    """AC-16, AC-35, F-AC-3: after nine comes ten, and a number is given once."""
    store.create(asset(latest_version=11))
    store.put_many([version(n) for n in range(1, 12)] + [version(40, asset_id="hero2")])
    query = AssetVersion.of_asset(project_id="prj_001", asset_id="hero")
    latest = store.first(query)
    assert latest is not None
    assert latest.version == 11
    assert [v.version for v in store.find(query)] == list(range(11, 0, -1))
    with pytest.raises(Conflict):
        store.create(version(11))


def test_assets_by_type_and_time(store: Store) -> None:
    """AC-17, AC-35: newest first, within a span; the other kind is elsewhere."""
    hours = [EIGHT + timedelta(hours=n) for n in range(3)]
    store.put_many([version(n + 1, created_at=hour) for n, hour in enumerate(hours)])
    store.create(version(1, asset_id="tree", type=AssetKind.FLAT))

    def versions(**asked: Any) -> list[int]:
        return [v.version for v in store.find(AssetVersion.by_type(**asked))]

    assert versions(type=AssetKind.SOLID) == [3, 2, 1]
    assert versions(type=AssetKind.SOLID, created_at=between(hours[0], hours[1])) == [2, 1]
    assert versions(type=AssetKind.SOLID, created_at=after(hours[1])) == [3]
    assert versions(type=AssetKind.FLAT) == [1]


def test_jobs_in_progress(store: Store) -> None:
    """AC-12, AC-18, AC-35: a move takes the job from one list to the other in the same write."""
    store.put_many([example_job(), job("job_9", updated_at=QUARTER_PAST)])
    assert [j.job_id for j in store.find(Job.by_status(status=Status.RUNNING))] == ["job_123"]
    with store.change() as change:
        waiting = change.get(Job.at(project_id="prj_001", job_id="job_9"))
        change.save(waiting.start(at=QUARTER_PAST + timedelta(minutes=1)))
    assert [j.job_id for j in store.find(Job.by_status(status=Status.RUNNING))] == ["job_123", "job_9"]
    assert list(store.find(Job.by_status(status=Status.PENDING))) == []
    late = Job.by_status(status=Status.RUNNING, updated_at=after(QUARTER_PAST))
    assert [j.job_id for j in store.find(late)] == ["job_9"]


def test_steps_awaiting_review(store: Store) -> None:
    """AC-19, AC-35, AC-50: paused ones, until somebody decides."""
    store.put_many([step(StepName.RIG, status=Status.PAUSED), step(status=Status.RUNNING)])
    (waiting,) = store.find(Step.by_status(status=Status.PAUSED))
    assert waiting.step_name == "rig"
    with store.change() as change:
        record = change.get(Step.at(job_id="job_123", step_name=StepName.RIG, ts=EIGHT))
        change.save(record.approve(by="ann", at=QUARTER_PAST))
    assert list(store.find(Step.by_status(status=Status.PAUSED))) == []


def test_pending_events_are_found_and_published_ones_are_not(store: Store) -> None:
    """AC-6, F-AC-2: oldest first; jobs in the same index do not appear."""
    store.put_many([event("b", ts=EIGHT + TICK, job_id="job_123"), event("a", job_id="job_123")])
    store.create(job())
    assert [e.event_id for e in store.find(Outbox.by_status(status=MessageStatus.PENDING))] == ["a", "b"]
    with store.change() as change:
        told = change.get(Outbox.at(event_id="a"))
        change.save(told.publish(forget_at=store.clock.now() + timedelta(days=7)))
    assert [e.event_id for e in store.find(Outbox.by_status(status=MessageStatus.PENDING))] == ["b"]
    assert store.get(Outbox.at(event_id="a")).status == "published"


def test_an_expired_key_is_as_good_as_none(store: Store) -> None:
    """AC-7, F-X-2: invisible at its second, and its place may be taken."""
    second = int(store.clock.now().timestamp())
    store.create(once(ttl=second + 1))
    with pytest.raises(Conflict):
        store.create(once(ttl=second + 1))
    store.put(once(ttl=second))
    assert store.lookup(Idempotency.at(idempotency_key="abc")) is None
    store.create(once(ttl=second + 86400))
    assert store.get(Idempotency.at(idempotency_key="abc")).ttl == second + 86400


def test_audit_lines_of_a_project(store: Store) -> None:
    """AC-8, AC-49, F-AC-6: in time, two actors in one tick, and only this project's."""
    store.put_many([line("bob"), line("ann"), line("ann", ts=EIGHT - TICK), line("eve", project_id="prj_002")])
    found = list(store.find(Audit.of_project(project_id="prj_001")))
    assert [(a.actor, a.ts) for a in found] == [("ann", EIGHT - TICK), ("ann", EIGHT), ("bob", EIGHT)]
    assert [a.actor for a in store.find(Audit.of_project(project_id="prj_001", ts=after(EIGHT - TICK)))] == [
        "ann",
        "bob",
    ]


def test_assets_of_a_project(store: Store) -> None:
    """AC-26, AC-49, F-AC-9: the asset itself, on every engine; its versions are not in the way."""
    store.put_many([asset(), asset(asset_id="tree", type=AssetKind.FLAT), version(1)])
    assert [a.asset_id for a in store.find(Asset.of_project(project_id="prj_001"))] == ["hero", "tree"]
    store.patch(Asset.at(project_id="prj_001", asset_id="hero"), the(Asset.latest_version).add(1))
    assert store.get(Asset.at(project_id="prj_001", asset_id="hero")).latest_version == 1


def test_a_patch_cannot_leave_the_index_behind(store: Store) -> None:
    """AC-12: updated_at is part of GSI1's key, created_at of GSI3's."""
    store.create(example_job())
    ref = Job.at(project_id="prj_001", job_id="job_123")
    store.patch(ref, the(Job.updated_at).set(EIGHT + timedelta(hours=1)))
    (found,) = store.find(Job.by_status(status=Status.RUNNING, updated_at=after(QUARTER_PAST)))
    assert found.job_id == "job_123"
    with pytest.raises(InvalidValue, match="frozen"):
        the(AssetVersion.created_at).set(EIGHT)


# The items themselves


def test_the_example_item_is_written_exactly(dynamo: Store, raw_table: Callable[[str], Any]) -> None:
    """AC-20: no more and no less than the document shows."""
    dynamo.create(example_job())
    assert raw_table("asset_creator").scan()["Items"] == [JOB_ITEM]


def test_the_example_item_is_read(dynamo: Store, raw_table: Callable[[str], Any]) -> None:
    """AC-20: its project and id come out of its key."""
    raw_table("asset_creator").put_item(Item=JOB_ITEM)
    assert dynamo.get(Job.at(project_id="prj_001", job_id="job_123")) == example_job()
    assert list(dynamo.find(Job.by_status(status=Status.RUNNING))) == [example_job()]


def test_publishing_removes_the_index_attributes(dynamo: Store, raw_table: Callable[[str], Any]) -> None:
    """F-AC-2, F-X-7: removed, never null; project_id and ttl stand beside the documents' attributes."""
    dynamo.create(event())
    with dynamo.change() as change:
        change.save(change.get(Outbox.at(event_id="evt_1")).publish(forget_at=datetime(2030, 1, 1, tzinfo=UTC)))
    assert raw_table("asset_creator").scan()["Items"] == [
        {
            "PK": "OUTBOX#evt_1",
            "SK": "OUTBOX#evt_1",
            "project_id": "prj_001",
            "type": "StepCompleted",
            "payload": {"job_id": "job_123"},
            "status": "published",
            "ts": "2037-01-29T08:00:00.000000Z",
            "aggregate": "job_123",
            "attempts": 0,
            "ttl": 1893456000,
        }
    ]


# SQL


@pytest.fixture(params=["sqlite", "postgres"])
def sql(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store on SQL, whose tables can be looked at."""
    if request.param == "sqlite":
        engine = SqlEngine(SqliteConnector(str(tmp_path / "assets.db")))
    else:
        from penstock.engines.sql.postgres import PostgresConnector

        server = request.getfixturevalue("postgres_server")
        engine = SqlEngine(PostgresConnector(server.create_database(f"assets{next(_databases)}")))
    engine.ensure(DOMAIN.shapes, views=DOMAIN.view_shapes)
    yield Store(engine)
    engine.close()


def _relation(store: Store, name: str) -> tuple[str, str | None]:
    """An entity's table as the database names it: in a schema, or with a prefix."""
    engine = beneath(store)
    assert isinstance(engine, SqlEngine)
    return (name, "assetcreator") if engine.connector.dialect.schemas else (f"assetcreator_{name}", None)


def _select(store: Store, what: str, relation: str) -> list[tuple[Any, ...]]:
    name, schema = _relation(store, relation)
    with beneath(store).connector.administration() as connection:
        rows = connection.exec_driver_sql(f"SELECT {what} FROM {f'{schema}.' if schema else ''}{name}")
        return [tuple(row) for row in rows]


def test_the_tables_have_the_documents_columns(sql: Store) -> None:
    """AC-23, AC-24, AC-25, AC-26, AC-27, AC-28, AC-29, AC-30, F-AC-9, F-AC-10: the documented columns and a project."""
    documented = {
        "projects": "id name style_profile_json quotas_json created_at",
        "jobs": "id project_id asset_type status current_step created_at updated_at",
        "steps": "id job_id name status artifacts_json metrics_json error_json decided_at created_at "
        "approved_by project_id",
        "assets": "id project_id type latest_version created_at",
        "asset_versions": "id asset_id version files_json metadata_json cdn_url created_at project_id",
        "outbox": "id type payload_json status created_at project_id job_id",
        "idempotency": "id key job_id step_name created_at ttl project_id",
        "audit": "id project_id actor action details_json ts",
    }
    with beneath(sql).connector.administration() as connection:
        inspector = sa.inspect(connection)
        for table, columns in documented.items():
            name, schema = _relation(sql, table)
            found = {c["name"] for c in inspector.get_columns(name, schema=schema)}
            assert set(columns.split()) <= found, table


def test_the_tables_have_the_documents_indexes(sql: Store) -> None:
    """AC-31, F-AC-10: idempotency's key is the primary one, so it is unique."""
    documented = {
        "jobs": ["project_id", "status"],
        "steps": ["job_id", "status", "name"],
        "asset_versions": ["asset_id", "version DESC"],
        "outbox": ["status"],
    }
    with beneath(sql).connector.administration() as connection:
        inspector = sa.inspect(connection)
        for table, columns in documented.items():
            name, schema = _relation(sql, table)
            found = [_columns(connection, index) for index in inspector.get_indexes(name, schema=schema)]
            assert columns in found, table
        name, schema = _relation(sql, "idempotency")
        assert inspector.get_pk_constraint(name, schema=schema)["constrained_columns"] == ["key"]


def _columns(connection: sa.Connection, index: Any) -> list[str]:
    """The columns of an index, and which of them are sorted downwards, as SQLAlchemy tells of PostgreSQL only."""
    down = {name for name, sorting in index.get("column_sorting", {}).items() if "desc" in sorting}
    if connection.dialect.name == "sqlite":
        told = connection.exec_driver_sql(f"pragma index_xinfo('{index['name']}')").mappings()
        down = {column["name"] for column in told if column["desc"]}
    return [f"{name} DESC" if name in down else str(name) for name in index["column_names"]]


def test_the_views_answer_as_the_patterns_do(sql: Store) -> None:
    """AC-32, AC-33, AC-34: jobs running, steps paused, assets with what their latest version says of itself."""
    sql.put_many([example_job(), job("job_9")])
    sql.put_many([step(StepName.RIG, status=Status.PAUSED), step()])
    latest = version(2, cdn_url="assets/prj_001/cdn/hero", metadata={"polygons": 1200})
    sql.put_many([asset(latest_version=2), asset(asset_id="bare"), version(1), latest])
    assert _select(sql, "id, current_step", "v_jobs_in_progress") == [("job_123", "retopo")]
    assert _select(sql, "job_id, name", "v_steps_needing_review") == [("job_123", "rig")]
    ((*row, metadata),) = _select(sql, "type, id, latest_version, cdn_url, metadata_json", "v_assets_by_type")
    assert row == ["3D", "hero", 2, "assets/prj_001/cdn/hero"]
    assert (json.loads(metadata) if isinstance(metadata, str) else metadata) == {"polygons": 1200}


def test_rows_have_ids_of_their_own(sql: Store) -> None:
    """AC-25, AC-27, AC-29, AC-30: beside the key they are found by."""
    records = [step(), version(1), once(ttl=4_000_000_000), line()]
    sql.put_many(records)
    for record, table in zip(records, ("steps", "asset_versions", "idempotency", "audit"), strict=True):
        assert [str(row[0]) for row in _select(sql, "id", table)] == [str(getattr(record, "id"))]  # noqa: B009
    sql.put_many([job(), event(), asset()])
    for table, expected in (("jobs", "job_123"), ("outbox", "evt_1"), ("assets", "hero")):
        assert _select(sql, "id", table) == [(expected,)]
