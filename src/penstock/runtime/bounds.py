"""Bounds: how long each record stays that the system keeps for itself, and what bounds how many there are.

One line for each kind, here and nowhere else: `penstock doctor` shows them beside what is stored, the page on growth
lists them, and a simulated day ends within them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from penstock.auth.api_keys import ApiKey
from penstock.auth.browser_session import BrowserSession
from penstock.auth.guest_link import GuestLink
from penstock.auth.rate_limit import RateBucket
from penstock.declare.entity import Entity
from penstock.events.feed_records import FeedLetter, FeedPlace
from penstock.events.schedule import ScheduleState
from penstock.events.trimmed_log import LogMark
from penstock.files.released_file import Released
from penstock.files.sidecars import Sidecar
from penstock.files.upload import Upload
from penstock.kernel.audit import AuditLine, SystemAudit
from penstock.kernel.held_message import HeldMessage
from penstock.kernel.history_trace import HistoryTrace, UntracedPeriod
from penstock.kernel.idempotency import SystemOnce
from penstock.kernel.layouts.former_layout import FormerLayout
from penstock.kernel.layouts.knower import Knower
from penstock.kernel.layouts.migration_segment import MigrationSegment
from penstock.kernel.layouts.stored_layout import LayoutEdition, StoredLayout
from penstock.kernel.lease import NamedLease
from penstock.kernel.outbox import Message, SystemMessage
from penstock.kernel.quota import QuotaHold, QuotaUse
from penstock.kernel.seals import AuditedProject, Checkpoint, Seal
from penstock.kernel.uniqueness import UniqueValue
from penstock.review.note import Note, NoteNews, ReviewedRecord
from penstock.transfer.transfer_state import TransferState
from penstock.work.assignment import Assignment
from penstock.work.attempt_log import AttemptLog
from penstock.work.budget import ProjectBudget
from penstock.work.bulk_run import BulkRun
from penstock.work.job import ChildCount, ChildRun, PipelineJob, StepRun
from penstock.work.spending import ProjectSpending
from penstock.work.task import Progress, QueueHint, Task, TaskAttempt
from penstock.work.worker_presence import WorkerPresence


class Stays(StrEnum):
    """What becomes of records of a kind when nothing happens any more."""

    NONE = "none"
    "All of them end."
    UNSETTLED = "unsettled"
    "All end but those that wait for a person: they are told by doctor, metrics and `penstock dead-letters`."
    DECLARED = "declared"
    "One for each thing that somebody declared or made: they grow with those, and not with the traffic."
    EVIDENCE = "evidence"
    "They are what is to be shown later, and leave for the archive at most."


@dataclass(frozen=True, slots=True)
class Bound:
    """How long records of one kind stay, and how many there may be."""

    entity: type[Entity]
    kept: str
    stays: Stays = Stays.NONE
    longest: timedelta | None = None
    "From its last change to its end, of those that end."

    @property
    def label(self) -> str:
        return self.entity.__shape__.label


_DAY = timedelta(days=1)
_MONTH = 30 * _DAY

BOUNDS: tuple[Bound, ...] = (
    Bound(SystemMessage, "7 days after it was told; dead ones until settled", Stays.UNSETTLED, 7 * _DAY),
    Bound(HeldMessage, "until somebody has decided about the dead message before it", Stays.UNSETTLED),
    Bound(SystemOnce, "3 days for a feed's events, 1 day for answers to an Idempotency-Key", longest=3 * _DAY),
    Bound(
        SystemAudit,
        "for ever, or until moved to the archive (PENSTOCK_AUDIT_DAYS, penstock audit archive)",
        Stays.EVIDENCE,
    ),
    Bound(HistoryTrace, "as the audit line it leads to", Stays.EVIDENCE),
    Bound(UntracedPeriod, "until its lines are traced, half an hour later", Stays.DECLARED),
    Bound(Seal, "for ever; one for a project and an hour in which it had lines", Stays.EVIDENCE),
    Bound(Checkpoint, "for ever; one an hour if anything is new, and one for 90 trails", Stays.EVIDENCE),
    Bound(AuditedProject, "for ever; one for a project and a kind of line", Stays.DECLARED),
    Bound(NamedLease, "one for each duty; concurrency slots 30 days after their last use", Stays.DECLARED, _MONTH),
    Bound(UniqueValue, "as long as the record that has the value; one left behind until taken over", Stays.DECLARED),
    Bound(StoredLayout, "one for each entity", Stays.DECLARED),
    Bound(LayoutEdition, "one", Stays.DECLARED),
    Bound(FormerLayout, "one for each layout that an entity had, until its leftovers are dropped", Stays.DECLARED),
    Bound(Knower, "one for each process that writes, and 1 day longer if it did not say goodbye", Stays.DECLARED, _DAY),
    Bound(MigrationSegment, "until its migration is complete; some for each", Stays.DECLARED),
    Bound(QuotaUse, "1 day longer than its period, or than anything can be held on it", longest=8 * _DAY),
    Bound(QuotaHold, "until it is settled; 30 days after its time at the latest", longest=_MONTH),
    Bound(FeedPlace, "one for each feed", Stays.DECLARED),
    Bound(FeedLetter, "3 days after it was settled; others until settled", Stays.UNSETTLED, 3 * _DAY),
    Bound(LogMark, "3 days; one an hour", longest=3 * _DAY),
    Bound(TransferState, "one for an import, and one for a copy", Stays.DECLARED),
    Bound(ScheduleState, "one for each schedule", Stays.DECLARED),
    Bound(Upload, "7 days after it came, or was given up by the sweep", longest=7 * _DAY),
    Bound(Released, "30 days after its files went to the trash", longest=_MONTH),
    Bound(ApiKey, "for ever; revoked ones tell who had access", Stays.DECLARED),
    Bound(GuestLink, "90 days after it ended, or as the record it leads to", longest=180 * _DAY),
    Bound(Sidecar, "as the file it was made of, and a day longer", Stays.DECLARED),
    Bound(Note, "as the record it is on, and a day longer; 10,000 for each at most", Stays.DECLARED),
    Bound(ReviewedRecord, "as the record, and a day longer", Stays.DECLARED),
    Bound(NoteNews, "30 days; one for each record that has notes", longest=_MONTH),
    Bound(BrowserSession, "12 hours after its last use, and 7 days in all", longest=timedelta(hours=12)),
    Bound(RateBucket, "2 minutes after its last use", longest=timedelta(minutes=2)),
    Bound(Task, "30 days after it was done or cancelled; dead ones until settled", Stays.UNSETTLED, _MONTH),
    Bound(TaskAttempt, "30 days", longest=_MONTH),
    Bound(AttemptLog, "1 day after it was last told", longest=_DAY),
    Bound(Assignment, "90 days after it was made, or was due", longest=90 * _DAY),
    Bound(BulkRun, "30 days after it was asked for", longest=_MONTH),
    Bound(WorkerPresence, "1 hour after the worker was last heard of", longest=timedelta(hours=1)),
    Bound(ProjectBudget, "until it is removed; one for a project", Stays.DECLARED),
    Bound(ProjectSpending, "400 days after its last use; one for a project and a month", longest=400 * _DAY),
    Bound(QueueHint, "30 days after its queue has come to rest", longest=_MONTH),
    Bound(Progress, "30 days after it was last told", longest=_MONTH),
    Bound(
        PipelineJob,
        "30 days after it was done or cancelled, unless its steps hold files; failed ones until settled",
        Stays.UNSETTLED,
    ),
    Bound(StepRun, "as its job", Stays.UNSETTLED),
    Bound(ChildRun, "as its job", Stays.UNSETTLED),
    Bound(ChildCount, "as its job", Stays.UNSETTLED),
)


def bound_of(entity: type[Entity]) -> Bound:
    """The bound of a record of the system's, or of a domain's own kind of message or audit line."""
    known = next((b for b in BOUNDS if b.entity is entity), None)
    if known is not None:
        return known
    like = SystemMessage if issubclass(entity, Message) else SystemAudit if issubclass(entity, AuditLine) else None
    if like is None:
        raise KeyError(f"{entity.__name__} has no bound")
    of_kind = bound_of(like)
    return Bound(entity, of_kind.kept, of_kind.stays, of_kind.longest)
