"""What is done to scenes: each on its own, and what it leaves of the others."""

from __future__ import annotations

import math
import struct
import wave
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store, the
from penstock.domains.musicvideo import DOMAIN, projects, scenes, uploading
from penstock.domains.musicvideo.errors import IncompleteOrder, NotNow
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import BACKING_TRACK, FINAL_VIDEO, Project, ProjectStatus, Scene, SceneStatus
from penstock.domains.musicvideo.uploading import Sent
from penstock.errors import Conflict, NotFound
from penstock.files.object_reads import lookup
from penstock.files.sweep import Sweep
from penstock.files.upload import UploadStatus
from penstock.files.uploads import UploadRefused
from penstock.kernel.record_name import name_of
from penstock.media.errors import UnusableFile
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work import Task, TaskStatus
from tests.domains.keys import size_of
from tests.domains.musicvideo.quick_providers import PICTURE, film, history_of
from tests.domains.musicvideo.story import ANN, assert_counted, files, generated, later, sent, workers
from tests.domains.musicvideo.story import scenes as scenes_of


def finished(studio: FilmStudio, folder: Path) -> Project:
    """A project with its final video."""
    project = generated(studio, folder)
    projects.compose(studio, project.project_id, by=ANN)
    workers(studio).drain()
    return studio.store.get(Project.at(project_id=project.project_id))


def today(studio: FilmStudio) -> None:
    """Files have the machine's time; a sweep compares it with the clock's."""
    assert isinstance(studio.store.clock, FrozenClock)
    studio.store.clock.set(datetime.now(UTC))


def test_a_scene_is_added_behind_the_others(anywhere: FilmStudio, tmp_path: Path) -> None:
    """MV-18, MV-74, F-MV-3: a finished video is taken up again; the scene is written, filmed and counted."""
    project = finished(anywhere, tmp_path)
    added = scenes.add_scene(anywhere, project.project_id, "A dance on the roof", by=ANN)
    assert (added.sequence, added.status) == (4, SceneStatus.PENDING)
    reopened = anywhere.store.get(Project.at(project_id=project.project_id))
    assert (reopened.status, reopened.scene_count) == (ProjectStatus.PROCESSING, 4)
    assert_counted(anywhere, project.project_id)
    workers(anywhere).drain()
    fourth = scenes_of(anywhere, project.project_id)[3]
    assert (fourth.status, fourth.prompt) == (SceneStatus.COMPLETED, "A dance on the roof, after 3")
    assert_counted(anywhere, project.project_id)


