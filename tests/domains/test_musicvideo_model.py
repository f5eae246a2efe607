"""Music videos: the documents' table, items, questions and state machines."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic import ValidationError

from penstock import Entity, Store, Table, after, before, between, key, pattern, the
from penstock.domains.musicvideo.model import DOMAIN, MV_PROJECTS, Project, ProjectStatus, Scene, SceneStatus
from penstock.errors import Conflict, DeclarationError, IllegalMove, InvalidKey, InvalidValue, NotFound
from tests.domains.musicvideo.documents import MVProjectItem

from .keys import assert_every_pattern_is_a_query, index_key_of, key_of, size_of, transitions

pytestmark = pytest.mark.every_engine

PROJECT_ID = UUID("550e8400-e29b-41d4-a716-446655440000")
CLIP = f"mv/projects/{PROJECT_ID}/scenes/scene_001.mp4"
TEN = datetime(2025, 11, 17, 10, 0, tzinfo=UTC)
STATUSES = ("pending", "queued", "generating_scenes", "processing", "composing", "completed", "failed")

PROJECT_ITEM: dict[str, Any] = {
    "PK": "PROJECT#550e8400-e29b-41d4-a716-446655440000",
    "SK": "METADATA",
    "entityType": "project",
    "projectId": "550e8400-e29b-41d4-a716-446655440000",
    "status": "processing",
    "conceptPrompt": "Robot exploring Austin, Texas",
    "characterDescription": "Silver metallic humanoid robot",
    "sceneCount": 4,
    "completedScenes": 2,
    "failedScenes": 0,
    "createdAt": "2025-11-17T10:00:00Z",
    "updatedAt": "2025-11-17T10:15:00Z",
    "GSI1PK": "processing",
    "GSI1SK": "2025-11-17T10:00:00Z",
}
# The document shortens the project's id within keys of files (F-MV-11); a file is its project's by the whole id.
SCENE_ITEM: dict[str, Any] = {
    "PK": "PROJECT#550e8400-e29b-41d4-a716-446655440000",
    "SK": "SCENE#001",
    "entityType": "scene",
    "projectId": "550e8400-e29b-41d4-a716-446655440000",
    "sequence": 1,
    "status": "completed",
    "prompt": "Robot walking through downtown Austin",
    "negativePrompt": "No other people",
    "duration": 8,
    "referenceImageS3Keys": ["mv/projects/550e8400-e29b-41d4-a716-446655440000/character.png"],
    "videoClipS3Key": "mv/projects/550e8400-e29b-41d4-a716-446655440000/scenes/scene_001.mp4",
    "needsLipSync": True,
    "lipSyncedVideoClipS3Key": "mv/projects/550e8400-e29b-41d4-a716-446655440000/scenes/scene_001_lipsync.mp4",
    "retryCount": 0,
    "createdAt": "2025-11-17T10:05:00Z",
    "updatedAt": "2025-11-17T10:10:00Z",
}


def project(**fields: Any) -> Project:
    given = {"project_id": PROJECT_ID, "concept_prompt": "Robot", "character_description": "Silver"}
    return Project(**{**given, "created_at": TEN, "updated_at": TEN, **fields})


def scene(sequence: int = 1, **fields: Any) -> Scene:
    given = {"project_id": PROJECT_ID, "sequence": sequence, "prompt": "Robot walks", "duration": 8.0}
    return Scene(**{**given, "created_at": TEN, "updated_at": TEN, **fields})


def example_project() -> Project:
    return project(
        status=ProjectStatus.PROCESSING,
        concept_prompt="Robot exploring Austin, Texas",
        character_description="Silver metallic humanoid robot",
        scene_count=4,
        completed_scenes=2,
        updated_at=TEN + timedelta(minutes=15),
    )


def example_scene() -> Scene:
    return scene(
        status=SceneStatus.COMPLETED,
        prompt="Robot walking through downtown Austin",
        negative_prompt="No other people",
        reference_image_s3_keys=["mv/projects/550e8400-e29b-41d4-a716-446655440000/character.png"],
        video_clip_s3_key="mv/projects/550e8400-e29b-41d4-a716-446655440000/scenes/scene_001.mp4",
        needs_lip_sync=True,
        lip_synced_video_clip_s3_key="mv/projects/550e8400-e29b-41d4-a716-446655440000/scenes/scene_001_lipsync.mp4",
        created_at=TEN + timedelta(minutes=5),
        updated_at=TEN + timedelta(minutes=10),
    )


# Layout


def test_the_table_is_the_documents() -> None:
    """MV-1, MV-2, MV-7: one table, its key, its index, and the variable that renames it."""
    place = MV_PROJECTS.place
    assert (place.name, MV_PROJECTS.setting) == ("MVProjects", "DYNAMODB_TABLE_NAME")
    assert (place.partition.name, place.sort and place.sort.name) == ("PK", "SK")
    assert not place.partition.number
    index = place.indexes["status-created-index"]
    assert (index.partition.name, index.sort and index.sort.name) == ("GSI1PK", "GSI1SK")
    assert {shape.table.name for shape in DOMAIN.shapes} == {place.name}


def test_a_project_and_its_scenes_share_a_partition() -> None:
    """MV-3, MV-4, MV-5: the keys, letter for letter."""
    partition = "PROJECT#550e8400-e29b-41d4-a716-446655440000"
    assert key_of(project()) == (partition, "METADATA")
    assert key_of(scene(1)) == (partition, "SCENE#001")
    assert key_of(scene(12)) == (partition, "SCENE#012")
    assert key_of(scene(999)) == (partition, "SCENE#999")


@pytest.mark.parametrize("sequence", [0, -1, 1000])
def test_a_sequence_is_1_to_999(sequence: int) -> None:
    """MV-6, F-MV-1: what would not sort is refused, in a record and in a key."""
    with pytest.raises(ValidationError, match="sequence"):
        scene(sequence)
    with pytest.raises(InvalidKey, match=rf"Scene\.sequence = {sequence} "):
        Scene.at(project_id=PROJECT_ID, sequence=sequence)


def test_a_sequence_is_a_whole_number() -> None:
    """MV-6: also in a key, where half a scene or a word would name none."""
    for wrong in ("one", 1.5, None):
        with pytest.raises((InvalidValue, InvalidKey)):
            Scene.at(project_id=PROJECT_ID, sequence=wrong)  # type: ignore[arg-type]
        with pytest.raises(ValidationError, match="sequence"):
            scene(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("status", STATUSES)
def test_projects_are_indexed_by_status_and_creation(status: str) -> None:
    """MV-8, MV-10, F-MV-2: every status, queued among them; by when it was created, and not last changed."""
    changed = project(status=ProjectStatus(status), updated_at=TEN + timedelta(hours=1))
    assert index_key_of(changed, "status-created-index") == (status, "2025-11-17T10:00:00Z")


def test_scenes_are_not_indexed() -> None:
    """MV-9: a scene has no key in the status index."""
    assert index_key_of(scene(), "status-created-index") is None
    assert Scene.__shape__.indexes == {}


def test_a_new_project() -> None:
    """MV-14…MV-20: pending, nothing counted, and nothing that was not given."""
    new = project()
    assert (new.status, new.concept_prompt, new.character_description) == ("pending", "Robot", "Silver")
    assert (new.scene_count, new.completed_scenes, new.failed_scenes) == (0, 0, 0)
    optional = ("character_image", "product_image", "audio_backing_track", "final_output")
    assert [getattr(new, f"{name}_s3_key") for name in optional] == [None] * 4
    assert new.product_description is None


def test_the_attributes_have_the_documents_names() -> None:
    """MV-12, MV-13, MV-15…MV-20, MV-23…MV-28, MV-30…MV-36: camelCase, and the type of each item in entityType."""
    assert MV_PROJECTS.place.tag == "entityType"
    assert (Project.__shape__.tag, Scene.__shape__.tag) == ("project", "scene")
    documented = {
        Project: "projectId status conceptPrompt characterDescription characterImageS3Key productDescription "
        "productImageS3Key audioBackingTrackS3Key finalOutputS3Key sceneCount completedScenes failedScenes createdAt "
        "updatedAt",
        Scene: "projectId sequence status prompt negativePrompt duration referenceImageS3Keys audioClipS3Key "
        "videoClipS3Key needsLipSync lipSyncedVideoClipS3Key retryCount errorMessage createdAt updatedAt",
    }
    for entity, names in documented.items():
        assert set(names.split()) <= {f.attribute for f in entity.__shape__.fields.values()}


def test_a_new_scene() -> None:
    """MV-25…MV-35: pending, no retry, no clip, no error; its words and its length are as they were given."""
    new = scene(duration=8.25)
    assert (new.status, new.retry_count, new.needs_lip_sync) == ("pending", 0, False)
    assert (new.prompt, new.duration) == ("Robot walks", 8.25)
    optional = ("reference_image_s3_keys", "audio_clip_s3_key", "video_clip_s3_key", "lip_synced_video_clip_s3_key")
    assert [getattr(new, name) for name in optional] == [None] * 4
    assert (new.negative_prompt, new.error_message) == (None, None)
    assert [status.value for status in SceneStatus] == ["pending", "processing", "completed", "failed"]
    with pytest.raises(ValidationError):
        scene(status="composing")
    with pytest.raises(ValidationError):
        scene(duration=-1.0)


def test_creation_never_changes() -> None:
    """MV-21, MV-36: not by assignment, not by a patch; and every moment is kept in UTC."""
    india = datetime.fromisoformat("2025-11-17T15:30:00+05:30")
    for given in (project(created_at=india, updated_at=india), scene(created_at=india, updated_at=india)):
        assert (given.created_at, given.updated_at) == (TEN, TEN)
        assert (given.created_at.tzinfo, given.updated_at.tzinfo) == (UTC, UTC)
        with pytest.raises(ValidationError, match="frozen"):
            given.created_at = TEN
        with pytest.raises(InvalidValue, match="part of the key"):
            given.project_id = uuid4()
    for entity in (Project, Scene):
        with pytest.raises(InvalidValue, match="frozen"):
            the(entity.created_at).set(TEN)
    for made in (project, scene):
        with pytest.raises(ValidationError, match="time zone"):
            made(created_at=datetime(2025, 11, 17))


@pytest.mark.parametrize(
    "field",
    ["character_image_s3_key", "product_image_s3_key", "audio_backing_track_s3_key", "final_output_s3_key"],
)
def test_a_project_holds_keys_never_urls(field: str) -> None:
    """MV-45, MV-50: when it is made, when a field is set, and when it is patched."""
    with pytest.raises(ValidationError, match=f"{field} must be an S3 key, not a URL"):
        project(**{field: "https://bucket.s3.amazonaws.com/a.png"})
    record = project(**{field: "mv/projects/123/file.png"})
    with pytest.raises(ValidationError, match="not a presigned URL"):
        setattr(record, field, "mv/projects/123/file.png?X-Amz-Signature=abc")
    with pytest.raises(InvalidValue, match="S3 key must be an S3 key, not a URL"):
        the(getattr(Project, field)).set("s3://bucket/a.png")


@pytest.mark.parametrize("field", ["audio_clip_s3_key", "video_clip_s3_key", "lip_synced_video_clip_s3_key"])
def test_a_scene_holds_keys_never_urls(field: str) -> None:
    """MV-45, MV-50: also in its list of reference images, and in what a move is given."""
    url: dict[str, Any] = {field: "HTTPS://bucket/a.mp4"}
    with pytest.raises(ValidationError, match="not a URL"):
        scene(**url)
    with pytest.raises(ValidationError, match="not a URL"):
        scene(reference_image_s3_keys=["mv/a.png", "s3://bucket/b.png"])
    with pytest.raises(ValidationError, match="not a URL"):
        scene(status=SceneStatus.PROCESSING).finish(video_clip_s3_key="https://a")


# States


def test_the_project_machine_is_exactly_this() -> None:
    """MV-62…MV-65, F-MV-2, F-MV-3: the documents' states and arrows, the queue, and the ways back."""
    assert sorted(status.value for status in ProjectStatus) == sorted(STATUSES)
    assert transitions(Project) == {
        ("pending", "generating_scenes"),
        ("generating_scenes", "processing"),
        ("processing", "composing"),
        ("composing", "completed"),
        ("pending", "queued"),
        ("queued", "generating_scenes"),
        ("processing", "queued"),
        ("queued", "composing"),
        ("pending", "failed"),
        ("queued", "failed"),
        ("generating_scenes", "failed"),
        ("processing", "failed"),
        ("composing", "failed"),
        ("failed", "pending"),
        ("failed", "processing"),
        ("completed", "processing"),
    }


