"""Files that are looked at in a task, which tells how far it is and what it refuses; who sent them need not wait."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from penstock.files.intake import Intake
from penstock.files.object_reads import lookup
from penstock.files.upload import Upload, UploadStatus
from penstock.files.uploads import UploadRefused
from penstock.media.errors import UnusableFile
from penstock.media.soundness import sound_video
from penstock.work import TaskContext, Tasks
from penstock.work.domain_context import DomainContext
from penstock.work.inspection import INSPECTION_LIMIT, REFUSALS, inspected, inspected_share
from penstock.work.working import WORKING
from penstock.workers.manual import ManualWorkers
from tests.media.films import film
from tests.objects.world import CLIP, DIGEST, MP4, World

Look = Callable[..., Any]


class OnUpload(BaseModel):
    upload_id: str


class Inspecting:
    """A file of a scene that has arrived, and a task that looks at it in a way of its own."""

    def __init__(self, world: World, look: Look, body: bytes = MP4) -> None:
        world.store.ensure(WORKING)
        self.world, self.tasks = world, Tasks("tests")
        self.intake = Intake(world.store, world.objects)
        self.upload = self.intake.reserve(world.scene, CLIP, size=len(body), content_type="text/plain").upload
        world.objects.put(self.upload.staging, body)

        @self.tasks.task("look", limit=INSPECTION_LIMIT, classes=REFUSALS)
        def task(work: TaskContext, input: OnUpload) -> None:
            with inspected(work, self.now(), look, by="ann") as (arrived, _):
                arrived.change.save(arrived.change.get(world.scene.ref).finish(video_clip_s3_key=arrived.key))

        self.task = task

    def arrive(self, **told: Any) -> None:
        with self.world.store.change(by="ann") as change:
            self.intake.arrive(change, self.upload, **told)
            self.task.enqueue(change, OnUpload(upload_id=self.upload.upload_id), about=self.upload.ref)

    def work(self) -> None:
        context = DomainContext(self.world.store, self.world.objects, lambda name: None)
        ManualWorkers(self.world.store, [self.tasks], context=context).drain()

    def now(self) -> Upload:
        return self.world.store.get(Upload.at(upload_id=self.upload.upload_id))

    def share(self) -> float:
        return inspected_share(self.world.store, self.upload.ref, self.task.name)


def test_how_much_is_looked_at_is_seen_meanwhile_and_the_label_does_not_count(here: World) -> None:
    seen: list[tuple[float, UploadStatus]] = []

    def look(path: Path, *, tell: Callable[[float], None]) -> None:
        assert path.read_bytes() == MP4
        tell(0.4)
        seen.append((looking.share(), looking.now().status))

    looking = Inspecting(here, look)
    looking.arrive(sha256=DIGEST)
    assert (looking.share(), looking.now().status) == (0.0, UploadStatus.ARRIVED)
    looking.work()
    assert seen == [(0.4, UploadStatus.ARRIVED)]
    assert (looking.now().status, here.points_at()) == (UploadStatus.DONE, CLIP)


def test_what_is_refused_is_told_and_gone(here: World) -> None:
    def look(path: Path, *, tell: Callable[[float], None]) -> None:
        raise UnusableFile("it is no film; send one")

    looking = Inspecting(here, look)
    looking.arrive(sha256=DIGEST)
    looking.work()
    assert (looking.now().status, looking.now().error) == (UploadStatus.REFUSED, "it is no film; send one")
    assert lookup(here.objects, looking.upload.staging) is None
    assert here.points_at() is None
    with pytest.raises(UploadRefused, match="the file was refused; announce another one"):
        looking.intake.where(looking.now())


def test_what_has_not_come_or_is_told_otherwise_is_refused_at_once(here: World) -> None:
    """And may be said again, once it is true."""
    looking = Inspecting(here, lambda path, *, tell: None)
    here.objects.delete([looking.upload.staging])
    with pytest.raises(UploadRefused, match="has not arrived as it was announced"):
        looking.arrive(sha256=DIGEST)
    here.objects.put(looking.upload.staging, MP4)
    with pytest.raises(UploadRefused, match="nothing verifies the file"):
        looking.arrive()
    looking.arrive(sha256=DIGEST.upper())
    looking.work()
    assert looking.now().status is UploadStatus.DONE


def test_what_came_in_time_may_be_looked_at_later_but_not_for_ever(here: World) -> None:
    """Workers may be away for days; the sweep leaves the bytes to them."""
    looking = Inspecting(here, lambda path, *, tell: None)
    looking.arrive(sha256=DIGEST)
    here.clock.advance(timedelta(days=9))
    here.uploads.sweep()
    assert looking.now().status is UploadStatus.ARRIVED
    looking.work()
    assert looking.now().status is UploadStatus.DONE
    forgotten = Inspecting(here, lambda path, *, tell: None)
    forgotten.arrive(sha256=DIGEST)
    here.clock.advance(timedelta(days=40))
    assert here.uploads.sweep().abandoned == 1


def test_a_real_film_tells_its_share_while_it_is_decoded(here: World, tmp_path: Path) -> None:
    body = film(tmp_path / "film.mp4", 2).read_bytes()
    told: list[float] = []

    def look(path: Path, *, tell: Callable[[float], None]) -> None:
        sound_video(path, tell=told.append)

    looking = Inspecting(here, look, body)
    looking.arrive(sha256=sha256(body).hexdigest())
    looking.work()
    assert told, "at least once"
    assert all(0 <= share <= 1 for share in told)
    assert looking.now().status is UploadStatus.DONE
