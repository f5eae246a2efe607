"""The kernel's own domain: every record it keeps, in one place."""

from __future__ import annotations

from penstock.auth.api_keys import ApiKey
from penstock.auth.rate_limit import RateBucket
from penstock.declare.domain import Domain
from penstock.events.feed import FeedLetter, FeedPlace
from penstock.events.schedule import ScheduleState
from penstock.files.released_file import Released
from penstock.files.upload import Upload
from penstock.kernel.audit import SystemAudit
from penstock.kernel.idempotency import SystemOnce
from penstock.kernel.lease import NamedLease
from penstock.kernel.outbox import SystemMessage
from penstock.kernel.quota import QuotaHold, QuotaUse
from penstock.kernel.seals import AuditedProject, Checkpoint, Seal

KERNEL = Domain(
    "penstock",
    FeedPlace,
    FeedLetter,
    SystemMessage,
    SystemAudit,
    SystemOnce,
    NamedLease,
    Seal,
    AuditedProject,
    Checkpoint,
    ScheduleState,
    Upload,
    Released,
    ApiKey,
    RateBucket,
    QuotaUse,
    QuotaHold,
    moved_by_work=True,
)
