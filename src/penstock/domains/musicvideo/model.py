"""Music videos: a project, its scenes, one final cut."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from penstock.declare import (
    ANYTHING,
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
from penstock.objectkey import ObjectKey

MV_PROJECTS = Table(
    "MVProjects", partition="PK", sort="SK", tag="entityType", setting="DYNAMODB_TABLE_NAME", naming=camel_case
)
STATUS_CREATED = MV_PROJECTS.index("status-created-index", partition="GSI1PK", sort="GSI1SK")

LONGEST_ERROR = 500


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


class Project(Entity, table=MV_PROJECTS, tag="project", relation="projects"):
    """A concept on its way to a video. Its scenes are records of their own, so it stays small."""

    project_id: UUID
    status: ProjectStatus = ProjectStatus.PENDING
    mode: str | None = None
    concept_prompt: str
    character_description: str
    character_image_s3_key: ObjectKey | None = None
    product_description: str | None = None
    product_image_s3_key: ObjectKey | None = None
    audio_backing_track_s3_key: ObjectKey | None = None
    final_output_s3_key: ObjectKey | None = None
    scene_count: Count = 0
    completed_scenes: Count = 0
    failed_scenes: Count = 0
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
    queue = Move(ProjectStatus.PENDING, ProjectStatus.PROCESSING, to=ProjectStatus.QUEUED)
    generate_scenes = Move(ProjectStatus.PENDING, ProjectStatus.QUEUED, to=ProjectStatus.GENERATING_SCENES)
    process = Move(ProjectStatus.GENERATING_SCENES, to=ProjectStatus.PROCESSING)
    compose = Move(ProjectStatus.PROCESSING, ProjectStatus.QUEUED, to=ProjectStatus.COMPOSING)

    @move(ProjectStatus.COMPOSING, to=ProjectStatus.COMPLETED)
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
    )
    def fail(self, *, error_message: str) -> None:
        """The work stopped; the message says why."""
        self.error_message = error_message[:LONGEST_ERROR]

    @move(ProjectStatus.FAILED, to=ProjectStatus.PENDING)
    def restart(self) -> None:
        """Begin again."""
        self.error_message = None

    @move(ProjectStatus.FAILED, ProjectStatus.COMPLETED, to=ProjectStatus.PROCESSING)
    def reopen(self) -> None:
        """Go on with the scenes there are, or add one to a finished video."""
        self.error_message = None


class Scene(Entity, table=MV_PROJECTS, tag="scene", relation="scenes"):
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
    needs_lip_sync: bool = False
    lip_synced_video_clip_s3_key: ObjectKey | None = None
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
    start = Move(SceneStatus.PENDING, SceneStatus.COMPLETED, to=SceneStatus.PROCESSING)

    @move(SceneStatus.FAILED, to=SceneStatus.PROCESSING)
    def retry(self) -> None:
        """Try once more."""
        self.retry_count += 1
        self.error_message = None

    @move(SceneStatus.PROCESSING, to=SceneStatus.COMPLETED)
    def finish(self, *, video_clip_s3_key: ObjectKey) -> None:
        """The clip exists; one synchronised to an older clip no longer counts."""
        self.video_clip_s3_key = video_clip_s3_key
        self.lip_synced_video_clip_s3_key = None

    @move(SceneStatus.PROCESSING, to=SceneStatus.COMPLETED)
    def finish_lip_sync(self, *, lip_synced_video_clip_s3_key: ObjectKey) -> None:
        """The clip's lips move with the sound."""
        self.lip_synced_video_clip_s3_key = lip_synced_video_clip_s3_key

    @move(SceneStatus.PENDING, SceneStatus.PROCESSING, to=SceneStatus.FAILED)
    def fail(self, *, error_message: str) -> None:
        """No clip; the message says why."""
        self.error_message = error_message[:LONGEST_ERROR]


FILES = (
    "mv/projects/{project_id}/character.png",
    "mv/projects/{project_id}/product.jpg",
    "mv/projects/{project_id}/audio.mp3",
    "mv/projects/{project_id}/final.mp4",
    "mv/projects/{project_id}/scenes/scene_{sequence:03d}.mp4",
    "mv/projects/{project_id}/scenes/audio_{sequence:03d}.mp3",
    "mv/projects/{project_id}/scenes/scene_{sequence:03d}_lipsync.mp4",
    "mv/outputs/character_reference/*.png",
)
DOMAIN = Domain("musicvideo", Project, Scene, files=FILES)
