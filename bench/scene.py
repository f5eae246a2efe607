"""The scene as Penstock declares it: the fields that its peers have too, with what a declaration adds to them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from penstock import Domain, Entity, Move, Table, key, pattern
from penstock.declare import ANYTHING, Count, Range, Seconds, UtcSeconds, camel_case
from penstock.schema.object_key import ObjectKey


class SceneStatus(StrEnum):
    PENDING = "pending"
    COMPLETED = "completed"


class Scene(
    Entity,
    table=Table("MVProjects", partition="PK", sort="SK", tag="entityType", naming=camel_case),
    tag="scene",
    relation="scenes",
):
    """One shot of a project, in its place."""

    project_id: UUID
    sequence: Annotated[int, Field(ge=1, le=999)]
    status: SceneStatus = SceneStatus.PENDING
    prompt: str
    negative_prompt: str | None = None
    duration: Seconds
    reference_image_s3_keys: list[ObjectKey] | None = None
    video_clip_s3_key: ObjectKey | None = None
    needs_lip_sync: bool = False
    lip_synced_video_clip_s3_key: ObjectKey | None = None
    retry_count: Count = 0
    created_at: UtcSeconds
    updated_at: UtcSeconds

    @key("PROJECT#{project_id}", "SCENE#{sequence:03d}")
    def at(self, *, project_id: UUID, sequence: int) -> None: ...

    @pattern(at)
    def of_project(self, *, project_id: UUID, sequence: Range[int] = ANYTHING) -> None:
        """The scenes of a project, in order."""

    complete = Move(SceneStatus.PENDING, to=SceneStatus.COMPLETED)


DOMAIN = Domain(
    "bench_scenes",
    Scene,
    files=(
        "mv/projects/{project_id}/character.png",
        "mv/projects/{project_id}/product.jpg",
        "mv/projects/{project_id}/scenes/scene_{sequence:03d}.mp4",
        "mv/projects/{project_id}/scenes/scene_{sequence:03d}_lipsync.mp4",
    ),
)
