"""The inbox, and who is to look at what."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from annotated_types import MaxLen
from fastapi import FastAPI, Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from penstock.auth.caller import caller_of
from penstock.errors import InvalidValue
from penstock.kernel.store import Counted
from penstock.operations.reads import Ref
from penstock.runtime.inbox import Inbox, InboxGroup
from penstock.runtime.inbox_sources import inbox_sources
from penstock.runtime.operated_system import OperatedSystem
from penstock.runtime.record_link import KindsByLabel, RecordLink, link_to
from penstock.schema.role import Role
from penstock.web.operating.operator_route import Cursor, Id, Limit, add_route, person_of
from penstock.work.assignment import LONGEST_NAME, LONGEST_NOTE, Assignment, assign, let_go
from penstock.work.working import WORKING


class InboxView(BaseModel):
    """What needs the caller; groups that have nothing are left out."""

    count: Counted
    groups: list[InboxGroup]


class AssignmentAbout(BaseModel):
    """A record, by its kind and key."""

    model_config = ConfigDict(extra="forbid")

    kind: Annotated[str, MaxLen(200), Field(description="Its kind, such as films.Film; of a job: work.Job.")]
    key: Annotated[dict[str, Annotated[str, MaxLen(2000)]], MaxLen(20), Field(description="Its key, as texts.")]


class NewAssignment(AssignmentAbout):
    """Who is to look at a record, and by when."""

    assignee: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
    due_at: AwareDatetime | None = None
    note: Annotated[str | None, MaxLen(LONGEST_NOTE)] = None


class AssignmentView(BaseModel):
    """Who is to look at a record, and by when; nobody in particular where `assignee` is null."""

    record: RecordLink
    assignee: str | None
    due_at: datetime | None = None
    note: str | None = None
    assigned_by: str | None = None


def add_inbox(app: FastAPI, system: OperatedSystem) -> None:
    """The routes of the inbox and of assignments."""
    inbox = Inbox(lambda: inbox_sources(system))
    known = KindsByLabel([*(e for i in system.installed for e in i.domain.entities), *WORKING.entities])

    def show(request: Request, limit: Limit = 5) -> InboxView:
        """What needs you: reviews, what domains put aside for people, and for administrators what could not be done.

        Each group is counted up to 100 and has its first items; `next` leads to more of them.
        """
        person = person_of(request)
        groups = list(inbox.groups(person, limit=limit))
        return InboxView(count=inbox.total(person, groups), groups=groups)

    def group(request: Request, key: Id, limit: Limit = 50, cursor: Cursor = None) -> InboxGroup:
        """One group of the inbox, and more of it."""
        return inbox.group(person_of(request), key, limit=limit, cursor=cursor)

    def give(request: Request, body: NewAssignment) -> AssignmentView:
        """Say who is to look at a record, and by when; whoever was to before is not any more."""
        ref = _ref(known, body)
        with caller_of(request).change(why=body.note) as change:
            record = change.store.get(ref)
            who = person_of(request).name
            made = assign(change, record, assignee=body.assignee, due_at=body.due_at, by=who, note=body.note)
            return change.answer(_view(ref, made))

    def end(request: Request, body: AssignmentAbout) -> AssignmentView:
        """Have nobody in particular look at a record."""
        ref = _ref(known, body)
        with caller_of(request).change() as change:
            change.store.get(ref)
            let_go(change, ref)
            return change.answer(AssignmentView(record=link_to(ref), assignee=None))

    more: dict[str, Any] = {"tag": "work"}
    add_route(app, "GET", "/api/work/inbox", show, role=Role.VIEWER, model=InboxView, name="work_inbox", **more)
    add_route(
        app,
        "GET",
        "/api/work/inbox/{key}",
        group,
        role=Role.VIEWER,
        model=InboxGroup,
        name="work_inbox_group",
        gives=(404,),
        **more,
    )
    more |= {"role": Role.EDITOR, "model": AssignmentView, "gives": (404,)}
    add_route(app, "POST", "/api/work/assignments", give, name="work_assign", **more)
    add_route(app, "POST", "/api/work/assignments/end", end, name="work_unassign", **more)


def _ref(known: KindsByLabel, about: AssignmentAbout) -> Ref[Any]:
    ref = known.ref(about.kind, about.key)
    if ref is None:
        raise InvalidValue(
            f"{about.kind[:100]!r} with this key names no record; give the kind and all parts of its key"
        )
    return ref


def _view(ref: Ref[Any], made: Assignment) -> AssignmentView:
    return AssignmentView(
        record=link_to(ref),
        assignee=made.assignee,
        due_at=made.due_at,
        note=made.note,
        assigned_by=made.assigned_by,
    )
