"""The document's wire rules, with a server that is too busy, and what is asked for when tables are made."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock import FrozenClock, Store
from penstock.domains.videos import DOMAIN, PLUGIN
from penstock.domains.videos.model import Video
from penstock.domains.videos.video_library import VideoLibrary
from penstock.errors import Throttled
from penstock.objects import LocalObjects
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.role import Role
from penstock.work.working import WORKING
from tests.conftest import _drop_tables
from tests.domains.videos.busy_server import BusyServer
from tests.domains.videos.conftest import BEGUN
from tests.domains.videos.story import files
from tests.domains.videos.streams import engine_at, inserted
from tests.domains.videos.web import client_of, service
from tests.homes import dynamo_client
from tests.servers import Dynoxide


@pytest.fixture
def busy(dynoxide_server: Dynoxide) -> Iterator[BusyServer]:
    server = BusyServer(dynoxide_server.url)
    yield server
    server.close()


@pytest.fixture
def through(
    busy: BusyServer, dynoxide_server: Dynoxide, local: LocalObjects, clock: FrozenClock, prefix: str
) -> Iterator[VideoLibrary]:
    """A library that knows the busy server only."""
    clock.set(BEGUN)
    store = Store(engine_at(busy.url, prefix), clock=clock, secret=b"x", own=SYSTEM_RECORDS)
    store.ensure(DOMAIN, WORKING)
    yield VideoLibrary(store, local)
    store.close()
    _drop_tables(dynoxide_server.url, prefix)


def test_throttling_is_retried_with_five_attempts(through: VideoLibrary, busy: BusyServer) -> None:
    """VM-24, F-VM-9: by the service itself, whatever a client is configured to."""
    video = inserted(through)
    busy.asked.clear()
    busy.refusing["GetItem"] = 4
    assert through.video(video.video_id).title == "t"
    assert busy.asked["GetItem"] == 5
    busy.asked.clear()
    busy.refusing["GetItem"] = 5
    with pytest.raises(Throttled):
        through.video(video.video_id)
    assert busy.asked["GetItem"] == 5
    client = client_of(service(through), through, Role.VIEWER)
    busy.refusing["GetItem"] = 1000
    answer = client.get(f"/api/vm/videos/{video.video_id}")
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
    busy.refusing.clear()
    assert client.get(f"/api/vm/videos/{video.video_id}").status_code == 200


def test_calls_are_spread_while_the_server_refuses(through: VideoLibrary, busy: BusyServer) -> None:
    """VM-24: adaptive: after a refusal the rate is bound, for all calls of the process."""
    video = inserted(through)
    pace = through.store.engine._calls._wire._policy.pace  # type: ignore[attr-defined]
    assert pace.rate is None
    busy.refusing["GetItem"] = 1
    through.video(video.video_id)
    assert pace.rate is not None


def test_unprocessed_items_are_asked_for_and_written_until_none_remain(through: VideoLibrary, busy: BusyServer) -> None:
    """VM-25, F-VM-9: they come with HTTP 200; a list by tag has every video, and a load writes every one."""
    videos = [inserted(through, tags=["launch"]) for _ in range(6)]
    client = client_of(service(through), through, Role.VIEWER)
    busy.most = 1
    busy.asked.clear()
    found = client.get("/api/vm/videos?tag=launch").json()["items"]
    assert {each["video_id"] for each in found} == {str(video.video_id) for video in videos}
    assert busy.asked["BatchGetItem"] == 6
    busy.asked.clear()
    through.store.put_many([video.model_copy(update={"title": "loaded"}) for video in videos])
    assert busy.asked["BatchWriteItem"] == 6
    assert {video.title for video in through.store.find(Video.by_user(user_id="u"))} == {"loaded"}
    assert len(files(through)) == 6


def test_encryption_at_rest_is_asked_for(streamed: VideoLibrary, dynoxide_server: Dynoxide, prefix: str) -> None:
    """VM-28: of every table of the domain, and of the bucket's owner."""
    client = dynamo_client(dynoxide_server.url)
    for table in DOMAIN.tables:
        described = client.describe_table(TableName=f"{prefix}{table.place.name}")["Table"]
        assert described["SSEDescription"]["Status"] == "ENABLED"
    assert PLUGIN.advice is not None
    (step,) = PLUGIN.advice("s3://films/eu", lambda name: None)
    assert step.is_advice
    assert "put-bucket-encryption --bucket films" in step.detail
    assert "AES256" in step.detail
    assert PLUGIN.advice("files:///here", lambda name: None) == []
