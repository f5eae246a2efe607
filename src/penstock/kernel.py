"""The kernel's own domain: every record it keeps, in one place."""

from __future__ import annotations

from penstock.audit import SystemAudit
from penstock.declare.domain import Domain
from penstock.feed import FeedLetter, FeedPlace
from penstock.keys import ApiKey
from penstock.lease import NamedLease
from penstock.once import SystemOnce
from penstock.outbox import SystemMessage
from penstock.quota import QuotaHold, QuotaUse
from penstock.ratelimit import RateBucket
from penstock.released import Released
from penstock.schedule import ScheduleState
from penstock.seals import AuditedProject, Checkpoint, Seal
from penstock.upload import Upload

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
)
