"""The story as a grown-up deployment runs it: DynamoDB's protocol, S3, and workers that hear of tasks from a broker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
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
from tests.domains.musicvideo.story import ANN, assert_counted
from tests.servers import Valkey
from tests.servers.seaweedfs import ACCESS_KEY, SECRET_KEY, SeaweedFS
from tests.work.soon import soon

FILM = {"MV_SIZE": "160x90", "MV_FPS": "12", "MV_SCENE_SECONDS": "0.5"}


@pytest.fixture
def settings(dynamo_url: str, seaweedfs_server: SeaweedFS, valkey_server: Valkey, tmp_path: Path) -> dict[str, str]:
    valkey_server.flush()
    bucket = seaweedfs_server.create_bucket("musicvideo-celery")
    return {
        **FILM,
        "PENSTOCK_STORE": f"dynamodb://us-east-1?endpoint={dynamo_url}",
        "PENSTOCK_OBJECTS": f"s3://{bucket}/films?endpoint={seaweedfs_server.url}&region=us-east-1",
        "PENSTOCK_BROKER": valkey_server.url,
        "PENSTOCK_SECRET": "of the tests",
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
    }


@pytest.fixture
def worker(settings: dict[str, str], tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """``penstock worker --celery``, as a person starts it."""
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "penstock", "worker", "--celery"],
            cwd=tmp_path,
            env={**os.environ, **settings},
            stdout=log,
            stderr=log,
        )
        yield process
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        finally:
            process.kill()
            process.wait()


def test_a_sentence_becomes_a_film_through_celery(
    settings: dict[str, str],
    dynamo: object,
    worker: subprocess.Popen[bytes],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """MV-66, MV-68, F-MV-10: queued in the store; whatever the broker forgets, the scenes are filmed and cut."""
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