def test_a_project_goes_from_prompt_to_video() -> None:
    """MV-63, MV-66, MV-69: through both queues, to the final key."""
    p = project()
    p.queue()
    p.generate_scenes()
    p.process()
    p.scene_count = p.completed_scenes = 4
    p.queue()
    p.compose()
    p.complete(final_output_s3_key="mv/projects/1/final.mp4")
    assert (p.status, p.final_output_s3_key) == ("completed", "mv/projects/1/final.mp4")
    p.reopen()
    assert p.status == "processing"


@pytest.mark.parametrize(("scenes", "completed"), [(4, 3), (0, 0)])
def test_no_project_is_completed_without_its_scenes(scenes: int, completed: int) -> None:
    """MV-69: the counters must agree before the final key is taken."""
    p = project(status=ProjectStatus.COMPOSING, scene_count=scenes, completed_scenes=completed)
    with pytest.raises(IllegalMove, match=f"{completed} of {scenes}"):
        p.complete(final_output_s3_key="mv/projects/1/final.mp4")
    assert (p.status, p.final_output_s3_key) == ("composing", None)


def test_other_moves_are_refused_by_name() -> None:
    """MV-65: and the state cannot be set by hand."""
    p = project()
    with pytest.raises(IllegalMove, match="Project is pending: compose needs processing or queued") as refusal:
        p.compose()
    assert "From pending one may" in str(refusal.value)
    with pytest.raises(InvalidValue, match="only a declared Move"):
        p.status = ProjectStatus.COMPLETED
    with pytest.raises(InvalidValue, match="only a declared Move"):
        the(Project.status).set(ProjectStatus.COMPLETED)
    with pytest.raises(ValidationError):
        project(status="paused")
    with pytest.raises(IllegalMove):
        project(status=ProjectStatus.COMPLETED).fail(error_message="late")


