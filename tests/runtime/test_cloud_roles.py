"""What the roles of a deployment on AWS may do is what the five systems do, and no more."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from penstock import FrozenClock
from penstock.auth.api_keys import create_key
from penstock.auth.rate_limit import RateBucket
from penstock.operations.reads import Query
from penstock.plugin import DomainPlugin
from penstock.runtime.cloud_template import CloudChoices, cloud_deployment, cloud_template
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.role import Role
from penstock.work.domain_context import DomainContext
from penstock.work.working import WORKING
from tests.beneath import beneath
from tests.runtime.five_stories import FIVE, tell_assets, tell_film, tell_nova, tell_speech, tell_videos
from tests.runtime.iam import Call, allowed, bucket_statements, policies, table_arn
from tests.runtime.recorded_calls import Recorder, partition_keys, record
from tests.servers import Dynoxide, SeaweedFS
from tests.servers.seaweedfs import ACCESS_KEY, SECRET_KEY
from tests.sinks.conftest import moto as moto
from tests.sinks.moto_server import Moto

_number = itertools.count()


@dataclass
class Deployed:
    """A deployment whose calls are recorded, and the template that its roles are from."""

    service: Service
    recorder: Recorder
    template: dict[str, Any]
    clock: FrozenClock
    folder: Path

    @property
    def context(self) -> DomainContext:
        return self.service.context


@pytest.fixture
def deployed(
    dynoxide_server: Dynoxide,
    seaweedfs_server: SeaweedFS,
    moto: Moto,
    clock: FrozenClock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Deployed]:
    """All five systems on DynamoDB, S3 and EventBridge, with tables and a bucket of their own."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_ENDPOINT_URL_EVENTBRIDGE": moto.url,
    }.items():
        monkeypatch.setenv(name, value)
    before = f"recorded{next(_number)}-"
    bucket = seaweedfs_server.create_bucket(f"{before}files")
    tables = [shape.table for domain in (SYSTEM_RECORDS, WORKING, *(i.domain for i in FIVE)) for shape in domain.shapes]
    names = {table.name: before + table.name for table in tables}
    settings = Settings(
        store=f"dynamodb://us-east-1?endpoint={dynoxide_server.url}",
        objects=f"s3://{bucket}?region=us-east-1&endpoint={quote(seaweedfs_server.url, safe=':/')}",
        archive=str(tmp_path / "archive"),
        sink="eventbridge://default",
        aws_region="us-east-1",
        secret="of the tests, and long enough",
        table_names=names,
    )
    choices = CloudChoices("us-east-1", bucket=bucket)
    deployment = cloud_deployment(FIVE, settings, choices)
    recorder = Recorder(partition_keys(deployment.tables([*deployment.shapes, *deployment.own]), names))
    service = Service(settings, FIVE)
    store = service.context.store
    store.clock = store.context.clock = store.context.ticks._clock = clock
    service.start(background=False)
    record(monkeypatch, recorder)
    for role in ("Api", "Worker"):
        with recorder.being(role):
            service.start(background=False)  # as they start where the template has made the tables
    yield Deployed(service, recorder, cloud_template(FIVE, settings, choices), clock, tmp_path)
    service.stop()


def _duties(of: Deployed) -> None:
    """All that `penstock up` does in the background."""
    service = of.service
    service.run_schedules()
    service.reaper().run_once()
    service.settle_quotas()
    service.write_traces()
    service.sweep().run()
    service.seal()
    service.change_log().run_once()
    service.forget_work()
    service.past_reviews().run()
    for feed in service.feeds.values():
        feed.drain()
    create_key(service.context.store, name="ann", role=Role.EDITOR, by="tests")
    first = service.relay(service.outboxes()[0])
    first.run_once()  # the API is a relay, too
    first.close()
    with service.context.store.change() as change:
        change.emit("tests.told", RateBucket(name="anything", used_until=0, ttl=0))
    for outbox in service.outboxes():
        relay = service.relay(outbox)
        relay.drain()
        relay.close()