def test_a_project_does_not_grow_with_its_scenes(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-43: each is a record of its own, so that 400 KB are enough for any number."""
    project = generated(studio, tmp_path)
    for concept in ("A dance on the roof", "Rain on the bridge"):
        scenes.add_scene(studio, project.project_id, concept, by=ANN)
    workers(studio).drain()
    grown = studio.store.get(project.ref)
    assert (grown.scene_count, size_of(grown)) == (5, size_of(project))


def test_no_number_is_given_twice(anywhere: FilmStudio, tmp_path: Path) -> None:
    """F-MV-1, F-MV-11: not even when the highest scene is deleted; its files would be another's."""
    project = generated(anywhere, tmp_path)
    scenes.delete_scene(anywhere, project.project_id, 3, by=ANN)
    assert scenes.add_scene(anywhere, project.project_id, "Another ending", by=ANN).sequence == 4
    assert_counted(anywhere, project.project_id)


def test_a_project_of_another_writer_gets_the_next_number(studio: FilmStudio, tmp_path: Path) -> None:
    """F-MV-1: one that does not say which numbers it had."""
    project = generated(studio, tmp_path)
    studio.store.patch(project.ref, the(Project.last_sequence).remove())
    assert scenes.add_scene(studio, project.project_id, "Another ending", by=ANN).sequence == 4


def test_the_thousandth_scene_is_refused(studio: FilmStudio, tmp_path: Path) -> None:
    """F-MV-1: and says why."""
    project = generated(studio, tmp_path)
    studio.store.patch(project.ref, the(Project.last_sequence).set(999))
    with pytest.raises(IncompleteOrder, match="at most 999 scenes"):
        scenes.add_scene(studio, project.project_id, "One too many", by=ANN)


def test_scenes_are_shown_in_another_order(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-39: their numbers stay; the final cut follows the order; a scene that is added comes last."""
    project = generated(studio, tmp_path)
    scenes.reorder(studio, project.project_id, [3, 1, 2], by=ANN)
    assert [s.sequence for s in scenes_of(studio, project.project_id)] == [3, 1, 2]
    scenes.add_scene(studio, project.project_id, "Another ending", by=ANN)
    assert [s.sequence for s in scenes_of(studio, project.project_id)] == [3, 1, 2, 4]
    hands = workers(studio)
    hands.drain()
    scenes.sync_stale(studio, project.project_id, by=ANN)
    hands.drain()
    projects.compose(studio, project.project_id, by=ANN)
    hands.drain()
    cut = history_of(studio.objects.get(FINAL_VIDEO.key(project_id=project.project_id)).read())
    assert "part 3" in cut[0]["prompt"]
    scenes.delete_scene(studio, project.project_id, 1, by=ANN)
    assert [s.sequence for s in scenes_of(studio, project.project_id)] == [3, 2, 4]


@pytest.mark.parametrize(
    ("order", "wrong"), [([1, 2], "leaves out 3"), ([1, 2, 3, 4], "names 4"), ([1, 2, 3, 3], "twice")]
)
def test_an_order_names_every_scene_once(studio: FilmStudio, tmp_path: Path, order: list[int], wrong: str) -> None:
    """MV-39: or nothing of it happens."""
    project = generated(studio, tmp_path)
    with pytest.raises(IncompleteOrder, match=wrong):
        scenes.reorder(studio, project.project_id, order, by=ANN)
    assert [s.sequence for s in scenes_of(studio, project.project_id)] == [1, 2, 3]


def test_a_deleted_scene_takes_its_files_along(anywhere: FilmStudio, tmp_path: Path) -> None:
    """MV-74, F-MV-11: counted, and its files are in the trash after a sweep; the last scene stays."""
    today(anywhere)
    project = generated(anywhere, tmp_path)
    later(anywhere, hours=1)
    scenes.delete_scene(anywhere, project.project_id, 1, by=ANN)
    assert_counted(anywhere, project.project_id)
    Sweep(anywhere.store, anywhere.objects, [DOMAIN], owner="sweeper").run()
    kept = {key for key in files(anywhere) if not key.startswith("trash/")}
    assert not any("_001" in key for key in kept)
    assert any("scene_002.mp4" in key for key in kept)
    scenes.delete_scene(anywhere, project.project_id, 2, by=ANN)
    with pytest.raises(IncompleteOrder, match="Cannot delete the last scene"):
        scenes.delete_scene(anywhere, project.project_id, 3, by=ANN)
    assert_counted(anywhere, project.project_id)


def test_of_two_who_delete_the_last_two_scenes_at_once_one_is_refused(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-74: each has seen that another scene stays."""
    project_id = generated(studio, tmp_path).project_id
    scenes.delete_scene(studio, project_id, 1, by=ANN)

    class Overtaken(Store):
        def commit(self, writes: Any) -> None:
            scenes.delete_scene(studio, project_id, 2, by=ANN)
            super().commit(writes)

    slow = replace(studio, store=Overtaken(studio.store.engine, clock=studio.store.clock, own=SYSTEM_RECORDS))
    with pytest.raises(Conflict):
        scenes.delete_scene(slow, project_id, 3, by="bob")
    assert [scene.sequence for scene in scenes_of(studio, project_id)] == [3]
    assert_counted(studio, project_id)


def test_a_part_of_a_clip_is_shown(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-31: under a key of its own, clamped to the clip; the clip stays, and filming anew forgets the part."""
    project = generated(studio, tmp_path)
    trimmed = scenes.trim(studio, project.project_id, 2, start=0.2, stop=99, by=ANN)
    assert trimmed.status is SceneStatus.PROCESSING
    assert_counted(studio, project.project_id)
    workers(studio).drain()
    second = scenes_of(studio, project.project_id)[1]
    assert second.trim_points == {"in": 0.2, "out": 0.5}
    folder = f"mv/projects/{project.project_id}/scenes"
    assert (
        second.working_video_clip_s3_key == f"{folder}/002/working_clip_{int(studio.store.clock.now().timestamp())}.mp4"
    )
    assert second.shown_s3_key == second.working_video_clip_s3_key
    assert second.video_clip_s3_key == f"{folder}/scene_002.mp4"
    scenes.trim(studio, project.project_id, 2, start=5, stop=6, by=ANN)
    workers(studio).drain()
    assert scenes_of(studio, project.project_id)[1].trim_points == {"in": pytest.approx(0.4), "out": 0.5}
    scenes.regenerate(studio, project.project_id, 2, by=ANN)
    workers(studio).drain()
    second = scenes_of(studio, project.project_id)[1]
    assert (second.working_video_clip_s3_key, second.trim_points) == (None, None)
    with pytest.raises(IncompleteOrder, match="in ≥ 0 and out > in"):
        scenes.trim(studio, project.project_id, 2, start=1, stop=1, by=ANN)
    assert_counted(studio, project.project_id)


def test_somebody_sings_when_asked_to(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-30, MV-33, MV-56, MV-57: to the scene's part of the track, with the words if they are known."""
    project = generated(studio, tmp_path)
    scenes.request_lip_sync(studio, project.project_id, 3, lyrics="Hello moon", by=ANN)
    workers(studio).drain()
    third = scenes_of(studio, project.project_id)[2]
    folder = f"mv/projects/{project.project_id}/scenes"
    assert third.audio_clip_s3_key == f"{folder}/audio_003.mp3"
    assert third.lip_synced_video_clip_s3_key == f"{folder}/scene_003_lipsync.mp4"
    assert history_of(studio.objects.get(third.lip_synced_video_clip_s3_key).read())["sings"] == "Hello moon"
    assert_counted(studio, project.project_id)


def test_without_sound_nobody_sings(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-30: an ad has no track, and says so."""
    picture = tmp_path / "product.png"
    picture.write_bytes(PICTURE)
    project = generated(studio, tmp_path, mode="ad-creative", audio=None, images=[picture])
    assert all(s.lip_synced_video_clip_s3_key is None for s in scenes_of(studio, project.project_id))
    with pytest.raises(IncompleteOrder, match="no sound to sing to"):
        scenes.request_lip_sync(studio, project.project_id, 1, by=ANN)
    assert_counted(studio, project.project_id)


def test_a_film_from_elsewhere_becomes_the_clip(anywhere: FilmStudio, tmp_path: Path) -> None:
    """MV-31, MV-55: in the documented place, shown as it is, and the one before is forgotten."""
    project = generated(anywhere, tmp_path)
    theirs = tmp_path / "theirs.mp4"
    theirs.write_bytes(film(1.0))
    scenes.upload_video(anywhere, project.project_id, 1, theirs, by=ANN)
    workers(anywhere).drain()
    first = scenes_of(anywhere, project.project_id)[0]
    assert first.status is SceneStatus.COMPLETED
    assert first.shown_s3_key == f"mv/projects/{project.project_id}/scenes/scene_001.mp4"
    assert first.shown_duration == pytest.approx(1.0, abs=0.1)
    assert (first.lip_synced_video_clip_s3_key, first.incoming_s3_key) == (None, None)
    assert anywhere.objects.get(first.shown_s3_key).read() == theirs.read_bytes()
    assert_counted(anywhere, project.project_id)


def test_what_is_no_film_is_refused_before_anything_changes(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-50: with a reason; the scene keeps its clip."""
    project = generated(studio, tmp_path)
    before = scenes_of(studio, project.project_id)[0]
    fake = tmp_path / "fake.mp4"
    fake.write_bytes(b"this is a text, whatever it is called" * 100)
    with pytest.raises(UnusableFile):
        scenes.upload_video(studio, project.project_id, 1, fake, by=ANN)
    assert scenes_of(studio, project.project_id)[0] == before


def test_a_prompt_is_edited_without_losing_the_clip(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-26, MV-27: only what was said changes."""
    project = generated(studio, tmp_path)
    later(studio, seconds=60)
    before = scenes_of(studio, project.project_id)[1]
    edited = scenes.edit_scene(studio, project.project_id, 2, {"prompt": "At night"}, by=ANN)
    assert (edited.prompt, edited.video_clip_s3_key) == ("At night", before.video_clip_s3_key)
    assert edited.updated_at > before.updated_at
    assert scenes_of(studio, project.project_id)[1] == edited, "as it is kept"
    with pytest.raises(NotFound):
        scenes.edit_scene(studio, project.project_id, 9, {"prompt": "Nowhere"}, by=ANN)


def test_a_project_is_removed_with_all_it_has(anywhere: FilmStudio, tmp_path: Path) -> None:
    """F-MV-11: records at once, files after a sweep; not while somebody works on it."""
    today(anywhere)
    project = generated(anywhere, tmp_path)
    later(anywhere, hours=1)
    projects.compose(anywhere, project.project_id, by=ANN)
    with pytest.raises(NotNow, match="is queued"):
        projects.delete_project(anywhere, project.project_id, by=ANN)
    workers(anywhere).drain()
    projects.delete_project(anywhere, project.project_id, by=ANN)
    assert anywhere.store.lookup(project.ref) is None
    assert list(anywhere.store.find(Scene.of_project(project_id=project.project_id))) == []
    later(anywhere, days=2)
    Sweep(anywhere.store, anywhere.objects, [DOMAIN], owner="sweeper").run()
    assert all(key.startswith("trash/") for key in files(anywhere))


def test_a_project_that_is_begun_again_under_its_id_is_composed_again(studio: FilmStudio, tmp_path: Path) -> None:
    """F-MV-10: the cuts of its former life are not its own."""
    bound = studio.seen_through(studio.store.scoped("550e8400-e29b-41d4-a716-446655440000"))
    for _ in range(2):
        project = finished(bound, tmp_path)
        assert (project.status, project.compositions) == (ProjectStatus.COMPLETED, 1)
        projects.delete_project(bound, project.project_id, by=ANN)
        later(studio, days=1)


# Files that are sent past the service


def test_a_file_is_reserved_sent_and_looked_at(anywhere: FilmStudio, tmp_path: Path) -> None:
    """MV-50, MV-53, F-MV-6, F-MV-9: a track of another kind keeps its key and its true type."""
    project = generated(anywhere, tmp_path)
    wav = tmp_path / "track.wav"
    _write_wav(wav, seconds=1.5)
    upload = sent(anywhere, project, Sent.AUDIO, wav.read_bytes(), content_type="audio/wav")
    assert (upload.status, upload.error) == (UploadStatus.DONE, None)
    told = anywhere.store.get(project.ref)
    assert told.audio_duration == pytest.approx(1.5, abs=0.05)
    assert told.audio_backing_track_s3_key == BACKING_TRACK.key(project_id=project.project_id)
    assert anywhere.objects.head(BACKING_TRACK.key(project_id=project.project_id)).content_type in (
        "audio/wav",
        "audio/x-wav",
    )


def test_what_was_sent_and_is_not_fit_replaces_nothing(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-50: the former file is still there, byte for byte."""
    project = generated(studio, tmp_path)
    before = studio.objects.get(BACKING_TRACK.key(project_id=project.project_id)).read()
    upload = sent(studio, project, Sent.AUDIO, b"ID3" + b"no music at all " * 50, content_type="audio/mpeg")
    assert upload.status is UploadStatus.REFUSED
    assert "the file is text, not a video, sound or image" in (upload.error or "")
    assert lookup(studio.objects, upload.staging) is None, "and its bytes are gone"
    assert not list(studio.store.find(Task.by_status(status=TaskStatus.FAILED))), "it is nothing for operators"
    assert studio.objects.get(BACKING_TRACK.key(project_id=project.project_id)).read() == before


def test_what_is_refused_because_the_video_is_cut_replaces_nothing(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-50: the cut is made with the track it was asked for with; later the same upload is taken."""
    project = generated(studio, tmp_path)
    before = studio.objects.get(BACKING_TRACK.key(project_id=project.project_id)).read()
    content = film(1.0, audio=True)
    digest = sha256(content).hexdigest()
    reserved = uploading.reserve(
        studio, project.project_id, Sent.AUDIO, size=len(content), content_type="audio/mpeg", sha256=digest
    )
    studio.objects.put(reserved.upload.staging, content)
    projects.compose(studio, project.project_id, by=ANN)
    with pytest.raises(NotNow, match="is queued"):
        uploading.finalize(studio, project.project_id, reserved.upload.upload_id, by=ANN)
    assert studio.objects.get(BACKING_TRACK.key(project_id=project.project_id)).read() == before
    workers(studio).drain()
    uploading.finalize(studio, project.project_id, reserved.upload.upload_id, by=ANN)
    workers(studio).drain()
    assert studio.objects.get(BACKING_TRACK.key(project_id=project.project_id)).read() == content


def test_a_cut_that_begins_while_a_track_is_looked_at_is_made_with_the_former_one(
    studio: FilmStudio, tmp_path: Path
) -> None:
    """MV-50: the look is repeated once the cut is there, and nothing has to be sent again."""
    project = generated(studio, tmp_path)
    before = studio.objects.get(BACKING_TRACK.key(project_id=project.project_id)).read()
    content = film(1.0, audio=True)
    told: dict[str, Any] = {"size": len(content), "content_type": "audio/mpeg", "sha256": sha256(content).hexdigest()}
    reserved = uploading.reserve(studio, project.project_id, Sent.AUDIO, **told)
    studio.objects.put(reserved.upload.staging, content)
    uploading.finalize(studio, project.project_id, reserved.upload.upload_id, by=ANN)
    projects.compose(studio, project.project_id, by=ANN)
    hands = workers(studio)
    hands.run_one()
    assert studio.objects.get(BACKING_TRACK.key(project_id=project.project_id)).read() == before
    hands.drain()
    later(studio, minutes=5)
    hands.drain()
    assert studio.store.get(reserved.upload.ref).status is UploadStatus.DONE
    assert studio.objects.get(BACKING_TRACK.key(project_id=project.project_id)).read() == content


def test_a_file_that_is_said_to_be_there_again_is_looked_at_once(studio: FilmStudio, tmp_path: Path) -> None:
    project = generated(studio, tmp_path)
    content = film(1.0, audio=True)
    told: dict[str, Any] = {"size": len(content), "content_type": "audio/mpeg", "sha256": sha256(content).hexdigest()}
    reserved = uploading.reserve(studio, project.project_id, Sent.AUDIO, **told)
    upload_id = reserved.upload.upload_id
    with pytest.raises(UploadRefused, match="has not arrived as it was announced; send what is missing"):
        uploading.finalize(studio, project.project_id, upload_id, by=ANN)
    studio.objects.put(reserved.upload.staging, content)
    for _ in range(2):
        assert uploading.finalize(studio, project.project_id, upload_id, by=ANN).status is UploadStatus.ARRIVED
    workers(studio).drain()
    assert uploading.finalize(studio, project.project_id, upload_id, by=ANN).status is UploadStatus.DONE
    assert len(list(studio.store.find(Task.of_record(about=name_of(reserved.upload.ref))))) == 1


def test_a_film_that_was_sent_becomes_the_clip(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-31, MV-50: through the same task as any other."""
    project = generated(studio, tmp_path)
    assert sent(studio, project, Sent.SCENE, film(1.0), content_type="video/mp4", sequence=2).status == "done"
    second = scenes_of(studio, project.project_id)[1]
    assert second.status is SceneStatus.COMPLETED
    assert second.shown_duration == pytest.approx(1.0, abs=0.1)
    assert_counted(studio, project.project_id)


def test_an_upload_of_another_project_is_not_found(studio: FilmStudio, tmp_path: Path) -> None:
    """F-MV-6: nobody finishes what is not theirs."""
    first, second = generated(studio, tmp_path), generated(studio, tmp_path)
    reserved = uploading.reserve(studio, first.project_id, Sent.PRODUCT, size=10, content_type="image/png")
    with pytest.raises(NotFound, match="no upload"):
        uploading.finalize(studio, second.project_id, reserved.upload.upload_id, by=ANN)


def _write_wav(path: Path, *, seconds: float) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        count = int(8000 * seconds)
        file.writeframes(b"".join(struct.pack("<h", int(9000 * math.sin(n / 5))) for n in range(count)))
