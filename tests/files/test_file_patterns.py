"""A record points only at files of its own project, whichever way it is written (F-MV-6, MV-50)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from penstock import Store, the
from penstock.domains.assetcreator.model import Step
from penstock.domains.assetcreator.stages import StepName
from penstock.domains.musicvideo.model import Project, Scene, SceneStatus
from penstock.errors import Conflict, ForeignFile, InvalidValue, OutOfScope
from penstock.operations.file_access import files_of, own_files

MINE = UUID("550e8400-e29b-41d4-a716-446655440000")
OTHER = UUID("11111111-2222-4333-8444-555555555555")
NOW = datetime(2037, 1, 1, tzinfo=UTC)


def project(**fields: Any) -> Project:
    given = {
        "project_id": MINE,
        "concept_prompt": "",
        "character_description": "",
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Project.model_validate({**given, **fields})


def scene(**fields: Any) -> Scene:
    given = {"project_id": MINE, "sequence": 1, "prompt": "", "duration": 1.0, "created_at": NOW, "updated_at": NOW}
    return Scene.model_validate({**given, **fields})


def step(project_id: str = "p1") -> Step:
    return Step(project_id=project_id, job_id="j", step_name=StepName.MESH, ts=NOW)


def clip(project_id: UUID = MINE, sequence: int = 1) -> str:
    return f"mv/projects/{project_id}/scenes/scene_{sequence:03d}.mp4"


def test_the_documents_own_places_are_admitted(store: Store) -> None:
    """F-MV-6: those of MV-51 to MV-58."""
    folder = f"mv/projects/{MINE}"
    shown = project(
        character_image_s3_key=f"{folder}/character.png",
        product_image_s3_key=f"{folder}/product.jpg",
        audio_backing_track_s3_key=f"{folder}/audio.mp3",
        final_output_s3_key=f"{folder}/final.mp4",
    )
    shot = scene(
        reference_image_s3_keys=[f"{folder}/character.png", "mv/outputs/character_reference/robot-7.png"],
        audio_clip_s3_key=f"{folder}/scenes/audio_001.mp3",
        video_clip_s3_key=f"{folder}/scenes/scene_001.mp4",
        lip_synced_video_clip_s3_key=f"{folder}/scenes/scene_001_lipsync.mp4",
    )
    store.put_many([shown, shot])
    assert store.get(shown.ref) == shown
    assert set(files_of(shot.__shape__, store.get(shot.ref).__dict__)) == {
        *(f"{folder}/character.png", "mv/outputs/character_reference/robot-7.png", f"{folder}/scenes/audio_001.mp3"),
        *(f"{folder}/scenes/scene_001.mp4", f"{folder}/scenes/scene_001_lipsync.mp4"),
    }


WRONG = {
    "another project's": clip(OTHER),
    "another scene's": clip(sequence=2),
    "nobody's": f"mv/projects/{MINE}/anything.mp4",
    "outside": "private/keys.txt",
    "almost mine": clip().upper(),
    "beyond mine": f"{clip()}/more",
    "a reference in a folder": "mv/outputs/character_reference/x/y.png",
}


def test_no_write_points_a_record_elsewhere(store: Store) -> None:
    """F-MV-6, MV-50: or a URL for another's file would be signed for whoever writes its key into a record."""
    mine = scene(status=SceneStatus.PROCESSING)
    store.create(mine)
    for whose, key in WRONG.items():
        for write in writes_of(store, key):
            with pytest.raises(ForeignFile, match="may not point at"):
                write()
            assert store.get(mine.ref) == mine, whose


def writes_of(store: Store, key: str) -> list[Callable[[], Any]]:
    """Every way to write a key into a record."""
    ref = Scene.at(project_id=MINE, sequence=1)
    wrong = scene(sequence=1, video_clip_s3_key=key)
    return [
        lambda: store.create(wrong),
        lambda: store.put(wrong),
        lambda: store.put_many([wrong]),
        lambda: store.patch(ref, the(Scene.video_clip_s3_key).set(key)),
        lambda: store.patch(ref, the(Scene.video_clip_s3_key).set_if_absent(key)),
        lambda: store.patch(ref, the(Scene.reference_image_s3_keys).append(key)),
        lambda: save(store, key),
    ]


def save(store: Store, key: str) -> None:
    with store.change(by="editor") as change:
        found = change.get(Scene.at(project_id=MINE, sequence=1))
        change.save(found.finish(video_clip_s3_key=key))


def test_a_list_that_was_changed_in_place_is_checked_too(store: Store) -> None:
    shot = scene(reference_image_s3_keys=[f"mv/projects/{MINE}/character.png"])
    store.create(shot)
    for wrong, error in ((clip(OTHER), ForeignFile), ("https://host/a.png?X-Amz-Signature=b", InvalidValue)):
        changed = store.get(shot.ref)
        assert changed.reference_image_s3_keys is not None
        changed.reference_image_s3_keys.append(wrong)
        with pytest.raises(error):
            store.put(changed)
        with pytest.raises(error), store.change() as change:
            found = change.get(shot.ref)
            found.reference_image_s3_keys = [*(found.reference_image_s3_keys or ())]
            found.reference_image_s3_keys.append(wrong)
            change.save(found)
    assert store.get(shot.ref) == shot


def test_what_the_key_does_not_tell_becomes_a_condition(store: Store) -> None:
    """A step's project is not in its key: the database says whose it is."""
    mine = step()
    store.create(mine)
    store.patch(mine.ref, the(Step.artifacts).set(["assets/p1/mesh.glb"]))
    with pytest.raises(Conflict) as refused:
        store.patch(mine.ref, the(Step.artifacts).set(["assets/p2/mesh.glb"]))
    assert refused.value.found is not None
    with pytest.raises(ForeignFile):
        store.patch(mine.ref, the(Step.artifacts).append("assets/p1/a.glb", "assets/p2/b.glb"))
    with pytest.raises(ForeignFile):
        store.patch(mine.ref, the(Step.artifacts).append("elsewhere/a.glb"))
    with pytest.raises(ForeignFile):
        store.patch(mine.ref, the(Step.artifacts).set(["assets/p2/mesh.glb"]), given=mine)
    assert store.get(mine.ref).artifacts == ["assets/p1/mesh.glb"]


def test_a_project_s_own_handle_cannot_reach_another_s_files(store: Store) -> None:
    handle = store.scoped(MINE, enforce=False)
    handle.create(scene())
    with pytest.raises(ForeignFile):
        handle.patch(Scene.at(project_id=MINE, sequence=1), the(Scene.video_clip_s3_key).set(clip(OTHER)))
    with pytest.raises(OutOfScope):
        handle.create(scene(project_id=OTHER, video_clip_s3_key=clip(OTHER)))


def test_only_files_whose_place_is_made_of_the_whole_key_are_a_record_s_own() -> None:
    shot = scene(
        reference_image_s3_keys=[f"mv/projects/{MINE}/character.png", "mv/outputs/character_reference/r.png"],
        video_clip_s3_key=clip(),
    )
    assert list(own_files(shot.__shape__, shot.__dict__)) == [clip()]
    shown = project(character_image_s3_key=f"mv/projects/{MINE}/character.png")
    assert list(own_files(shown.__shape__, shown.__dict__)) == [f"mv/projects/{MINE}/character.png"]
    made = step()
    made.artifacts = ["assets/p1/mesh.glb"]
    assert list(own_files(made.__shape__, made.__dict__)) == []