def _reading(of: Deployed) -> None:
    """Somebody looks into the tables of domains: at each entity by a pattern, and by key where nothing is personal.

    With tools of their own, so that layouts are not asked for.
    """
    with of.recorder.being("Reader"):
        for plugin in FIVE:
            for entity in plugin.domain.entities:
                _look(of, entity.__shape__)


def _look(of: Deployed, shape: Any) -> None:
    from tests.cost.samples import records_of

    shared = any(s.personal for i in FIVE for s in i.domain.shapes if s.table is shape.table)
    kept = tuple(f.name for f in shape.fields.values() if f.personal is None and f.stored)
    for pattern in shape.patterns.values():
        wanted = pattern.index.when if pattern.index is not None else {}
        (values, *_) = records_of(shape, 1, wanted)
        given = {n: values[n] for n in pattern.parameters if n != pattern.ranged and n not in pattern.optional}
        query: Query[Any] = Query(pattern, given, fields=kept if shared else None)
        beneath(of.context.store).find(query, limit=5, after=None, now=of.clock.now())
    if not shared:
        (values, *_) = records_of(shape, 1, {})
        beneath(of.context.store).get([shape_ref(shape, values)], now=of.clock.now())


def shape_ref(shape: Any, values: dict[str, Any]) -> Any:
    from penstock.operations.reads import Ref

    return Ref(shape, {n: values[n] for n in shape.key.fields})


def _refused(of: Deployed) -> dict[str, list[Call]]:
    said = policies(of.template)
    return {
        role: [call for call in calls if not allowed(call, said[f"{role}Role"])]
        for role, calls in of.recorder.calls.items()
    }


@pytest.mark.parametrize("novae", [False, pytest.param(True, marks=pytest.mark.long)])
def test_every_role_allows_what_it_does_and_no_statement_is_for_nothing(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch, novae: bool
) -> None:
    """AC-48, VM-27: the systems' own stories, and what runs beside them; each Allow lets some recorded call pass."""
    tell_speech(deployed.context)
    tell_assets(deployed.context, monkeypatch)
    tell_videos(deployed.context, deployed.folder)
    tell_film(deployed.context, deployed.folder, monkeypatch)
    if novae:
        tell_nova(deployed.context, deployed.folder)
    _duties(deployed)
    _reading(deployed)
    assert {role: calls for role, calls in _refused(deployed).items() if calls} == {}
    idle = [
        (role, statement["Sid"])
        for role, statements in policies(deployed.template).items()
        for statement in statements
        if statement["Effect"] == "Allow"
        and not any(call.is_met_by(statement) for call in deployed.recorder.calls[role.removesuffix("Role")])
    ]
    assert idle == []


# What is refused

VIDEOS, ASSETS, AUDIO, SYSTEM = (
    table_arn(n) for n in ("VideoMetadata", "asset_creator", "tts_temp_audio", "penstock_system")
)


def _template(*replicas: str, installed: tuple[DomainPlugin, ...] = FIVE) -> dict[str, Any]:
    settings = Settings(sink="eventbridge://default")
    return cloud_template(installed, settings, CloudChoices("us-east-1", replicas, "penstock-files"))


def _item(action: str, table: str, key: str = "x", *attributes: str, select: str = "") -> Call:
    context = {"dynamodb:LeadingKeys": (key,), "dynamodb:Attributes": attributes}
    return Call(f"dynamodb:{action}", table, context | ({"dynamodb:Select": (select,)} if select else {}))


