"""A task's workspace: a folder for one attempt, with what is fetched into it, stored from it, and told about it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from penstock.files.object_reads import fetch
from penstock.files.scratch import scratch_folder
from penstock.kernel.lease import LeaseLost
from penstock.ports.stored_object import StoredObject
from penstock.work.context import TaskContext
from penstock.work.errors import Cancelled
from penstock.work.task import TaskStatus

Remember = Callable[[str], None]


class Workspace:
    """That of one attempt. A generative step may report to it: `penstock.generation.steps.StepReporter`."""

    def __init__(self, work: TaskContext, folder: Path, remember: Remember | None = None) -> None:
        self._work, self._remember = work, remember
        self.folder = folder

    def progress(self, fraction: float, note: str | None = None) -> None:
        """Tell how far it is; Cancelled where nobody wants it any more, LeaseLost where another goes on with it."""
        try:
            self._work.progress(fraction, note)
        except LeaseLost:
            task = self._work.store.lookup(self._work.task.ref)
            if task is None or task.status is TaskStatus.CANCELLED:
                raise Cancelled(f"{self._work.task.name} was cancelled") from None
            raise

    def remember(self, job: str) -> None:
        """Keep what was begun elsewhere, so that another attempt goes on with it."""
        if self._remember is not None:
            self._remember(job)

    @contextmanager
    def creating(self) -> Iterator[None]:
        """Count the time that is spent on the work itself; the rest of an attempt is ours."""
        began = time.perf_counter()
        try:
            yield
        finally:
            spent = self._work.metrics.get("creative_seconds", 0.0)
            self._work.metrics["creative_seconds"] = spent + time.perf_counter() - began

    def note(self, metrics: Mapping[str, Any], *, cost: float | None = None) -> None:
        """Keep numbers about what was made with the attempt."""
        self._work.metrics.update(metrics)
        if cost is not None:
            self._work.metrics["cost"] = cost

    def fetch(self, key: str) -> Path:
        """An object, as a file in the folder."""
        return fetch(self._work.objects, key, self.folder)

    def store(self, path: Path, key: str) -> StoredObject:
        """Put a file where it belongs, as long as the task is still this attempt's; LeaseLost or TimeOver if not."""
        self._work.check()
        with path.open("rb") as file:
            return self._work.objects.put(key, file)


@contextmanager
def workspace_of(work: TaskContext, remember: Remember | None = None) -> Iterator[Workspace]:
    """A workspace for an attempt; its files are gone afterwards. ``remember`` is told what is begun elsewhere."""
    with scratch_folder("work") as folder:
        yield Workspace(work, folder, remember)