def test_a_failure_leaves_its_message_and_a_restart_clears_it() -> None:
    """MV-64, MV-70, F-MV-3."""
    p = project()
    p.fail(error_message="x" * 600)
    assert (p.status, p.error_message) == ("failed", "x" * 500)
    p.restart()
    assert (p.status, p.error_message) == ("pending", None)


def test_the_scene_machine_is_exactly_this() -> None:
    """MV-71, MV-72, F-MV-3: lip sync follows a finished clip, and a failure may be retried."""
    assert transitions(Scene) == {
        ("pending", "processing"),
        ("processing", "completed"),
        ("pending", "failed"),
        ("processing", "failed"),
        ("completed", "processing"),
        ("failed", "processing"),
    }


def test_a_scene_is_filmed_synchronised_and_retried() -> None:
    """MV-31, MV-33…MV-35, MV-72: clip, then lips; a retry counts and forgets the error."""
    s = scene()
    s.start()
    s.finish(video_clip_s3_key=CLIP)
    s.start()
    s.fail(error_message="no lips")
    assert (s.error_message, s.retry_count) == ("no lips", 0)
    s.retry()
    assert (s.error_message, s.retry_count, s.status) == (None, 1, "processing")
    s.finish_lip_sync(lip_synced_video_clip_s3_key="lips.mp4")
    assert (s.video_clip_s3_key, s.lip_synced_video_clip_s3_key, s.status) == (CLIP, "lips.mp4", "completed")


