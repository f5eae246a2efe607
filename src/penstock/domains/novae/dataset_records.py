"""Datasets: spectra and light curves of novae, the files that belong to them, and where each is found."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Self
from uuid import UUID

from pydantic import Field, model_validator

from penstock.declare import (
    SYSTEM,
    Action,
    Count,
    Entity,
    EpochSeconds,
    IndexKey,
    UtcSeconds,
    key,
    move,
    pattern,
)
from penstock.domains.novae.nova_table import ELIGIBILITY, NOVA_CAT, S3_OBJECTS, Catalogued
from penstock.domains.novae.states import DatasetType, Eligibility, ProcessingStatus, ValidationStatus
from penstock.errors import IllegalMove
from penstock.operations.reads import Ref
from penstock.schema.object_key import ObjectKey

REVIEW = Action(
    "review",
    "POST /api/nc/novae/{nova_id}/datasets/{dataset_id}/clear",
    "POST /api/nc/novae/{nova_id}/datasets/{dataset_id}/reject",
)
"What is in quarantine waits for a person."

VERDICTS = {
    ProcessingStatus.COMPLETED: ValidationStatus.VALID,
    ProcessingStatus.QUARANTINED: ValidationStatus.QUARANTINED,
    ProcessingStatus.FAILED_TERMINAL: ValidationStatus.TERMINAL_INVALID,
    ProcessingStatus.FAILED_RETRYABLE: ValidationStatus.RETRYABLE_ERROR,
}
# A dataset in progress stays eligible, so that it is found again when its lease runs out.
ELIGIBLE = frozenset({ProcessingStatus.READY, ProcessingStatus.IN_PROGRESS, ProcessingStatus.FAILED_RETRYABLE})
PAUSES = tuple(timedelta(seconds=s) for s in (60, 300, 3600, 86_400))
"How long a dataset rests after its first, second … failure; the last one again and again."


class Dataset(Catalogued, table=NOVA_CAT, created_by=SYSTEM):
    """A spectrum or a light curve of a nova: where it comes from, who works on it, and what it proved to be.

    `processing_status` is the only state; the verdict and the eligibility follow from it.
    """

    nova_id: UUID
    dataset_type: DatasetType
    provider: str
    dataset_id: UUID
    provider_identity: str | None = None
    locators: list[str] = Field(default_factory=list)
    hints: dict[str, Any] = Field(default_factory=dict)
    processing_status: ProcessingStatus = ProcessingStatus.READY
    validation_status: ValidationStatus | None = Field(default=None, frozen=True)
    eligibility: Eligibility = Field(default=Eligibility.NONE, frozen=True)
    lease_owner: str | None = None
    lease_expires_at: EpochSeconds | None = None
    lease_epoch: Count = 0
    byte_length: Count | None = None
    etag: str | None = None
    sha256: str | None = None
    fits_checksum: str | None = None
    header_signature: str | None = None
    quarantine_reason_code: str | None = None
    quarantine_details: dict[str, Any] | None = None
    profile_selection: dict[str, Any] | None = None
    artifacts: list[ObjectKey] = Field(default_factory=list)
    # Beyond the documents:
    product: dict[str, Any] | None = None
    "What else its provider tells of it: native_id, version, checksum, edition, weak."
    said: dict[str, Any] | None = None
    "What people have said of it at the quarantine desk or with the file: hints of another kind than the provider's."
    ticket: str | None = None
    "What describes its columns, as it was written."
    description: dict[str, Any] | None = None
    "What the table that goes with a ticket tells of this one spectrum."
    file_name: str | None = None
    "What its file was called where it comes from."
    bibcode: str | None = None
    "The paper it belongs to."
    summary: dict[str, Any] | None = None
    "What is in it, in numbers: points, range, units, bands, rows that were not read, assumptions."
    raw_key: ObjectKey | None = None
    "The file that was judged, as it came."
    fingerprint: str | None = None
    "What the verdict is about: these bytes, read with these hints."
    validated_at: UtcSeconds | None = None
    quarantined_at: UtcSeconds | None = None
    quarantined_for: UUID | None = None
    "The nova it was of then, which may have been merged since."
    attempt_count: Count = 0
    last_attempt_at: EpochSeconds | None = None
    next_eligible_attempt_at: EpochSeconds | None = None
    failure: str | None = None
    "Why it failed the last time."

    @key("NOVA#{nova_id}", "DATASET#{dataset_type}#{provider}#{dataset_id}")
    def at(self, *, nova_id: UUID, dataset_type: DatasetType, provider: str, dataset_id: UUID) -> None: ...

    while_eligible = IndexKey(
        ELIGIBILITY,
        "NOVA#{nova_id}",
        "ELIG#{eligibility}#{dataset_id}",
        when={"eligibility": (Eligibility.DOWNLOAD, Eligibility.INGEST)},
    )

    @pattern(at)
    def of_nova(self, *, nova_id: UUID, dataset_type: DatasetType | None = None, provider: str | None = None) -> None:
        """The datasets of a nova, or of one type, or those one provider has."""

    @pattern(while_eligible)
    def by_eligibility(self, *, nova_id: UUID, eligibility: Eligibility) -> None:
        """The datasets of a nova that wait to be downloaded or ingested."""

    @model_validator(mode="after")
    def _follow(self) -> Self:
        """The verdict and the eligibility of the state, written past their own guard."""
        work = Eligibility.DOWNLOAD if self.dataset_type is DatasetType.SPECTRA else Eligibility.INGEST
        eligibility = work if self.processing_status in ELIGIBLE else Eligibility.NONE
        self.__dict__.update(validation_status=VERDICTS.get(self.processing_status), eligibility=eligibility)
        return self

    @move(*sorted(ELIGIBLE), to=ProcessingStatus.IN_PROGRESS, by=SYSTEM)
    def lease(self, *, owner: str, now: datetime, until: datetime) -> None:
        """One worker has it until its time is over; the epoch tells its writes from those of any worker before."""
        if self.processing_status is ProcessingStatus.IN_PROGRESS and (self.lease_expires_at or 0) >= now.timestamp():
            raise IllegalMove(f"Dataset is leased by {self.lease_owner} until epoch second {self.lease_expires_at}")
        self.lease_owner, self.lease_expires_at = owner, int(until.timestamp())
        self.lease_epoch += 1

    @move(ProcessingStatus.IN_PROGRESS, to=ProcessingStatus.COMPLETED, by=SYSTEM)
    def accept(self, *, profile: dict[str, Any] | None = None) -> None:
        """It is valid."""
        self.profile_selection = profile
        self._settle()

    @move(ProcessingStatus.IN_PROGRESS, to=ProcessingStatus.QUARANTINED, by=SYSTEM)
    def quarantine(self, *, code: str, details: dict[str, Any], profile: dict[str, Any] | None = None) -> None:
        """A person must look at it."""
        self.quarantine_reason_code, self.quarantine_details, self.profile_selection = code, details, profile
        self._settle()

    @move(ProcessingStatus.IN_PROGRESS, to=ProcessingStatus.FAILED_RETRYABLE, by=SYSTEM)
    def fail(self, *, at: datetime | None = None, why: str | None = None) -> None:
        """It may work another time: told when it failed, it rests before that, the longer the more often it has."""
        self._release()
        if at is not None:
            pause = PAUSES[min(self.attempt_count, len(PAUSES) - 1)]
            self.attempt_count, self.failure = self.attempt_count + 1, why
            self.last_attempt_at = int(at.timestamp())
            self.next_eligible_attempt_at = int((at + pause).timestamp())

    @move(
        *(ProcessingStatus.IN_PROGRESS, ProcessingStatus.QUARANTINED, ProcessingStatus.COMPLETED),
        to=ProcessingStatus.FAILED_TERMINAL,
        by=REVIEW,
    )
    def reject(self, *, code: str | None = None, details: dict[str, Any] | None = None) -> None:
        """It will never be valid."""
        if code is not None:
            self.quarantine_reason_code, self.quarantine_details = code, details
        self._settle()

    @move(
        *(ProcessingStatus.QUARANTINED, ProcessingStatus.COMPLETED, ProcessingStatus.FAILED_TERMINAL),
        to=ProcessingStatus.READY,
        by=REVIEW,
    )
    def reopen(self) -> None:
        """Cleared for another try, or published anew by its provider: also what was broken may be mended there."""
        self.quarantine_reason_code = self.quarantine_details = None
        self.quarantined_at = self.quarantined_for = None
        self._settle()

    def rests(self, now: datetime) -> bool:
        """Is it to be left alone for now, as it has just failed?"""
        return self.next_eligible_attempt_at is not None and now.timestamp() < self.next_eligible_attempt_at

    def _settle(self) -> None:
        """No failure counts any more."""
        self._release()
        self.attempt_count, self.failure, self.next_eligible_attempt_at = 0, None, None

    def _release(self) -> None:
        self.lease_owner = self.lease_expires_at = None


class DatasetPlace(Entity, table=NOVA_CAT, created_by=SYSTEM):
    """What a dataset of a nova is found by, for those who know only its id; written with it."""

    nova_id: UUID
    dataset_id: UUID
    dataset_type: DatasetType
    provider: str

    @key("NOVA#{nova_id}", "PLACE#{dataset_id}")
    def at(self, *, nova_id: UUID, dataset_id: UUID) -> None: ...

    @pattern(at)
    def of_nova(self, *, nova_id: UUID) -> None:
        """The places of a nova's datasets."""

    @property
    def dataset(self) -> Ref[Dataset]:
        """The dataset itself."""
        return Dataset.at.of(self.__dict__)


