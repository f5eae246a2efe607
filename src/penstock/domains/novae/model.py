"""Classical novae: their names, the papers about them, their spectra and photometry, and the work on each."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self
from uuid import NAMESPACE_URL, UUID, uuid5

from pydantic import Field, model_validator

from penstock.declare import (
    ANYTHING,
    SYSTEM,
    Action,
    Count,
    Domain,
    Entity,
    EpochSeconds,
    Expires,
    IndexKey,
    Milliseconds,
    Move,
    Range,
    Role,
    Table,
    UtcMicros,
    UtcSeconds,
    key,
    move,
    pattern,
)
from penstock.errors import IllegalMove
from penstock.operations.reads import Ref
from penstock.schema.object_key import ObjectKey

NOVA_CAT = Table("NovaCat", partition="PK", sort="SK", tag="entity_type", expiry="ttl")
ELIGIBILITY = NOVA_CAT.index("GSI1", partition="GSI1PK", sort="GSI1SK")
NAMES = NOVA_CAT.index("GSI2", partition="GSI2PK", sort="GSI2SK")
S3_OBJECTS = NOVA_CAT.index("GSI3", partition="GSI3PK", sort="GSI3SK")

INITIALIZE = Action("initialize_nova")
"A nova begins with its name, which no other has."
REVIEW = Action("review")
"What is in quarantine waits for a person."

_IDENTITIES = uuid5(NAMESPACE_URL, "penstock:novae")

# Fixed width; a paper dated by its month alone has day 00, which sorts before the days it may mean.
PaperDate = Annotated[str, Field(pattern=r"^\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])$")]


def normalize_name(name: str) -> str:
    """The one spelling a name is found by: trimmed, underscores as spaces, lower case, single spaces."""
    return " ".join(name.replace("_", " ").lower().split())


def dataset_identity(provider: str, identity: str) -> UUID:
    """The same product of a provider is the same dataset, whoever discovers it and however often."""
    return uuid5(_IDENTITIES, f"dataset:{len(provider)}:{provider}:{identity}")


def file_identity(bucket: str, s3_key: str) -> UUID:
    """The same object is the same file."""
    return uuid5(_IDENTITIES, f"file:{len(bucket)}:{bucket}:{s3_key}")


class NovaStatus(StrEnum):
    ACTIVE = "ACTIVE"
    MERGED = "MERGED"
    DEPRECATED = "DEPRECATED"


class DatasetType(StrEnum):
    SPECTRA = "SPECTRA"
    PHOTOMETRY = "PHOTOMETRY"


class ProcessingStatus(StrEnum):
    READY = "READY"
    IN_PROGRESS = "IN_PROGRESS"
    FAILED_RETRYABLE = "FAILED_RETRYABLE"
    COMPLETED = "COMPLETED"
    QUARANTINED = "QUARANTINED"
    FAILED_TERMINAL = "FAILED_TERMINAL"


class ValidationStatus(StrEnum):
    VALID = "VALID"
    QUARANTINED = "QUARANTINED"
    TERMINAL_INVALID = "TERMINAL_INVALID"
    RETRYABLE_ERROR = "RETRYABLE_ERROR"


class Eligibility(StrEnum):
    DOWNLOAD = "DOWNLOAD"
    INGEST = "INGEST"
    NONE = "NONE"


class RunStatus(StrEnum):
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    QUARANTINED = "QUARANTINED"
    FAILED = "FAILED"


class ErrorClass(StrEnum):
    RETRYABLE = "RETRYABLE"
    TERMINAL = "TERMINAL"
    QUARANTINE = "QUARANTINE"


VERDICTS = {
    ProcessingStatus.COMPLETED: ValidationStatus.VALID,
    ProcessingStatus.QUARANTINED: ValidationStatus.QUARANTINED,
    ProcessingStatus.FAILED_TERMINAL: ValidationStatus.TERMINAL_INVALID,
    ProcessingStatus.FAILED_RETRYABLE: ValidationStatus.RETRYABLE_ERROR,
}
# A dataset in progress stays eligible, so that it is found again when its lease runs out.
ELIGIBLE = frozenset({ProcessingStatus.READY, ProcessingStatus.IN_PROGRESS, ProcessingStatus.FAILED_RETRYABLE})


class Catalogued(Entity):
    """What every lasting item of the catalogue carries."""

    created_at: UtcSeconds = Field(frozen=True)
    updated_at: UtcSeconds
    schema_version: str = "1"


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

    @pattern(by_place)
    def by_object(self, *, bucket: str, s3_key: str) -> None:
        """Whose an object in S3 is."""

    @property
    def dataset(self) -> Ref[Dataset]:
        """The dataset it belongs to."""
        return Dataset.at.of(self.__dict__)


def _end(run: JobRun, *, outcome: str, at: datetime) -> None:
    run.outcome, run.finished_at = outcome, at


class JobRun(Entity, table=NOVA_CAT, lifetimes=(Expires("ttl"),), created_by=SYSTEM):
    """One execution of a workflow for a nova."""

    nova_id: UUID
    started_at: UtcMicros
    job_run_id: UUID
    workflow_name: str
    correlation_id: str | None = None
    status: RunStatus = RunStatus.RUNNING
    outcome: str | None = None
    finished_at: UtcMicros | None = None
    ttl: EpochSeconds | None = None

    @key("NOVA#{nova_id}", "JOBRUN#{started_at}#{job_run_id}")
    def at(self, *, nova_id: UUID, started_at: datetime, job_run_id: UUID) -> None: ...

    @pattern(at)
    def of_nova(self, *, nova_id: UUID, started_at: Range[datetime] = ANYTHING) -> None:
        """The runs for a nova, in the order they began."""

    succeed = move(RunStatus.RUNNING, to=RunStatus.SUCCEEDED, by=SYSTEM)(_end)
    quarantine = move(RunStatus.RUNNING, to=RunStatus.QUARANTINED, by=SYSTEM)(_end)
    fail = move(RunStatus.RUNNING, to=RunStatus.FAILED, by=SYSTEM)(_end)


class JobRunPlace(Entity, table=NOVA_CAT, lifetimes=(Expires("ttl"),), created_by=SYSTEM):
    """Where a run is, for those who know only its id; until its nova has one, all that is known of it."""

    job_run_id: UUID
    workflow_name: str
    started_at: UtcMicros
    candidate_name: str | None = None
    nova_id: UUID | None = None
    ttl: EpochSeconds | None = None

    @key("JOBRUN#{job_run_id}", "META")
    def at(self, *, job_run_id: UUID) -> None: ...


class Attempt(Entity, table=NOVA_CAT, lifetimes=(Expires("ttl"),), created_by=SYSTEM):
    """One invocation of one task of a run."""

    nova_id: UUID
    job_run_id: UUID
    task: str
    attempt: Annotated[int, Field(ge=1, le=999)]
    ts: UtcMicros
    dataset_id: UUID | None = None
    succeeded: bool
    error_class: ErrorClass | None = None
    error_message: str | None = None
    duration_ms: Milliseconds | None = None
    ttl: EpochSeconds | None = None

    @key("NOVA#{nova_id}", "ATTEMPT#{job_run_id}#{task}#{attempt:03d}#{ts}")
    def at(self, *, nova_id: UUID, job_run_id: UUID, task: str, attempt: int, ts: datetime) -> None: ...

    @pattern(at)
    def of_run(self, *, nova_id: UUID, job_run_id: UUID, task: str | None = None) -> None:
        """What a run tried, task by task."""


DOMAIN = Domain(
    "novae", Nova, Alias, NameClaim, Reference, NovaReference, Dataset, FileObject, JobRun, JobRunPlace, Attempt
)
