"""Music videos: a project, its scenes, one final cut."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from penstock.declare import (
    ANYTHING,
    SYSTEM,
    Action,
    Count,
    Domain,
    Entity,
    EpochSeconds,
    IndexKey,
    Move,
    Range,
    Seconds,
    Table,
    UtcSeconds,
    camel_case,
    key,
    move,
    pattern,
)
from penstock.errors import IllegalMove
from penstock.files.upload import Sha256
from penstock.schema.documents import kept
from penstock.schema.file_pattern import FilePattern
from penstock.schema.object_key import ObjectKey

MV_PROJECTS = Table(
    "MVProjects",
    partition="PK",
    sort="SK",
    tag="entityType",
    feed=True,
    setting="DYNAMODB_TABLE_NAME",
    naming=camel_case,
)
STATUS_CREATED = MV_PROJECTS.index("status-created-index", partition="GSI1PK", sort="GSI1SK")

LONGEST_ERROR = 500

# What people ask for; everything else is the system's own. Each action does more than change one record.
_PROJECT = "/api/mv/projects/{project_id}"
_SCENE = _PROJECT + "/scenes/{sequence}"
CREATE = Action("create", "POST /api/mv/projects")
WORK_ON = Action("work on", f"POST {_PROJECT}/generate", f"POST {_PROJECT}/compose")
TAKE_UP = Action("take up", f"PATCH {_PROJECT}", f"POST {_PROJECT}/generate")
ADD_SCENE = Action("add a scene", f"POST {_PROJECT}/scenes", f"POST {_PROJECT}/generate")
REDO_SCENE = Action("redo", *(f"POST {_SCENE}/{verb}" for verb in ("regenerate", "lipsync", "trim", "upload_video")))
ADD_CHARACTER = Action("add a character", *(f"POST /api/mv/{v}_character_reference" for v in ("generate", "upload")))


class Mode(StrEnum):
    MUSIC_VIDEO = "music-video"
    AD_CREATIVE = "ad-creative"


class ProjectStatus(StrEnum):
    PENDING = "pending"
    QUEUED = "queued"
    GENERATING_SCENES = "generating_scenes"
    PROCESSING = "processing"
    COMPOSING = "composing"
    COMPLETED = "completed"
    FAILED = "failed"


class SceneStatus(StrEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"


class Project(
    Entity, table=MV_PROJECTS, tag="project", relation="projects", last_modified="updated_at", created_by=CREATE
):
    """A concept on its way to a video. Its scenes are records of their own, so it stays small."""

    project_id: UUID
    status: ProjectStatus = ProjectStatus.PENDING
    mode: Mode | None = None
    director_config: str | None = None
    concept_prompt: str
    character_description: str
    character_image_s3_key: ObjectKey | None = None
    product_description: str | None = None
    product_image_s3_key: ObjectKey | None = None
    audio_backing_track_s3_key: ObjectKey | None = None
    final_output_s3_key: ObjectKey | None = None
    final_thumbnail_s3_key: ObjectKey | None = None
    final_output_sha256: Sha256 | None = None
    "Which final video it is: the key stays when another takes its place."
    final_duration: Seconds | None = None
    audio_duration: Seconds | None = None
    audio_sha256: Sha256 | None = None
    "Which track it is: the key stays when another takes its place."
    scene_count: Count = 0
    completed_scenes: Count = 0
    failed_scenes: Count = 0
    last_sequence: Count | None = None
    "The highest number a scene ever had; no number is given twice."
    scene_order: list[int] | None = None
    "The scenes as they are shown, once somebody has put them in another order; those not named follow."
    compositions: Count | None = None
    "How often a final cut was asked for."
    error_message: str | None = None
    lease_owner: str | None = None
    lease_expires_at: EpochSeconds | None = None
    lease_epoch: Count | None = None
    created_at: UtcSeconds = Field(frozen=True)
    updated_at: UtcSeconds

    @key("PROJECT#{project_id}", "METADATA")
    def at(self, *, project_id: UUID) -> None: ...

    by_creation = IndexKey(STATUS_CREATED, "{status}", "{created_at}")

    @pattern(by_creation)
    def by_status(self, *, status: ProjectStatus, created_at: Range[datetime] = ANYTHING) -> None:
        """Projects in a state, oldest first."""

    @pattern(by_creation, backwards=True)
    def recent_by_status(self, *, status: ProjectStatus, created_at: Range[datetime] = ANYTHING) -> None:
        """Projects in a state, newest first."""

    # Work waits in `queued` twice: before the scenes are written, and before the final cut.
    queue = Move(ProjectStatus.PENDING, ProjectStatus.PROCESSING, to=ProjectStatus.QUEUED, by=WORK_ON)
    generate_scenes = Move(ProjectStatus.PENDING, ProjectStatus.QUEUED, to=ProjectStatus.GENERATING_SCENES, by=SYSTEM)
    process = Move(ProjectStatus.GENERATING_SCENES, to=ProjectStatus.PROCESSING, by=SYSTEM)
    compose = Move(ProjectStatus.PROCESSING, ProjectStatus.QUEUED, to=ProjectStatus.COMPOSING, by=SYSTEM)

    @move(ProjectStatus.COMPOSING, to=ProjectStatus.COMPLETED, by=SYSTEM)
    def complete(self, *, final_output_s3_key: ObjectKey) -> None:
        """Every scene is complete and the final video exists."""
        if not 0 < self.scene_count == self.completed_scenes:
            done = f"{self.completed_scenes} of {self.scene_count}"
            raise IllegalMove(f"Project has completed {done} scenes; complete needs all of them")
        self.final_output_s3_key = final_output_s3_key

    @move(
        ProjectStatus.PENDING,
        ProjectStatus.QUEUED,
        ProjectStatus.GENERATING_SCENES,
        ProjectStatus.PROCESSING,
        ProjectStatus.COMPOSING,
        to=ProjectStatus.FAILED,
        by=SYSTEM,
    )
    def fail(self, *, error_message: str) -> None:
        """The work stopped; the message says why."""
        self.error_message = kept(error_message, LONGEST_ERROR)

    @move(ProjectStatus.FAILED, to=ProjectStatus.PENDING, by=TAKE_UP)
    def restart(self) -> None:
        """Begin again."""
        self.error_message = None

    @move(ProjectStatus.FAILED, ProjectStatus.COMPLETED, to=ProjectStatus.PROCESSING, by=TAKE_UP)
    def reopen(self) -> None:
        """Go on with the scenes there are, or add one to a finished video."""
        self.error_message = None

    def in_order(self, scenes: Iterable[Scene]) -> list[Scene]:
        """Scenes as they are shown; those that nobody has put in order come last, by their numbers."""
        places = {sequence: place for place, sequence in enumerate(self.scene_order or [])}
        return sorted(scenes, key=lambda scene: (places.get(scene.sequence, len(places)), scene.sequence))


class Scene(
    Entity, table=MV_PROJECTS, tag="scene", relation="scenes", last_modified="updated_at", created_by=ADD_SCENE
):
    """One shot of a project, in its place."""

    project_id: UUID
    sequence: Annotated[int, Field(ge=1, le=999)]
    status: SceneStatus = SceneStatus.PENDING
    prompt: str
    negative_prompt: str | None = None
    duration: Seconds
    reference_image_s3_keys: list[ObjectKey] | None = None
    audio_clip_s3_key: ObjectKey | None = None
    video_clip_s3_key: ObjectKey | None = None
    written_from: dict[str, str] | None = None
    filmed_from: dict[str, str] | None = None
    "Digests of what its words and its clip were made of, by which `outdated.py` finds out what has changed since."
    clip_sha256: Sha256 | None = None
    "Which clip was filmed: its key stays when another takes its place."
    needs_lip_sync: bool = False
    lyrics: str | None = None
    "What is sung, if that is known."
    lip_synced_video_clip_s3_key: ObjectKey | None = None
    lips_track_sha256: Sha256 | None = None
    "The track its lips were made for, of which `lip_standing.py` finds out whether it is still so."
    lips_offset: float | None = None
    "The second of the track that is heard with the clip's first picture; below 0, that one is never shown."
    lips_duration: Seconds | None = None
    lips_clip_sha256: Sha256 | None = None
    working_video_clip_s3_key: ObjectKey | None = None
    "The part of the clip that is shown, when it was trimmed."
    trim_points: dict[str, float] | None = None
    shown_duration: Seconds | None = None
    "How long the clip that is shown really is."
    shown_sha256: Sha256 | None = None
    "Which clip is shown: its key stays when another takes its place."
    incoming_s3_key: ObjectKey | None = None
    "A film that was uploaded and is to become the clip."
    thumbnail_s3_key: ObjectKey | None = None
    not_drawn: list[str] | None = None
    "What the prompt names and the clip does not show, if whoever filmed it can tell."
    take: Count | None = None
    "How often work on the scene was asked for; what an earlier take makes comes too late."
    video_generation_job_id: str | None = None
    lipsync_job_id: str | None = None
    cost: Annotated[float, Field(ge=0)] | None = None
    "What whoever filmed it has charged so far, in US dollars."
    charged_job_id: str | None = None
    "The job elsewhere that the cost has last grown by, so that it is not counted again when another attempt brings it."
    retry_count: Count = 0
    error_message: str | None = None
    created_at: UtcSeconds = Field(frozen=True)
    updated_at: UtcSeconds

    @key("PROJECT#{project_id}", "SCENE#{sequence:03d}")
    def at(self, *, project_id: UUID, sequence: int) -> None: ...

    @pattern(at)
    def of_project(self, *, project_id: UUID, sequence: Range[int] = ANYTHING) -> None:
        """The scenes of a project, in order."""

    # A finished scene is processed again: its lips are synchronised, or its clip is made anew.
    start = Move(SceneStatus.PENDING, SceneStatus.COMPLETED, to=SceneStatus.PROCESSING, by=REDO_SCENE)

    @move(SceneStatus.FAILED, to=SceneStatus.PROCESSING, by=REDO_SCENE)
    def retry(self) -> None:
        """Try once more."""
        self.retry_count += 1
        self.error_message = None

    @move(SceneStatus.PROCESSING, to=SceneStatus.COMPLETED, by=SYSTEM)
    def finish(self, *, video_clip_s3_key: ObjectKey) -> None:
        """The clip exists; one synchronised to an older clip, or cut from it, no longer counts."""
        self.video_clip_s3_key = video_clip_s3_key
        self.forget_lips()
        self.working_video_clip_s3_key = self.trim_points = self.incoming_s3_key = None

    @move(SceneStatus.PROCESSING, to=SceneStatus.COMPLETED, by=SYSTEM)
    def finish_lip_sync(self, *, lip_synced_video_clip_s3_key: ObjectKey) -> None:
        """The clip's lips move with the sound; of a part cut from it before that is not so."""
        self.lip_synced_video_clip_s3_key = lip_synced_video_clip_s3_key
        self.working_video_clip_s3_key = self.trim_points = None

    @move(SceneStatus.PROCESSING, to=SceneStatus.COMPLETED, by=SYSTEM)
    def finish_trim(self, *, working_video_clip_s3_key: ObjectKey) -> None:
        """A part of the clip is shown."""
        self.working_video_clip_s3_key = working_video_clip_s3_key

    @move(SceneStatus.PENDING, SceneStatus.PROCESSING, to=SceneStatus.FAILED, by=SYSTEM)
    def fail(self, *, error_message: str) -> None:
        """No clip, or not the new one; the message says why. A clip there was before is kept."""
        self.error_message = kept(error_message, LONGEST_ERROR)

    def forget_lips(self) -> None:
        """Nobody sings in it any more."""
        self.lip_synced_video_clip_s3_key = self.lips_track_sha256 = self.lips_clip_sha256 = None
        self.lips_offset = self.lips_duration = None

    @property
    def shown_s3_key(self) -> str | None:
        """The clip as it goes into the final video: trimmed, else with moving lips, else as it was filmed."""
        return self.working_video_clip_s3_key or self.lip_synced_video_clip_s3_key or self.video_clip_s3_key


