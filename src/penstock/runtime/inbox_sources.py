"""What a running system puts into inboxes: assignments, reviews, what domains say, and what operators look after."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import Enum
from operator import attrgetter
from typing import Any

from penstock.declare.entity import Entity
from penstock.declare.pattern import until
from penstock.events.feed_records import FeedLetter, LetterStatus
from penstock.files.upload import Upload, UploadStatus
from penstock.kernel.held_message import HeldMessage
from penstock.kernel.outbox import MessageStatus
from penstock.operations.reads import Query, Ref
from penstock.plugin import DomainPlugin, NeedsYou
from penstock.runtime.budget_standings import near_end
from penstock.runtime.inbox import COUNTED, InboxItem, InboxSource, Person
from penstock.runtime.job_titles import job_titles
from penstock.runtime.operated_system import OperatedSystem
from penstock.runtime.quota_standings import near_limit
from penstock.runtime.record_link import KindsByLabel, RecordLink, link_to
from penstock.runtime.record_titles import RecordTitles
from penstock.schema.role import Role
from penstock.work.assignment import Assignment
from penstock.work.job import JobStatus, PipelineJob
from penstock.work.review_duty import ReviewAssignee, review_duties
from penstock.work.task import NO_PROJECT, Task, TaskStatus
from penstock.work.waiting_reason import step_of
from penstock.work.working import WORKING

ENDING_SOON = timedelta(hours=1)
"An upload that ends within this time, and is not there yet, is worth a look."
_WHY = re.compile("error|reason")
_SHORT, _FEW = 200, 8
"Texts of so many characters, and so many fields of a record, are shown in an inbox."


def inbox_sources(system: OperatedSystem) -> list[InboxSource]:
    """Every group that there can be, the most pressing first."""
    known = KindsByLabel([*(e for i in system.installed for e in i.domain.entities), *WORKING.entities])
    titles = system.titles
    return [
        _assigned(known, titles),
        _reviews(system),
        *(_of_domain(i, n, hint, titles) for i in system.installed for n, hint in enumerate(i.needs_you)),
        *(_tasks(*each) for each in _TASK_GROUPS),
        _dead_messages(system),
        _held_messages(system),
        _LETTERS,
        _ENDING,
        near_limit(system),
        near_end(),
    ]


# What is somebody's own


def _assigned(known: KindsByLabel, titles: RecordTitles) -> InboxSource:
    def standing(person: Person, found: Sequence[Assignment]) -> list[tuple[Assignment, Entity]]:
        """Those that are still about their records as these are now."""
        named = [(a, known.ref(a.kind, a.record)) for a in found]
        asked = [(a, ref) for a, ref in named if ref is not None]
        records = person.store.get_many([ref for _, ref in asked]) if asked else []
        return [(a, r) for (a, _), r in zip(asked, records, strict=True) if r is not None and a.stands_for(r)]

    def tell(person: Person, found: Sequence[Assignment]) -> list[InboxItem]:
        return [_assignment(a, person, record, titles) for a, record in standing(person, found)]

    def about(person: Person) -> list[Entity]:
        mine = person.store.page(Assignment.of_assignee(assignee=person.name), limit=COUNTED)
        return [record for _, record in standing(person, mine.records)]

    return InboxSource(
        "assigned",
        "Assigned to you",
        "Somebody has asked you to look at these.",
        Role.VIEWER,
        lambda person, now: [Assignment.of_assignee(assignee=person.name)],
        tell,
        order=attrgetter("due"),
        about=about,
        dated=lambda person, found: [(a.due_at, a) for a, _ in standing(person, found)],
    )


def _assignment(assignment: Assignment, person: Person, record: Entity, titles: RecordTitles) -> InboxItem:
    ref: Ref[Any] = record.ref
    called = _title(record) if isinstance(record, PipelineJob) else titles.title(record)
    return InboxItem(
        title=called or repr(ref),
        since=assignment.assigned_at,
        record=link_to(ref),
        job_id=assignment.record.get("job_id") if ref.shape is PipelineJob.__shape__ else None,
        project=_project(assignment.project_id),
        assignee=assignment.assignee,
        due_at=assignment.due_at,
        overdue=_is_over(assignment.due_at, person),
        detail=assignment.note,
    )


# Reviews


def _reviews(system: OperatedSystem) -> InboxSource:
    def queries(person: Person, now: datetime) -> list[Query[Any]]:
        if person.project is not None:
            return [PipelineJob.of_project(project_id=person.project, status=JobStatus.PAUSED)]
        return [PipelineJob.by_status(status=JobStatus.PAUSED)]

    def tell(person: Person, jobs: Sequence[PipelineJob]) -> list[InboxItem]:
        duties = review_duties(person.store, system.pipelines, jobs)
        about = job_titles(system, person.store, jobs, person.role)
        return [_review(system, person, job, duties[job.job_id], about.get(job.job_id)) for job in jobs]

    def dated(person: Person, jobs: Sequence[PipelineJob]) -> list[tuple[datetime | None, PipelineJob]]:
        duties = review_duties(person.store, system.pipelines, jobs)
        return [(duties[job.job_id].due_at, job) for job in jobs]

    why = "What a step has made waits for somebody to approve or reject it."
    order = attrgetter("updated_at")
    return InboxSource("reviews", "Reviews", why, Role.EDITOR, queries, tell, order=order, dated=dated)


def _review(
    system: OperatedSystem, person: Person, job: PipelineJob, duty: ReviewAssignee, about: str | None
) -> InboxItem:
    pipeline = system.pipelines.get(job.pipeline)
    own = None if pipeline is None or job.record is None else pipeline.records.job_ref(job)
    return InboxItem(
        title=_title(job, about),
        since=job.updated_at,
        record=None if own is None else link_to(own),
        look_at=None
        if pipeline is None or not pipeline.records.has_own_step
        else link_to(pipeline.records.step_ref(job)),
        job_id=job.job_id,
        project=_project(job.project_id),
        assignee=duty.assignee,
        due_at=duty.due_at,
        overdue=_is_over(duty.due_at, person),
        detail=duty.note,
        fields={"pipeline": job.pipeline, "step": step_of(job), "round": job.round},
    )


def _title(job: PipelineJob, about: str | None = None) -> str:
    return f"{about or job.pipeline}: {step_of(job)}, run {job.round}"


# What domains say


def _of_domain(plugin: DomainPlugin, number: int, hint: NeedsYou, titles: RecordTitles) -> InboxSource:
    name = plugin.domain.name

    def tell(person: Person, records: Sequence[Entity]) -> list[InboxItem]:
        shown = [r for r in records if r.__shape__.is_shown_to(person.role)]
        return [replace(_record(r, person, titles), look_at=looked_at(person, r)) for r in shown]

    def looked_at(person: Person, record: Entity) -> RecordLink | None:
        found = None if hint.look_at is None else hint.look_at(person.store, record)
        return None if found is None else link_to(found)

    return InboxSource(
        f"{name}.{number}",
        hint.title,
        hint.why,
        hint.least,
        lambda person, now: [hint.asked(now, person.project)],
        tell,
        domain=name,
    )


def _record(record: Entity, person: Person, titles: RecordTitles) -> InboxItem:
    shape = record.__shape__
    fields = _short(record, shape.hidden_from(person.role))
    project = None if shape.project is None else getattr(record, shape.project.name)
    return InboxItem(
        title=titles.called(record),
        since=next((v for v in record.__dict__.values() if isinstance(v, datetime)), None),
        record=link_to(record.ref),
        project=None if project is None else str(project),
        assignee=fields.get("assignee"),
        fields=fields,
    )


def _short(record: Entity, hidden: frozenset[str]) -> dict[str, Any]:
    """What is short among a record's fields."""
    told: dict[str, Any] = {}
    for name, value in record.__dict__.items():
        plain = value.value if isinstance(value, Enum) else value
        if name not in hidden and isinstance(plain, str | int | float | bool) and len(str(plain)) <= _SHORT:
            told[name] = plain
    # What went wrong is why somebody is asked.
    first = sorted(told, key=lambda name: not _WHY.search(name))
    return {name: told[name] for name in first[:_FEW]}


