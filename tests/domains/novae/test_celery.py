"""The story as a grown-up deployment runs it: DynamoDB's protocol, S3, and workers that hear of tasks from a broker."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from penstock import open_store
from penstock.domains import DOMAINS
from penstock.runtime.composition import open_objects
from penstock.work.domain_context import DomainContext
from penstock.work.working import WORKING
from tests.domains.celery_worker import surroundings, worker
from tests.domains.novae.whole_story import WholeStory, sky_of
from tests.servers import Valkey
from tests.servers.seaweedfs import SeaweedFS
from tests.work.soon import soon

__all__ = ["worker"]


@pytest.fixture
def settings(dynamo_url: str, seaweedfs_server: SeaweedFS, valkey_server: Valkey, tmp_path: Path) -> dict[str, str]:
    told = surroundings(dynamo_url, seaweedfs_server, valkey_server, bucket=f"novae-{uuid4().hex}")
    return told | sky_of(tmp_path / "sky")


@pytest.mark.long
def test_a_name_becomes_a_bundle_through_celery(
    settings: dict[str, str],
    dynamo: object,
    worker: subprocess.Popen[bytes],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """NC-23, NC-25, NC-36: several workers at once, and each dataset is leased and worked on by one of them."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, settings[name])
    store = open_store(settings["PENSTOCK_STORE"])
    store.ensure(*DOMAINS, WORKING)
    context = DomainContext(store, open_objects(settings["PENSTOCK_OBJECTS"]), settings.get)

    def settle(until: Callable[[], bool]) -> None:
        def is_so() -> bool:
            assert worker.poll() is None, (tmp_path / "log").read_text()
            return until()

        soon(is_so, seconds=180)

    WholeStory(context, settle).run()
    store.close()
