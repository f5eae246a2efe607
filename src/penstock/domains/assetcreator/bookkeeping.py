"""What is kept of every change beside the records themselves: who is told, what ran once, who did what."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from penstock.declare import ANYTHING, SYSTEM, Expires, IndexKey, Range, UtcMicros, attribute, key, pattern
from penstock.domains.assetcreator.asset_table import GSI1, TABLE, Numbered
from penstock.domains.assetcreator.stages import StepName
from penstock.kernel.audit import AuditLine
from penstock.kernel.idempotency import Once
from penstock.kernel.outbox import Message, MessageStatus


class Outbox(
    Message,
    table=TABLE,
    relation="outbox",
    collection="messages",
    sql_indexes=(("status",),),
    lifetimes=(Expires("ttl"),),
    created_by=SYSTEM,
):
    """An event that became true with its data and is told to others later. It is found only until it is told."""

    event_id: str = attribute(column="id", in_key_only=True)
    project_id: str
    job_id: str | None = None
    payload: dict[str, Any] = attribute(column="payload_json")
    ts: UtcMicros = attribute(column="created_at", frozen=True)

    @key("OUTBOX#{event_id}", "OUTBOX#{event_id}")
    def at(self, *, event_id: str) -> None: ...

    until_told = IndexKey(
        GSI1, "OUTBOX_STATUS#{status}", "{ts}", when={"status": (MessageStatus.PENDING, MessageStatus.DEAD)}
    )

    @pattern(until_told)
    def by_status(self, *, status: MessageStatus, ts: Range[datetime] = ANYTHING) -> None:
        """Events not yet told (pending) or not to be told (dead), oldest first."""


class Idempotency(
    Once,
    Numbered,
    table=TABLE,
    relation="idempotency",
    collection="idempotency_marks",
    lifetimes=(Expires("ttl"),),
    created_by=SYSTEM,
):
    """Work that must happen once: who does it until when, and what came of it."""

    idempotency_key: str = attribute(column="key", in_key_only=True)
    project_id: str
    job_id: str
    step_name: StepName
    result: dict[str, Any] | None = attribute(column="result_json", default=None)

    @key("IDEMPOTENCY#{idempotency_key}", "IDEMPOTENCY#{idempotency_key}")
    def at(self, *, idempotency_key: str) -> None: ...


class Audit(AuditLine, Numbered, table=TABLE, relation="audit", collection="audit_lines", created_by=SYSTEM):
    """Who did what, when. Lines are only added."""

    project_id: str = attribute(in_key_only=True)
    ts: UtcMicros = attribute(in_key_only=True)
    actor: str = attribute(in_key_only=True)
    details: dict[str, Any] = attribute(column="details_json", default_factory=dict)

    @key("PROJECT#{project_id}", "AUDIT#{ts}#{actor}")
    def at(self, *, project_id: str, ts: datetime, actor: str) -> None: ...

    @pattern(at)
    def of_project(self, *, project_id: str, ts: Range[datetime] = ANYTHING) -> None:
        """What happened in a project, in order."""
