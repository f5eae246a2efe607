"""What the API answers about assets: records as they stand, with a URL for each file that was signed just now."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from pydantic import BaseModel, Field

from penstock.declare.units import Count, UtcMicros, UtcSeconds
from penstock.domains.assetcreator.jobs import AssetJob
from penstock.domains.assetcreator.model import ArchivedVersion, Asset, AssetVersion, Job, Project, Step
from penstock.domains.assetcreator.stages import AssetKind, AssetType, Status, StepName
from penstock.files.signed_view import UrlSigner, shared_fields

_SHOWN = {"png": "image/png", "mp4": "video/mp4"}
"What is made here, and may be shown in place."
_SHOWING = ("thumbnail.png", "turntable.mp4")
"Files by which people see what a version is."


class FileView(BaseModel):
    name: str
    sha256: str | None
    url: str | None = Field(
        description="Of versions in a list, and of what a job has exported, only of what shows it: whoever asks for "
        "one version gets all, and is audited."
    )


class StepView(BaseModel):
    """One run of a stage."""

    step_name: StepName
    round: Count
    ts: UtcMicros
    status: Status
    artifacts: list[FileView]
    metrics: dict[str, Any]
    error: dict[str, Any] | None
    approved_by: str | None
    decided_at: UtcSeconds | None
    notes: str | None
    cost: float | None
    assignee: str | None
    due_at: UtcSeconds | None

    @classmethod
    def of(cls, step: Step, signer: UrlSigner) -> StepView:
        only = _SHOWING if step.step_name is StepName.EXPORT else None
        files = files_of(step.artifacts, step.checksums, signer, only=only)
        return cls(**(shared_fields(cls, step) | {"artifacts": files}))


class JobInList(BaseModel):
    """A job, without its steps."""

    project_id: str
    job_id: str
    asset_id: str | None
    asset_type: AssetType
    status: Status
    current_step: StepName
    version: Count | None
    cost: float | None
    error: dict[str, Any] | None
    request: dict[str, Any] | None
    created_at: UtcSeconds
    updated_at: UtcSeconds

    @classmethod
    def of(cls, job: Job) -> JobInList:
        return cls(**shared_fields(cls, job))


class AssetJobView(JobInList):
    """A job with every run of its steps; the URLs open by themselves until `urls_expire_at`."""

    steps: list[StepView]
    review: StepView | None = Field(description="The run that waits for a decision.")
    urls_expire_at: UtcSeconds | None

    @classmethod
    def with_steps(cls, seen: AssetJob, signer: UrlSigner) -> AssetJobView:
        steps = [StepView.of(step, signer) for step in seen.steps]
        waiting = seen.current()
        review = None if waiting is None else steps[seen.steps.index(waiting)]
        return cls(**shared_fields(JobInList, seen.job), steps=steps, review=review, urls_expire_at=signer.until)


class QuotaView(BaseModel):
    used: int
    allowed: int


class CreativeProjectInList(BaseModel):
    project_id: str
    name: str
    created_at: UtcSeconds


class CreativeProjectView(CreativeProjectInList):
    style_profile: dict[str, Any]
    gates: list[StepName] | None
    versions_kept: Count | None
    quotas: dict[str, QuotaView]

    @classmethod
    def of(cls, project: Project, quotas: dict[str, dict[str, int]]) -> CreativeProjectView:
        return cls(**(shared_fields(cls, project) | {"quotas": quotas}))


class AssetInList(BaseModel):
    project_id: str
    asset_id: str
    name: str | None
    type: AssetKind
    asset_type: AssetType | None
    latest_version: Count
    created_at: UtcSeconds

    @classmethod
    def of(cls, asset: Asset) -> AssetInList:
        return cls(**shared_fields(cls, asset))


class VersionView(BaseModel):
    """A version of an asset with its files."""

    project_id: str
    asset_id: str
    version: Count
    type: AssetKind
    job_id: str | None
    bytes: Count | None
    metadata: dict[str, Any]
    files: list[FileView]
    created_at: UtcSeconds
    kept_until: UtcSeconds | None = Field(description="So long one that was restored stays, however many are newer.")
    urls_expire_at: UtcSeconds | None

    @classmethod
    def of(cls, version: AssetVersion, signer: UrlSigner) -> VersionView:
        """One that somebody takes away, which is written down."""
        return cls._with(version, signer, None)

    @classmethod
    def shown(cls, version: AssetVersion, signer: UrlSigner) -> VersionView:
        """One that somebody looks at."""
        return cls._with(version, signer, _SHOWING)

    @classmethod
    def _with(cls, version: AssetVersion, signer: UrlSigner, only: Collection[str] | None) -> VersionView:
        files = files_of(version.files, version.metadata.get("checksums"), signer, only=only)
        told = shared_fields(cls, version) | {"files": files, "urls_expire_at": signer.until}
        told["metadata"] = {name: value for name, value in version.metadata.items() if name != "checksums"}
        return cls(**told)


class ArchivedVersionView(BaseModel):
    """A version that is in the archive, and can be asked for."""

    version: Count
    type: AssetKind
    job_id: str | None
    bytes: Count | None
    created_at: UtcSeconds
    archived_at: UtcSeconds

    @classmethod
    def of(cls, gone: ArchivedVersion) -> ArchivedVersionView:
        return cls(**shared_fields(cls, gone))


class AssetView(AssetInList):
    """An asset with its versions, latest first."""

    versions: list[VersionView]


class ReferenceView(BaseModel):
    reference_id: str
    project_id: str


class JobPage(BaseModel):
    """Some jobs; pass `next` back as `cursor` for those behind them, until it is null."""

    items: list[JobInList]
    next: str | None


class CreativeProjectPage(BaseModel):
    items: list[CreativeProjectInList]
    next: str | None


class ReviewPage(BaseModel):
    items: list[WaitingView]
    next: str | None


class WaitingView(StepView):
    project_id: str
    job_id: str

    @classmethod
    def of(cls, step: Step, signer: UrlSigner) -> WaitingView:
        return cls(**(shared_fields(cls, step) | {"artifacts": files_of(step.artifacts, step.checksums, signer)}))


class AssetPage(BaseModel):
    items: list[AssetInList]
    next: str | None


class VersionPage(BaseModel):
    items: list[VersionView]
    next: str | None
    archived: list[ArchivedVersionView] = Field(
        description="The latest of those that are in the archive; on the first page only."
    )


class ArchivedVersionPage(BaseModel):
    items: list[ArchivedVersionView]
    next: str | None


def files_of(
    keys: Sequence[str], checksums: dict[str, str] | None, signer: UrlSigner, *, only: Collection[str] | None = None
) -> list[FileView]:
    """Files by their names, each with a URL, or only those of some names."""
    told = []
    for key in keys:
        name = key.rpartition("/")[2]
        url = signer.url(key, _SHOWN.get(name.rpartition(".")[2])) if only is None or name in only else None
        told.append(FileView(name=name, sha256=(checksums or {}).get(key), url=url))
    return told
