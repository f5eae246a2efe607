"""The console before a service with work in every state: reviews, doubts, dead letters, schedules, uploads, a trail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from penstock import FrozenClock
from penstock.files.upload import Upload, UploadStatus
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.kernel.record_name import name_of
from penstock.runtime.operated_system import OperatedSystem
from penstock.work.job import PipelineJob
from penstock.work.task import Outcome, TaskAttempt, forgotten_at
from penstock.workers.manual import ManualWorkers
from tests.web.films import INSTALLED as FILMS
from tests.web.operating.workshop import RUNS, WORKSHOP, Workshop
from tests.web.service import Service
from tests.web.serving import serving

from .console import Console, build_once


class Yard(Workshop):
    """The workshop beside a domain whose changes can be heard; its time is the reader's."""

    def __init__(self, folder: Path) -> None:
        clock = FrozenClock(datetime.now(UTC).replace(microsecond=0))
        Service.__init__(self, folder, installed=(WORKSHOP, FILMS), clock=clock)
        self.system = OperatedSystem((WORKSHOP, FILMS), self.context)
        self.workers = ManualWorkers(self.store, self.system.tasks, context=self.context)

    def long_job(self, number: int) -> str:
        """A job with so many attempts in its past."""
        job = self.job()
        run = self.store.get(PipelineJob.at(job_id=job))
        begun = self.clock.now()
        self.store.put_many(
            TaskAttempt(
                task_id=run.task_id or "",
                epoch=n,
                name="workshop.pottery.form",
                project_id="p1",
                worker="kiln-1",
                outcome=Outcome.RETRYABLE,
                started_at=begun + timedelta(seconds=n),
                ended_at=begun + timedelta(seconds=n + 0.5),
                error_class="KilnBusy",
                error=f"the kiln is full, {n} pots wait",
                log_tail=[f"INFO try {n}"],
                about=name_of(run.ref),
                ttl=forgotten_at(begun),
            )
            for n in range(1, number + 1)
        )
        self.tick(seconds=number + 1)
        return job

    def fill(self) -> dict[str, str]:
        """Something of everything; the ids of a job in review and of a task that is dead."""
        job = self.job()
        self.pot("vase", cracked=True)
        self.pot("bowl", "p2", cracked=True)
        dead = self.task(name="amphora", fails="the kiln has no gas")
        self.task("p2", name="jug", fails="odd")
        self.workers.drain()
        self.tick(seconds=40)
        for name in ("plate", "cup"):
            pot = self.pot(name)
            with self.store.change(by="ann", why="an order came in") as change:
                change.emit("pot.made", change.track(pot))
            self.tick(seconds=5)
        message = next(iter(self.store.find(SystemMessage.by_status(status=MessageStatus.PENDING))))
        with self.store.change() as change:
            change.save(change.track(message).bury(error="no such host: orders.example"))
        now = self.clock.now()
        self.store.put(
            Upload(
                upload_id="u1",
                project_id="p1",
                target="pots/vase.glb",
                subject="Pot(project_id=p1, name=vase)",
                size=48_000_000,
                content_type="model/gltf-binary",
                status=UploadStatus.OPEN,
                created_at=now,
                expires_at=now + timedelta(minutes=20),
            )
        )
        self.objects.put("pots/lost.glb", b"nobody's")
        self.job("p2")
        self.task("p2", name="tile")
        self.workers.runner.presence.tell(1)
        self.workers.runner.take(1)
        return {"job": job, "task": dead}


@dataclass(frozen=True)
class YardConsole(Console):
    """The console of the yard."""

    yard: Yard


@contextmanager
def yard_served(folder: Path) -> Iterator[YardConsole]:
    """The yard behind a real server."""
    build_once()
    RUNS.clear()
    yard = Yard(folder)
    with serving(yard.app) as port:
        yield YardConsole(yard, port, yard)
