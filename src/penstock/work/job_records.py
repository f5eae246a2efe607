"""Job records: which entities of a domain are the job, the step and the attempt of its pipelines.

Nothing is asked of these entities but moves: their states, names and fields are the domain's own, as its documents have
them. What they have no field for (the position, the round, the task at work) is kept beside them in a `PipelineJob`,
which is written in the same commits. A domain without such entities uses the generic ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from penstock.declare.entity import Entity
from penstock.declare.rights import leave_to_system
from penstock.errors import DeclarationError, InvalidValue
from penstock.kernel.change import Change
from penstock.kernel.record_name import name_of
from penstock.kernel.store import Store
from penstock.operations.reads import Query, Ref
from penstock.schema.kinds import from_key_text
from penstock.work.job import ChildCount, ChildRun, PipelineJob, StepResult, StepRun
from penstock.work.task import Task, TaskAttempt
from penstock.work.transitions import Chapter, Paths, Transitions

J = TypeVar("J", bound=Entity)
S = TypeVar("S", bound=Entity)

JOB_MOVES: dict[str, Paths] = {
    "start": ["start", "begin"],
    "advance": ["advance", "go_on"],
    "pause": "pause",
    "approve": "approve",
    "reject": "reject",
    "rewind": ["rewind", "reopen", ("reject", "rewind")],
    "revive": ["revive", "rewind", "reopen"],
    "finish": ["finish", "succeed", "complete"],
    "fail": "fail",
    "quarantine": "quarantine",
    "cancel": ["cancel", "fail", ("reject", "fail")],
}
"What happens to a job, and the moves that usually carry it out."
STEP_MOVES: dict[str, Paths] = {
    "start": ["start", "begin"],
    "pause": "pause",
    "approve": "approve",
    "reject": "reject",
    "revive": ["revive", "retry"],
    "finish": ["finish", "succeed", "complete"],
    "fail": "fail",
    "quarantine": "quarantine",
    "cancel": ["cancel", "fail", "reject"],
}
"What happens to a step, and the moves that usually carry it out."
EVENTS = {"paused": "job.paused", "done": "job.done", "failed": "job.failed", "cancelled": "job.cancelled"}
"What others are told, and under which name."
STEP_EVENTS = frozenset({"step_started", "step_completed", "step_failed", "decided"})
"What they are told of steps, where a domain names it."
MORE_EVENTS = STEP_EVENTS | {"quarantined"}
"What they are told where a domain names it, and not otherwise."

_BEGUN = ("waiting", "running")
_OVER = ("failed", "done", "cancelled", "quarantined")
_JOB_STORY = (
    Chapter("waiting", ("start?",), "running"),
    *(Chapter(origin, ("fail",), "failed") for origin in _BEGUN),
    *(Chapter(origin, ("cancel",), "cancelled") for origin in _BEGUN),
    Chapter("running", ("advance?",), "running"),
    Chapter("running", ("finish",), "done"),
    Chapter("running", ("quarantine",), "quarantined", needed=False),
    *(Chapter(origin, ("rewind",), "running", needed=False) for origin in _OVER),
    Chapter("failed", ("revive",), "running", needed=False),
    Chapter("quarantined", ("revive",), "running", needed=False),
)
_JOB_REVIEW = (
    Chapter("running", ("pause",), "paused"),
    Chapter("paused", ("approve?", "advance?"), "running"),
    Chapter("paused", ("approve?", "finish"), "done"),
    Chapter("paused", ("reject?", "rewind"), "running"),
    Chapter("paused", ("cancel",), "cancelled"),
)
_STEP_STORY = (
    Chapter("waiting", ("start?",), "running"),
    *(Chapter(origin, ("fail",), "failed") for origin in _BEGUN),
    *(Chapter(origin, ("cancel",), "cancelled") for origin in _BEGUN),
    Chapter("running", ("finish",), "done"),
    Chapter("failed", ("revive",), "running", needed=False),
)
_STEP_REVIEW = (
    Chapter("running", ("pause",), "paused"),
    Chapter("paused", ("approve",), "approved"),
    Chapter("paused", ("reject",), "rejected"),
    Chapter("paused", ("cancel",), "cancelled"),
)


@dataclass(frozen=True, slots=True)
class EndedAttempt:
    """One attempt at a step that has ended, also one that was lost with its worker."""

    step: str
    round: int
    child: int | None
    "Which of a step's parallel children it was; None of the step itself."
    task: TaskAttempt
    "How it ended, when, why, and whose it was."

    @property
    def number(self) -> int:
        """The how manieth of its task it was, from 1."""
        return self.task.epoch

    @property
    def name(self) -> str:
        """What was attempted: the step, or of a step in parts one of its children (``.0``), or their ``.join``."""
        if self.child is not None:
            return f"{self.step}.{self.child}"
        return f"{self.step}.join" if self.task.name.endswith(f".{self.step}.join") else self.step


class JobRecords(Generic[J, S]):
    """A domain's own job, and, where it has them, its own step and attempt.

    ``input`` names the job's field for what it is asked to do, ``current`` the one for the step it is at. ``moves`` and
    ``step_moves`` say by which moves something is carried out that has not one of the usual names (`JOB_MOVES`,
    `STEP_MOVES`); ``events`` how others are told (`EVENTS`, and where named `MORE_EVENTS`), and ``tells`` what they are
    told of the job in each of them, which its steps' own payload must not name again. ``make_step`` and
    ``make_attempt`` make a new record where that does not follow from the names of its fields. ``ended`` adds to every
    change with which a job ends, however it ends, given what its last step has just made, if that is why; ``reopened``
    adds to every one with which it is taken up again.
    """

    def __init__(
        self,
        job: type[J],
        step: type[S] | None = None,
        attempt: type[Entity] | None = None,
        *,
        input: str | None = None,
        current: str | None = None,
        moves: Mapping[str, Paths] | None = None,
        step_moves: Mapping[str, Paths] | None = None,
        events: Mapping[str, str] | None = None,
        make_step: Callable[[J, str, datetime], S] | None = None,
        make_attempt: Callable[[J, EndedAttempt], Entity] | None = None,
        ended: Callable[[Change, J, StepResult | None], None] = lambda change, job, made: None,
        reopened: Callable[[Change, J], None] = lambda change, job: None,
        tells: Callable[[J], Mapping[str, Any]] = lambda job: {},
    ) -> None:
        self.ended, self.reopened, self.tells = ended, reopened, tells
        self.job, self.step = job, step or cast("type[S]", StepRun)
        self.has_own_job, self.has_own_step = job is not PipelineJob, step not in (None, StepRun)
        self.attempt = attempt
        self.input = _field(job, input, "input")
        self.current = _field(job, current, "current_step")
        self.job_moves = Transitions(job, JOB_MOVES, moves or {})
        self.step_moves = Transitions(self.step, STEP_MOVES, step_moves or {})
        self.events = {**EVENTS, **(events or {})}
        if unknown := sorted(set(self.events) - set(EVENTS) - MORE_EVENTS):
            known = ", ".join([*EVENTS, *sorted(MORE_EVENTS)])
            raise DeclarationError(f"{job.__name__}: nobody is told {', '.join(unknown)}; there is {known}")
        self._make_step, self._make_attempt = make_step, make_attempt
        if self.has_own_step and make_step is None:
            _check_offered(self.step, {*_keys(job), *_STEP_FIELDS})
        if attempt is not None and make_attempt is None:
            _check_offered(attempt, {*_keys(job), *_ATTEMPT_FIELDS})

    def check(self, *, reviewed: bool) -> None:
        """Play all that may happen to a job and its steps; DeclarationError where a move is missing."""
        if self.has_own_job:
            self.job_moves.check(_JOB_STORY + (_JOB_REVIEW if reviewed else ()))
        self.step_moves.check(_STEP_STORY + (_STEP_REVIEW if reviewed else ()))

    def leave_to_pipeline(self) -> None:
        """What the declaration does not leave to people is the pipeline's alone: nobody else makes its moves."""
        for entity in (self.job, self.step, self.attempt):
            if entity is not None:
                leave_to_system(entity.__shape__)

    # Making

    def new_step(self, run: PipelineJob, job: J, name: str, *, now: datetime, input: dict[str, Any] | None) -> S:
        """The record of a run of a step that is about to begin."""
        if not self.has_own_step:
            made: Any = StepRun(
                job_id=run.job_id,
                position=run.position,
                round=run.round,
                name=name,
                project_id=run.project_id,
                created_at=now,
                input=input,
            )
            return cast("S", made)
        if self._make_step is not None:
            return self._make_step(job, name, now)
        told: dict[str, Any] = dict.fromkeys(("step_name", "name", "step"), name)
        told |= {"ts": now, "created_at": now, "round": run.round, "position": run.position, "input": input}
        return _made(self.step, {**_project(run), **_key_values(job), **told})

    def new_attempt(self, run: PipelineJob, job: J, ended: EndedAttempt) -> Entity | None:
        """The domain's own record of an attempt that has ended; None where it has none."""
        if self._make_attempt is not None:
            return self._make_attempt(job, ended)
        if self.attempt is None:
            return None
        told = {"step_name": ended.step, "step": ended.step, "name": ended.name, "task": ended.name}
        return _made(self.attempt, {**_project(run), **_key_values(job), **told, **_attempt_values(ended)})

    # Finding

    def job_of(self, reader: Store | Change, run: PipelineJob) -> J:
        """The domain's own job, or the generic one."""
        if run.record is None:
            return cast("J", run)
        return reader.get(_ref(self.job, run.record))

    def job_ref(self, run: PipelineJob) -> Ref[J]:
        """Where the domain's own job is, or the generic one."""
        return cast("Ref[J]", run.ref) if run.record is None else _ref(self.job, run.record)

    def step_ref(self, run: PipelineJob) -> Ref[S]:
        """Where the record of the present run of its step is."""
        if run.step is not None:
            return _ref(self.step, run.step)
        return cast("Ref[S]", StepRun.at(job_id=run.job_id, position=run.position, round=run.round))

    def step_at(self, key: Mapping[str, str]) -> Ref[S]:
        """Where the record of a run is whose key was kept."""
        return _ref(self.step, key)

    def own_key(self, step: S) -> dict[str, str] | None:
        """The key of a domain's own step, to be kept."""
        return step.ref.texts() if self.has_own_step else None

    def made_by(self, store: Store, run: PipelineJob, step: str) -> S | None:
        """A domain's own step whose result counts."""
        found = (run.made or {}).get(step)
        return None if found is None else store.lookup(_ref(self.step, found))

    def input_of(self, run: PipelineJob, job: J) -> dict[str, Any]:
        """What a job is asked to do."""
        if not self.has_own_job or self.input is None:
            return run.input
        return getattr(job, self.input) or {}

    def set_input(self, run: PipelineJob, job: J, input: dict[str, Any]) -> None:
        """Ask a job to do something else, from its next step on."""
        target: Entity = job if self.has_own_job and self.input is not None else run
        setattr(target, self.input or "input", input)

    def set_current(self, job: J, step: str) -> None:
        """Let the domain's own job tell at which step it is."""
        if self.has_own_job and self.current is not None:
            setattr(job, self.current, step)


