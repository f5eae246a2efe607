"""The bodies of requests, in the documents' field names."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Len, MaxLen, MinLen
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from penstock.domains.musicvideo.model import ProjectStatus
from penstock.domains.musicvideo.scene_lengths import LONGEST, SHORTEST
from penstock.domains.musicvideo.uploading import Sent

SceneSeconds = Annotated[float, Field(ge=SHORTEST, le=LONGEST, allow_inf_nan=False)]
Prompt = Annotated[str, Len(1, 5000)]


class RequestBody(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class GenerateRequest(RequestBody):
    scenes: Annotated[int, Field(ge=1, le=8)] | None = Field(
        None, description="How many; if not said, so many that the video fits its track."
    )
    seconds: SceneSeconds | None = Field(
        None, description="How long each is; if not said, the track is shared among them, with cuts on its beats."
    )


class ComposeRequest(RequestBody):
    stale_lips: bool = Field(False, description="Cut lips that are out of step with the track all the same.")


class ProjectChange(RequestBody):
    """What is to change; what is not said stays."""

    status: ProjectStatus | None = Field(None, description="Takes up again what failed or is finished.")
    concept_prompt: Prompt | None = None
    character_description: Prompt | None = None
    product_description: Annotated[str, MaxLen(5000)] | None = None
    director_config: Annotated[str, Len(1, 100)] | None = None


class NewScene(RequestBody):
    scene_concept: Annotated[str, Len(10, 1000)] = Field(examples=["The robot dances on a rooftop at night"])
    seconds: SceneSeconds | None = Field(None, description="How long it is; as configured if not said.")


class SceneChange(RequestBody):
    """What is to change; what is not said stays."""

    prompt: Prompt | None = None
    negative_prompt: Annotated[str, MaxLen(1000)] | None = None
    lyrics: Annotated[str, MaxLen(2000)] | None = None
    duration: SceneSeconds | None = Field(None, description="Seconds of the next clip; film it again to see that.")
    needs_lip_sync: bool | None = Field(None, description="Whether somebody sings in it.")


class NewOrder(RequestBody):
    scene_order: Annotated[list[Annotated[int, Ge(1)]], MinLen(1), MaxLen(999)]


class TrimPoints(RequestBody):
    start: float = Field(alias="in", ge=0, allow_inf_nan=False)
    stop: float = Field(alias="out", gt=0, allow_inf_nan=False)


class TrimRequest(RequestBody):
    trim_points: TrimPoints


class LipSyncRequest(RequestBody):
    lyrics: Annotated[str, MaxLen(2000)] | None = Field(None, description="What is sung; else the loudness tells.")


class NewUpload(RequestBody):
    kind: Sent
    sequence: Annotated[int, Field(ge=1, le=999)] | None = Field(None, description="Of the scene the file is for.")
    size: Annotated[int, Field(ge=1)]
    content_type: str = Field(examples=["video/mp4"])
    sha256: Annotated[str, Field(pattern="^[0-9a-fA-F]{64}$")] | None = None


class Sent256(RequestBody):
    sha256: Annotated[str, Field(pattern="^[0-9a-fA-F]{64}$")] | None = None


class NewCharacter(RequestBody):
    character_description: Prompt
    num_images: Annotated[int, Field(ge=1, le=4)] = 1
