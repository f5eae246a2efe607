"""The kernel's own domain: every record it keeps, in one place."""

from __future__ import annotations

from penstock.audit import SystemAudit
from penstock.declare.domain import Domain
from penstock.lease import NamedLease
from penstock.once import SystemOnce
from penstock.outbox import SystemMessage

KERNEL = Domain("penstock", SystemMessage, SystemAudit, SystemOnce, NamedLease)