# Questions


def test_no_pattern_scans() -> None:
    """MV-42: each reads one partition, and one that would read them all cannot be declared."""
    assert_every_pattern_is_a_query(DOMAIN)
    with pytest.raises(DeclarationError, match="the partition needs project_id"):

        class Shot(Entity, table=Table("Shots", partition="PK", sort="SK"), relation="shots"):
            project_id: UUID
            sequence: int

            @key("PROJECT#{project_id}", "SHOT#{sequence:03d}")
            def at(self, *, project_id: UUID, sequence: int) -> None: ...

            @pattern(at)
            def everywhere(self) -> None:
                """The shots of all projects."""


def test_a_project_is_got_or_not_found(store: Store) -> None:
    """MV-38."""
    store.create(example_project())
    assert store.get(Project.at(project_id=PROJECT_ID)) == example_project()
    with pytest.raises(NotFound):
        store.get(Project.at(project_id=uuid4()))
    with pytest.raises(Conflict):
        store.create(project())


def test_scenes_come_in_order_without_the_project(store: Store) -> None:
    """MV-37, MV-39: by number, whatever the order they were written in; never the metadata or another's scenes."""
    store.create(project())
    store.put_many([scene(n) for n in (10, 2, 999, 1)])
    store.create(scene(3, project_id=uuid4()))
    store.put(example_scene())
    found = list(store.find(Scene.of_project(project_id=PROJECT_ID)))
    assert [s.sequence for s in found] == [1, 2, 10, 999]
    assert found[0] == example_scene()
    few = Scene.of_project(project_id=PROJECT_ID, sequence=between(2, 10))
    assert [s.sequence for s in store.find(few)] == [2, 10]


