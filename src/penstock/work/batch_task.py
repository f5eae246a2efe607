"""Batch tasks: very many small things to do, of which a hundred are enqueued, taken and finished as one.

A batch is one task: one record that is enqueued and leased, and one commit with the effects of all its items and its
end. An item that fails is set apart as a task of its own, and the others are done. A batch whose commit is refused, or
that ended in the middle, is halved, so that in the end the item is alone that is to blame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from penstock.errors import Conflict, DeclarationError, InvalidValue, TooLarge, Unavailable
from penstock.kernel.change import Change
from penstock.kernel.lease import LeaseLost
from penstock.operations.reads import Ref
from penstock.schema.shape import COMMIT_WRITES
from penstock.work.context import TaskContext
from penstock.work.errors import InputMisfit, TimeOver
from penstock.work.registry import MINUTES, USUAL, OnFailure, Retry, TaskOf, Tasks, adapter_of
from penstock.work.task import Outcome

I = TypeVar("I")  # noqa: E741 - the input of an item
ItemBody = Callable[[Change, I], None]

LARGEST = 1000
_ROOM = COMMIT_WRITES - 8
"So many writes of a commit are the items'; others are the task and its attempt, audit lines, and what is left."
_REFUSALS = (Conflict, TooLarge, InvalidValue)


class _Full(Exception):
    """No more goes into the commit."""


class Items(BaseModel):
    """What a batch task takes: the inputs of its items, as they are stored."""

    items: list[dict[str, Any]]


@dataclass(frozen=True)
class BatchOf(Generic[I]):
    """A batch task: a function of a change and of one item's input, which adds the item's effect to the change."""

    task: TaskOf[Items]
    size: int
    _body: ItemBody[I]
    _input: TypeAdapter[I] = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """The name under which its tasks wait."""
        return self.task.name

    def enqueue(
        self,
        change: Change,
        inputs: Iterable[I],
        *,
        project: str | None = None,
        key: str | None = None,
        after: timedelta = timedelta(0),
        about: Ref[Any] | None = None,
        goes_on: bool = False,
    ) -> list[str]:
        """Have all of it done once the change is committed, in as few batches as may be; the ids of their tasks.

        All else is as it is when a task is enqueued (`TaskOf.enqueue`).
        """
        items = [self._dump(each) for each in inputs]
        return [
            self.task.enqueue(
                change,
                Items(items=items[first : first + self.size]),
                project=project,
                key=None if key is None else f"{key}#{first}",
                after=after,
                about=about,
                goes_on=goes_on,
            )
            for first in range(0, len(items), self.size)
        ]

    def failed(self, handler: OnFailure[I]) -> OnFailure[I]:
        """Declare what else becomes true, in the same commit, when an item has failed for good or was cancelled."""

        def each(change: Change, batch: Items, error: BaseException) -> None:
            for item in batch.items:
                handler(change, self._load(item), error)

        self.task.failures.append(each)
        return handler

    # Running

    def run(self, work: TaskContext, batch: Items) -> None:
        """Do the items of a batch."""
        items = batch.items
        if len(items) <= 1:
            with work.finish({"done": len(items)}) as change:
                for item in items:
                    self._body(change, self._load(item))
        elif work.task.attempts > 1:  # it has ended in the middle before
            self._halve(work, items)
        else:
            try:
                self._do(work, items)
            except LeaseLost:
                raise
            except _REFUSALS as refused:
                work.log.warning("a batch of %d is halved, as its commit was refused: %s", len(items), refused)
                self._halve(work, items)

    def _do(self, work: TaskContext, items: Sequence[dict[str, Any]]) -> None:
        """All of them in one commit, or as many as go into one; the rest is the next batch."""
        result: dict[str, Any] = {"done": 0}
        with work.finish(result) as change:
            for position, item in enumerate(items):
                try:
                    with change.attempt():
                        apart = self._do_one(change, work, item)
                        if position and change.size > _ROOM:
                            raise _Full
                except _Full:
                    result["rest"] = self._go_on(change, work, items[position:])
                    break
                if apart is None:
                    result["done"] += 1
                else:
                    result.setdefault("apart", []).append(apart)

    def _do_one(self, change: Change, work: TaskContext, item: dict[str, Any]) -> str | None:
        """Add the effect of an item; the task that it is from now on, if it fails."""
        try:
            with change.attempt():
                self._body(change, self._load(item))
        except (Unavailable, TimeOver, LeaseLost):
            raise  # that is no item's fault
        except Exception as error:
            work.log.warning("an item is set apart: %s: %s", type(error).__name__, error)
            return self._go_on(change, work, [item], after=self.task.pause(error, 1, lambda: 1.0))
        return None

    def _halve(self, work: TaskContext, items: Sequence[dict[str, Any]]) -> None:
        middle = len(items) // 2
        result: dict[str, Any] = {"done": 0}
        with work.finish(result) as change:
            result["halves"] = [self._go_on(change, work, half) for half in (items[:middle], items[middle:])]

    def _go_on(
        self, change: Change, work: TaskContext, items: Sequence[dict[str, Any]], *, after: timedelta = timedelta(0)
    ) -> str:
        """Another task for some of the items, in the commit that ends this one."""
        return self.task.enqueue(change, Items(items=list(items)), project=work.project, after=after, goes_on=True)

    def _dump(self, input: I) -> dict[str, Any]:
        dumped = self._input.dump_python(input, mode="json")
        if not isinstance(dumped, dict):
            raise InvalidValue(f"an input of {self.name} is a model or a map, not a {type(dumped).__name__}")
        return dumped

    def _load(self, stored: dict[str, Any]) -> I:
        try:
            return self._input.validate_python(stored)
        except ValidationError as error:
            raise InputMisfit(f"an input of {self.name} does not fit what it takes now: {error}") from None


def batch_task(
    tasks: Tasks,
    name: str,
    *,
    size: int = 100,
    retry: Retry = USUAL,
    limit: timedelta = MINUTES,
    concurrency: int | None = None,
    classes: Mapping[type[BaseException], Outcome] | None = None,
) -> Callable[[ItemBody[I]], BatchOf[I]]:
    """Register a function of a change and an input as a task that does up to ``size`` such inputs in one go.

    The rest is said of a batch as it is said of a task: ``limit`` is the time of a whole batch, and ``retry`` how often
    an item is tried that was set apart.
    """
    if not 1 <= size <= LARGEST:
        raise DeclarationError(f"batch task {name}: size={size}; a batch has 1 to {LARGEST} items")

    def register(body: ItemBody[I]) -> BatchOf[I]:
        def run(work: TaskContext, input: Items) -> None:
            batches.run(work, input)

        # A batch that has had its time is halved, and no dead letter yet.
        known: dict[type[BaseException], Outcome] = {TimeOver: Outcome.RETRYABLE, **(classes or {})}
        task = tasks.task(name, retry=retry, limit=limit, concurrency=concurrency, classes=known)(run)
        batches = BatchOf(task, size, body, adapter_of(task.name, body))
        return batches

    return register
