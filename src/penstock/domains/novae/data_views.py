"""Datasets, verdicts, files and bundles as answers show them, with URLs that were signed just now."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from penstock.declare.units import Count, EpochSeconds, UtcMicros, UtcSeconds
from penstock.domains.novae.bundles import BundleState
from penstock.domains.novae.contributions import ReservedFile
from penstock.domains.novae.cross_references import CrossReference
from penstock.domains.novae.data_records import ContributionStatus, DatasetVerdict, StrayObject
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.dataset_science import Replayed
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_views import NovaAttemptView
from penstock.domains.novae.quarantine import Evidence, Waiting
from penstock.domains.novae.states import DatasetType, Eligibility, ProcessingStatus, ValidationStatus
from penstock.files.signed_view import shared_fields
from penstock.files.upload_view import UploadView

_NEXT = "Ask with this `cursor` for the next ones."
_PICTURE = "image/png"


class SignedFile(BaseModel):
    """A file, and where it can be got for now."""

    name: str
    url: str
    expires_at: UtcSeconds


class DatasetInList(BaseModel):
    """A dataset."""

    nova_id: UUID
    dataset_id: UUID
    dataset_type: DatasetType
    provider: str
    provider_identity: str | None
    processing_status: ProcessingStatus
    validation_status: ValidationStatus | None
    eligibility: Eligibility
    quarantine_reason_code: str | None
    file_name: str | None
    bibcode: str | None
    byte_length: Count | None
    sha256: str | None
    summary: dict[str, Any] | None = Field(description="What is in it, in numbers, with what was assumed.")
    attempt_count: Count = Field(description="Failures in a row.")
    next_eligible_attempt_at: EpochSeconds | None
    failure: str | None
    created_at: UtcSeconds
    updated_at: UtcSeconds


class DatasetView(DatasetInList):
    """A dataset, with its files."""

    locators: list[str]
    hints: dict[str, Any]
    said: dict[str, Any] | None
    etag: str | None
    fits_checksum: str | None
    header_signature: str | None
    quarantine_details: dict[str, Any] | None
    profile_selection: dict[str, Any] | None
    lease_owner: str | None
    lease_expires_at: EpochSeconds | None
    files: list[SignedFile] = Field(description="The file it was made of, and its products.")


class VerdictView(BaseModel):
    """What some bytes of a dataset proved to be, read with some hints."""

    fingerprint: str
    validation_status: ValidationStatus
    judged_at: UtcMicros
    job_run_id: UUID | None
    sha256: str | None
    byte_length: Count | None
    edition: str | None
    code: str | None
    details: dict[str, Any] | None
    profile_selection: dict[str, Any] | None
    said: dict[str, Any] | None
    summary: dict[str, Any] | None
    decided_by: str | None
    note: str | None


class EvidenceView(BaseModel):
    """All that somebody needs who decides about a dataset."""

    dataset: DatasetView
    verdict: VerdictView | None = Field(description="The present one: the failed check, and its details.")
    evidence: list[SignedFile] = Field(description="The file, context.json with its headers, and a plot.")
    former_verdicts: list[VerdictView]
    attempts: list[NovaAttemptView]


class WaitingDatasetView(BaseModel):
    """A dataset that waits for a person."""

    quarantined_at: UtcSeconds
    nova_id: UUID
    dataset_id: UUID
    dataset_type: DatasetType
    provider: str
    reason_code: str
    reason: str | None
    file_name: str | None


class DatasetPage(BaseModel):
    items: list[DatasetInList]
    next: str | None = Field(description=_NEXT)


class WaitingDatasetPage(BaseModel):
    items: list[WaitingDatasetView]
    next: str | None = Field(description=_NEXT)


class ContributionView(BaseModel):
    """What becomes of a file that somebody sends."""

    contribution_id: UUID
    nova_id: UUID
    dataset_id: UUID
    dataset_type: DatasetType
    file_name: str
    s3_key: str = Field(description="Where it will lie; whoever has access to the bucket may put it there himself.")
    status: ContributionStatus
    job_run_id: UUID | None
    upload: UploadView | None = Field(None, description="Where to send what is missing of it.")


class EventReceipt(BaseModel):
    """What came of an event."""

    received: Count
    repeated: Count
    ignored: Count


class StrayView(BaseModel):
    """An object that is nobody's."""

    bucket: str
    s3_key: str
    seen_at: UtcMicros
    reason: str
    byte_length: Count | None


