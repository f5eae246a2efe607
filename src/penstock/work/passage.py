"""Passages: how jobs go through the steps of a pipeline, commit by commit.

Every step forward or back is one change: of the `PipelineJob`, of the domain's own job and step where it has some, of
the next step's task, and of the task that was at work. Each is written on the condition that the job is still at the
run at which it was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from penstock.declare.entity import Entity
from penstock.declare.pattern import between
from penstock.errors import Conflict, InvalidValue, NotFound
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from penstock.operations.reads import Ref
from penstock.work.context import TaskContext
from penstock.work.dead_letters import end_cancelled
from penstock.work.errors import Terminal, code_of
from penstock.work.job import JobStatus, PipelineJob, StepResult, StepRun, StepStatus
from penstock.work.job_records import STEP_EVENTS, EndedAttempt, JobRecords, pipeline_job_id
from penstock.work.pipeline_step import ChildInput, PipelineStep, StepContext, StepInput
from penstock.work.registry import OnFailure, OnRevival, TaskOf
from penstock.work.task import KEPT, Outcome, Task, TaskAttempt, TaskStatus, error_text

J = TypeVar("J", bound=Entity)
S = TypeVar("S", bound=Entity)


@dataclass
class Visit(Generic[J]):
    """A job as a change has it: where it is, the domain's own record of it, and where it was when it was read."""

    change: Change
    run: PipelineJob
    job: J
    place: StepInput
    was: JobStatus = field(init=False)

    def __post_init__(self) -> None:
        self.was = self.run.status

    @property
    def told(self) -> dict[str, Any]:
        """What any move may be told of it."""
        run = self.run
        now = self.change.store.clock.now()
        return {"at": now, "position": run.position, "round": run.round, "task_id": run.task_id}


