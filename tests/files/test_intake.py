"""File intake: reserved, sent, looked at as a file of this machine, and only then pointed at."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import InvalidValue, NotFound
from penstock.files.intake import Intake, ReservedUpload
from penstock.kernel.idempotency import Claim, ClaimLost, Replay, SystemOnce, begin
from penstock.testing.object_promises.promise import send
from tests.objects.world import CLIP, DIGEST, MP4, OTHER_MP4, PROJECT, World, keys


class Refused(InvalidValue):
    slug = "refused-by-a-test"


def sent(world: World, intake: Intake, body: bytes = MP4) -> ReservedUpload:
    reserved = intake.reserve(world.scene, CLIP, size=len(body), content_type="video/mp4")
    assert reserved.url is not None
    assert send(reserved.url, body=body).status in (200, 201, 204)
    return reserved


def test_a_file_is_looked_at_before_a_record_points_at_it(world: World) -> None:
    intake = Intake(world.store, world.objects)
    reserved = sent(world, intake)
    looked: list[tuple[bytes, str | None]] = []

    def look(path: Path) -> int:
        looked.append((path.read_bytes(), world.points_at()))
        return path.stat().st_size

    upload = intake.upload_of(reserved.upload.upload_id, project=PROJECT)
    with intake.finalize(upload, inspect=look, sha256=DIGEST, by="ann") as (arrived, size):
        assert size == arrived.size == len(MP4)
        scene = arrived.change.get(world.scene.ref)
        arrived.change.save(scene.finish(video_clip_s3_key=arrived.key))
    assert looked == [(MP4, None)]
    assert (world.points_at(), keys(world)) == (CLIP, [CLIP])


def test_what_is_refused_replaces_nothing_and_may_be_sent_again(here: World) -> None:
    here.objects.put(CLIP, OTHER_MP4)
    intake = Intake(here.store, here.objects)
    upload = sent(here, intake).upload

    def refuse(path: Path) -> None:
        raise Refused("it is no film")

    with pytest.raises(Refused), intake.finalize(upload, inspect=refuse, sha256=DIGEST, by="ann"):
        pytest.fail("it was pointed at")
    assert here.objects.get(CLIP).read() == OTHER_MP4
    assert here.points_at() is None
    assert intake.where(upload).url is not None


def test_what_is_accepted_takes_the_place_of_the_file_before(here: World) -> None:
    here.objects.put(CLIP, OTHER_MP4)
    intake = Intake(here.store, here.objects)
    upload = sent(here, intake).upload
    with intake.finalize(upload, inspect=lambda path: None, sha256=DIGEST, by="ann"):
        assert here.objects.get(CLIP).read() == OTHER_MP4, "until the block has ended"
    assert here.objects.get(CLIP).read() == MP4


def test_a_claim_ends_with_the_reservation_and_keeps_which_it_was(here: World) -> None:
    """Whoever asks again, because the answer was lost, is led to the same upload."""
    now, minute = here.clock.now(), timedelta(minutes=1)
    mark = SystemOnce(idempotency_key="k", created_at=now, ttl=int(now.timestamp()) + 3600)
    claim = begin(here.store, mark, owner="a", period=minute)
    assert isinstance(claim, Claim)
    announced: dict[str, Any] = {"size": len(MP4), "content_type": "video/mp4", "once": claim}
    intake = Intake(here.store, here.objects)
    upload = intake.reserve(here.scene, CLIP, **announced).upload
    assert begin(here.store, mark, owner="b", period=minute) == Replay({"upload_id": upload.upload_id})
    with pytest.raises(ClaimLost):
        intake.reserve(here.scene, CLIP, **announced)


def test_what_cannot_be_now_is_refused_before_the_file_is_fetched(here: World) -> None:
    intake = Intake(here.store, here.objects)
    upload = sent(here, intake).upload

    def never() -> None:
        raise Refused("not now")

    def look(path: Path) -> None:
        pytest.fail("it was looked at")

    with pytest.raises(Refused), intake.finalize(upload, inspect=look, before=never, sha256=DIGEST, by="ann"):
        pytest.fail("it was pointed at")


def test_nothing_is_left_on_this_machine(here: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    intake = Intake(here.store, here.objects)
    upload = sent(here, intake).upload
    with intake.finalize(upload, inspect=lambda path: None, sha256=DIGEST, by="ann"):
        assert list(temporary.iterdir()) == []
    assert list(temporary.iterdir()) == []


def test_an_upload_of_another_project_is_not_found(here: World) -> None:
    intake = Intake(here.store, here.objects)
    upload = sent(here, intake).upload
    for upload_id, project in ((upload.upload_id, "another"), ("nothing", PROJECT)):
        with pytest.raises(NotFound, match=f"no upload {upload_id} of project {project}"):
            intake.upload_of(upload_id, project=project)


def test_a_file_can_be_sent_until_its_time_is_over_or_it_is_there(here: World) -> None:
    """Whoever announces the same file again is led to the upload that is open, and to no other."""
    intake = Intake(here.store, here.objects)
    late, taken = sent(here, intake).upload, sent(here, intake).upload
    assert intake.is_open(late)
    assert intake.is_open(taken)
    with intake.finalize(taken, inspect=lambda path: None, sha256=DIGEST, by="ann"):
        pass
    assert not intake.is_open(here.store.get(taken.ref))
    here.clock.set(late.expires_at - timedelta(seconds=1))
    assert intake.is_open(late)
    here.clock.advance(timedelta(milliseconds=1))
    assert not intake.is_open(late), "no URL lasts for less than a second"
