"""Tasks by name: what a domain can do, how often it is tried, and how it is enqueued."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, Generic, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from penstock.declare.personal import marked_within
from penstock.errors import DeclarationError, InvalidValue, TooLarge
from penstock.kernel.change import Change
from penstock.kernel.idempotency import once_key
from penstock.kernel.record_name import name_of
from penstock.net.backoff import Backoff
from penstock.operations.reads import Ref
from penstock.ports.ids import sortable_text
from penstock.ports.spans import spans
from penstock.schema.size import document_size
from penstock.work.budget import check_budget
from penstock.work.context import TaskContext
from penstock.work.errors import InputMisfit, Quarantine, RetryLater, Terminal, TimeOver
from penstock.work.queue_hints import touch
from penstock.work.task import LARGEST_INPUT, NO_PROJECT, Outcome, Task, TaskAttempt

I = TypeVar("I")  # noqa: E741 - the input of a task
Body = Callable[[TaskContext, I], "dict[str, Any] | None"]
OnFailure = Callable[[Change, I, BaseException], None]
OnRevival = Callable[[Change, I], None]
OnAttempt = Callable[[Change, I, TaskAttempt], None]

_FAILURES = frozenset({Outcome.RETRYABLE, Outcome.TERMINAL, Outcome.QUARANTINE})


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a task is attempted, and how long one waits in between: doubling, never all at the same moment.

    ``pauses`` are for whoever has documented them: exactly so long one waits, after the last of them as long as that.
    """

    attempts: int = 5
    first: timedelta = timedelta(seconds=1)
    longest: timedelta = timedelta(minutes=5)
    pauses: tuple[timedelta, ...] = ()

    def __post_init__(self) -> None:
        if self.attempts < 1 or not timedelta(0) <= self.first <= self.longest:
            raise DeclarationError(f"{self}: there is at least one attempt, and first is not beyond longest")
        if any(pause < timedelta(0) for pause in self.pauses):
            raise DeclarationError(f"{self}: a pause is no time before the failure")

    def pause(self, failures: int, chance: Callable[[], float] = random.random) -> timedelta:
        """How long to wait after so many failures: between half of the time that is doubled, and all of it."""
        if self.pauses:
            return self.pauses[min(max(failures, 1), len(self.pauses)) - 1]
        backoff = Backoff(self.first.total_seconds(), self.longest.total_seconds(), jitter=0.5)
        return timedelta(seconds=backoff.pause(failures, chance))


USUAL = Retry()
MINUTES = timedelta(minutes=10)
"How long an attempt may take, where a task does not say."


@dataclass(frozen=True)
class TaskOf(Generic[I]):
    """A task: a function of typed input, under a name."""

    name: str
    body: Body[I]
    retry: Retry = USUAL
    limit: timedelta = MINUTES
    "The longest a single attempt may take."
    concurrency: int | None = None
    "How many of a project may run at once, everywhere together; None: as many as there are workers."
    classes: Mapping[type[BaseException], Outcome] = field(default_factory=dict)
    "How certain errors are to be taken: retryable, terminal or quarantine."
    failures: list[OnFailure[I]] = field(default_factory=list)
    revivals: list[OnRevival[I]] = field(default_factory=list)
    endings: list[OnAttempt[I]] = field(default_factory=list)
    _input: TypeAdapter[I] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_input", adapter_of(self.name, self.body))
        if wrong := set(self.classes.values()) - _FAILURES:
            raise DeclarationError(f"task {self.name}: an error is {', '.join(_FAILURES)}, not {', '.join(wrong)}")
        if self.concurrency is not None and self.concurrency < 1:
            raise DeclarationError(f"task {self.name}: with concurrency={self.concurrency} it would never run")

    def enqueue(
        self,
        change: Change,
        input: I,
        *,
        project: str | None = None,
        key: str | None = None,
        after: timedelta = timedelta(0),
        about: Ref[Any] | None = None,
        goes_on: bool = False,
    ) -> str:
        """Have it done once the change is committed; the task's id.

        The same ``key`` is enqueued once, as long as the task is remembered: a second change that enqueues it is
        refused. ``about`` is the record it is done for, in whose history it is shown. TooLarge when the input has more
        than 384 KB. BudgetSpent when the project may not begin anything; what another task enqueues, or what
        ``goes_on`` with something that was begun, is not refused.
        """
        store = change.store
        now = store.context.ticks.next()
        project_id = project or store.project or NO_PROJECT
        if not goes_on and change.under is None:
            check_budget(store, project_id)
        touch(store, project_id, self.name)
        task = Task(
            task_id=once_key(self.name, key) if key is not None else sortable_text(now),
            name=self.name,
            project_id=project_id,
            input=self.dump(input),
            due_at=store.clock.now() + after,
            most_attempts=self.retry.attempts,
            created_at=now,
            about=None if about is None else name_of(about),
            trace=spans().here(),
        )
        with change.attempt():
            change.create(task)
            _check_room(task)
        return task.task_id

    def failed(self, handler: OnFailure[I]) -> OnFailure[I]:
        """Declare what else becomes true, in the same commit, when it has failed for good or was cancelled."""
        self.failures.append(handler)
        return handler

    def revived(self, handler: OnRevival[I]) -> OnRevival[I]:
        """Declare what else becomes true, in the same commit, when a person has it tried again."""
        self.revivals.append(handler)
        return handler

    def attempted(self, handler: OnAttempt[I]) -> OnAttempt[I]:
        """Declare what else becomes true, in the same commit, whenever an attempt has ended, also one that was lost."""
        self.endings.append(handler)
        return handler

    def dump(self, input: I) -> dict[str, Any]:
        """The input as it is stored."""
        dumped = self._input.dump_python(input, mode="json")
        if not isinstance(dumped, dict):
            raise InvalidValue(f"the input of {self.name} is a model or a map, not a {type(dumped).__name__}")
        return dumped

    def load(self, stored: Mapping[str, Any]) -> I:
        """The input as it was enqueued; InputMisfit when the task has changed since in a way that does not fit."""
        try:
            return self._input.validate_python(stored)
        except ValidationError as error:
            wrong = ", ".join(".".join(map(str, e["loc"])) or "all of it" for e in error.errors())
            raise InputMisfit(f"the input of {self.name} does not fit what the task takes now: {wrong}") from None

    def outcome(self, error: BaseException) -> Outcome:
        """How a failure is to be taken."""
        for kind, outcome in self.classes.items():
            if isinstance(error, kind):
                return outcome
        if isinstance(error, Quarantine):
            return Outcome.QUARANTINE
        return Outcome.TERMINAL if isinstance(error, Terminal | TimeOver) else Outcome.RETRYABLE

    def pause(self, error: BaseException, failures: int, chance: Callable[[], float]) -> timedelta:
        """How long to wait before the next attempt."""
        return error.after if isinstance(error, RetryLater) else self.retry.pause(failures, chance)


