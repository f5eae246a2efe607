"""Fan-out: a step of several parts that are done at the same time, each a task of its own.

The plan says what the children are, each does its part, and when all have ended a last task joins what they made. Who
ends the last one is settled by a count, written in the commit that ends each: however workers die, the children are
joined, and once. A child of a job that has gone elsewhere meanwhile, or was cancelled, changes nothing.

A job that one child has failed is tried again with that child. So the others do their part meanwhile, and the job goes
on when all that failed it are tried again, not before: while it runs, somebody is at work for it or will be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from penstock.declare.entity import Entity
from penstock.errors import Conflict, InvalidValue
from penstock.kernel.change import Change
from penstock.kernel.idempotency import once_key
from penstock.kernel.lease import LeaseLost
from penstock.kernel.store import Store
from penstock.operations.conditions import Compare, Condition, Missing, OneOf
from penstock.operations.reads import Ref
from penstock.operations.updates import Add
from penstock.work.context import TaskContext
from penstock.work.dead_letters import end_cancelled
from penstock.work.errors import code_of
from penstock.work.job import ChildCount, ChildRun, ChildStatus, JobStatus, StepResult
from penstock.work.passage import Passages, place_of
from penstock.work.pipeline_step import ChildInput, FanOut, PipelineStep, StepInput
from penstock.work.registry import TaskOf, Tasks
from penstock.work.task import Task, TaskStatus, error_text

J = TypeVar("J", bound=Entity)
S = TypeVar("S", bound=Entity)

MOST = 10_000
"So many children a step may have."
_AT_ONCE = 20
"So many are enqueued in one commit, with their records."
_CROWD = 50
"How often a child that ends may meet others of its step that end at the same moment."


class Children(Generic[J, S]):
    """The children of one step of a pipeline."""

    def __init__(
        self, passages: Passages[J, S], tasks: Tasks, name: str, step: PipelineStep[J, S], fan: FanOut[J, S]
    ) -> None:
        self._passages, self._fan = passages, fan

        def plan(work: TaskContext, input: StepInput) -> dict[str, Any] | None:
            self._plan(work, input)
            return None

        def run(work: TaskContext, input: ChildInput) -> dict[str, Any] | None:
            return self._run(work, input)

        def join(work: TaskContext, input: StepInput) -> dict[str, Any] | None:
            context = passages.begin(work, input)
            passages.finish(work, input, fan.join(work, context, children_of(work.store, input)))
            return None

        declare = tasks.task(
            name, retry=step.retry, limit=step.limit, concurrency=step.concurrency, classes=step.classes
        )
        self.plan = passages.watch(declare(plan), failed=self._fail_part, revived=self._revive_plan)
        self.join = passages.watch(
            tasks.task(f"{name}.join", retry=step.retry, limit=step.limit, classes=step.classes)(join)
        )
        self.child: TaskOf[ChildInput] = tasks.task(
            f"{name}.child", retry=fan.retry, limit=fan.limit, concurrency=fan.concurrency, classes=fan.classes
        )(run)
        self.child.failed(self._fail)
        self.child.revived(self._revive)
        passages.note_attempts(self.child)

    def tasks_of(self, store: Store, place: StepInput) -> list[str]:
        """The tasks of the children of a run of the step, and of their join."""
        children = [ChildInput(**place.model_dump(), number=c.number) for c in children_of(store, place)]
        return [*(task_id_of(self.child, child) for child in children), task_id_of(self.join, place)]

    def give_up(self, store: Store, place: StepInput) -> None:
        """Spare workers the children of a run that is not wanted; should one run all the same, it changes nothing."""
        for task_id in self.tasks_of(store, place):
            task = store.lookup(Task.at(task_id=task_id))
            if task is None or task.name != self.child.name or task.status in (TaskStatus.DONE, TaskStatus.CANCELLED):
                continue
            try:
                with store.change() as change:
                    end_cancelled(change, self.child, task)
            except Conflict:
                continue  # it has just begun, and will see it by itself

    # What happens by itself

    def _plan(self, work: TaskContext, place: StepInput) -> None:
        context = self._passages.begin(work, place, though_failed=True)
        project = work.store.get(place.job).project_id
        inputs = self._fan.plan(work, context)
        total = spread(work, place, inputs, self.child, project, about=context.job.ref)
        _finish_in_a_crowd(work, lambda change: self._join_if(change, place, last=close_count(change, place, total)))

    def _run(self, work: TaskContext, place: ChildInput) -> dict[str, Any] | None:
        run, child = work.store.get(place.job), work.store.get(place.child)
        if not self._passages.may_go_on(work.store, place) or child.status is not ChildStatus.RUNNING:
            return {"skipped": f"the job is {run.status.value}, or at another run of its steps by now"}
        made = self._fan.child(work, self._passages.begin(work, place, though_failed=True), child.input)

        def effect(change: Change) -> None:
            end_child(change, change.get(place.child), made)
            self._join_if(change, place, last=count_end(change, place))
            if made.change is not None:
                made.change(change)

        try:
            _finish_in_a_crowd(work, effect)
        except LeaseLost:
            raise
        except Conflict:
            if self._passages.may_go_on(work.store, place):
                raise
            return {"skipped": "the job has gone elsewhere meanwhile"}
        return None

    def _join_if(self, change: Change, place: StepInput, *, last: bool) -> None:
        """Have the children joined after the last one; in any case only while the job is still there."""
        if not last:
            change.check(place.job, place.stands() & OneOf("status", (JobStatus.RUNNING, JobStatus.FAILED)))
            return
        visit = self._passages.visit(change, place)
        if not place.is_at(visit.run):
            raise Conflict(f"job {place.job_id} has gone elsewhere meanwhile")
        at = place_of(visit.run)
        visit.run.task_id = self.join.enqueue(
            change, at, project=visit.run.project_id, key=at.text, about=visit.job.ref, goes_on=True
        )
        change.save(visit.run, when=at.stands())

    def _fail(self, change: Change, place: ChildInput, error: BaseException) -> None:
        end_child(change, change.get(place.child), error)
        if not self._fan.tolerate:
            self._fail_part(change, place, error)
        elif place.is_left_at(change.store.get(place.job)):
            self._join_if(change, place, last=count_end(change, place))

    def _fail_part(self, change: Change, place: StepInput, error: BaseException) -> None:
        """A child or the plan has failed, and the job with it, or that has failed before."""
        run = change.store.get(place.job)
        if not place.is_left_at(run):
            return
        if change.store.lookup(place.count) is not None:  # a plan may fail before there is any child
            change.patch(place.count, Add("failed", 1))
        if run.status is JobStatus.RUNNING:
            self._passages.fail_step(change, place, error)
        else:
            change.check(place.job, place.stands() & Compare("status", "=", JobStatus.FAILED))

    def _revive(self, change: Change, place: ChildInput) -> None:
        child = change.get(place.child)
        if child.status is not ChildStatus.FAILED:
            return  # it was in quarantine
        change.save(child.revive())
        if self._fan.tolerate:
            count_end(change, place, by=-1)
        else:
            self._revive_part(change, place)

    def _revive_plan(self, change: Change, place: StepInput) -> None:
        task = change.store.get(Task.at(task_id=task_id_of(self.plan, place)))
        if task.status is TaskStatus.FAILED:
            self._revive_part(change, place)
        elif place.is_at(change.store.get(place.job)):
            self._passages.revive_step(change, place)  # it was in quarantine

    def _revive_part(self, change: Change, place: StepInput) -> None:
        """A child or the plan is tried again; after the last that had failed the job goes on."""
        if not place.is_left_at(change.store.get(place.job)):
            return
        count = change.store.lookup(place.count)
        if count is not None and count.failed:
            change.patch(place.count, Add("failed", -1), when=Compare("failed", "=", count.failed))
        if count is None or count.failed <= 1:
            self._passages.revive_step(change, place)
        else:
            self._passages.check_revival(change, place)


def _finish_in_a_crowd(work: TaskContext, effect: Callable[[Change], None]) -> None:
    """End a task with its effect, though others write to the same count at the same moment."""
    for turn in range(_CROWD):
        try:
            with work.finish() as change:
                effect(change)
            return
        except LeaseLost:
            raise
        except Conflict:
            if turn + 1 == _CROWD:
                raise


def task_id_of(task: TaskOf[Any], place: StepInput) -> str:
    """The task that does something for a run of a step."""
    return once_key(task.name, place.text)


def children_of(store: Store, place: StepInput) -> list[ChildRun]:
    """The children of a run of a step, in order."""
    query = ChildRun.of_step(job_id=place.job_id, position=place.position, round=place.round)
    return list(store.find(query))


def spread(
    work: TaskContext,
    place: StepInput,
    inputs: Sequence[Mapping[str, Any]],
    child: TaskOf[ChildInput],
    project: str,
    *,
    about: Ref[Any] | None = None,
) -> int:
    """Enqueue the children that are not there yet; how many there are. An attempt before may have spread some."""
    if len(inputs) > MOST:
        raise InvalidValue(f"a step has at most {MOST} children, not {len(inputs)}; let each do more")
    count = ChildCount(job_id=place.job_id, position=place.position, round=place.round, project_id=project)
    with work.change() as change:
        if work.store.lookup(place.count) is None:
            change.put(count, when=Missing())
    there = {one.number for one in children_of(work.store, place)}
    missing = [number for number in range(len(inputs)) if number not in there]
    for first in range(0, len(missing), _AT_ONCE):
        with work.change() as change:
            for number in missing[first : first + _AT_ONCE]:
                _add(change, place, number, inputs[number], child, project, about)
    return max(len(inputs), max(there, default=-1) + 1)


def _add(
    change: Change,
    place: StepInput,
    number: int,
    input: Mapping[str, Any],
    child: TaskOf[ChildInput],
    project: str,
    about: Ref[Any] | None,
) -> None:
    at = ChildInput(**place.model_dump(), number=number)
    child.enqueue(change, at, project=project, key=at.text, about=about, goes_on=True)
    now = change.store.context.ticks.next()
    change.create(ChildRun(**at.model_dump(), project_id=project, input=dict(input), created_at=now))


def close_count(change: Change, place: StepInput, total: int) -> bool:
    """So many children there are; are they all ended already?"""
    count = change.get(place.count)
    stands = _as_read(count)
    count.total = total
    return _counted(change, count, stands)


def count_end(change: Change, place: StepInput, by: int = 1) -> bool:
    """One more child has ended (or one less, as it is tried again); was it the last?"""
    count = change.get(place.count)
    if by < 0 and count.joined:
        raise Conflict(f"{place.text}: the step has gone on without this child; resume the job from that step instead")
    stands = _as_read(count)
    count.ended += by
    return _counted(change, count, stands)


def _as_read(count: ChildCount) -> Condition:
    """Both numbers stand as they were read: the plan tells one, children the other, and who is last is seen by both."""
    total = Compare("total", "=", count.total) if count.total is not None else Missing("total")
    return Compare("ended", "=", count.ended) & total & Compare("joined", "=", False)


def _counted(change: Change, count: ChildCount, stands: Condition) -> bool:
    count.joined = count.joined or count.ended == count.total
    change.save(count, when=stands)
    return count.joined


def end_child(change: Change, child: ChildRun, ended: StepResult | BaseException) -> None:
    """Write down what a child made, or why it failed."""
    now = change.store.clock.now()
    if isinstance(ended, StepResult):
        change.save(child.finish(made=ended, at=now))
    else:
        change.save(child.fail(code=code_of(ended), error=error_text(ended), at=now))