def pipeline_job_id(job: Ref[Any]) -> str:
    """What the pipeline's own record beside a domain's job is called."""
    return f"{job.shape.label.removesuffix(job.shape.name)}{job!r}"


def pipeline_job(job: Entity) -> Ref[PipelineJob]:
    """The pipeline's own record beside a domain's job: it may go `along` when that leaves."""
    return PipelineJob.at(job_id=pipeline_job_id(job.ref))


def pipeline_records(job: Entity) -> list[Ref[Any] | Query[Any]]:
    """All that is kept of a domain's job beside it, a dead letter among it: it may go `along` when that leaves."""
    job_id = pipeline_job_id(job.ref)
    parts: list[Query[Any]] = [kind.of_job(job_id=job_id) for kind in (ChildRun, ChildCount, StepRun)]
    return [pipeline_job(job), *parts, Task.of_record(about=name_of(job.ref))]


_STEP_FIELDS = ("project_id", "step_name", "name", "step", "ts", "created_at", "round", "position", "input")
_ATTEMPT_FIELDS = (
    *("project_id", "step_name", "name", "step", "task", "round", "child", "attempt", "number", "worker", "outcome"),
    *("succeeded", "code", "error", "error_class", "error_message", "ts", "started_at", "ended_at", "duration_ms"),
    *("metrics", "log_tail"),
)