def test_scenes_are_followed_over_pages(store: Store) -> None:
    """MV-39, MV-43, F-X-8: more than a request brings; the project stays as small as it was."""
    store.create(project())
    store.put_many([scene(n, prompt="x" * 8000) for n in range(1, 301)])
    assert [s.sequence for s in store.find(Scene.of_project(project_id=PROJECT_ID))] == list(range(1, 301))
    assert size_of(store.get(Project.at(project_id=PROJECT_ID))) == size_of(project())


def test_projects_are_found_by_status(store: Store) -> None:
    """MV-40, MV-41: oldest first, newest first, and within a span of time."""
    ids = [uuid4() for _ in range(3)]
    for minute, project_id in enumerate(ids):
        store.create(project(project_id=project_id, created_at=TEN + timedelta(minutes=minute)))
    store.create(project(status=ProjectStatus.FAILED))
    store.create(scene())
    pending = ProjectStatus.PENDING

    def found(query: Any) -> list[UUID]:
        return [p.project_id for p in store.find(query)]

    assert found(Project.by_status(status=pending)) == ids
    assert found(Project.recent_by_status(status=pending)) == ids[::-1]
    assert found(Project.by_status(status=pending, created_at=after(TEN))) == ids[1:]
    assert found(Project.recent_by_status(status=pending, created_at=before(TEN + timedelta(minutes=2)))) == ids[1::-1]
    assert found(Project.by_status(status=ProjectStatus.FAILED)) == [PROJECT_ID]
    assert found(Project.by_status(status=ProjectStatus.COMPLETED)) == []


