"""What is kept of datasets beyond the documents: every verdict, what waits for a person, files that people send,
objects that are nobody's, and bundles."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import Field

from penstock.declare import (
    ANYTHING,
    SYSTEM,
    Action,
    Count,
    Entity,
    EpochSeconds,
    Expires,
    Range,
    UtcMicros,
    UtcSeconds,
    key,
    move,
    pattern,
)
from penstock.domains.novae.nova_table import NOVA_CAT, Catalogued
from penstock.domains.novae.states import DatasetType, ValidationStatus
from penstock.schema.object_key import ObjectKey


class DatasetVerdict(Entity, table=NOVA_CAT, created_by=SYSTEM):
    """What some bytes of a dataset, read with some hints, proved to be. It stays when others take their place."""

    nova_id: UUID
    dataset_id: UUID
    fingerprint: str
    "Of the bytes and the hints."
    validation_status: ValidationStatus
    judged_at: UtcMicros
    job_run_id: UUID | None = None
    sha256: str | None = None
    byte_length: Count | None = None
    etag: str | None = None
    fits_checksum: str | None = None
    header_signature: str | None = None
    edition: str | None = None
    code: str | None = None
    details: dict[str, Any] | None = None
    profile_selection: dict[str, Any] | None = None
    said: dict[str, Any] | None = None
    summary: dict[str, Any] | None = None
    raw_key: ObjectKey | None = None
    artifacts: list[ObjectKey] = Field(default_factory=list)
    evidence: list[ObjectKey] = Field(default_factory=list)
    "What was laid aside for a person: the file, what is known of it, and a plot where something could be drawn."
    decided_by: str | None = None
    note: str | None = None

    @key("NOVA#{nova_id}", "VERDICT#{dataset_id}#{fingerprint}")
    def at(self, *, nova_id: UUID, dataset_id: UUID, fingerprint: str) -> None: ...

    @pattern(at)
    def of_dataset(self, *, nova_id: UUID, dataset_id: UUID) -> None:
        """All that a dataset has ever proved to be."""

    @pattern(at)
    def of_nova(self, *, nova_id: UUID) -> None:
        """All that the datasets of a nova have ever proved to be."""


class QuarantineEntry(Entity, table=NOVA_CAT, created_by=SYSTEM):
    """A line in the list of datasets that wait for a person, whichever nova they are of; gone when one has decided."""

    quarantined_at: UtcSeconds
    dataset_id: UUID
    nova_id: UUID
    "Where the dataset was then; the nova may have been merged since."
    dataset_type: DatasetType
    provider: str
    reason_code: str
    reason: str | None = None
    file_name: str | None = None
    "What its file was called where it comes from."

    @key("QUARANTINE", "{quarantined_at}#{dataset_id}#{nova_id}")
    def at(self, *, quarantined_at: datetime, dataset_id: UUID, nova_id: UUID) -> None: ...

    @pattern(at)
    def waiting(self, *, quarantined_at: Range[datetime] = ANYTHING) -> None:
        """The datasets that wait for a person, the longest first."""


ANNOUNCE = Action("announce a file", "POST /api/nc/novae/{nova_id}/files")
"Its place is kept, and whoever announces it is told where to send it."


class ContributionStatus(StrEnum):
    AWAITED = "AWAITED"
    TAKEN = "TAKEN"


class Contribution(Catalogued, table=NOVA_CAT, lifetimes=(Expires("ttl"),), created_by=ANNOUNCE):
    """A file that somebody has announced for a nova, and sends to a signed URL."""

    contribution_id: UUID
    nova_id: UUID
    dataset_id: UUID
    dataset_type: DatasetType
    provider: str
    file_name: str
    s3_key: ObjectKey
    upload_id: str
    status: ContributionStatus = ContributionStatus.AWAITED
    ticket: str | None = None
    bibcode: str | None = None
    said: dict[str, Any] | None = None
    sent_by: str | None = None
    job_run_id: UUID | None = None
    "The run that takes it up."
    ttl: EpochSeconds | None = None

    @key("CONTRIBUTION#{contribution_id}", "META")
    def at(self, *, contribution_id: UUID) -> None: ...

    @move(ContributionStatus.AWAITED, to=ContributionStatus.TAKEN, by=SYSTEM)
    def take(self, *, run: UUID | None) -> None:
        """The file is there, and is what was announced."""
        self.job_run_id = run


class StrayObject(Entity, table=NOVA_CAT, lifetimes=(Expires("ttl"),), created_by=SYSTEM):
    """An object of which a store told and which belongs to no dataset; told to people, and forgotten after its time."""

    bucket: str
    s3_key: str
    "As the event says it, with what cannot be seen spelled out, and cut if no record could have so long a key."
    seen_at: UtcMicros
    reason: str
    etag: str | None = None
    byte_length: Count | None = None
    ttl: EpochSeconds | None = None

    @key("STRAYS", "{bucket}#{s3_key}")
    def at(self, *, bucket: str, s3_key: str) -> None: ...

    @pattern(at)
    def told(self, *, bucket: str | None = None) -> None:
        """Objects that are nobody's."""


class NovaBundle(Catalogued, table=NOVA_CAT, created_by=SYSTEM):
    """All files of a nova in one archive, with a manifest; made again only when something has changed."""

    nova_id: UUID
    contents: str
    "A fingerprint of what is in it."
    bundle_key: ObjectKey
    manifest_key: ObjectKey
    sha256: str
    byte_length: Count
    etag: str
    "Of the object; another one there is not what is told here."
    files: Count
    made_at: UtcSeconds

    @key("NOVA#{nova_id}", "BUNDLE")
    def at(self, *, nova_id: UUID) -> None: ...

    @pattern(at)
    def of_nova(self, *, nova_id: UUID) -> None:
        """The bundle of a nova."""
