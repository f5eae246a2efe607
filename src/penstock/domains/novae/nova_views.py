"""Novae, runs and doubts as answers show them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from penstock.declare.units import Count, EpochSeconds, Milliseconds, UtcMicros, UtcSeconds
from penstock.domains.novae.discovery_date import discovery_words
from penstock.domains.novae.lookup_records import Doubt, DoubtStatus
from penstock.domains.novae.model import Nova, Reference
from penstock.domains.novae.nova_names import all_names
from penstock.domains.novae.run_records import JobRun, NameRun, Tried
from penstock.domains.novae.states import DiscoverySource, ErrorClass, NovaStatus, RunStatus
from penstock.files.signed_view import shared_fields

_NEXT = "Ask with this `cursor` for the next ones."


class NovaView(BaseModel):
    """A nova."""

    nova_id: UUID = Field(description="Its own; of one that was merged, that of the nova it was merged into.")
    preferred_name: str
    normalized_preferred_name: str
    aliases: list[str]
    status: NovaStatus
    discovery_date: str | None = Field(description="YYYY-MM-DD; the day is 00 where only the month is known.")
    discovery_source: DiscoverySource | None = Field(description="Where that date comes from.")
    discovery_reference: str | None = Field(description="The paper, dataset, index or person that tells it.")
    discovered: str | None = Field(None, description="The same in words: `first paper 2010`.")
    discovery_candidates: list[dict[str, Any]] | None = Field(
        description="Dates that an index tells and has derived itself; none of them is taken."
    )
    deprecated_because: str | None
    last_ingest_at: UtcSeconds | None
    ra_deg: float | None = Field(description="Right ascension, ICRS, in degrees.")
    dec_deg: float | None = Field(description="Declination, ICRS, in degrees.")
    position_source: str | None
    version_counter: Count
    created_at: UtcSeconds
    updated_at: UtcSeconds

    @classmethod
    def of(cls, nova: Nova) -> NovaView:
        return cls(**shared_fields(cls, nova) | {"discovered": discovery_words(nova)})


class NovaInList(BaseModel):
    """A line of the list of novae."""

    nova_id: UUID
    preferred_name: str
    status: NovaStatus
    created_at: UtcSeconds


class NovaPage(BaseModel):
    items: list[NovaInList]
    next: str | None = Field(description=_NEXT)


class NovaMeaning(BaseModel):
    """What a name may mean: no nova, one, or several that only a person can tell apart."""

    normalized_name: str
    items: list[NovaView]
    next: str | None = Field(description=_NEXT)


class NeighbourView(BaseModel):
    """A nova, and how far it is from where one looked."""

    arcsec: float
    nova: NovaView


class Neighbourhood(BaseModel):
    items: list[NeighbourView] = Field(description="The nearest first.")


class NameList(BaseModel):
    """What a nova goes by, the preferred name first."""

    nova_id: UUID
    names: list[str]

    @classmethod
    def of(cls, nova: Nova) -> NameList:
        return cls(nova_id=nova.nova_id, names=all_names(nova))


class NovaRunView(BaseModel):
    """A run of a workflow: look at it until it is no longer RUNNING."""

    job_run_id: UUID
    workflow_name: str
    status: RunStatus = Field(description="QUARANTINED: a person must look; see the doubts, or `error_message`.")
    outcome: str | None
    correlation_id: str | None
    idempotency_key: str | None
    nova_id: UUID | None = Field(description="The nova that it is for, or has found.")
    normalized_name: str | None = Field(None, description="Of a run that began with a name.")
    started_at: UtcMicros
    finished_at: UtcMicros | None
    parent_run_id: UUID | None
    continues: UUID | None = Field(description="The run that a person has decided about, which goes on as this one.")
    error_message: str | None
    error_fingerprint: str | None
    results: dict[str, Any] | None
    ttl: EpochSeconds | None = Field(description="When it is forgotten, in seconds since 1970.")

    @classmethod
    def of(cls, run: JobRun | NameRun) -> NovaRunView:
        return cls(**shared_fields(cls, run))


class NovaRunPage(BaseModel):
    items: list[NovaRunView]
    next: str | None = Field(description=_NEXT)


class NovaAttemptView(BaseModel):
    """One invocation of one task of a run."""

    task: str
    attempt: int
    ts: UtcMicros
    succeeded: bool
    error_class: ErrorClass | None
    error_message: str | None
    error_fingerprint: str | None
    duration_ms: Milliseconds | None
    dataset_id: UUID | None
    correlation_id: str | None

    @classmethod
    def of(cls, tried: Tried) -> NovaAttemptView:
        return cls(**shared_fields(cls, tried))


class NovaAttemptPage(BaseModel):
    items: list[NovaAttemptView]
    next: str | None = Field(description=_NEXT)


class PaperView(BaseModel):
    """A paper about a nova."""

    reference_id: str
    title: str | None
    date: str | None
    details: dict[str, Any]
    updated_at: UtcSeconds

    @classmethod
    def of(cls, paper: Reference) -> PaperView:
        return cls(**shared_fields(cls, paper))


class PaperPage(BaseModel):
    items: list[PaperView]
    next: str | None = Field(description=_NEXT)


class DoubtfulItemView(BaseModel):
    """What was found for a nova and could not be read."""

    source: str
    item_id: str
    reason_code: str
    reason: str
    item: dict[str, Any]
    found_at: UtcSeconds


class DoubtfulItemPage(BaseModel):
    items: list[DoubtfulItemView]
    next: str | None = Field(description=_NEXT)


class DoubtView(BaseModel):
    """What a run could not know, and a person decides."""

    job_run_id: UUID
    status: DoubtStatus
    asked_at: UtcMicros
    workflow_name: str
    reason_code: str
    details: dict[str, Any]
    candidates: list[UUID]
    subject: str
    correlation_id: str | None
    decision: dict[str, Any] | None
    decided_by: str | None
    decided_at: UtcMicros | None
    note: str | None
    continued_by: UUID | None

    @classmethod
    def of(cls, doubt: Doubt) -> DoubtView:
        return cls(**shared_fields(cls, doubt))


class DoubtPage(BaseModel):
    items: list[DoubtView]
    next: str | None = Field(description=_NEXT)
