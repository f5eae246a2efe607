"""The bodies of requests."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Len, MaxLen
from pydantic import BaseModel, ConfigDict, Field

from penstock.declare.units import Count, EpochSeconds
from penstock.domains.videos.model import EPHEMERAL
from penstock.domains.videos.submissions import LONGEST_NAME, LONGEST_TITLE
from penstock.domains.videos.tagging import MOST_TAGS
from penstock.domains.videos.view_counting import LONGEST_REQUEST_ID, PRINTED

UserId = Annotated[str, Len(1, 200)]
Title = Annotated[str, Len(1, LONGEST_TITLE)]
LONGEST_CATEGORY = 100
Category = Annotated[str, Len(1, LONGEST_CATEGORY)]
TagList = Annotated[list[str], MaxLen(MOST_TAGS)]
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
    lasts: Annotated[int, Field(ge=1, le=10**10)] | None = Field(
        None, description="Seconds until it ends by itself; it stays if none are said."
    )
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
    title: Title | None = None
    category: Category | None = None
    tags: TagList | None = None


class SeenVideo(_Body):
    """That somebody has seen a video."""

    request_id: RequestId | None = Field(
        None, description="One of its own for each view: what comes again under it is counted once.", examples=["3f6c…"]
    )


class CorrectViews(_Body):
    """How often a video was seen in truth."""

    view_count: Count
    why: Annotated[str, Len(1, 500)] = Field(description="For the audit trail.")


class SetEnd(_Body):
    """When a video ends: at a moment, or after some seconds; a day from now if nothing is said."""

    expiry_time: EpochSeconds | None = None
    after: Annotated[int, Field(ge=1, le=10**10)] = int(EPHEMERAL.total_seconds())
