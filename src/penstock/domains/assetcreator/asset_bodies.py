"""What the API is sent about assets."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from penstock.declare.units import UtcSeconds
from penstock.domains.assetcreator.orders import SEEDS, ChangedInputs, Constraints, Prompt
from penstock.domains.assetcreator.stages import AssetType, StepName

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Notes = Annotated[str, StringConstraints(strip_whitespace=True, max_length=1000)]
Seed = Annotated[int, Field(ge=0, lt=SEEDS)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class BeginProject(_Body):
    name: Name
    style_profile: dict[str, Any] = Field(
        default_factory=dict, description="palette (#rrggbb), outline (0 to 1), proportions, style (words)."
    )
    gates: list[StepName] | None = Field(None, description="After which steps people decide; null: after each.")


class EditProject(_Body):
    name: Name | None = None
    style_profile: dict[str, Any] | None = None
    gates: list[StepName] | None = None
    versions_kept: Annotated[int, Field(ge=1, le=1000)] | None = None


class ProjectRules(_Body):
    """What only administrators set."""

    quotas: dict[str, float] = Field(
        default_factory=dict, description="concurrent_jobs, compute_seconds (in 30 days), storage_bytes."
    )
    forbidden_words: Annotated[list[Name], Field(max_length=1000)] | None = None


class AskForAsset(_Body):
    project_id: Id
    asset_type: AssetType
    prompt: Prompt
    constraints: Constraints = Field(default_factory=Constraints)
    seed: Seed = 0
    reference_id: Id | None = Field(None, description="A picture that was sent to the project's references.")
    asset_id: Id | None = Field(None, description="The asset of which this becomes the next version.")


class Decision(StrEnum):
    APPROVED = "approved"
    REJECTED = "rejected"


class ReviewDecision(_Body):
    """A decision about one run of a step, and the very files that were looked at."""

    decision: Decision
    round: Annotated[int, Field(ge=1)] = Field(description="Of the step that waits, as the job tells it.")
    checksums: Annotated[dict[str, str], Field(min_length=1, max_length=100)] = Field(
        description="SHA-256 of each of its files, by name, as the job tells them."
    )
    notes: Notes | None = None
    back_to: StepName | None = Field(None, description="The step to run again; else the one that was rejected.")
    inputs: ChangedInputs | None = Field(None, description="What is to be different in the next run.")


class ReviewDuty(_Body):
    assignee: Name | None = None
    due_at: UtcSeconds | None = None


class ResumeJob(_Body):
    from_step: StepName
    inputs: ChangedInputs | None = None


class MakeAgain(_Body):
    seed: Seed | None = None
