"""A task's desk: where whoever does the creative work tells how far it is, and where files are fetched and kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from penstock.domains.musicvideo.studio import Studio
from penstock.generation.ports import Made
from penstock.kernel.lease import LeaseLost
from penstock.media.probe import probe
from penstock.ports.object_store import Objects
from penstock.ports.stored_object import StoredObject
from penstock.work import Cancelled, TaskContext, TaskStatus

Remember = Callable[[str], None]


class TaskDesk:
    """The desk of one attempt, with a folder that goes with it."""

    def __init__(self, work: TaskContext, folder: Path, remember: Remember | None = None) -> None:
        self._work, self._objects, self._remember = work, work.objects, remember
        self.folder = folder

    def progress(self, fraction: float, note: str | None = None) -> None:
        try:
            self._work.progress(fraction, note)
        except LeaseLost:
            # Another goes on with what was begun elsewhere, unless nobody wants it any more.
            task = self._work.store.lookup(self._work.task.ref)
            if task is None or task.status is TaskStatus.CANCELLED:
                raise Cancelled(f"{self._work.task.name} was cancelled") from None
            raise

    def remember(self, job: str) -> None:
        if self._remember is not None:
            self._remember(job)

    @contextmanager
    def creating(self) -> Iterator[None]:
        """Time that is spent on the work itself; the rest of an attempt is ours."""
        began = time.perf_counter()
        try:
            yield
        finally:
            spent = self._work.metrics.get("creative_seconds", 0.0)
            self._work.metrics["creative_seconds"] = spent + time.perf_counter() - began

    def note(self, made: Made) -> None:
        """Keep what whoever made something tells about it."""
        self._work.metrics.update(made.metrics)
        if made.cost is not None:
            self._work.metrics["cost"] = made.cost

    def length(self, path: Path) -> float:
        """How many seconds a file has."""
        with self.creating():
            return probe(path).duration

    def fetch(self, key: str) -> Path:
        """A file of the project, here."""
        return fetch(self._objects, key, self.folder)

    def keep(self, path: Path, key: str) -> StoredObject:
        """Put a file where it belongs, as long as the work is still ours."""
        self._work.check()
        with path.open("rb") as file:
            return self._objects.put(key, file)


@contextmanager
def desk_of(work: TaskContext, remember: Remember | None = None) -> Iterator[TaskDesk]:
    """A desk for an attempt; its files are gone afterwards."""
    with TemporaryDirectory(prefix="penstock-mv-") as folder:
        yield TaskDesk(work, Path(folder), remember)


def fetch(objects: Objects, key: str, folder: Path) -> Path:
    """Copy an object into a folder, under a name of its own."""
    path = folder / key.replace("/", "_")
    with objects.get(key) as download, path.open("wb") as file:
        for piece in download:
            file.write(piece)
    return path


def thumbnail_of(studio: Studio, desk: TaskDesk, clip: Path) -> Path:
    """A picture of a clip, beside it."""
    into = desk.folder / f"{clip.stem}.jpg"
    with desk.creating():
        studio.crew.composer.thumbnail(clip, into)
    return into
