"""Every record that a running system keeps for itself, beside its domains': the kernel's, and those of the rooms above.

The kernel knows none of the others, so a store is given them all; `open_store` does so.
"""

from __future__ import annotations

from penstock.auth.api_keys import ApiKey
from penstock.auth.browser_session import BrowserSession
from penstock.auth.guest_link import GuestLink
from penstock.auth.rate_limit import RateBucket
from penstock.declare.domain import Domain
from penstock.events.feed_records import FeedLetter, FeedPlace
from penstock.events.schedule import ScheduleState
from penstock.events.trimmed_log import LogMark
from penstock.files.released_file import Released
from penstock.files.sidecars import Sidecar
from penstock.files.upload import Upload
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
from penstock.kernel.own_records import KERNEL
from penstock.kernel.quota import QuotaHold, QuotaUse
from penstock.kernel.seals import AuditedProject, Checkpoint, Seal
from penstock.kernel.uniqueness import UniqueValue
from penstock.review.note import REVIEW_RECORDS
from penstock.transfer.transfer_state import TransferState

SYSTEM_RECORDS = Domain(
    KERNEL.name,  # one schema for all: no room has tables of its own
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
    HistoryTrace,
    UntracedPeriod,
    HeldMessage,
    UniqueValue,
    StoredLayout,
    LayoutEdition,
    FormerLayout,
    Knower,
    MigrationSegment,
    LogMark,
    GuestLink,
    Sidecar,
    TransferState,
    *REVIEW_RECORDS,
    BrowserSession,
)
