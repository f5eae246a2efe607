"""Classical novae: their names, the papers about them, their spectra and photometry, and the work on each."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import Field

from penstock.declare import (
    SYSTEM,
    Action,
    Count,
    Domain,
    Entity,
    IndexKey,
    Move,
    Role,
    UtcSeconds,
    key,
    move,
    pattern,
)
from penstock.domains.novae.data_records import (
    Contribution,
    ContributionStatus,
    DatasetVerdict,
    NovaBundle,
    QuarantineEntry,
    StrayObject,
)
from penstock.domains.novae.dataset_records import Dataset, DatasetPlace, FileObject
from penstock.domains.novae.lookup_records import (
    Doubt,
    DoubtfulItem,
    DoubtStatus,
    NovaEntry,
    NovaPosition,
    SkyCell,
)
from penstock.domains.novae.nova_files import NOVA_FILES
from penstock.domains.novae.nova_table import (
    NAMES,
    NOVA_CAT,
    Catalogued,
    PaperDate,
    dataset_identity,
    file_identity,
    normalize_name,
)
from penstock.domains.novae.run_records import Attempt, JobRun, JobRunPlace, NameAttempt, NameRun, RunLock
from penstock.domains.novae.states import (
    DatasetType,
    DiscoverySource,
    Eligibility,
    ErrorClass,
    NovaStatus,
    ProcessingStatus,
    RunStatus,
    ValidationStatus,
)

__all__ = [
    "DOMAIN",
    "NOVA_CAT",
    "Alias",
    "Attempt",
    "Contribution",
    "ContributionStatus",
    "Dataset",
    "DatasetPlace",
    "DatasetType",
    "DatasetVerdict",
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
    "NovaBundle",
    "NovaEntry",
    "NovaPosition",
    "NovaReference",
    "NovaStatus",
    "ProcessingStatus",
    "QuarantineEntry",
    "Reference",
    "RunLock",
    "RunStatus",
    "SkyCell",
    "StrayObject",
    "ValidationStatus",
    "dataset_identity",
    "file_identity",
    "normalize_name",
]

INITIALIZE = Action("initialize_nova", "POST /api/nc/novae")
"A nova begins with its name, which no other has."
MERGE = Action("merge two novae", "POST /api/nc/novae/{nova_id}/merge")
"The rows of a nova follow it."
DEPRECATE = Action("deprecate a nova", "POST /api/nc/novae/{nova_id}/deprecate")
"It leaves the list of the novae that are."
RESTORE = Action("restore a nova", "POST /api/nc/novae/{nova_id}/restore")
"It was one after all."


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
    discovery_source: DiscoverySource | None = None
    "Where the date of the discovery comes from."
    discovery_reference: str | None = None
    "The paper, the dataset, the index or the person that tells it."
    discovery_candidates: list[dict[str, Any]] | None = None
    "Dates that an index tells and has derived itself: for people to look at."
    deprecated_because: str | None = None

    @key("NOVA#{nova_id}", "META")
    def at(self, *, nova_id: UUID) -> None: ...

    @move(NovaStatus.ACTIVE, to=NovaStatus.MERGED, by=MERGE)
    def merge(self, *, into: UUID) -> None:
        """It was another nova all along."""
        self.merged_into = into

    deprecate = Move(NovaStatus.ACTIVE, to=NovaStatus.DEPRECATED, by=DEPRECATE)
    restore = Move(NovaStatus.DEPRECATED, to=NovaStatus.ACTIVE, by=RESTORE)


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


DOMAIN = Domain(
    "novae",
    *(Nova, Alias, NameClaim, Reference, NovaReference, Dataset, FileObject),
    *(JobRun, JobRunPlace, Attempt, NameRun, NameAttempt, RunLock),
    *(NovaEntry, NovaPosition, SkyCell, Doubt, DoubtfulItem),
    *(DatasetPlace, DatasetVerdict, QuarantineEntry, Contribution, StrayObject, NovaBundle),
    files=NOVA_FILES,
)
"""Classical novae, as a running system has it."""
