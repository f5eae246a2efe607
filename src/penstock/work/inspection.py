"""Looking at a file that was sent, in a task: it may take long, tells how far it is, and does not end with a request.

    with store.change(by=by) as change:
        intake.arrive(change, upload, sha256=told)
        inspect_film.enqueue(change, OnUpload(upload_id=upload.upload_id), about=upload.ref)

    @TASKS.task("inspect_film", limit=INSPECTION_LIMIT, classes=REFUSALS)
    def inspect_film(work, input):
        with inspected(work, upload, sound_video, by="ann") as (arrived, film):
            ...                                           # point a record at arrived.key, within arrived.change

What the look finds decides what the file is, whatever it was called. A file that is refused is gone, and its upload
says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol, TypeVar

from penstock.errors import NotFound
from penstock.files.intake import Intake
from penstock.files.upload import UNSETTLED, Upload, UploadStatus
from penstock.files.uploads import Arrived, UploadRefused
from penstock.kernel.record_name import name_of
from penstock.kernel.store import Store
from penstock.media.errors import UnusableFile
from penstock.operations.reads import Ref
from penstock.work.context import TaskContext
from penstock.work.task import Outcome, Progress, Task

T_co = TypeVar("T_co", covariant=True)

INSPECTION_LIMIT = timedelta(hours=6)
REFUSALS: Mapping[type[BaseException], Outcome] = {UnusableFile: Outcome.TERMINAL, UploadRefused: Outcome.TERMINAL}
"Another attempt would find the same."
_NOTE = "looking at the file"


class FileLook(Protocol[T_co]):
    """Looks at a file, and tells which share of it is seen."""

    def __call__(self, path: Path, *, tell: Callable[[float], None]) -> T_co: ...


@contextmanager
def inspected(
    work: TaskContext, upload: Upload, look: FileLook[T_co], *, by: str, before: Callable[[], None] = lambda: None
) -> Iterator[tuple[Arrived, T_co]]:
    """Verify and look at a file that has arrived; the block makes it part of something, in the commit that takes it.

    ``before`` may refuse it before it is looked at.
    """
    if upload.status is UploadStatus.REFUSED:  # by an attempt that died over it
        raise UploadRefused(upload.error or "the file was refused")
    intake = Intake(work.store, work.objects)
    told: dict[str, Any] = {"before": before, "alive": work.check, "typed": False, "by": by}
    try:
        with intake.finalize(upload, inspect=lambda path: look(path, tell=_teller(work)), **told) as found:
            yield found
    except (UnusableFile, UploadRefused) as error:
        there = work.store.lookup(upload.ref)
        if there is not None and there.status in UNSETTLED:
            intake.refuse(there, error=str(error), by=by)
        raise


def check_waiting(upload: Upload | None) -> None:
    """NotFound where a file that somebody wants looked at again is not there to be looked at."""
    if upload is None or upload.status is not UploadStatus.ARRIVED:
        raise NotFound(
            f"the file waits no longer ({'nobody knows of it' if upload is None else upload.status.value}), "
            "so that there is nothing to look at; have it sent again, and cancel this task"
        )


def inspected_share(store: Store, about: Ref[Any], task: str) -> float:
    """How much of a file is looked at, of 1, by the task that was last enqueued for a record."""
    tasks = [each for each in store.find(Task.of_record(about=name_of(about))) if each.name == task]
    told = store.lookup(Progress.at(task_id=tasks[-1].task_id)) if tasks else None
    return told.fraction if told is not None else 0.0


def _teller(work: TaskContext) -> Callable[[float], None]:
    return lambda share: work.progress(share, _NOTE)
