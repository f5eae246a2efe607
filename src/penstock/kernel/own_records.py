"""The kernel's own domain: every record that the kernel itself keeps."""

from __future__ import annotations

from penstock.declare.domain import Domain
from penstock.kernel.audit import SystemAudit
from penstock.kernel.held_message import HeldMessage
from penstock.kernel.history_trace import HistoryTrace, UntracedPeriod
from penstock.kernel.idempotency import SystemOnce
from penstock.kernel.layouts.former_layout import FormerLayout
from penstock.kernel.layouts.knower import Knower
from penstock.kernel.layouts.migration_segment import MigrationSegment
from penstock.kernel.layouts.stored_layout import LayoutEdition, StoredLayout
from penstock.kernel.lease import NamedLease
from penstock.kernel.outbox import SystemMessage
from penstock.kernel.quota import QuotaHold, QuotaUse
from penstock.kernel.seals import AuditedProject, Checkpoint, Seal
from penstock.kernel.uniqueness import UniqueValue

KERNEL = Domain(
    "penstock",
    SystemMessage,
    HeldMessage,
    SystemAudit,
    HistoryTrace,
    UntracedPeriod,
    SystemOnce,
    NamedLease,
    Seal,
    AuditedProject,
    Checkpoint,
    QuotaUse,
    QuotaHold,
    UniqueValue,
    StoredLayout,
    LayoutEdition,
    FormerLayout,
    Knower,
    MigrationSegment,
    moved_by_work=True,
)