class CharacterReference(
    Entity,
    table=MV_PROJECTS,
    tag="character_reference",
    relation="character_references",
    created_by=ADD_CHARACTER,
):
    """A picture of a character, for any project to begin with."""

    character_id: UUID
    description: str | None = None
    not_drawn: list[str] | None = None
    "What the description names and the picture does not show."
    image_s3_key: ObjectKey
    created_at: UtcSeconds = Field(frozen=True)

    @key("CHARACTER_REFERENCES", "CHARACTER#{character_id}")
    def at(self, *, character_id: UUID) -> None: ...

    @pattern(at)
    def all_there_are(self) -> None:
        """Every picture; there are few."""


# Where the files lie, as the documents name them.
CHARACTER_IMAGE = FilePattern("mv/projects/{project_id}/character.png")
PRODUCT_IMAGE = FilePattern("mv/projects/{project_id}/product.jpg")
BACKING_TRACK = FilePattern("mv/projects/{project_id}/audio.mp3")
FINAL_VIDEO = FilePattern("mv/projects/{project_id}/final.mp4")
FINAL_THUMBNAIL = FilePattern("mv/projects/{project_id}/final.jpg")
CLIP = FilePattern("mv/projects/{project_id}/scenes/scene_{sequence:03d}.mp4")
THUMBNAIL = FilePattern("mv/projects/{project_id}/scenes/scene_{sequence:03d}.jpg")
SCENE_AUDIO = FilePattern("mv/projects/{project_id}/scenes/audio_{sequence:03d}.mp3")
LIP_SYNCED_CLIP = FilePattern("mv/projects/{project_id}/scenes/scene_{sequence:03d}_lipsync.mp4")
OTHER_CLIP = FilePattern("mv/projects/{project_id}/scenes/{sequence:03d}/*.mp4")
"Parts of a clip that are shown, and films that were sent and wait to become the clip."
REFERENCE_IMAGE = FilePattern("mv/outputs/character_reference/*.png")

FILES = (
    *(CHARACTER_IMAGE, PRODUCT_IMAGE, BACKING_TRACK, FINAL_VIDEO, FINAL_THUMBNAIL),
    *(CLIP, THUMBNAIL, SCENE_AUDIO, LIP_SYNCED_CLIP, OTHER_CLIP, REFERENCE_IMAGE),
)
DOMAIN = Domain("musicvideo", Project, Scene, CharacterReference, files=FILES)
