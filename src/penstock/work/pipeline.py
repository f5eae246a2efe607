"""Jobs of several steps: each a task, in their declared order, with pauses in which a person decides.

What a step made is kept with it. A decision is bound to the very run that was reviewed: a step that ran again meanwhile
must be looked at again. Rejecting goes back, perhaps with another input; a job can be resumed from any step it has come
to, and cancelled wherever it is. The job, the step and the attempt are a domain's own records (`JobRecords`), or the
generic ones; either way all that becomes true at once is one commit with the task's own end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar, cast, overload

from penstock.declare.entity import Entity
from penstock.errors import Conflict, DeclarationError, IllegalMove, InvalidValue
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from penstock.operations.reads import Ref
from penstock.ports.ids import sortable_text
from penstock.work.budget import check_budget
from penstock.work.context import TaskContext
from penstock.work.errors import CANCELLED
from penstock.work.fan_out import Children, task_id_of
from penstock.work.job import JobStatus, PipelineJob, StepRun
from penstock.work.job_records import GENERIC, JobRecords, pipeline_job_id
from penstock.work.passage import Passages, Visit, place_of
from penstock.work.past_jobs import OVER, forget
from penstock.work.pipeline_step import FanOut, PipelineStep, StepInput
from penstock.work.registry import TaskOf, Tasks
from penstock.work.task import NO_PROJECT, TaskAttempt

J = TypeVar("J", bound=Entity)
S = TypeVar("S", bound=Entity)

Choice = Callable[[Change, J], Sequence[str]]
"Says which steps a job goes through."

_RACES = 5
"How often one may meet a worker that ends the very step one is about to cancel."


class Pipeline(Generic[J, S]):
    """Steps in order. Its tasks are registered with the domain's others.

    ``records`` are the domain's own, where it has some. ``choose`` says which of the steps a job goes through; without,
    and where `start` is not told, all of them.

    A job is named by its record, its key, or, where it is a `PipelineJob`, by its id. Whatever takes a store commits by
    itself; given a change, it becomes true with the rest of that.
    """

    @overload
    def __init__(
        self: Pipeline[PipelineJob, StepRun],
        tasks: Tasks,
        name: str,
        steps: Sequence[PipelineStep[PipelineJob, StepRun]],
        *,
        choose: Choice[PipelineJob] | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        tasks: Tasks,
        name: str,
        steps: Sequence[PipelineStep[J, S]],
        *,
        records: JobRecords[J, S],
        choose: Choice[J] | None = None,
    ) -> None: ...
    def __init__(
        self,
        tasks: Tasks,
        name: str,
        steps: Sequence[PipelineStep[Any, Any]],
        *,
        records: JobRecords[Any, Any] = GENERIC,
        choose: Choice[Any] | None = None,
    ) -> None:
        if not steps or len({s.name for s in steps}) != len(steps):
            raise DeclarationError(f"pipeline {name} needs at least one step, each with a name of its own")
        records.check(reviewed=any(step.review is not False for step in steps))
        records.leave_to_pipeline()
        self.name, self.steps = f"{tasks.domain}.{name}", tuple(steps)
        self.records: JobRecords[J, S] = records
        self._choose = choose
        self._passages: Passages[J, S] = Passages(self.name, {step.name: step for step in steps}, records)
        self._children: dict[str, Children[J, S]] = {}
        for step in self.steps:
            self._passages.tasks[step.name] = self._register(tasks, f"{name}.{step.name}", step)

    def _register(self, tasks: Tasks, name: str, step: PipelineStep[J, S]) -> TaskOf[StepInput]:
        if isinstance(step.body, FanOut):
            self._children[step.name] = children = Children(self._passages, tasks, name, step, step.body)
            return children.plan
        body = step.body

        def run(work: TaskContext, input: StepInput) -> dict[str, Any] | None:
            context = self._passages.begin(work, input)
            self._passages.finish(work, input, body(work, context))
            return None

        declare = tasks.task(
            name, retry=step.retry, limit=step.limit, concurrency=step.concurrency, classes=step.classes
        )
        return self._passages.watch(declare(run))

    # Beginning

    def start(
        self,
        change: Change,
        input: dict[str, Any] | None = None,
        *,
        job: J | None = None,
        project: str | None = None,
        steps: Sequence[str] | None = None,
    ) -> J:
        """Begin a job with its first step, in a change. ``job`` is the domain's own record of it, not yet stored.

        BudgetSpent when the project may not begin anything, unless a task begins it.
        """
        if (job is None) == self.records.has_own_job:
            raise InvalidValue(f"a job of {self.name} is a {self.records.job.__name__}; give it as job=, or none")
        now = change.store.context.ticks.next()
        project_id = project or getattr(job, "project_id", None) or change.store.project or NO_PROJECT
        if change.under is None:
            check_budget(change.store, str(project_id))
        run = PipelineJob(
            job_id=sortable_text(now) if job is None else pipeline_job_id(job.ref),
            pipeline=self.name,
            project_id=str(project_id),
            input={},
            created_at=now,
            updated_at=now,
            record=None if job is None else job.ref.texts(),
        )
        own = cast("J", run) if job is None else job
        if input is not None:
            self.records.set_input(run, own, input)
        run.steps = self._chosen(change, own, steps)
        self.records.set_current(own, run.steps[0])
        self._passages.enter(Visit(change, run, own, place_of(run)))
        change.create(run)
        return own if job is None else change.create(own)

    def again(
        self, change: Change, job: J | Ref[J] | str, *, input: dict[str, Any] | None = None, record: J | None = None
    ) -> J:
        """Begin another job like this one, with what is different in its input; ``record`` is the domain's new one."""
        run = self._passages.read(change.store, job)
        like = self.records.input_of(run, self.records.job_of(change.store, run))
        return self.start(change, {**like, **(input or {})}, job=record, project=run.project_id, steps=run.steps)

    def _chosen(self, change: Change, job: J, given: Sequence[str] | None) -> list[str]:
        names = self._choose(change, job) if given is None and self._choose is not None else given
        chosen = [step.name for step in self.steps] if names is None else list(map(self._passages.declared, names))
        if not chosen or len(set(chosen)) != len(chosen):
            raise InvalidValue(f"a job of {self.name} goes through at least one step, and through each once")
        return chosen

    # Deciding

    def approve(
        self,
        where: Store | Change,
        job: J | Ref[J] | str,
        *,
        round: int,
        by: str,
        note: str | None = None,
        step: str | None = None,
    ) -> J:
        """Be content with what the step made, so that the next one begins; see `decide`."""
        return self.decide(where, job, approve=True, round=round, by=by, note=note, step=step)

    def reject(
        self,
        where: Store | Change,
        job: J | Ref[J] | str,
        *,
        round: int,
        by: str,
        note: str | None = None,
        step: str | None = None,
        back_to: str | None = None,
        input: dict[str, Any] | None = None,
    ) -> J:
        """Have a step run anew, that one or an earlier one, with what is different in the input; see `decide`."""
        return self.decide(
            where, job, approve=False, round=round, by=by, note=note, step=step, back_to=back_to, input=input
        )

    def decide(
        self,
        where: Store | Change,
        job: J | Ref[J] | str,
        *,
        approve: bool,
        round: int,
        by: str,
        note: str | None = None,
        step: str | None = None,
        back_to: str | None = None,
        input: dict[str, Any] | None = None,
    ) -> J:
        """Approve what a step made, or reject it, which runs a step anew: that one, or an earlier one.

        ``round`` is the run that was looked at, and ``step`` its step, which must be told where several are reviewed:
        they may be of one round. Conflict when another run has taken its place since. ``input`` is what is different
        for the new run.
        """
        with _changing(where, by=by, why=note) as change:
            visit = self._passages.visit(change, job)
            run, name = visit.run, self._passages.name_at(visit.run)
            if run.status is not JobStatus.PAUSED or run.round != round or step not in (None, name):
                raise Conflict(
                    f"job {run.job_id} is {run.status.value} at {name}, run {run.round}; "
                    f"the decision is about run {round}{f' of {step}' if step else ''}. Look at it again"
                )
            target = run.position if back_to is None else self._passages.position(run, back_to)
            if target > run.position:
                raise InvalidValue(f"{back_to} comes after {name}; rejecting goes back")
            told = visit.told | {"by": by, "note": note, "step": name}
            decided = self._decide_step(visit, told, approve=approve)
            if approve:
                self._passages.let_count(run, name, decided)
                self._passages.go_on(visit)
            else:
                self._passages.rewind(visit, target, told, input=input)
            self._passages.save(visit)
        return visit.job

    def _decide_step(self, visit: Visit[J], told: dict[str, Any], *, approve: bool) -> S:
        decision = "approve" if approve else "reject"
        step = visit.change.get(self.records.step_ref(visit.run))
        if not self.records.step_moves.carry_out(decision, step, told):
            raise Conflict(f"job {visit.run.job_id}: it was just decided about {told['step']}. Look at it again")
        visit.change.save(step)
        self._passages.move_job(visit, decision, told, needed=False)
        word = "approved" if approve else "rejected"
        self._passages.emit(visit, "decided", step, decision=word, notes=told["note"], by=told["by"])
        return step

    # Going back, and ending

    def resume(
        self,
        where: Store | Change,
        job: J | Ref[J] | str,
        *,
        from_step: str,
        by: str,
        input: dict[str, Any] | None = None,
    ) -> J:
        """Run a job that does not run again from one of its steps; what the earlier ones made still counts."""
        with _changing(where, by=by, why=f"resume from {from_step}") as change:
            visit = self._passages.visit(change, job)
            run, position = visit.run, self._passages.position(visit.run, from_step)
            told = visit.told | _cancelled(by, None, CANCELLED)
            if run.status is JobStatus.RUNNING:
                raise IllegalMove(f"job {run.job_id} is running; cancel it first")
            if position > run.position:
                raise InvalidValue(f"job {run.job_id} has come to {self._passages.name_at(run)}; resume from there")
            if run.status is JobStatus.PAUSED:
                self._passages.cancel_step(visit, told)
            self._passages.give_up_task(change, run.task_id)
            self._passages.rewind(visit, position, told, input=input)
            self._passages.save(visit)
        return visit.job

    def cancel(
        self, where: Store | Change, job: J | Ref[J] | str, *, by: str, why: str | None = None, code: str = CANCELLED
    ) -> J:
        """Stop a job wherever it is; a step that is running changes nothing any more."""
        for _ in range(_RACES - 1 if isinstance(where, Store) else 0):
            try:
                return self._cancel(where, job, by=by, why=why, code=code)
            except Conflict:
                continue  # a step has just begun or ended
        return self._cancel(where, job, by=by, why=why, code=code)

    def _cancel(self, where: Store | Change, job: J | Ref[J] | str, *, by: str, why: str | None, code: str) -> J:
        with _changing(where, by=by, why=why) as change:
            visit = self._passages.visit(change, job)
            run, task_id, had_failed = visit.run, visit.run.task_id, visit.run.status is JobStatus.FAILED
            told = visit.told | _cancelled(by, why, code)
            run.cancel(at=told["at"], code=code)
            if not had_failed:
                self._passages.cancel_step(visit, told)
            self._passages.move_job(visit, "cancel", told, needed=not had_failed)
            self._passages.emit(visit, "cancelled")
            if not had_failed:
                self.records.ended(change, visit.job, None)
            self._passages.save(visit)
            self._passages.give_up_task(change, task_id)
        children = self._children.get(self._passages.name_at(run))
        if children is not None and isinstance(where, Store):
            children.give_up(where, visit.place)
        return visit.job

    def forget(self, store: Store, job: J | Ref[J] | str) -> None:
        """Let go of a job that is over, before its time or though its steps hold files, which are nobody's then."""
        run = self._passages.read(store, job)
        if run.status not in OVER:
            raise IllegalMove(f"job {run.job_id} is {run.status.value}; finish or cancel it first")
        forget(store, run)

    # Looking

    def state(self, store: Store, job: J | Ref[J] | str) -> PipelineJob:
        """Where a job is: its steps, the one it is at, its round, and why it ended."""
        return self._passages.read(store, job)

    def made_by(self, store: Store, job: J | Ref[J] | str, step: str) -> S:
        """The last run of a step that counts, with what it made; NotFound if there is none."""
        return self._passages.made_by(store, self._passages.read(store, job), step)

    def attempts(
        self, store: Store, job: J | Ref[J] | str, step: str, *, round: int | None = None
    ) -> Iterator[TaskAttempt]:
        """The attempts at a run of a step, also those that were lost; of the job's present round, or another one."""
        run = self._passages.read(store, job)
        position = self._passages.position(run, step)
        place = StepInput(job_id=run.job_id, position=position, round=round or run.round)
        tasks = [task_id_of(self._passages.tasks[step], place)]
        if step in self._children:
            tasks += self._children[step].tasks_of(store, place)
        for task_id in tasks:
            yield from store.find(TaskAttempt.of_task(task_id=task_id))


@contextmanager
def _changing(where: Store | Change, *, by: str, why: str | None) -> Iterator[Change]:
    """A change of one's own, or the one that somebody else commits."""
    if isinstance(where, Change):
        yield where
    else:
        with where.change(by=by, why=why) as change:
            yield change


def _cancelled(by: str, why: str | None, code: str) -> dict[str, Any]:
    """What moves may be told of something that is not wanted."""
    message = why or f"cancelled by {by}"
    return {"by": by, "note": why, "code": code, "outcome": code, "message": message, "error": message}
