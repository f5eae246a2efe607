"""The bodies of requests."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self

from annotated_types import Len, MaxLen
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from penstock.declare.units import Count
from penstock.domains.videos.model import EPHEMERAL
from penstock.domains.videos.moments import Moment
from penstock.domains.videos.submissions import LONGEST_NAME
from penstock.domains.videos.tagging import MOST_TAGS
from penstock.domains.videos.video_words import EDITABLE, LONGEST_CATEGORY, LONGEST_TITLE, spoken
from penstock.domains.videos.view_counting import LONGEST_REQUEST_ID, PRINTED

Spoken = AfterValidator(spoken)
UserId = Annotated[str, Len(1, 200), Spoken]
Title = Annotated[str, Len(1, LONGEST_TITLE), Spoken]
Category = Annotated[str, Len(1, LONGEST_CATEGORY), Spoken]
TagList = Annotated[list[str], MaxLen(MOST_TAGS)]
Lasts = Annotated[int, Field(ge=1, le=10**10)]
RequestId = Annotated[str, Len(1, LONGEST_REQUEST_ID), Field(pattern=PRINTED)]
Digest = Annotated[str, Field(pattern="^[0-9a-fA-F]{64}$")]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SubmitVideo(_Body):
    """What is said of a video, and the file that will be sent."""

    user_id: UserId
    title: Title
    category: Category | None = None
    tags: TagList = Field([], examples=[["product", "demo"]])
    lasts: Lasts | None = Field(None, description="Seconds until it ends by itself; it stays if none are said.")
    file_name: Annotated[str, Len(1, LONGEST_NAME)] = "video"
    size: Annotated[int, Field(ge=1, description="Bytes of the file.")]
    content_type: Annotated[str, Len(1, 200)] = Field("application/octet-stream", examples=["video/mp4"])
    sha256: Digest | None = Field(None, description="Of the file; say it here, or when it is complete.")


class FileSent(_Body):
    """That a file is there."""

    sha256: Digest | None = None


class EditVideo(_Body):
    """What is to change; what is not said stays. An empty list takes the tags away, and null the category."""

    version: Count = Field(description="The version that the edit is of, as the video was read.")
    # Left out it stays, and there is no value that says so.
    title: Title = Field(default_factory=str)
    category: Category | None = Field(None, description="null takes it away.")
    tags: TagList | None = Field(None, description="All of them; an empty list or null takes them away.")

    @property
    def changes(self) -> dict[str, Any]:
        """What was said, and nothing else."""
        return {name: getattr(self, name) for name in self.model_fields_set & EDITABLE}


class SeenVideo(_Body):
    """That somebody has seen a video."""

    request_id: RequestId | None = Field(
        None,
        description="One of its own for each view: what comes again under it is counted once. "
        "Without it, and without an Idempotency-Key, each request counts.",
        examples=["3f6c…"],
    )


class CorrectViews(_Body):
    """How often a video was seen in truth."""

    view_count: Count
    why: Annotated[str, Len(1, 500), Spoken] = Field(description="For the audit trail.")


class SetEnd(_Body):
    """When a video ends: at a moment, or after some seconds; a day from now if nothing is said, never if null is."""

    expiry_time: Annotated[
        Moment | None, Field(description="The second since 1970 at which it ends; null: it stays.")
    ] = None
    after: Annotated[Lasts, Field(description="Seconds from now until it ends.")] = int(EPHEMERAL.total_seconds())

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if len(self.model_fields_set) > 1:
            raise ValueError("say expiry_time or after, not both")
        return self

    def moment(self, now: datetime) -> int | None:
        """The second since 1970 that was meant; None for a video that stays."""
        return self.expiry_time if "expiry_time" in self.model_fields_set else int(now.timestamp()) + self.after
