"""The audit trail: one line a change, only ever added, each with a hash of what it says."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Any

from pydantic import Field

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.pattern import pattern
from penstock.declare.units import UtcMicros
from penstock.kinds import instant_text
from penstock.ops import ANYTHING, Range
from penstock.system import SYSTEM

EVERYWHERE = "-"
"The project of what belongs to none."


class AuditLine(Entity):
    """Who did what, when and why. Lines are only added."""

    project_id: str
    ts: UtcMicros
    actor: str
    action: str
    details: dict[str, Any] = Field(default_factory=dict)
    hash: str | None = None

    def sealed(self) -> str:
        """The hash of everything the line says."""
        said = [self.project_id, instant_text(self.ts, 6), self.actor, self.action, self.details]
        return hashlib.sha256(json.dumps(said, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class SystemAudit(AuditLine, table=SYSTEM, relation="audit"):
    """The kernel's own, for domains that do not document theirs."""

    @key("PROJECT#{project_id}", "AUDIT#{ts}#{actor}")
    def at(self, *, project_id: str, ts: datetime, actor: str) -> None: ...

    @pattern(at)
    def of_project(self, *, project_id: str, ts: Range[datetime] = ANYTHING) -> None:
        """What happened in a project, in order."""
