"""Which assets there are, the stages in which each is made, and the states of jobs and their steps."""

from __future__ import annotations

from enum import StrEnum


class AssetKind(StrEnum):
    FLAT = "2D"
    SOLID = "3D"


class AssetType(StrEnum):
    CHARACTER_3D = "3D_CHARACTER"
    SPRITE_2D = "2D_SPRITE"
    BACKGROUND = "BACKGROUND"
    PROP = "PROP"

    @property
    def kind(self) -> AssetKind:
        """Is it drawn or modelled?"""
        return AssetKind.SOLID if self in (AssetType.CHARACTER_3D, AssetType.PROP) else AssetKind.FLAT


class StepName(StrEnum):
    """The stages of the pipeline, in their order."""

    TEXT_TO_IMAGE = "text-to-image"
    REFINE = "refine"
    MESH = "3D"
    RETOPO = "retopo"
    RIG = "rig"
    ANIM = "anim"
    EXPORT = "export"


GATES = (StepName.REFINE, StepName.RETOPO, StepName.RIG, StepName.ANIM)
"The stages after which a person decides, where the project has not switched that off."


class Status(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    APPROVED = "approved"
    REJECTED = "rejected"
    DONE = "done"
    FAILED = "failed"


OVER = (Status.DONE, Status.FAILED, Status.REJECTED)
"The states in which a job has ended, so that it may leave when its time is over."
