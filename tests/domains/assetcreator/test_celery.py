"""The story as a grown-up deployment runs it: DynamoDB's protocol, S3, and workers that hear of tasks from a broker."""

from __future__ import annotations

import subprocess
from pathlib import Path
from uuid import uuid4

import pytest

from penstock import open_store
from penstock.domains import DOMAINS
from penstock.domains.assetcreator import downloads, library
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.stages import AssetType, Status, StepName
from penstock.files.object_reads import examine
from penstock.runtime.composition import open_objects
from penstock.work.domain_context import DomainContext
from penstock.work.working import WORKING
from tests.domains.assetcreator.lives import assert_attempts_add_up, used
from tests.domains.assetcreator.story import ANN, approve, asked, project, reject, runs, seen
from tests.domains.celery_worker import surroundings, worker
from tests.servers import Valkey
from tests.servers.seaweedfs import SeaweedFS
from tests.work.soon import soon

__all__ = ["worker"]


@pytest.fixture
def settings(dynamo_url: str, seaweedfs_server: SeaweedFS, valkey_server: Valkey) -> dict[str, str]:
    return surroundings(dynamo_url, seaweedfs_server, valkey_server, bucket=f"assetcreator-{uuid4().hex}")


@pytest.mark.long
@pytest.mark.parametrize(
    ("type", "after"),
    [(AssetType.SPRITE_2D, []), (AssetType.CHARACTER_3D, ["3D", "retopo", "rig", "anim"])],
)
def test_an_idea_becomes_an_asset_through_celery(
    settings: dict[str, str],
    dynamo: object,
    worker: subprocess.Popen[bytes],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    type: AssetType,
    after: list[str],
) -> None:
    """AC-22, AC-50: drawn, sent back with notes, drawn again, approved at each gate, and in the library."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, settings[name])
    store = open_store(settings["PENSTOCK_STORE"])
    store.ensure(*DOMAINS, WORKING)
    context = DomainContext(store, open_objects(settings["PENSTOCK_OBJECTS"]), lambda name: None)
    studio = AssetStudio.within(context)
    robots = project(studio)
    job = asked(studio, robots, type=type)

    def waits_or_is_over() -> bool:
        assert worker.poll() is None, (tmp_path / "log").read_text()
        there = seen(studio, job)
        return there.current() is not None or there.job.status in (Status.DONE, Status.FAILED)

    soon(waits_or_is_over, seconds=120)
    reject(studio, job, notes="a longer scarf", back_to=StepName.TEXT_TO_IMAGE, by="bob")
    soon(waits_or_is_over, seconds=120)
    while seen(studio, job).current() is not None:
        approve(studio, job)
        soon(waits_or_is_over, seconds=120)

    there = seen(studio, job)
    assert (there.job.status, there.job.error, there.job.version) == (Status.DONE, None, 1)
    names = ["text-to-image", "refine", "text-to-image", "refine", *after, "export"]
    assert [name for name, _ in runs(studio, job)] == names
    rejected = there.steps[1]
    assert (rejected.status, rejected.approved_by, rejected.notes) == (Status.REJECTED, "bob", "a longer scarf")
    version = library.find_version(store, job.asset_id or "", 1)
    taken = downloads.export_version(studio, version.asset_id, 1, how="URLs", by=ANN)
    for key, digest in taken.metadata["checksums"].items():
        assert examine(studio.objects, key).sha256 == digest
    assert_attempts_add_up(studio, job)
    assert used(studio, robots)[::2] == (0, version.bytes)
    store.close()
