"""What is asked of reviews, and how they are answered."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from penstock.auth.guest_link import LONGEST_HOURS, LONGEST_NAME, LinkRight, LinkStatus
from penstock.kernel.store import Counted
from penstock.review.note import NoteStatus
from penstock.review.noting import LONGEST_TEXT
from penstock.review.pin import Pin
from penstock.review.reviewable import ChoiceKind, ReasonNeed
from penstock.review.viewer import Viewer

_NEXT = "Ask with this `cursor` for the next ones."
NoteText = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT, description="Plain text.")]
FileName = Annotated[str, Field(max_length=200, description="One of the item's files, by its name.")]
Edition = Annotated[str, Field(max_length=64, description="Which bytes of the file were looked at, as the item says.")]
NoteVersion = Annotated[int, Field(ge=1, le=2**31, description="The version that was read; another is refused.")]
Reason = Annotated[str, Field(max_length=LONGEST_TEXT)]
GuestName = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, description="Who the guest is.")]


class NoteOrder(StrEnum):
    NEWEST = "newest"
    OLDEST = "oldest"
    POSITION = "position"


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class WriteNote(_Body):
    """What somebody has to say, and where."""

    text: NoteText
    pin: Pin | None = None
    file: FileName | None = None
    edition: Edition | None = None


class WriteReply(_Body):
    """What somebody adds to a thread."""

    text: NoteText


class EditNote(_Body):
    """What a note is to say instead."""

    version: NoteVersion
    text: NoteText
    thread_id: Annotated[str, Field(max_length=64)] | None = Field(None, description="Of a reply.")


class MoveNote(_Body):
    """Which version of a note is resolved or opened again."""

    version: NoteVersion


class MakeDecision(_Body):
    """A decision about what somebody has seen."""

    decision: ChoiceKind
    mark: Annotated[str, Field(max_length=64)] = Field(description="That of the item: what the decision is about.")
    reason: Reason | None = None


class MakeLink(_Body):
    """A link for a guest to one record."""

    label: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)] = Field(description="For whom it is.")
    rights: list[LinkRight] = Field(default_factory=list, max_length=2, description="Besides looking.")
    hours: Annotated[int, Field(ge=1, le=LONGEST_HOURS)] = Field(72, description="How long it lasts.")


class GuestNote(_Body):
    """What a guest has to say."""

    name: GuestName
    text: NoteText
    pin: Pin | None = None
    file: FileName | None = None
    edition: Edition | None = None


class GuestReply(_Body):
    """What a guest adds to a thread."""

    name: GuestName
    text: NoteText


class GuestDecision(_Body):
    """What a guest decides."""

    name: GuestName
    decision: ChoiceKind
    mark: Annotated[str, Field(max_length=64)]
    reason: Reason | None = None


# Answers


class ReplyView(BaseModel):
    """A reply."""

    note_id: str
    thread_id: str
    author: str
    guest: bool
    mine: bool = Field(description="Whoever asks has written it, and may edit it.")
    text: str
    version: int
    created_at: datetime
    edited_at: datetime | None


class NoteView(ReplyView):
    """A note that begins a thread."""

    file: str | None
    edition: str | None
    pin: Pin | None
    status: NoteStatus
    resolved_at: datetime | None
    resolved_by: str | None
    deleted: bool = Field(description="It has no text any more, and stands here for its replies.")
    replies: int
    first_replies: list[ReplyView] = Field(description="The first 20; the others are at `…/replies`.")


class NotePage(BaseModel):
    """Threads of a record."""

    items: list[NoteView]
    next: str | None = Field(description=_NEXT)
    topic: str | None = Field(description="Under which the news of this record are told at /api/review/events.")
    notes: int
    open_threads: int


class ReplyPage(BaseModel):
    items: list[ReplyView]
    next: str | None = Field(description=_NEXT)


class FilmView(BaseModel):
    """What a player needs to step through a film."""

    frame_rate: float
    frames: int
    duration_ms: int
    width: int
    height: int
    variable_rate: bool


class ReviewFileView(BaseModel):
    """A file of an item."""

    file: str
    title: str
    viewer: Viewer
    there: bool = Field(description="False: nothing lies where the record says.")
    content_type: str | None
    size: int | None
    edition: str | None = Field(description="Tells these bytes from others that take their place.")
    url: str | None = Field(description="Signed just now.")
    poster_url: str | None
    stream: str | None = Field(description="The path, on this service, of a playlist that opens by itself.")
    film: FilmView | None = Field(description="If it is known already; else ask at `…/film`.")
    urls_expire_at: datetime | None


class ChoiceView(BaseModel):
    """A decision that whoever asks may make now."""

    decision: ChoiceKind
    title: str
    reason: ReasonNeed
    reason_field: str | None = Field(description="What the route's body calls the reason.")
    method: str
    path: str
    body: dict[str, Any] | None


class VersionInStack(BaseModel):
    """A version of the same."""

    record: str
    title: str
    states: dict[str, str]
    shown: bool = Field(description="It is the one that this item shows.")
    made_at: datetime | None = Field(default=None, description="When it was made, as far as the record itself says it.")


class ReviewItemView(BaseModel):
    """All that somebody needs who looks at a record and decides about it."""

    record: str | None
    topic: str | None
    domain: str
    entity: str
    title: str
    states: dict[str, str]
    mark: str = Field(description="Changes with a file or a state; a decision names it.")
    files: list[ReviewFileView]
    decisions: list[ChoiceView]
    may_comment: bool
    notes: int
    open_threads: int
    versions: list[VersionInStack]
    more_versions: bool
    previous: str | None = Field(description="The path of the record before it in the queue.")
    next: str | None


class WaitingRecord(BaseModel):
    """A record that waits for a decision."""

    record: str
    title: str
    states: dict[str, str]


class WaitingGroup(BaseModel):
    """Records of one kind that wait in one state."""

    key: str
    domain: str
    collection: str
    entity: str
    state: str
    count: Counted
    items: list[WaitingRecord]
    next: str | None = Field(description=_NEXT)


class WaitingGroups(BaseModel):
    """All that waits for a decision which whoever asks may make; groups that have nothing are left out."""

    items: list[WaitingGroup]


class WaveformLevelView(BaseModel):
    samples: int = Field(description="In each bucket.")
    peaks: str = Field(description="Base64 of signed bytes: lowest and highest of each bucket, -127 to 127.")


class WaveformView(BaseModel):
    """How loud a sound is, at a few zooms, the finest first."""

    sample_rate: int
    samples: int
    channels: int
    duration_ms: int
    levels: list[WaveformLevelView]


class AxisView(BaseModel):
    label: str
    unit: str
    scale: str
    inverted: bool


class CurveView(BaseModel):
    name: str
    x: list[float | None]
    y: list[float | None]
    error: list[float | None] | None
    limit: list[bool] | None
    unit: str
    total: int = Field(description="Points before they were thinned; the extremes are kept.")


class PlotView(BaseModel):
    """Curves on common axes."""

    kind: str
    title: str
    x: AxisView
    y: AxisView
    series: list[CurveView]
    assumptions: list[str]


class GuestLinkView(BaseModel):
    """A link, without its token."""

    link_id: str
    label: str
    rights: list[LinkRight]
    status: LinkStatus
    works: bool = Field(description="It was neither revoked nor has it ended.")
    created_at: datetime
    created_by: str
    expires_at: datetime
    revoked_at: datetime | None
    visits: int = Field(description="Counted once in ten minutes.")
    last_visit_at: datetime | None


class NewLinkView(GuestLinkView):
    """A link just made."""

    path: str | None = Field(description="Where it leads, on this service: shown once, and never again.")


class LinkPage(BaseModel):
    items: list[GuestLinkView]
    next: str | None = Field(description=_NEXT)
