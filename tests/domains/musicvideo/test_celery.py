"""The story as a grown-up deployment runs it: DynamoDB's protocol, S3, and workers that hear of tasks from a broker."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from penstock import open_store
from penstock.domains import DOMAINS
from penstock.domains.musicvideo import demo, projects
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import Project, ProjectStatus
from penstock.files.object_reads import fetch
from penstock.media.probe import probe
from penstock.runtime.composition import open_objects
from penstock.work.domain_context import DomainContext
from penstock.work.working import WORKING
from tests.domains.celery_worker import surroundings, worker
from tests.domains.musicvideo.story import ANN, assert_counted
from tests.servers import Valkey
from tests.servers.seaweedfs import SeaweedFS
from tests.work.soon import soon

__all__ = ["worker"]

FILM = {"MV_SIZE": "160x90", "MV_FPS": "12", "MV_SCENE_SECONDS": "0.5"}


@pytest.fixture
def settings(dynamo_url: str, seaweedfs_server: SeaweedFS, valkey_server: Valkey) -> dict[str, str]:
    return FILM | surroundings(dynamo_url, seaweedfs_server, valkey_server, bucket="musicvideo-celery")


def test_a_sentence_becomes_a_film_through_celery(
    settings: dict[str, str],
    dynamo: object,
    worker: subprocess.Popen[bytes],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """MV-66, F-MV-10: queued in the store; whatever the broker forgets, the scenes are filmed and cut."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, settings[name])
    store = open_store(settings["PENSTOCK_STORE"])
    store.ensure(*DOMAINS, WORKING)
    studio = FilmStudio.within(DomainContext(store, open_objects(settings["PENSTOCK_OBJECTS"]), FILM.get))
    project = demo.begin(studio, "A cat on the moon", character="A grey cat", scenes=2, audio=None)

    def now() -> Project:
        return store.get(Project.at(project_id=project.project_id))

    def filmed() -> bool:
        assert worker.poll() is None, (tmp_path / "log").read_text()
        assert now().failed_scenes == 0
        return now().completed_scenes == 2

    soon(filmed, seconds=120)
    assert_counted(studio, project.project_id)
    projects.compose(studio, project.project_id, by=ANN)
    soon(lambda: now().status in (ProjectStatus.COMPLETED, ProjectStatus.FAILED), seconds=120)
    made = now()
    assert made.status is ProjectStatus.COMPLETED, made.error_message
    assert made.final_output_s3_key is not None
    seen = probe(fetch(studio.objects, made.final_output_s3_key, tmp_path))
    assert seen.duration == pytest.approx(1.0, abs=2 / 12)
    assert seen.sound is not None
    store.close()
