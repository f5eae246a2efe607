"""Runs: begun once for each request, found again, and followed to where their nova is by now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

from penstock.declare.attr import the
from penstock.domains.novae.errors import NoSuchNova, NovaDeprecated
from penstock.domains.novae.lookup_records import Doubt, DoubtStatus
from penstock.domains.novae.model import Nova, NovaStatus
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_table import launched_identity, normalize_name, run_identity
from penstock.domains.novae.run_records import (
    Attempt,
    JobRun,
    JobRunPlace,
    NameAttempt,
    NameRun,
    RunLock,
    WorkflowRun,
)
from penstock.domains.novae.states import RunStatus
from penstock.domains.novae.workflow import NameInput, NovaInput, NovaStep, Workflow, WorkflowInput
from penstock.kernel.change import Change
from penstock.kernel.idempotency import new_id
from penstock.kernel.store import Store
from penstock.operations.conditions import Missing
from penstock.operations.reads import Query
from penstock.work import TaskContext

R = TypeVar("R", bound=WorkflowRun)
STALE = timedelta(days=1)
"A run that still runs after this time is given up by the next request for the same."
_MOST_MERGES = 100
"Novae that one may be merged into, one after the other."


@dataclass(frozen=True, slots=True)
class Begun(Generic[R]):
    """The run that answers a request, and whether it is this request that began it."""

    run: R
    is_new: bool


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request comes from: what it belongs to, and what has launched it."""

    correlation_id: str | None = None
    "Made if there is none, and told to all that comes of the request."
    parent: UUID | None = None
    continues: UUID | None = None

    @staticmethod
    def within(run: WorkflowRun) -> Origin:
        """That of a run which another launches."""
        return Origin(run.correlation_id, parent=run.job_run_id)


def begin(
    catalogue: NovaCatalogue, workflow: Workflow[R], input: WorkflowInput, *, by: str, origin: Origin | None = None
) -> Begun[R]:
    """Have a workflow run, unless a run answers the same request already: then that one.

    The run, its lock, its place and its first task are one commit, which also ends the claim of the request.
    """

    def changing() -> Change:
        return catalogue.store.change(by=by, once=catalogue.once)

    if isinstance(input, NovaInput):
        active(followed(catalogue.store, input.nova_id))
    return _begun(catalogue, workflow, input, changing, origin or Origin())


def launch(work: TaskContext, workflow: Workflow[R], input: WorkflowInput, *, parent: WorkflowRun) -> Begun[R]:
    """Have a workflow run for another run. A step that comes by again finds what it has launched."""
    catalogue = NovaCatalogue.within(work.domain)
    return _begun(catalogue, workflow, input, work.change, Origin.within(parent))


def begin_within(
    change: Change, catalogue: NovaCatalogue, workflow: Workflow[R], input: WorkflowInput, origin: Origin
) -> R:
    """Have a workflow run with the rest of a change, whatever run there is for the same request; Conflict if another
    just does so."""
    store = change.store
    lock = store.lookup(RunLock.at(request=workflow.request_of(input)))
    return _start(change, catalogue, workflow, input, origin, lock)


def _begun(
    catalogue: NovaCatalogue,
    workflow: Workflow[R],
    input: WorkflowInput,
    changing: Callable[[], Change],
    origin: Origin,
) -> Begun[R]:
    store = catalogue.store

    def attempt() -> Begun[R]:
        wanted = _followed_input(store, input)
        if (launched := _launched(store, workflow, wanted, origin)) is not None:
            return Begun(cast("R", launched), is_new=False)
        lock = store.lookup(RunLock.at(request=workflow.request_of(wanted)))
        found = None if lock is None else cast("R | None", _run_of(store, lock, wanted))
        if found is not None and _answers(store, workflow, found):
            return Begun(found, is_new=False)
        with changing() as change:
            if found is not None and found.status is RunStatus.RUNNING:
                workflow.pipeline.cancel(change, found, by="novae", why="another takes its place", code="STALE")
            run = _start(change, catalogue, workflow, wanted, origin, lock)
            change.result = {"job_run_id": str(run.job_run_id)}
        return Begun(run, is_new=True)

    return store.retried(attempt)  # of many who ask at once one begins it, and the others find that


def _launched(store: Store, workflow: Workflow[Any], input: WorkflowInput, origin: Origin) -> JobRun | NameRun | None:
    """The run that another has launched for this already, whatever has become of it since."""
    if origin.parent is None:
        return None
    launched = launched_identity(workflow.request_of(input), origin.parent)
    return find_run(store, launched) if store.lookup(JobRunPlace.at(job_run_id=launched)) is not None else None


def _followed_input(store: Store, input: WorkflowInput) -> WorkflowInput:
    """A request about a nova is about the one that it was merged into; NoSuchNova if there is none."""
    if not isinstance(input, NovaInput):
        return input
    return input.model_copy(update={"nova_id": followed(store, input.nova_id).nova_id})


def _answers(store: Store, workflow: Workflow[Any], run: WorkflowRun) -> bool:
    """Does a run answer further requests? While it is at work or waits for a person, and for its window unless it has
    failed; the time is counted from its beginning, so that no hour has an edge at which two begin."""
    age = store.clock.now() - run.started_at
    if run.status is RunStatus.RUNNING:
        return age < STALE
    if run.status is RunStatus.FAILED:
        return False
    if run.status is RunStatus.QUARANTINED:
        doubt = store.lookup(Doubt.at(job_run_id=run.job_run_id))
        if doubt is not None:
            return doubt.status is DoubtStatus.WAITING
    return workflow.window is not None and age < workflow.window