# What operators look after

_TASK_GROUPS = (
    (
        "quarantined_tasks",
        "Tasks in quarantine",
        "Look at each, then have it tried again or give it up.",
        "quarantined",
    ),
    (
        "dead_tasks",
        "Dead letters: tasks",
        "They have failed for good: have them tried again, or give them up.",
        "failed",
    ),
)


def _tasks(key: str, title: str, why: str, state: str) -> InboxSource:
    status = TaskStatus(state)

    def queries(person: Person, now: datetime) -> list[Query[Any]]:
        if person.project is not None:
            return [Task.of_project(project_id=person.project, status=status)]
        return [Task.by_status(status=status)]

    def tell(person: Person, tasks: Sequence[Task]) -> list[InboxItem]:
        return [
            InboxItem(
                title=task.name,
                since=task.due_at,
                record=link_to(task.ref),
                task_id=task.task_id,
                project=_project(task.project_id),
                detail=task.error,
                fields={"error_class": task.error_class, "attempts": task.attempts},
            )
            for task in tasks
        ]

    return InboxSource(key, title, why, Role.ADMIN, queries, tell)


def _dead_messages(system: OperatedSystem) -> InboxSource:
    def queries(person: Person, now: datetime) -> list[Query[Any]]:
        kinds: list[Any] = list(system.outboxes)
        return [kind.by_status(status=MessageStatus.DEAD) for kind in kinds]

    def tell(person: Person, messages: Sequence[Any]) -> list[InboxItem]:
        return [
            InboxItem(m.type, m.ts, link_to(m.ref), project=m.project_id, detail=m.error, fields={"id": m.event_id})
            for m in messages
        ]

    why = "They could not be told to others, and hold back later ones: replay or dismiss them."
    title = "Dead letters: messages"
    return InboxSource("dead_messages", title, why, Role.ADMIN, queries, tell, order=lambda m: m.ts)


