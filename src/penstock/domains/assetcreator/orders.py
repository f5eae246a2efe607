"""What somebody asks for: checked when a job is begun, kept with it, and told to whoever makes a part of it."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from penstock.domains.assetcreator.errors import ImpossibleAsset
from penstock.domains.assetcreator.model import Job, Project
from penstock.domains.assetcreator.stages import AssetType, StepName
from penstock.generation.asset_steps import AssetOrder

Words = Annotated[str, StringConstraints(strip_whitespace=True, max_length=1000)]

KINDS = {
    AssetType.CHARACTER_3D: "character",
    AssetType.PROP: "prop",
    AssetType.SPRITE_2D: "sprite",
    AssetType.BACKGROUND: "background",
}
_DRAWN = (StepName.TEXT_TO_IMAGE, StepName.REFINE, StepName.EXPORT)
_MODELLED = (StepName.TEXT_TO_IMAGE, StepName.REFINE, StepName.MESH, StepName.RETOPO, StepName.EXPORT)
STEPS: Mapping[AssetType, Sequence[StepName]] = {
    AssetType.CHARACTER_3D: tuple(StepName),
    AssetType.PROP: _MODELLED,
    AssetType.SPRITE_2D: _DRAWN,
    AssetType.BACKGROUND: _DRAWN,
}
"Which stages an asset of each type goes through."


class Platform(StrEnum):
    MOBILE = "MOBILE"
    PC = "PC"
    CONSOLE = "CONSOLE"


class RigType(StrEnum):
    HUMANOID = "HUMANOID"
    QUADRUPED = "QUADRUPED"
    STATIC = "STATIC"


_BUDGETS = {Platform.MOBILE: 2_000, Platform.PC: 5_000, Platform.CONSOLE: 5_000}
"Triangles, where nobody says."
_NOTES = 10
"So many of the latest notes are told to whoever draws."
SEEDS = 2**31
"From 0 on; whoever draws takes no others."


class Prompt(BaseModel):
    """What it is, in words."""

    model_config = ConfigDict(extra="forbid")

    core_concept: Annotated[Words, Field(min_length=1)]
    style: Words = ""
    details: Words = ""


class Constraints(BaseModel):
    """What it must fit."""

    model_config = ConfigDict(extra="forbid")

    poly_count_budget: Annotated[int, Field(ge=200, le=100_000)] | None = None
    platform: Platform = Platform.PC
    rig_type: RigType = RigType.HUMANOID
    quads: bool = Field(default=False, description="Also deliver a mesh of four-sided faces, as OBJ.")


class Request(BaseModel):
    """All that a job is asked to do. It is kept with the job, and a rejection may change it."""

    model_config = ConfigDict(extra="forbid")

    prompt: Prompt
    constraints: Constraints = Field(default_factory=Constraints)
    seed: Annotated[int, Field(ge=0, lt=SEEDS)] = 0
    reference: str | None = None
    "The key of a picture that shows what is meant."
    notes: list[Words] = Field(default_factory=list)
    "What people said when they were not content, oldest first."
    retakes: dict[str, int] = Field(default_factory=dict)
    "How often each stage was rejected: a further run with the same words makes something else."
    parent: int | None = None
    "The version that this one is made anew from."

    @property
    def words(self) -> list[str]:
        """Everything that somebody wrote."""
        return [self.prompt.core_concept, self.prompt.style, self.prompt.details, *self.notes]


def request_of(job: Job) -> Request:
    """What a job is asked to do."""
    return Request.model_validate(job.request)


def style_words(project: Project) -> list[str]:
    """What a project says about how its assets look."""
    return [str(project.style_profile.get("style", ""))]


def all_words(project: Project, request: Request) -> list[str]:
    """Everything that somebody wrote, and whoever draws is told."""
    return [*request.words, *style_words(project)]


def order_of(
    job: Job, project: Project, step: StepName, *, reference: Path | None = None, remote: str | None = None, name: str
) -> AssetOrder:
    """What the maker of a stage is told; ``name`` is the same for all attempts at one run of it."""
    request, style = request_of(job), project.style_profile
    constraints = request.constraints
    outline = style.get("outline")
    palette = style.get("palette")
    proportions = style.get("proportions")
    return AssetOrder(
        kind=KINDS[job.asset_type],
        concept=request.prompt.core_concept,
        style=" ".join(filter(None, (request.prompt.style, *style_words(project)))),
        details=". ".join(filter(None, (request.prompt.details, *request.notes))),
        seed=seed_of(request, step),
        palette=tuple(map(str, palette)) if isinstance(palette, list) else (),
        outline=float(outline) if isinstance(outline, int | float) else None,
        proportions=str(proportions) if proportions else None,
        poly_budget=constraints.poly_count_budget or _BUDGETS[constraints.platform],
        quads=constraints.quads,
        platform=constraints.platform.value,
        rig=constraints.rig_type.value,
        reference=reference,
        job=remote,
        order=name,
    )


def seed_of(request: Request, step: StepName) -> int:
    """The request's own, until a run of the stage was rejected: the next must not come out the same."""
    retakes = request.retakes.get(step.value, 0)
    return zlib.crc32(f"{request.seed}/{step.value}/{retakes}".encode()) % SEEDS if retakes else request.seed


class ChangedInputs(BaseModel):
    """What is to be different when a stage is run again."""

    model_config = ConfigDict(extra="forbid")

    prompt: dict[str, Any] | None = None
    constraints: dict[str, Any] | None = None
    seed: int | None = None


def check_constraints(asset_type: AssetType, constraints: Constraints, named: Collection[str]) -> None:
    """ImpossibleAsset where somebody names what an asset of this type does not have."""
    if "rig_type" in named and constraints.rig_type is not RigType.STATIC and StepName.RIG not in STEPS[asset_type]:
        raise ImpossibleAsset(f"a {asset_type.value} is not rigged; leave rig_type out, or say STATIC")
    if constraints.quads and StepName.RETOPO not in STEPS[asset_type]:
        raise ImpossibleAsset(f"a {asset_type.value} has no mesh, and no quads; leave quads out")


def changed(job: Job, inputs: ChangedInputs | None) -> Request:
    """What a job is asked to do, with some of it changed; ImpossibleAsset for what cannot be made."""
    now = request_of(job).model_dump(mode="json")
    for part, value in (inputs.model_dump(exclude_none=True) if inputs is not None else {}).items():
        now[part] = {**now[part], **value} if isinstance(value, dict) else value
    try:
        request = Request.model_validate(now)
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False)[0]
        raise ImpossibleAsset(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    named = inputs.constraints if inputs is not None and inputs.constraints is not None else {}
    check_constraints(job.asset_type, request.constraints, named)
    return request


def rejected(request: Request, step: StepName, notes: str | None) -> Request:
    """A request after a run of a stage was rejected: the next run knows what was said, and comes out otherwise."""
    said = [*request.notes, notes][-_NOTES:] if notes else request.notes
    retakes = {**request.retakes, step.value: request.retakes.get(step.value, 0) + 1}
    return request.model_copy(update={"notes": said, "retakes": retakes})


def kept(request: Request) -> dict[str, Any]:
    """A request as it is kept with its job."""
    return request.model_dump(mode="json", exclude_none=True)