class FileObject(Catalogued, table=NOVA_CAT, created_by=SYSTEM):
    """An object in S3 that belongs to a dataset; written before the object, so that its arrival finds an owner."""

    nova_id: UUID
    dataset_id: UUID
    file_id: UUID
    dataset_type: DatasetType
    provider: str
    bucket: str
    s3_key: ObjectKey
    byte_length: Count | None = None
    etag: str | None = None
    sha256: str | None = None
    contribution_id: UUID | None = None
    "What somebody has announced it with, who is to send it."

    @key("NOVA#{nova_id}", "FILE#{dataset_id}#{file_id}")
    def at(self, *, nova_id: UUID, dataset_id: UUID, file_id: UUID) -> None: ...

    by_place = IndexKey(S3_OBJECTS, "S3#{bucket}", "{s3_key}")

    @pattern(at)
    def of_dataset(self, *, nova_id: UUID, dataset_id: UUID) -> None:
        """The files of a dataset."""

    @pattern(at)
    def of_nova(self, *, nova_id: UUID) -> None:
        """The files of all datasets of a nova."""

    @pattern(by_place)
    def by_object(self, *, bucket: str, s3_key: str) -> None:
        """Whose an object in S3 is."""

    @property
    def dataset(self) -> Ref[Dataset]:
        """The dataset it belongs to."""
        return Dataset.at.of(self.__dict__)