class Tasks:
    """The tasks of one domain."""

    def __init__(self, domain: str) -> None:
        self.domain = domain
        self._tasks: dict[str, TaskOf[Any]] = {}

    def task(
        self,
        name: str,
        *,
        retry: Retry = USUAL,
        limit: timedelta = MINUTES,
        concurrency: int | None = None,
        classes: Mapping[type[BaseException], Outcome] | None = None,
    ) -> Callable[[Body[I]], TaskOf[I]]:
        """Register a function as the task ``domain.name``."""

        def register(body: Body[I]) -> TaskOf[I]:
            full = f"{self.domain}.{name}"
            if full in self._tasks:
                raise DeclarationError(f"there are two tasks {full}; give one another name")
            task = TaskOf(full, body, retry, limit, concurrency, classes or {})
            self._tasks[full] = task
            return task

        return register

    def __iter__(self) -> Iterator[TaskOf[Any]]:
        return iter(self._tasks.values())


def by_name(tasks: Iterable[Tasks]) -> dict[str, TaskOf[Any]]:
    """The tasks of several domains."""
    return {task.name: task for some in tasks for task in some}


def _check_room(task: Task) -> None:
    """Refuse an input beside which there would be no room for what workers write: no worker could ever start it."""
    size = document_size(task.input)
    if size > LARGEST_INPUT:
        raise TooLarge(
            f"the input of {task.name} has {size} bytes; at most {LARGEST_INPUT} ({LARGEST_INPUT // 1024} KB) are "
            f"allowed. Keep large content in an object, and tell its key"
        )


def adapter_of(name: str, body: Callable[..., Any]) -> TypeAdapter[Any]:
    """What reads and writes a task's input, by the annotation of its second parameter."""
    names = list(body.__code__.co_varnames[: body.__code__.co_argcount])
    if len(names) != 2:
        raise DeclarationError(f"task {name}: a task is a function of its context and its input, not of {names}")
    if names[1] not in body.__annotations__:
        raise DeclarationError(f"task {name}: the type of {names[1]} is missing; enqueue needs it to check the input")
    # Of the other annotations nothing is needed, and they may name what is imported for type checkers only.
    annotated = SimpleNamespace(__annotations__={"input": body.__annotations__[names[1]]})
    try:
        taken = get_type_hints(annotated, body.__globals__, include_extras=True)["input"]
        if marked_within(taken):
            raise DeclarationError(
                f"task {name}: a part of its input is marked as personal, and a task is kept for long and shown to "
                f"operators; give it the key of the record that has it"
            )
        return TypeAdapter(taken)
    except NameError as error:
        raise DeclarationError(f"task {name}: {error}; declare the input's type at the top of a module") from None