def _start(
    change: Change,
    catalogue: NovaCatalogue,
    workflow: Workflow[R],
    input: WorkflowInput,
    origin: Origin,
    lock: RunLock | None,
) -> R:
    now, turn = change.store.clock.now(), 1 if lock is None else lock.turn + 1
    request = workflow.request_of(input)
    key = request if workflow.window is None else f"{request}:{now:%Y-%m-%dT%H}"
    run_id = run_identity(key, turn) if origin.parent is None else launched_identity(request, origin.parent)
    run = _new_run(workflow, input, key=key, run_id=run_id, at=now, catalogue=catalogue, origin=origin)
    _take_lock(change, lock, _lock_of(run, request, turn))
    change.create(_place_of(run, input))
    return workflow.pipeline.start(change, input.model_dump(mode="json"), job=cast("R", run))


def _new_run(
    workflow: Workflow[Any],
    input: WorkflowInput,
    *,
    key: str,
    run_id: UUID,
    at: datetime,
    catalogue: NovaCatalogue,
    origin: Origin,
) -> WorkflowRun:
    told: dict[str, Any] = {
        "started_at": at,
        "job_run_id": run_id,
        "workflow_name": workflow.name,
        "correlation_id": origin.correlation_id or str(new_id(catalogue.once, "correlation")),
        "idempotency_key": key,
        "parent_run_id": origin.parent,
        "continues": origin.continues,
        "ttl": int((at + catalogue.options.runs_kept).timestamp()),
    }
    if isinstance(input, NovaInput):
        return JobRun(nova_id=input.nova_id, **told)
    assert isinstance(input, NameInput), "a workflow is about a nova or a name"
    return NameRun(normalized_name=normalize_name(input.candidate_name), **told)


def _place_of(run: WorkflowRun, input: WorkflowInput) -> JobRunPlace:
    return JobRunPlace(
        job_run_id=run.job_run_id,
        workflow_name=run.workflow_name,
        started_at=run.started_at,
        candidate_name=input.candidate_name if isinstance(input, NameInput) else None,
        nova_id=input.nova_id if isinstance(input, NovaInput) else None,
        ttl=run.ttl,
    )


def _lock_of(run: WorkflowRun, request: str, turn: int) -> RunLock:
    return RunLock(
        request=request,
        turn=turn,
        workflow_name=run.workflow_name,
        job_run_id=run.job_run_id,
        started_at=run.started_at,
        ttl=run.ttl,
    )


def _take_lock(change: Change, found: RunLock | None, lock: RunLock) -> None:
    unchanged = Missing() if found is None else the(RunLock.turn).equals(found.turn)
    change.put(lock, when=unchanged)


def _run_of(store: Store, lock: RunLock, input: WorkflowInput) -> WorkflowRun | None:
    if isinstance(input, NovaInput):
        return store.lookup(JobRun.at(nova_id=input.nova_id, started_at=lock.started_at, job_run_id=lock.job_run_id))
    assert isinstance(input, NameInput), "a workflow is about a nova or a name"
    name = normalize_name(input.candidate_name)
    return store.lookup(NameRun.at(normalized_name=name, started_at=lock.started_at, job_run_id=lock.job_run_id))


# Looking


def find_run(store: Store, job_run_id: UUID) -> JobRun | NameRun:
    """A run by its id alone; NoSuchNova where there is none."""
    place = store.lookup(JobRunPlace.at(job_run_id=job_run_id))
    run: JobRun | NameRun | None = None
    if place is not None and place.candidate_name is not None:
        name = normalize_name(place.candidate_name)
        run = store.lookup(NameRun.at(normalized_name=name, started_at=place.started_at, job_run_id=job_run_id))
    elif place is not None and place.nova_id is not None:
        run = store.lookup(JobRun.at(nova_id=place.nova_id, started_at=place.started_at, job_run_id=job_run_id))
    if run is None:
        raise NoSuchNova(f"there is no run {job_run_id}; runs are forgotten after their time")
    return run


def attempts_of(run: JobRun | NameRun) -> Query[Any]:
    """What a run tried, task by task."""
    if isinstance(run, JobRun):
        return Attempt.of_run(nova_id=run.nova_id, job_run_id=run.job_run_id)
    return NameAttempt.of_run(normalized_name=run.normalized_name, job_run_id=run.job_run_id)


# Novae that were merged


def followed(store: Store, nova_id: UUID) -> Nova:
    """A nova, or the one that it was merged into; NoSuchNova where there is none."""
    asked = nova_id
    for _ in range(_MOST_MERGES):
        nova = store.lookup(Nova.at(nova_id=nova_id))
        if nova is None:
            raise NoSuchNova(f"there is no nova {asked}")
        if nova.status is not NovaStatus.MERGED or nova.merged_into is None:
            return nova
        nova_id = nova.merged_into
    raise NoSuchNova(f"nova {asked} was merged into others more than {_MOST_MERGES} times")


def active(nova: Nova) -> Nova:
    """The same nova; NovaDeprecated if it is none any more."""
    if nova.status is NovaStatus.DEPRECATED:
        because = f" ({nova.deprecated_because})" if nova.deprecated_because else ""
        raise NovaDeprecated(f"{nova.preferred_name} is deprecated{because}; restore it first")
    return nova


def nova_at_work(work: TaskContext, context: NovaStep) -> UUID:
    """The nova that a step works for, where it is by now: its own may have been merged since the run began."""
    return followed(work.store, context.job.nova_id).nova_id


def still_stands(change: Change, nova_id: UUID) -> None:
    """Refuse a change to what belongs to a nova if that is merged meanwhile; the next attempt follows it."""
    change.check(Nova.at(nova_id=nova_id), the(Nova.status).differs(NovaStatus.MERGED))
