"""Classical novae: their names, the papers about them, their spectra and photometry, and the work on each."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self
from uuid import UUID

from pydantic import Field, model_validator

from penstock.declare import (
    SYSTEM,
    Action,
    Count,
    Domain,
    Entity,
    EpochSeconds,
    IndexKey,
    Move,
    Role,
    UtcSeconds,
    key,
    move,
    pattern,
)
from penstock.domains.novae.lookup_records import (
    Doubt,
    DoubtfulItem,
    DoubtStatus,
    NovaEntry,
    NovaPosition,
    SkyCell,
)
from penstock.domains.novae.nova_table import (
    ELIGIBILITY,
    NAMES,
    NOVA_CAT,
    S3_OBJECTS,
    Catalogued,
    PaperDate,
    dataset_identity,
    file_identity,
    normalize_name,
)
from penstock.domains.novae.run_records import Attempt, JobRun, JobRunPlace, NameAttempt, NameRun, RunLock
from penstock.domains.novae.states import (
    DatasetType,
    Eligibility,
    ErrorClass,
    NovaStatus,
    ProcessingStatus,
    RunStatus,
    ValidationStatus,
)
from penstock.errors import IllegalMove
from penstock.operations.reads import Ref
from penstock.schema.object_key import ObjectKey

__all__ = [
    "DOMAIN",
    "NOVA_CAT",
    "Alias",
    "Attempt",
    "Dataset",
    "DatasetType",
    "Doubt",
    "DoubtStatus",
    "DoubtfulItem",
    "Eligibility",
    "ErrorClass",
    "FileObject",
    "JobRun",
    "JobRunPlace",
    "NameAttempt",
    "NameClaim",
    "NameRun",
    "Nova",
    "NovaEntry",
    "NovaPosition",
    "NovaReference",
    "NovaStatus",
    "ProcessingStatus",
    "Reference",
    "RunLock",
    "RunStatus",
    "SkyCell",
    "ValidationStatus",
    "dataset_identity",
    "file_identity",
    "normalize_name",
]

INITIALIZE = Action("initialize_nova")
"A nova begins with its name, which no other has."
REVIEW = Action("review")
"What is in quarantine waits for a person."

VERDICTS = {
    ProcessingStatus.COMPLETED: ValidationStatus.VALID,
    ProcessingStatus.QUARANTINED: ValidationStatus.QUARANTINED,
    ProcessingStatus.FAILED_TERMINAL: ValidationStatus.TERMINAL_INVALID,
    ProcessingStatus.FAILED_RETRYABLE: ValidationStatus.RETRYABLE_ERROR,
}
# A dataset in progress stays eligible, so that it is found again when its lease runs out.
ELIGIBLE = frozenset({ProcessingStatus.READY, ProcessingStatus.IN_PROGRESS, ProcessingStatus.FAILED_RETRYABLE})


class Nova(Catalogued, table=NOVA_CAT, collection="novae", created_by=INITIALIZE):
    """A nova."""

    nova_id: UUID
    preferred_name: str
    normalized_preferred_name: str
    aliases: list[str] = Field(default_factory=list)
    status: NovaStatus = NovaStatus.ACTIVE
    merged_into: UUID | None = None
    discovery_date: PaperDate | None = None
    last_ingest_at: UtcSeconds | None = None
    version_counter: Count = 0
    ra_deg: float | None = None
    "Where in the sky it is, ICRS."
    dec_deg: float | None = None
    position_source: str | None = None

    @key("NOVA#{nova_id}", "META")
    def at(self, *, nova_id: UUID) -> None: ...

    @move(NovaStatus.ACTIVE, to=NovaStatus.MERGED, by=Role.EDITOR)
    def merge(self, *, into: UUID) -> None:
        """It was another nova all along."""
        self.merged_into = into

    deprecate = Move(NovaStatus.ACTIVE, to=NovaStatus.DEPRECATED, by=Role.EDITOR)


class Alias(Entity, table=NOVA_CAT, created_by=SYSTEM):
    """A name that a nova goes by."""

    normalized_name: str
    nova_id: UUID
    created_at: UtcSeconds | None = None

    @key("NAME#{normalized_name}", "NOVA#{nova_id}")
    def at(self, *, normalized_name: str, nova_id: UUID) -> None: ...

    # The key answers already, and at once; the index is kept for the documents' own readers.
    by_index = IndexKey(NAMES, "NAME#{normalized_name}", "NOVA#{nova_id}")

    @pattern(at)
    def by_name(self, *, normalized_name: str) -> None:
        """The novae a name may mean: none, one, or several that a person must tell apart."""


class NameClaim(Entity, table=NOVA_CAT, created_by=SYSTEM):
    """The nova a name belongs to. It is created where none stands, so no second nova takes the name unasked."""

    normalized_name: str
    nova_id: UUID

    @key("NAME#{normalized_name}", "CLAIM")
    def at(self, *, normalized_name: str) -> None: ...


class Reference(Catalogued, table=NOVA_CAT, created_by=Role.EDITOR):
    """A paper about a nova."""

    nova_id: UUID
    reference_id: str
    title: str | None = None
    date: PaperDate | None = None
    details: dict[str, Any] = Field(default_factory=dict)

    @key("NOVA#{nova_id}", "REF#{reference_id}")
    def at(self, *, nova_id: UUID, reference_id: str) -> None: ...

    @pattern(at)
    def of_nova(self, *, nova_id: UUID) -> None:
        """The papers about a nova, with their dates."""


class NovaReference(Entity, table=NOVA_CAT, created_by=Role.EDITOR):
    """That a paper is about a nova."""

    nova_id: UUID
    reference_id: str
    created_at: UtcSeconds | None = None

    @key("NOVA#{nova_id}", "NOVAREF#{reference_id}")
    def at(self, *, nova_id: UUID, reference_id: str) -> None: ...

    @pattern(at)
    def of_nova(self, *, nova_id: UUID) -> None:
        """Which papers are linked to a nova."""


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
        self._release()

    @move(ProcessingStatus.IN_PROGRESS, to=ProcessingStatus.QUARANTINED, by=SYSTEM)
    def quarantine(self, *, code: str, details: dict[str, Any], profile: dict[str, Any] | None = None) -> None:
        """A person must look at it."""
        self.quarantine_reason_code, self.quarantine_details, self.profile_selection = code, details, profile
        self._release()

    @move(ProcessingStatus.IN_PROGRESS, to=ProcessingStatus.FAILED_RETRYABLE, by=SYSTEM)
    def fail(self) -> None:
        """It may work another time."""
        self._release()

    @move(ProcessingStatus.IN_PROGRESS, ProcessingStatus.QUARANTINED, to=ProcessingStatus.FAILED_TERMINAL, by=REVIEW)
    def reject(self) -> None:
        """It will never be valid."""
        self._release()

    @move(ProcessingStatus.QUARANTINED, ProcessingStatus.COMPLETED, to=ProcessingStatus.READY, by=Role.EDITOR)
    def reopen(self) -> None:
        """Cleared for another try, or published anew by its provider."""
        self.quarantine_reason_code = self.quarantine_details = None

    def _release(self) -> None:
        self.lease_owner = self.lease_expires_at = None


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


DOMAIN = Domain(
    "novae",
    *(Nova, Alias, NameClaim, Reference, NovaReference, Dataset, FileObject),
    *(JobRun, JobRunPlace, Attempt, NameRun, NameAttempt, RunLock),
    *(NovaEntry, NovaPosition, SkyCell, Doubt, DoubtfulItem),
)
"""Classical novae, as a running system has it."""
