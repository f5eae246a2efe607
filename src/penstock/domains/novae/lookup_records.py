"""What is found without a scan beyond what the documents have: novae by state and time, positions by the piece of sky
they lie in, and what waits for a person."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import Field

from penstock.declare import ANYTHING, SYSTEM, Count, Entity, IndexKey, Range, UtcMicros, UtcSeconds, key, move, pattern
from penstock.domains.novae.nova_table import ELIGIBILITY, NOVA_CAT
from penstock.domains.novae.states import NovaStatus


class NovaEntry(Entity, table=NOVA_CAT, collection="nova_entries", created_by=SYSTEM):
    """A line in the list of novae that are in one state; it is written with the nova."""

    status: NovaStatus
    created_at: UtcSeconds
    nova_id: UUID
    preferred_name: str

    @key("NOVAE#{status}", "{created_at}#{nova_id}")
    def at(self, *, status: NovaStatus, created_at: datetime, nova_id: UUID) -> None: ...

    @pattern(at, backwards=True)
    def by_status(self, *, status: NovaStatus, created_at: Range[datetime] = ANYTHING) -> None:
        """The novae in a state, newest first."""


class NovaPosition(Entity, table=NOVA_CAT, created_by=SYSTEM):
    """Where in the sky a nova is, found by the cell its position lies in."""

    cell: str
    nova_id: UUID
    ra_deg: float
    dec_deg: float
    source: str | None = None
    created_at: UtcSeconds | None = None

    @key("SKY#{cell}", "NOVA#{nova_id}")
    def at(self, *, cell: str, nova_id: UUID) -> None: ...

    @pattern(at)
    def in_cell(self, *, cell: str) -> None:
        """The novae in a cell of the sky."""


class SkyCell(Entity, table=NOVA_CAT, created_by=SYSTEM):
    """How often a position was put into a cell: whoever decides by what is near counts it up, so of many one does."""

    cell: str
    turn: Count

    @key("SKY#{cell}", "CELL")
    def at(self, *, cell: str) -> None: ...


class DoubtStatus(StrEnum):
    WAITING = "WAITING"
    DECIDED = "DECIDED"


class Doubt(Entity, table=NOVA_CAT, created_by=SYSTEM):
    """What a run could not decide, and a person must: why, and between what."""

    job_run_id: UUID
    status: DoubtStatus = DoubtStatus.WAITING
    asked_at: UtcMicros = Field(frozen=True)
    workflow_name: str
    reason_code: str
    details: dict[str, Any] = Field(default_factory=dict)
    candidates: list[UUID] = Field(default_factory=list)
    "The novae between which a person decides."
    subject: str
    "The name, or the nova, that it is about."
    correlation_id: str | None = None
    decision: dict[str, Any] | None = None
    decided_by: str | None = None
    decided_at: UtcMicros | None = None
    note: str | None = None
    continued_by: UUID | None = None
    "The run that went on with the decision."

    @key("JOBRUN#{job_run_id}", "DOUBT")
    def at(self, *, job_run_id: UUID) -> None: ...

    # The documents' index, under a partition that is none of theirs: only what waits is in it.
    while_waiting = IndexKey(ELIGIBILITY, "DOUBTS", "{asked_at}#{job_run_id}", when={"status": (DoubtStatus.WAITING,)})

    @pattern(while_waiting)
    def waiting(self, *, asked_at: Range[datetime] = ANYTHING) -> None:
        """What waits for a person, the longest first."""

    @move(DoubtStatus.WAITING, to=DoubtStatus.DECIDED, by=SYSTEM)
    def decide(self, *, decision: dict[str, Any], by: str, at: datetime, note: str | None, run: UUID) -> None:
        """A person has decided, and another run goes on with that."""
        self.decision, self.decided_by, self.decided_at, self.note = decision, by, at, note
        self.continued_by = run


class DoubtfulItem(Entity, table=NOVA_CAT, created_by=SYSTEM):
    """An item of a provider's answer that could not be read, kept as it came, beside those that could."""

    nova_id: UUID
    source: str
    item_id: str
    reason_code: str
    reason: str
    item: dict[str, Any] = Field(default_factory=dict)
    found_at: UtcSeconds

    @key("NOVA#{nova_id}", "DOUBTFUL#{source}#{item_id}")
    def at(self, *, nova_id: UUID, source: str, item_id: str) -> None: ...

    @pattern(at)
    def of_nova(self, *, nova_id: UUID, source: str | None = None) -> None:
        """What could not be read of what was found for a nova."""