class Passages(Generic[J, S]):
    """The jobs of one pipeline."""

    def __init__(self, name: str, steps: Mapping[str, PipelineStep[J, S]], records: JobRecords[J, S]) -> None:
        self.name, self.steps, self.records = name, steps, records
        self.tasks: dict[str, TaskOf[StepInput]] = {}
        "By the step that each begins."
        self._known: dict[str, TaskOf[Any]] = {}

    def watch(
        self,
        task: TaskOf[StepInput],
        *,
        failed: OnFailure[StepInput] | None = None,
        revived: OnRevival[StepInput] | None = None,
    ) -> TaskOf[StepInput]:
        """Have the failure of a task be that of the step it is about, unless it is said what follows from it."""
        task.failed(failed or self.fail_step)
        task.revived(revived or self.revive_step)
        self.note_attempts(task)
        self._known[task.name] = task
        return task

    def note_attempts(self, task: TaskOf[Any]) -> None:
        """Have the domain's own records told of each attempt at a task."""
        if self.records.has_own_job:
            task.attempted(self._end_attempt)

    # Reading and writing

    def visit(self, change: Change, job: Entity | Ref[Any] | str | StepInput) -> Visit[J]:
        """A job, to be changed."""
        run = change.track(self.read(change.store, job))
        return Visit(change, run, self.records.job_of(change, run), place_of(run))

    def read(self, store: Store, job: Entity | Ref[Any] | str | StepInput) -> PipelineJob:
        """Where a job is."""
        run = store.lookup(PipelineJob.at(job_id=_id(job)))
        if run is None or run.forgotten_at is not None:
            raise NotFound(
                f"there is no job {_id(job)} of {self.name}; one that is over is forgotten {KEPT.days} days after its "
                f"end"
            )
        if run.pipeline != self.name:
            raise InvalidValue(f"job {run.job_id} is of the pipeline {run.pipeline}, not {self.name}")
        return run

    def save(self, visit: Visit[J]) -> None:
        """Save a job on the condition that it is still at the run at which it was read."""
        visit.change.save(visit.run, when=visit.place.stands())
        if self.records.has_own_job:
            visit.change.save(visit.job)

    def move_job(self, visit: Visit[J], signal: str, told: Mapping[str, Any], *, needed: bool = True) -> bool:
        """Move the domain's own job; IllegalMove if that is needed and it has no such move."""
        if not self.records.has_own_job:
            return False
        moves = self.records.job_moves
        if moves.carry_out(signal, visit.job, told):
            return True
        if needed and not (signal in ("fail", "cancel") and moves.is_final(visit.job)):  # one in quarantine is over
            self._check_stands(visit)
            moves.must(signal, visit.job, told)
        return False

    def _check_stands(self, visit: Visit[J]) -> None:
        """Conflict if a job has gone on since it was read, and the domain's own record is from after that."""
        found = visit.change.store.lookup(visit.place.job)
        if found is not None and (place_of(found), found.status) != (visit.place, visit.was):
            raise Conflict(f"job {found.job_id} has just gone on; it is {found.status.value} by now. Look at it again")

    def emit(self, visit: Visit[J], event: str, of: S | None = None, /, **payload: Any) -> None:
        """Tell others, if the event has a name; of a step in the order of what is told of its job."""
        name = self.records.events.get(event)
        if name is not None and of is not None and event in STEP_EVENTS:
            visit.change.emit(name, of, about=visit.job.ref, **self.records.tells(visit.job), **payload)
        elif name is not None:
            visit.change.emit(name, visit.job, **self.records.tells(visit.job), **payload)

    # Steps by name

    def names(self, run: PipelineJob) -> list[str]:
        """The steps that a job goes through."""
        return run.steps if run.steps is not None else list(self.steps)

    def name_at(self, run: PipelineJob) -> str:
        """The step that a job is at."""
        return self.names(run)[run.position]

    def declared(self, name: str) -> str:
        """The name of a step that there is; InvalidValue if there is none."""
        if name not in self.steps:
            raise InvalidValue(f"{self.name} has no step {name!r}; it has {', '.join(self.steps)}")
        return name

    def position(self, run: PipelineJob, name: str) -> int:
        """Where in a job a step is."""
        names = self.names(run)
        if self.declared(name) not in names:
            raise InvalidValue(f"job {run.job_id} does not go through {name}; it goes through {', '.join(names)}")
        return names.index(name)

    def made_by(self, store: Store, run: PipelineJob, step: str) -> S:
        """The last run of a step that counts, with what it made; NotFound if there is none."""
        position = self.position(run, step)
        if self.records.has_own_step:
            found = self.records.made_by(store, run, step)
        else:
            runs = list(store.find(StepRun.of_job(job_id=run.job_id, position=between(position, position))))
            counting = (r for r in reversed(runs) if r.status in (StepStatus.DONE, StepStatus.APPROVED))
            found = cast("S | None", next(counting, None))
        if found is None:
            raise NotFound(f"job {run.job_id} has no run of {step} that counts")
        return found

    # An attempt at a step

    def may_go_on(self, store: Store, place: StepInput) -> bool:
        """Is a job at this run, or has it failed there and may be tried again, so that what is done for it counts?"""
        run = store.get(place.job)
        if place.is_at(run) or not place.is_left_at(run) or not self.records.has_own_job:
            return place.is_left_at(run)
        return self.records.job_moves.can("revive", self.records.job_of(store, run))

    def begin(self, work: TaskContext, place: StepInput, *, though_failed: bool = False) -> StepContext[J, S]:
        """What a step needs to know; the domain's own records are told that it has begun.

        A part of a step may be done ``though_failed`` another part is, and with it the job.
        """
        run = work.store.get(place.job)
        if not (place.is_at(run) or (though_failed and self.may_go_on(work.store, place))):
            raise Terminal(f"job {place.job_id} is {run.status.value} at another run of its steps by now")
        records = self.records
        job, step = records.job_of(work.store, run), work.store.get(records.step_ref(run))
        starts = records.step_moves.can("start", step) or (records.has_own_job and records.job_moves.can("start", job))
        if starts and run.status is JobStatus.RUNNING:
            job, step = self._tell_start(work, place)
        return StepContext(
            job=job,
            step=step,
            name=self.name_at(run),
            round=run.round,
            input=records.input_of(run, job),
            made=lambda other: self.made_by(work.store, self.read(work.store, place), other),
        )

    def _tell_start(self, work: TaskContext, place: StepInput) -> tuple[J, S]:
        with work.change() as change:
            visit = self.visit(change, place)
            step = change.get(self.records.step_ref(visit.run))
            told = visit.told | {"step": self.name_at(visit.run)}
            self.move_job(visit, "start", told, needed=False)
            if self.records.step_moves.carry_out("start", step, told):
                self.emit(visit, "step_started", step)
                change.save(step)
            self.save(visit)
        return visit.job, step

    def finish(self, work: TaskContext, place: StepInput, made: StepResult) -> None:
        """End a step and its task with what it made, in one commit."""
        with work.finish() as change:
            visit = self.visit(change, place)
            review = self.steps[self.name_at(visit.run)].review
            self._end_step(visit, made, review=review if isinstance(review, bool) else review(change, visit.job))
            if made.change is not None:
                made.change(change)

    def _end_step(self, visit: Visit[J], made: StepResult, *, review: bool) -> None:
        change, run = visit.change, visit.run
        name, step = self.name_at(run), change.get(self.records.step_ref(run))
        if made.then is not None:
            run.steps = [*self.names(run)[: run.position + 1], *map(self.declared, made.then)]
        artifacts, metrics = list(made.artifacts), dict(made.metrics)
        told = visit.told | {"step": name, "made": made, "artifacts": artifacts, "metrics": metrics}
        self.records.step_moves.must("pause" if review else "finish", step, told)
        change.save(step)
        self.emit(visit, "step_completed", step, artifacts=artifacts, metrics=metrics)
        if review:
            run.pause(at=told["at"])
            self.move_job(visit, "pause", told)
            self.emit(visit, "paused", step=name, round=run.round)
        else:
            self.let_count(run, name, step)
            self.go_on(visit, made)
        self.save(visit)

    def fail_step(self, change: Change, place: StepInput, error: BaseException) -> None:
        """A step has failed for good, and the job with it."""
        visit = self.visit(change, place)
        if not place.is_at(visit.run):
            return  # it has gone elsewhere, and this failure is none of its
        name, step = self.name_at(visit.run), change.get(self.records.step_ref(visit.run))
        text, code = error_text(error), code_of(error)
        told = visit.told | {"step": name, "error": text, "message": text, "code": code, "outcome": code}
        if self.records.step_moves.carry_out("fail", step, told):
            change.save(step)
        visit.run.fail(error=text, at=told["at"], code=code)
        self.move_job(visit, "fail", told)
        self.emit(visit, "step_failed", step, error_code=code, error_message=text)
        self.emit(visit, "failed", step=name)
        self.records.ended(change, visit.job, None)
        self.save(visit)

    def check_revival(self, change: Change, place: StepInput) -> None:
        """IllegalMove if the domain's own job has failed and has no move by which it could be tried again."""
        visit = self.visit(change, place)
        if self.records.has_own_job and not self.records.job_moves.can("revive", visit.job):
            self.records.job_moves.must("revive", visit.job, visit.told)

    def revive_step(self, change: Change, place: StepInput) -> None:
        """A step's task is tried again, and with it the job goes on."""
        visit = self.visit(change, place)
        run, told = visit.run, visit.told
        if (run.position, run.round) != (place.position, place.round):
            return
        told |= {"step": self.name_at(run)}
        step = change.get(self.records.step_ref(run))
        if run.status is JobStatus.FAILED:
            run.revive(at=told["at"])
            self.move_job(visit, "revive", told)
            self.records.reopened(change, visit.job)
            if self.records.has_own_step and not self.records.step_moves.can("revive", step):
                self._new_step(visit, self.records.input_of(run, visit.job))  # what failed stays as it is
                return self.save(visit)
            self.records.step_moves.must("revive", step, told)
        elif self.records.has_own_job and self.records.job_moves.is_final(visit.job):
            self.move_job(visit, "revive", told)  # from quarantine
            self.records.step_moves.carry_out("revive", step, told)
        else:
            return  # of one in quarantine neither the step nor the job knows
        change.save(step)
        self.save(visit)

    def _end_attempt(self, change: Change, place: StepInput, attempt: TaskAttempt) -> None:
        """Write the domain's own record of an attempt, and that its job is in quarantine, if it has such a state."""
        visit = self.visit(change, place)
        names = self.names(visit.run)
        name = names[place.position] if place.position < len(names) else attempt.name
        child = place.number if isinstance(place, ChildInput) else None
        ended = EndedAttempt(name, place.round, child=child, task=attempt)
        record = self.records.new_attempt(visit.run, visit.job, ended)
        if record is not None:
            change.put(record)
        if attempt.outcome is Outcome.QUARANTINE and child is None and place.is_at(visit.run):
            told = visit.told | {"step": name, "error": attempt.error, "message": attempt.error}
            self._quarantine(visit, told | {"code": attempt.error_class, "outcome": attempt.error_class})

    def _quarantine(self, visit: Visit[J], told: Mapping[str, Any]) -> None:
        step = visit.change.get(self.records.step_ref(visit.run))
        if self.records.step_moves.carry_out("quarantine", step, told):
            visit.change.save(step)
        if self.move_job(visit, "quarantine", told, needed=False):
            self.emit(visit, "quarantined")
            self.save(visit)

    # Going on, and back

    def go_on(self, visit: Visit[J], made: StepResult | None = None) -> None:
        """The next step, or the end, perhaps with what a step has just made."""
        run, names, told = visit.run, self.names(visit.run), visit.told
        if run.position + 1 == len(names):
            run.finish(at=told["at"])
            aside = made is not None and made.quarantined
            told |= {"step": names[-1], "outcome": (made and made.outcome) or "done"}
            self.move_job(visit, "quarantine" if aside else "finish", told)
            self.emit(visit, "quarantined" if aside else "done")
            self.records.ended(visit.change, visit.job, made)
        else:
            run.go_on(at=told["at"])
            name = names[run.position]
            self.move_job(visit, "advance", told | {"step": name, "position": run.position}, needed=False)
            self.records.set_current(visit.job, name)
            self.enter(visit)

    def rewind(
        self, visit: Visit[J], position: int, told: Mapping[str, Any], *, input: dict[str, Any] | None = None
    ) -> None:
        """An earlier step, or the same one, anew, with what is different in its input."""
        run, name = visit.run, self.names(visit.run)[position]
        was_over = run.status not in (JobStatus.RUNNING, JobStatus.PAUSED)
        run.rewind(position=position, at=told["at"])
        self.move_job(visit, "rewind", {**told, "step": name, "position": position, "round": run.round})
        self.records.set_current(visit.job, name)
        if input:
            self.records.set_input(run, visit.job, {**self.records.input_of(run, visit.job), **input})
        if was_over:
            self.records.reopened(visit.change, visit.job)
        self.enter(visit, changed=bool(input))

    def enter(self, visit: Visit[J], *, changed: bool = False) -> None:
        """The task and the record of the job's present step."""
        change, run, place = visit.change, visit.run, place_of(visit.run)
        name = self.declared(self.name_at(run))
        run.task_id = self.tasks[name].enqueue(
            change, place, project=run.project_id, key=place.text, about=visit.job.ref, goes_on=True
        )
        self._new_step(visit, self.records.input_of(run, visit.job) if changed else None)

    def _new_step(self, visit: Visit[J], input: dict[str, Any] | None) -> None:
        run, now = visit.run, visit.change.store.context.ticks.next()
        step = self.records.new_step(run, visit.job, self.name_at(run), now=now, input=input)
        run.step = self.records.own_key(visit.change.create(step))

    def let_count(self, run: PipelineJob, name: str, step: S) -> None:
        """From now on this run of the step is the one whose result is used."""
        if (key := self.records.own_key(step)) is not None:
            run.made = {**(run.made or {}), name: key}

    def cancel_step(self, visit: Visit[J], told: Mapping[str, Any]) -> None:
        """The present run of a step is not wanted any more; Conflict if it has just ended."""
        step = visit.change.get(self.records.step_ref(visit.run))
        name = self.name_at(visit.run)
        if self.records.step_moves.carry_out("cancel", step, {**told, "step": name}):
            visit.change.save(step)
        elif not (self.records.has_own_job and self.records.job_moves.is_final(visit.job)):  # as after quarantine
            raise Conflict(f"job {visit.run.job_id}: {name} has just ended")

    def give_up_task(self, change: Change, task_id: str | None) -> None:
        """Let nobody run a step's task any more, nor find it among the dead letters."""
        task = change.store.lookup(Task.at(task_id=task_id)) if task_id else None
        if task is not None and task.status not in (TaskStatus.DONE, TaskStatus.CANCELLED):
            end_cancelled(change, self._known[task.name], task)


def place_of(run: PipelineJob) -> StepInput:
    """The run that a job is at."""
    return StepInput(job_id=run.job_id, position=run.position, round=run.round)


def _id(job: Entity | Ref[Any] | str | StepInput) -> str:
    if isinstance(job, str):
        return job
    if isinstance(job, PipelineJob | StepInput):
        return job.job_id
    ref: Ref[Any] = job.ref if isinstance(job, Entity) else job
    return str(ref.key["job_id"]) if ref.shape is PipelineJob.__shape__ else pipeline_job_id(ref)