class StrayPage(BaseModel):
    items: list[StrayView]
    next: str | None = Field(description=_NEXT)


class ReplayView(BaseModel):
    """Whether the stored inputs of a choice lead to the same choice today."""

    same: bool
    stored: dict[str, Any]
    now: dict[str, Any]


class BundleView(BaseModel):
    """A bundle of a nova."""

    nova_id: UUID
    fresh: bool = Field(description="It has all there is now; otherwise it is being made.")
    task_id: str | None
    made_at: UtcSeconds | None = None
    files: Count | None = None
    byte_length: Count | None = None
    sha256: str | None = None
    bundle: SignedFile | None = None
    manifest: SignedFile | None = None


class CrossReferenceView(BaseModel):
    """A paper, and the datasets that are from it."""

    reference_id: str
    title: str | None
    date: str | None
    known: bool
    datasets: list[UUID]


class CrossReferenceList(BaseModel):
    items: list[CrossReferenceView]


# Made of records


def signed(catalogue: NovaCatalogue, key: str) -> SignedFile:
    """A file with a URL that was signed just now; pictures that were made here are shown in place."""
    made_here = key.startswith(("derived/", "quarantine/")) and key.endswith(".png")
    url = catalogue.objects.download_url(key, show_as=_PICTURE if made_here else None)
    return SignedFile(name=key, url=url.url, expires_at=url.expires_at)


def dataset_in_list(dataset: Dataset) -> DatasetInList:
    return DatasetInList(**shared_fields(DatasetInList, dataset))


def dataset_view(catalogue: NovaCatalogue, dataset: Dataset) -> DatasetView:
    """A dataset by itself."""
    keys = [*([dataset.raw_key] if dataset.raw_key else []), *dataset.artifacts]
    files = [signed(catalogue, key) for key in keys]
    return DatasetView(**shared_fields(DatasetView, dataset), files=files)


def verdict_view(verdict: DatasetVerdict) -> VerdictView:
    return VerdictView(**shared_fields(VerdictView, verdict))


def evidence_view(catalogue: NovaCatalogue, found: Evidence) -> EvidenceView:
    """The evidence about a dataset."""
    latest = found.latest
    return EvidenceView(
        dataset=dataset_view(catalogue, found.dataset),
        verdict=None if latest is None else verdict_view(latest),
        evidence=[] if latest is None else [signed(catalogue, key) for key in latest.evidence],
        former_verdicts=[verdict_view(each) for each in found.verdicts if each is not latest],
        attempts=[NovaAttemptView.of(each) for each in found.attempts],
    )


def waiting_view(waits: Waiting) -> WaitingDatasetView:
    told = shared_fields(WaitingDatasetView, waits.entry) | {"nova_id": waits.dataset.nova_id}
    told["file_name"] = waits.entry.file_name or waits.dataset.file_name
    return WaitingDatasetView(**told)


def contribution_view(reserved: ReservedFile) -> ContributionView:
    where = None if reserved.where is None else UploadView.of_reserved(reserved.where)
    return ContributionView(**shared_fields(ContributionView, reserved.contribution), upload=where)


def stray_view(stray: StrayObject) -> StrayView:
    return StrayView(**shared_fields(StrayView, stray))


def replay_view(replayed: Replayed) -> ReplayView:
    return ReplayView(same=replayed.same, stored=replayed.stored, now=replayed.now)


def bundle_view(catalogue: NovaCatalogue, state: BundleState) -> BundleView:
    """A bundle; it can be got while it is what its record tells of."""
    told: dict[str, Any] = {"nova_id": state.nova_id, "fresh": state.fresh, "task_id": state.task_id}
    bundle = state.bundle
    if bundle is not None:
        told |= {name: getattr(bundle, name) for name in ("made_at", "files", "byte_length", "sha256")}
    if bundle is not None and state.fresh:
        told |= {"bundle": signed(catalogue, bundle.bundle_key), "manifest": signed(catalogue, bundle.manifest_key)}
    return BundleView(**told)


def cross_reference_view(found: CrossReference) -> CrossReferenceView:
    return CrossReferenceView(**found.told())
