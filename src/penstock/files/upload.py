"""An upload: the permission to bring a file, until it has come or its time is over."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.lifetime import Expires
from penstock.declare.move import move
from penstock.declare.pattern import pattern
from penstock.declare.units import Count, EpochSeconds, UtcSeconds
from penstock.kernel.system import BY_STATUS, SYSTEM
from penstock.operations.reads import ANYTHING, Range
from penstock.schema.documents import kept
from penstock.schema.file_pattern import UPLOADS
from penstock.schema.object_key import ObjectKey
from penstock.schema.shape import Rights

LONGEST_ERROR = 2000
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class UploadStatus(StrEnum):
    OPEN = "open"
    ARRIVED = "arrived"
    DONE = "done"
    REFUSED = "refused"
    ABANDONED = "abandoned"


UNSETTLED = (UploadStatus.OPEN, UploadStatus.ARRIVED)
"While an upload is one of these, its bytes wait, and its target is kept for it."


class Upload(Entity, table=SYSTEM, relation="uploads", lifetimes=(Expires("ttl"),)):
    """A file that is to come: where it will lie, how large it is and what. Its bytes wait apart until it is verified.

    It stays visible after its end, so that the sweep finds what it left behind; only then does it get a ttl.
    """

    __moved_by_work__ = True
    __rights__ = Rights(remove=False)

    upload_id: str
    project_id: str | None = None
    target: ObjectKey = Field(frozen=True)
    "Where the file is to lie in the end."
    subject: str = Field(frozen=True)
    "The record that is to point at it, for people."
    size: Count = Field(frozen=True)
    content_type: str = Field(frozen=True)
    sha256: Sha256 | None = None
    parts_id: str | None = None
    "The object store's name for an upload in parts; None when the file is sent at once."
    part_size: Annotated[int, Field(ge=1)] | None = None
    status: UploadStatus = UploadStatus.OPEN
    error: str | None = None
    "Why it was refused."
    created_at: UtcSeconds = Field(frozen=True)
    expires_at: UtcSeconds = Field(frozen=True)
    ttl: EpochSeconds | None = None

    @key("UPLOAD#{upload_id}", "UPLOAD")
    def at(self, *, upload_id: str) -> None: ...

    in_status = IndexKey(BY_STATUS, "UPLOAD_STATUS#{status}", "{expires_at}")

    @pattern(in_status)
    def by_status(self, *, status: UploadStatus, expires_at: Range[datetime] = ANYTHING) -> None:
        """Uploads in a state, the one that ends first at the beginning; those that are over for a week."""

    @move(UploadStatus.OPEN, to=UploadStatus.ARRIVED)
    def arrive(self, *, sha256: str) -> None:
        """All of it is there, as whoever sent it says; somebody looks at it."""
        self.sha256 = sha256

    @move(*UNSETTLED, to=UploadStatus.DONE)
    def finish(self, *, sha256: str, forget_at: datetime) -> None:
        """The file is verified and lies where it should."""
        self.sha256, self.ttl = sha256, int(forget_at.timestamp())

    @move(*UNSETTLED, to=UploadStatus.REFUSED)
    def refuse(self, *, error: str, forget_at: datetime) -> None:
        """What came cannot be used, for which reason; it goes."""
        self.error, self.ttl = kept(error, LONGEST_ERROR), int(forget_at.timestamp())

    @move(*UNSETTLED, to=UploadStatus.ABANDONED)
    def abandon(self, *, forget_at: datetime) -> None:
        """It did not come; what came of it is gone."""
        self.ttl = int(forget_at.timestamp())

    @property
    def staging(self) -> str:
        """Where the bytes wait."""
        return f"{UPLOADS}{self.upload_id}"