TRIED: dict[str, list[Call]] = {
    "Worker": [
        *(_item(a, VIDEOS, "v", "videoId", "viewCount") for a in ("UpdateItem", "PutItem", "BatchWriteItem")),
        _item("PartiQLUpdate", VIDEOS, "v", "viewCount"),
        _item("UpdateItem", ASSETS, "PROJECT#p", "PK", "SK", "quotas"),
        _item("GetItem", SYSTEM, "API_KEY#k"),
        _item("Query", f"{SYSTEM}/index/GSI1", "API_KEYS#active"),
        _item("PutItem", SYSTEM, "BROWSER_SESSION#h", "PK", "SK"),
    ],
    "Reader": [
        _item("Query", AUDIO, "2026-01-01", "audio_id", "ip_address", select="SPECIFIC_ATTRIBUTES"),
        _item("Query", AUDIO, "2026-01-01", "audio_id", select="ALL_ATTRIBUTES"),
        _item("GetItem", AUDIO, "2026-01-01"),
        _item("PutItem", VIDEOS, "v", "videoId"),
        _item("GetItem", SYSTEM, "API_KEY#k"),
    ],
    "Relay": [_item("GetItem", SYSTEM, "API_KEY#k"), _item("UpdateItem", ASSETS, "PROJECT#p", "name")],
    "Api": [Call("dynamodb:DeleteTable", VIDEOS), Call("s3:PutBucketPolicy", "arn:aws:s3:::penstock-files")],
}


def test_what_a_role_may_not_is_refused_and_each_deny_refuses_something() -> None:
    """VM-27, F-VM-9: a video's views are not for workers, by whichever action; keys and what is personal are not
    either. What a Deny refuses the same role could do without it."""
    template = _template()
    said = policies(template)
    for role, calls in TRIED.items():
        assert [call for call in calls if allowed(call, said[f"{role}Role"])] == []
    assert allowed(_item("UpdateItem", VIDEOS, "v", "videoId", "viewCount"), said["ApiRole"])
    assert allowed(_item("UpdateItem", VIDEOS, "v", "videoId", "status"), said["WorkerRole"])
    assert allowed(_item("Query", AUDIO, "d", "audio_id", select="SPECIFIC_ATTRIBUTES"), said["ReaderRole"])
    for action, known in (("GetItem", "LAYOUTS"), ("ConditionCheckItem", "LAYOUTS"), ("PutItem", "KNOWERS")):
        assert allowed(_item(action, SYSTEM, known), said["RelayRole"]), "who writes goes by layouts, and tells so"
    for role, statements in said.items():
        without = [s for s in statements if s["Effect"] == "Allow"]
        for deny in (s for s in statements if s["Effect"] == "Deny"):
            caught = [call for call in TRIED[role.removesuffix("Role")] if call.is_met_by(deny)]
            assert any(allowed(call, without) for call in caught), deny["Sid"]


def test_nobody_comes_to_the_files_without_tls() -> None:
    """VM-28: whatever the role allows."""
    template = _template()
    plain, secure = (
        Call("s3:GetObject", "arn:aws:s3:::penstock-files/a", {"aws:SecureTransport": (word,)})
        for word in ("false", "true")
    )
    said = [*policies(template)["ApiRole"], *bucket_statements(template)]
    assert (allowed(plain, said), allowed(secure, said)) == (False, True)


def test_one_region_writes_and_every_region_reads() -> None:
    """AC-48, F-AC-13: a worker elsewhere has no right to write, so no lease is taken there."""
    said = policies(_template("eu-west-1"))
    there = table_arn("asset_creator", region="eu-west-1")
    for role in ("ApiRole", "WorkerRole"):
        assert not allowed(_item("UpdateItem", there, "PROJECT#p", "status"), said[role])
        assert allowed(_item("UpdateItem", ASSETS, "PROJECT#p", "status"), said[role])
    for role in ("ApiRole", "ReaderRole"):
        assert allowed(_item("GetItem", there, "PROJECT#p"), said[role])
        assert allowed(_item("Query", f"{there}/index/GSI1", "JOB_STATUS#running"), said[role])


def test_a_role_has_room_for_what_it_says() -> None:
    """IAM takes 10,240 characters of the policies of a role, blanks not counted."""
    for statements in policies(_template("eu-west-1", "ap-south-1")).values():
        assert len(json.dumps(statements, separators=(",", ":"))) < 10_240