def test_a_move_is_found_under_its_new_status(store: Store) -> None:
    """MV-11: the index follows in the same write, and a moment of change that its writer gives stands."""
    store.create(project())
    with store.change() as change:
        moved = change.get(Project.at(project_id=PROJECT_ID))
        moved.queue()
        moved.updated_at = TEN + timedelta(minutes=1)
        change.save(moved)
    assert list(store.find(Project.by_status(status=ProjectStatus.PENDING))) == []
    (found,) = store.find(Project.by_status(status=ProjectStatus.QUEUED))
    assert (found.created_at, found.updated_at) == (TEN, TEN + timedelta(minutes=1))


def test_of_two_movers_one_wins(store: Store) -> None:
    """F-MV-4: a move is conditional on the state it was decided on."""
    store.create(project())
    slow, fast = store.change(), store.change()
    slow.save(slow.get(Project.at(project_id=PROJECT_ID)).fail(error_message="slow"))
    with fast:
        fast.save(fast.get(Project.at(project_id=PROJECT_ID)).queue())
    with pytest.raises(Conflict), slow:
        pass
    assert store.get(Project.at(project_id=PROJECT_ID)).status == "queued"


def test_a_scene_and_its_projects_counter_change_together(store: Store) -> None:
    """MV-19, F-MV-5: one commit, so the counter agrees with the scenes."""
    store.create(project(status=ProjectStatus.PROCESSING, scene_count=1))
    store.create(scene(status=SceneStatus.PROCESSING))
    with store.change() as change:
        filmed = change.get(Scene.at(project_id=PROJECT_ID, sequence=1)).finish(video_clip_s3_key=CLIP)
        change.save(filmed)
        change.patch(Project.at(project_id=PROJECT_ID), the(Project.completed_scenes).add(1))
    assert store.get(Project.at(project_id=PROJECT_ID)).completed_scenes == 1
    assert store.get(Scene.at(project_id=PROJECT_ID, sequence=1)).video_clip_s3_key == CLIP


# The items themselves


def test_the_example_items_are_written_exactly(dynamo: Store, raw_table: Callable[[str], Any]) -> None:
    """MV-12, MV-13, MV-22, MV-23, MV-24, MV-28, MV-37: attribute for attribute, no more and no less."""
    dynamo.create(example_project())
    dynamo.create(example_scene())
    items = {item["SK"]: item for item in raw_table("MVProjects").scan()["Items"]}
    assert items == {"METADATA": PROJECT_ITEM, "SCENE#001": SCENE_ITEM}


def test_the_example_items_are_read(dynamo: Store, raw_table: Callable[[str], Any]) -> None:
    """MV-22, MV-37: items of the documents' own writers are records."""
    raw_table("MVProjects").put_item(Item=PROJECT_ITEM)
    raw_table("MVProjects").put_item(Item=SCENE_ITEM)
    assert dynamo.get(Project.at(project_id=PROJECT_ID)) == example_project()
    assert list(dynamo.find(Scene.of_project(project_id=PROJECT_ID))) == [example_scene()]


def test_reference_images_are_a_list_of_keys_or_absent(dynamo: Store, raw_table: Callable[[str], Any]) -> None:
    """MV-29: as the documents' own readers see it: a list of strings, in its order, or no attribute at all."""
    folder = f"mv/projects/{PROJECT_ID}"
    keys = [f"{folder}/product.jpg", f"{folder}/character.png"]
    dynamo.create(scene(1, reference_image_s3_keys=keys))
    dynamo.create(scene(2))
    items = {item["SK"]: item for item in raw_table("MVProjects").scan()["Items"]}
    assert items["SCENE#001"]["referenceImageS3Keys"] == keys
    assert "referenceImageS3Keys" not in items["SCENE#002"]
    found = list(dynamo.find(Scene.of_project(project_id=PROJECT_ID)))
    assert [each.reference_image_s3_keys for each in found] == [keys, None]
    with pytest.raises(ValidationError, match="not a URL"):
        scene(3, reference_image_s3_keys=[keys[0], "https://bucket.s3.amazonaws.com/a.png"])


