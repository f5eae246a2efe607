"""Game assets: jobs that run step by step, are reviewed by people, and end as versions of an asset."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from penstock.declare import (
    ANYTHING,
    SYSTEM,
    Action,
    Count,
    Domain,
    Entity,
    IndexKey,
    KeepLatest,
    Move,
    Range,
    RetainFor,
    Role,
    UtcMicros,
    UtcSeconds,
    View,
    WrittenBy,
    attribute,
    key,
    move,
    pattern,
)
from penstock.domains.assetcreator.asset_table import GSI1, GSI2, GSI3, GSI4, TABLE, Numbered
from penstock.domains.assetcreator.bookkeeping import Audit, Idempotency, Outbox
from penstock.domains.assetcreator.project_quotas import forget_version
from penstock.domains.assetcreator.stages import OVER, AssetKind, AssetType, Status, StepName
from penstock.kernel.change import Change
from penstock.operations.reads import Query, Ref
from penstock.schema.file_pattern import FilePattern
from penstock.schema.object_key import ObjectKey
from penstock.work.job import StepResult
from penstock.work.job_records import pipeline_records

RETENTION = timedelta(days=90)
VERSIONS_KEPT = 10
"Of each asset, where its project says nothing else."

BEGIN = Action("begin a project")
"It gets the quotas of the deployment."
ASK = Action("ask for an asset")
"Only as far as the project's quotas go."
REVIEW = Action("review")
"A decision is written of the step and of its job, with the event that sets the work going again."


class Project(Entity, table=TABLE, relation="projects", created_by=BEGIN):
    """A creative context: its style, and how much it may use."""

    project_id: str = attribute(column="id", in_key_only=True)
    name: str
    style_profile: dict[str, Any] = attribute(column="style_profile_json", default_factory=dict)
    quotas: Annotated[dict[str, float], WrittenBy(Role.ADMIN)] = attribute(column="quotas_json", default_factory=dict)
    created_at: UtcSeconds = Field(frozen=True)
    gates: list[StepName] | None = None
    "After which stages people decide; None: after each that can have a gate."
    versions_kept: Annotated[int, Field(ge=1, le=1000)] | None = None
    "How many versions of an asset stay in the library; None: as many as usual."
    forbidden_words: Annotated[list[str] | None, WrittenBy(Role.ADMIN)] = None
    "Words that no prompt may have."

    @key("PROJECT#{project_id}", "PROJECT#{project_id}")
    def at(self, *, project_id: str) -> None: ...

    by_creation = IndexKey(GSI4, "PROJECTS", "{created_at}")

    @pattern(by_creation, backwards=True)
    def all(self, *, created_at: Range[datetime] = ANYTHING) -> None:
        """Projects, newest first."""


def _stamp(job: Job, *, at: datetime) -> None:
    job.updated_at = at


def _go_to(job: Job, *, step: StepName, at: datetime) -> None:
    job.current_step, job.updated_at, job.error = step, at, None


def _end_badly(job: Job, *, at: datetime, code: str | None = None, message: str | None = None) -> None:
    job.updated_at, job.error = at, {"code": code or "FAILED", "message": message or ""}


def _whole(job: Job) -> list[Ref[Any] | Query[Any]]:
    """All that is kept of a job, whichever of it may be younger or older than its end."""
    return [JobPlace.at(job_id=job.job_id), Step.of_job(job_id=job.job_id), *pipeline_records(job)]


class Job(
    Entity,
    table=TABLE,
    relation="jobs",
    created_by=ASK,
    sql_indexes=(("project_id", "status"),),
    lifetimes=(RetainFor(RETENTION, since="updated_at", when=OVER, along=_whole, files=True),),
):
    """One asset, asked for once. Its moment changes with its state only, so that pages by status stand still."""

    project_id: str = attribute(in_key_only=True)
    job_id: str = attribute(column="id", in_key_only=True)
    asset_type: AssetType
    status: Status = Status.PENDING
    current_step: StepName
    request: dict[str, Any] | None = attribute(column="request_json", default=None)
    asset_id: str | None = None
    "The asset of which it makes a version."
    version: Count | None = None
    "The version that came of it."
    cost: Annotated[float, Field(ge=0)] | None = None
    "What services elsewhere have charged for it."
    seconds: Annotated[float, Field(ge=0)] | None = None
    "Of computing, as far as they are counted for its project."
    error: dict[str, Any] | None = attribute(column="error_json", default=None)
    created_at: UtcSeconds = Field(frozen=True)
    updated_at: UtcSeconds

    @key("PROJECT#{project_id}", "JOB#{job_id}")
    def at(self, *, project_id: str, job_id: str) -> None: ...

    by_moment = IndexKey(GSI1, "JOB_STATUS#{status}", "{updated_at}")

    @pattern(at)
    def of_project(self, *, project_id: str) -> None:
        """The jobs of a project."""

    @pattern(by_moment)
    def by_status(self, *, status: Status, updated_at: Range[datetime] = ANYTHING) -> None:
        """Jobs in a state (running: in progress), the one longest in it first."""

    start = move(Status.PENDING, to=Status.RUNNING, by=SYSTEM)(_stamp)
    pause = move(Status.RUNNING, to=Status.PAUSED, by=SYSTEM)(_stamp)
    approve = move(Status.PAUSED, to=Status.APPROVED, by=REVIEW)(_stamp)
    reject = move(Status.PAUSED, to=Status.REJECTED, by=REVIEW)(_stamp)
    finish = move(Status.RUNNING, Status.APPROVED, to=Status.DONE, by=SYSTEM)(_stamp)
    fail = move(Status.PENDING, Status.RUNNING, Status.REJECTED, to=Status.FAILED, by=SYSTEM)(_end_badly)
    advance = move(Status.RUNNING, Status.APPROVED, to=Status.RUNNING, by=SYSTEM)(_go_to)
    rewind = move(Status.REJECTED, Status.FAILED, to=Status.RUNNING, by=SYSTEM)(_go_to)
    # Beyond the documents: what is done can be made anew from any of its steps.
    reopen = move(Status.DONE, to=Status.RUNNING, by=SYSTEM)(_go_to)


class JobPlace(Entity, table=TABLE, relation="job_places", created_by=SYSTEM):
    """Which project a job belongs to, for those who know only the job."""

    job_id: str = attribute(in_key_only=True)
    project_id: str

    @key("JOB#{job_id}", "JOB#{job_id}")
    def at(self, *, job_id: str) -> None: ...


@dataclass(frozen=True)
class MadeByStep(StepResult):
    """What a stage made, with what tells its files from any others."""

    checksums: dict[str, str] = field(default_factory=dict)
    "SHA-256 of each artifact, by its key."
    cost: float | None = None
    version: int | None = None
    "Of the asset, if it is one."


def _deliver(step: Step, *, artifacts: list[ObjectKey], metrics: dict[str, Any], made: object = None) -> None:
    step.artifacts, step.metrics = artifacts, metrics
    if isinstance(made, MadeByStep):
        step.checksums, step.cost = dict(made.checksums), made.cost


def _decide(step: Step, *, by: str, at: datetime, note: str | None = None) -> None:
    step.approved_by, step.decided_at, step.notes, step.remind_at = by, at, note, None


class Step(
    Numbered,
    table=TABLE,
    relation="steps",
    created_by=SYSTEM,
    sql_indexes=(("job_id", "status", "step_name"),),
):
    """One run of one stage. A stage that is run again is a new record; what was rejected stays readable.

    It leaves with its job, and not before.
    """

    project_id: str
    job_id: str = attribute(in_key_only=True)
    step_name: StepName = attribute(column="name", in_key_only=True)
    ts: UtcMicros = attribute(column="created_at", in_key_only=True)
    # Keys sort by name, anim before text-to-image; this is the order of the work.
    step_index: Count = Field(default_factory=lambda step: list(StepName).index(step["step_name"]), frozen=True)
    status: Status = Status.PENDING
    artifacts: list[ObjectKey] = attribute(column="artifacts_json", default_factory=list)
    metrics: dict[str, Any] = attribute(column="metrics_json", default_factory=dict)
    error: dict[str, Any] | None = attribute(column="error_json", default=None)
    approved_by: str | None = None
    decided_at: UtcSeconds | None = None
    round: Count = 1
    "Grows whenever a stage of the job is run anew; a decision names it."
    checksums: dict[str, str] | None = None
    "SHA-256 of each artifact, by its key: what a decision is about, and what the next stage must find."
    notes: str | None = None
    "What whoever decided had to say."
    cost: Annotated[float, Field(ge=0)] | None = None
    remote_job: str | None = None
    "What was begun elsewhere for it, so that another attempt goes on with that."
    assignee: str | None = None
    "Who is to decide; None: anybody who may."
    due_at: UtcSeconds | None = None
    "By when somebody should have decided."
    remind_at: UtcSeconds | None = None
    "As `due_at`, until the decision is made or others were told that it is overdue."

    @key("JOB#{job_id}", "STEP#{step_name}#{ts}")
    def at(self, *, job_id: str, step_name: StepName, ts: datetime) -> None: ...

    by_moment = IndexKey(GSI2, "STEP_STATUS#{status}", "{ts}")
    waiting = IndexKey(GSI4, "PROJECT#{project_id}#REVIEWS", "{ts}", when={"status": (Status.PAUSED,)})
    until_told = IndexKey(GSI3, "REVIEWS_DUE", "{remind_at}", when={"status": (Status.PAUSED,)})

    @pattern(at)
    def of_job(self, *, job_id: str, step_name: StepName | None = None) -> None:
        """The steps of a job, or every run of one of them."""

    @pattern(by_moment)
    def by_status(self, *, status: Status, ts: Range[datetime] = ANYTHING) -> None:
        """Steps in a state (paused: awaiting review), oldest first."""

    @pattern(waiting)
    def reviews_of_project(self, *, project_id: str, ts: Range[datetime] = ANYTHING) -> None:
        """The steps of a project that await review, oldest first."""

    @pattern(until_told)
    def overdue(self, *, remind_at: Range[datetime] = ANYTHING) -> None:
        """Steps awaiting review by when that is due, of which nobody was reminded."""

    start = Move(Status.PENDING, to=Status.RUNNING, by=SYSTEM)
    pause = move(Status.RUNNING, to=Status.PAUSED, by=SYSTEM)(_deliver)
    finish = move(Status.RUNNING, to=Status.DONE, by=SYSTEM)(_deliver)
    approve = move(Status.PAUSED, to=Status.APPROVED, by=REVIEW)(_decide)
    reject = move(Status.PAUSED, to=Status.REJECTED, by=REVIEW)(_decide)
    release = Move(Status.APPROVED, to=Status.DONE, by=SYSTEM)

    @move(Status.PENDING, Status.RUNNING, to=Status.FAILED, by=SYSTEM)
    def fail(self, *, code: str, message: str) -> None:
        """No work came of it."""
        self.error = {"code": code, "message": message}

    @move(Status.PENDING, Status.RUNNING, Status.PAUSED, to=Status.FAILED, by=SYSTEM)
    def cancel(self, *, code: str, message: str) -> None:
        """Nobody wants it any more, whether or not it was made already."""
        self.error = {"code": code, "message": message}


class Asset(Entity, table=TABLE, relation="assets", created_by=SYSTEM):
    """A deliverable of a project, and the number of its newest version."""

    project_id: str = attribute(in_key_only=True)
    asset_id: str = attribute(column="id", in_key_only=True)
    type: AssetKind
    latest_version: Count = 0
    created_at: UtcSeconds = Field(frozen=True)
    asset_type: AssetType | None = None
    name: str | None = None
    last_number: Count | None = None
    "The highest that a version ever had; none is given twice, also when the latest version is deleted."

    @key("PROJECT#{project_id}", "LATEST#{asset_id}")
    def at(self, *, project_id: str, asset_id: str) -> None: ...

    in_project = IndexKey(GSI4, "PROJECT#{project_id}#ASSETS#{type}", "{created_at}")

    @pattern(at)
    def of_project(self, *, project_id: str) -> None:
        """The assets of a project."""

    @pattern(in_project, backwards=True)
    def of_project_by_type(self, *, project_id: str, type: AssetKind, created_at: Range[datetime] = ANYTHING) -> None:
        """The drawn or the modelled assets of a project, newest first."""


class AssetPlace(Entity, table=TABLE, relation="asset_places", created_by=SYSTEM):
    """Which project an asset belongs to, for those who know only the asset."""

    asset_id: str = attribute(in_key_only=True)
    project_id: str

    @key("ASSET#{asset_id}", "ASSET#{asset_id}")
    def at(self, *, asset_id: str) -> None: ...


class ReferencePicture(Entity, table=TABLE, relation="reference_pictures", created_by=SYSTEM):
    """A picture that somebody brought along to show what they mean."""

    project_id: str = attribute(in_key_only=True)
    reference_id: str = attribute(in_key_only=True)
    picture: ObjectKey
    created_at: UtcSeconds = Field(frozen=True)

    @key("PROJECT#{project_id}", "REFERENCE#{reference_id}")
    def at(self, *, project_id: str, reference_id: str) -> None: ...

    @pattern(at)
    def of_project(self, *, project_id: str) -> None:
        """The pictures of a project."""


def _said_by(version: AssetVersion) -> Ref[Project]:
    return Project.at(project_id=version.project_id)


def _leave_library(change: Change, version: AssetVersion, bundle: str) -> None:
    """A version that goes to the archive gives its room back, and what tells of it stays."""
    forget_version(change, version)
    told = {name: getattr(version, name) for name in ("project_id", "asset_id", "version", "type", "bytes", "job_id")}
    change.put(
        ArchivedVersion(**told, created_at=version.created_at, archived_at=change.store.clock.now(), bundle=bundle)
    )
    change.emit("AssetVersionArchived", version)


class AssetVersion(
    Numbered,
    table=TABLE,
    relation="asset_versions",
    created_by=SYSTEM,
    sql_indexes=(("asset_id", "-version"),),
    lifetimes=(
        KeepLatest(
            VERSIONS_KEPT,
            per=("project_id", "asset_id"),
            said_by=_said_by,
            said_in="versions_kept",
            spared_until="kept_until",
            files=True,
            on_leave=_leave_library,
        ),
    ),
):
    """The files of an asset as they were delivered once."""

    project_id: str = attribute(in_key_only=True)
    asset_id: str = attribute(in_key_only=True)
    version: Annotated[int, Field(ge=1, le=9_999_999_999)]
    type: AssetKind
    files: list[ObjectKey] = attribute(column="files_json")
    metadata: dict[str, Any] = attribute(column="metadata_json", default_factory=dict)
    # A path that is signed when it is handed out, never a URL that opens by itself.
    cdn_url: ObjectKey | None = None
    created_at: UtcSeconds = Field(frozen=True)
    job_id: str | None = None
    "The job that it came of."
    bytes: Count | None = None
    "Of all its files."
    kept_until: UtcSeconds | None = None
    "So long one that was brought back from the archive stays, however many are newer."

    @key("PROJECT#{project_id}", "ASSET#{asset_id}#V#{version:010d}")
    def at(self, *, project_id: str, asset_id: str, version: int) -> None: ...

    by_creation = IndexKey(GSI3, "ASSET_TYPE#{type}", "{created_at}")

    @pattern(at, backwards=True)
    def of_asset(self, *, project_id: str, asset_id: str) -> None:
        """The versions of an asset, latest first."""

    @pattern(by_creation, backwards=True)
    def by_type(self, *, type: AssetKind, created_at: Range[datetime] = ANYTHING) -> None:
        """Versions of drawn or of modelled assets, newest first."""


class ArchivedVersion(Entity, table=TABLE, relation="archived_versions", created_by=SYSTEM):
    """A version that is in the archive, and can be brought back from there."""

    project_id: str = attribute(in_key_only=True)
    asset_id: str = attribute(in_key_only=True)
    version: Annotated[int, Field(ge=1, le=9_999_999_999)]
    type: AssetKind
    bytes: Count | None = None
    job_id: str | None = None
    created_at: UtcSeconds = Field(frozen=True)
    archived_at: UtcSeconds
    bundle: str
    "Where in the archive its record is, and which tells where its files are."

    @key("PROJECT#{project_id}", "ARCHIVED#{asset_id}#V#{version:010d}")
    def at(self, *, project_id: str, asset_id: str, version: int) -> None: ...

    @pattern(at, backwards=True)
    def of_asset(self, *, project_id: str, asset_id: str) -> None:
        """The archived versions of an asset, latest first."""


WORK_FILE = FilePattern("assets/{project_id}/jobs/{job_id}/**")
VERSION_FILE = FilePattern("assets/{project_id}/library/{asset_id}/{version:010d}/**")
REFERENCE_FILE = FilePattern("assets/{project_id}/references/{reference_id}/picture")

VIEWS = (
    View("v_jobs_in_progress", "SELECT * FROM {Job} WHERE status = 'running'"),
    View("v_steps_needing_review", "SELECT * FROM {Step} WHERE status = 'paused'"),
    View(
        "v_assets_by_type",
        "SELECT a.type, a.project_id, a.id, a.latest_version, a.created_at, v.metadata_json, v.files_json, v.cdn_url"
        " FROM {Asset} a JOIN {AssetVersion} v"
        " ON v.project_id = a.project_id AND v.asset_id = a.id AND v.version = a.latest_version"
        " ORDER BY a.type, a.created_at",
    ),
)
DOMAIN = Domain(
    "assetcreator",
    *(Project, Job, JobPlace, Step, Asset, AssetPlace, AssetVersion, ArchivedVersion, ReferencePicture),
    *(Outbox, Idempotency, Audit),
    views=VIEWS,
    outbox=Outbox,
    audit=Audit,
    files=(WORK_FILE, VERSION_FILE, REFERENCE_FILE, "assets/{project_id}/**"),
)