def _held_messages(system: OperatedSystem) -> InboxSource:
    def tell(person: Person, held: Sequence[HeldMessage]) -> list[InboxItem]:
        return [InboxItem(h.aggregate, h.ts, project=h.project_id, fields={"id": h.event_id}) for h in held]

    def queries(person: Person, now: datetime) -> list[Query[Any]]:
        return [HeldMessage.of_outbox(outbox=outbox.__shape__.label) for outbox in system.outboxes]

    why = "They go on once somebody has decided about the dead message before them."
    return InboxSource("held_messages", "Held messages", why, Role.ADMIN, queries, tell)


def _letters(person: Person, letters: Sequence[FeedLetter]) -> list[InboxItem]:
    return [InboxItem(f"{x.handler}: {x.kind} of {x.entity}", x.ts, link_to(x.ref), detail=x.error) for x in letters]


def _uploads(person: Person, uploads: Sequence[Upload]) -> list[InboxItem]:
    return [
        InboxItem(
            title=u.subject,
            since=u.created_at,
            record=link_to(u.ref),
            project=u.project_id,
            due_at=u.expires_at,
            overdue=_is_over(u.expires_at, person),
            fields={"target": u.target, "bytes": u.size},
        )
        for u in uploads
    ]


_LETTERS = InboxSource(
    "feed_letters",
    "Changes that could not be dealt with",
    "A handler has failed for each: replay them once it is mended.",
    Role.ADMIN,
    lambda person, now: [FeedLetter.by_status(status=LetterStatus.DEAD)],
    _letters,
    order=lambda letter: letter.ts,
    whole=True,
)
_ENDING = InboxSource(
    "expiring",
    "About to expire",
    "These uploads are not finished, and end within the hour.",
    Role.EDITOR,
    lambda person, now: [Upload.by_status(status=UploadStatus.OPEN, expires_at=until(now + ENDING_SOON))],
    _uploads,
    order=lambda upload: upload.expires_at,
)


def _is_over(moment: datetime | None, person: Person) -> bool:
    return moment is not None and moment <= person.store.clock.now()


def _project(project_id: str) -> str | None:
    return None if project_id == NO_PROJECT else project_id