def test_a_move_rewrites_the_index_key_of_the_item(dynamo: Store, raw_table: Callable[[str], Any]) -> None:
    """MV-11: GSI1PK is the status, GSI1SK stays."""
    dynamo.create(project())
    with dynamo.change() as change:
        change.save(change.get(Project.at(project_id=PROJECT_ID)).queue())
    (item,) = raw_table("MVProjects").scan()["Items"]
    assert (item["status"], item["GSI1PK"], item["GSI1SK"]) == ("queued", "queued", "2025-11-17T10:00:00Z")


@pytest.mark.parametrize("kind", ["scene", "sceneVersion", None])
def test_a_version_of_a_scene_is_no_scene(kind: str | None, dynamo: Store, raw_table: Callable[[str], Any]) -> None:
    """MV-44, F-MV-7: whatever such an item calls itself, its key tells."""
    dynamo.create(scene(1))
    version = {**SCENE_ITEM, "SK": "SCENE#001#VERSION#1", "entityType": kind}
    raw_table("MVProjects").put_item(Item={k: v for k, v in version.items() if v is not None})
    dynamo.create(scene(2))
    assert [s.sequence for s in dynamo.find(Scene.of_project(project_id=PROJECT_ID))] == [1, 2]


# PynamoDB, as in the documents


@pytest.fixture
def items(dynamo: Store, dynamo_url: str) -> type[MVProjectItem]:
    """The documents' model, on the server the store is on."""
    MVProjectItem.Meta.host = dynamo_url
    MVProjectItem._connection = None
    return MVProjectItem


def test_pynamodb_reads_what_penstock_wrote(dynamo: Store, items: type[MVProjectItem]) -> None:
    """MV-38…MV-41: the four snippets of the documents (with startswith, which is what PynamoDB has)."""
    dynamo.create(example_project())
    dynamo.put_many([example_scene(), scene(2)])
    partition = f"PROJECT#{PROJECT_ID}"
    got = items.get(partition, "METADATA")
    assert (got.conceptPrompt, got.sceneCount, got.createdAt) == (
        "Robot exploring Austin, Texas",
        4,
        "2025-11-17T10:00:00Z",
    )
    scenes = list(items.query(partition, items.SK.startswith("SCENE#")))
    assert [s.sequence for s in scenes] == [1, 2]
    assert (scenes[0].duration, scenes[0].needsLipSync) == (8, True)
    assert scenes[0].referenceImageS3Keys == ["mv/projects/550e8400-e29b-41d4-a716-446655440000/character.png"]
    dynamo.create(project(project_id=uuid4(), status=ProjectStatus.PROCESSING, created_at=TEN - timedelta(days=1)))
    oldest = [p.createdAt for p in items.status_index.query("processing")]
    newest = [p.createdAt for p in items.status_index.query("processing", scan_index_forward=False)]
    assert oldest == ["2025-11-16T10:00:00Z", "2025-11-17T10:00:00Z"] == newest[::-1]


def test_penstock_reads_what_pynamodb_wrote(dynamo: Store, items: type[MVProjectItem]) -> None:
    """MV-22, MV-37: a project and a scene saved by the documents' model, and a later change of its own."""
    items(**PROJECT_ITEM).save()
    items(**{**SCENE_ITEM, "duration": 8.0}).save()
    assert dynamo.get(Project.at(project_id=PROJECT_ID)) == example_project()
    assert list(dynamo.find(Scene.of_project(project_id=PROJECT_ID))) == [example_scene()]
    with dynamo.change() as change:
        change.save(change.get(Project.at(project_id=PROJECT_ID)).queue())
    assert [p.projectId for p in items.status_index.query("queued")] == [str(PROJECT_ID)]