def _attempt_values(ended: EndedAttempt) -> dict[str, Any]:
    task = ended.task
    passed = task.ended_at - task.started_at
    return {
        **dict.fromkeys(("attempt", "number"), ended.number),
        **dict.fromkeys(("ts", "started_at"), task.started_at),
        **dict.fromkeys(("error", "error_message"), task.error),
        **dict.fromkeys(("code", "error_class"), task.error_class),
        "round": ended.round,
        "child": ended.child,
        "worker": task.worker,
        "outcome": task.outcome.value,
        "succeeded": task.error_class is None and task.outcome.value == "done",
        "ended_at": task.ended_at,
        "duration_ms": max(0, int(passed.total_seconds() * 1000)),
        "metrics": task.metrics,
        "log_tail": task.log_tail,
    }


def _field(entity: type[Entity], given: str | None, usual: str) -> str | None:
    """A field that is named, or the one that usually means it, if the entity has that."""
    fields = entity.model_fields
    if given is not None and given not in fields:
        raise DeclarationError(f"{entity.__name__} has no field {given!r}; it has {', '.join(fields)}")
    return given or (usual if usual in fields else None)


def _check_offered(entity: type[Entity], offered: set[str]) -> None:
    missing = [n for n, f in entity.model_fields.items() if f.is_required() and n not in offered]
    if missing:
        raise DeclarationError(
            f"a new {entity.__name__} needs {', '.join(missing)}, which a pipeline does not know; it knows "
            f"{', '.join(sorted(offered))}. Give make_step= or make_attempt="
        )


def _made(entity: type[S], values: Mapping[str, Any]) -> S:
    return entity(**{n: values[n] for n in entity.model_fields if values.get(n) is not None})


def _keys(entity: type[Entity]) -> tuple[str, ...]:
    return entity.__shape__.key.fields


def _key_values(record: Entity) -> dict[str, Any]:
    return {name: getattr(record, name) for name in _keys(type(record))}


def _project(run: PipelineJob) -> dict[str, Any]:
    return {"project_id": run.project_id}


def _ref(entity: type[S], texts: Mapping[str, str]) -> Ref[S]:
    """The record that a kept key names."""
    fields = entity.__shape__.fields
    try:
        return entity.__key__.of({name: from_key_text(fields[name], text) for name, text in texts.items()})
    except (KeyError, ValueError):
        raise InvalidValue(f"{dict(texts)} names no {entity.__name__}; its key has changed since it was kept") from None


GENERIC: JobRecords[PipelineJob, StepRun] = JobRecords(PipelineJob, StepRun)
