"""The service's own duties."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from penstock import FrozenClock
from penstock.domains.assetcreator.bookkeeping import Audit
from penstock.domains.assetcreator.model import DOMAIN, Job
from penstock.domains.assetcreator.stages import AssetType, StepName
from penstock.kernel.audit import SystemAudit
from penstock.kernel.seals import verify
from penstock.plugin import DomainPlugin
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings
from penstock.work import (
    JobStatus,
    Pipeline,
    PipelineJob,
    PipelineStep,
    StepContext,
    StepResult,
    StepRun,
    TaskContext,
    Tasks,
)
from penstock.workers.manual import ManualWorkers


def opened(folder: Path, clock: FrozenClock, *installed: DomainPlugin) -> Service:
    settings = Settings(
        store=f"sqlite:///{folder}/s.db",
        objects=f"files:///{folder}/objects",
        secret="of the tests, and long enough",
    )
    service = Service(settings, installed)
    store = service.context.store
    store.clock = store.context.clock = store.context.ticks._clock = clock
    store.ensure(*service.domains)
    return service


def test_the_trails_of_domains_are_sealed_with_the_kernels(tmp_path: Path) -> None:
    """AC-47: the asset creator keeps its own kind of line."""
    clock = FrozenClock()
    service = opened(tmp_path, clock, DomainPlugin(DOMAIN))
    store = service.context.store
    now = clock.now()
    with store.change(by="ann") as change:
        change.create(
            Job(
                project_id="p",
                job_id="j",
                asset_type=AssetType.PROP,
                current_step=StepName.RIG,
                created_at=now,
                updated_at=now,
            )
        )
    with store.change(by="ann", project="p") as change:
        change.delete(Job.at(project_id="p", job_id="gone"))
    clock.advance(timedelta(hours=1))
    service.seal()
    verdicts = [verify(store, "p", trail=trail) for trail in (SystemAudit, Audit)]
    assert [(v.sealed, v.unsealed, v.sound) for v in verdicts] == [(1, 0, True), (1, 0, True)]
    store.close()


def test_what_a_step_made_is_not_swept_away_while_a_person_is_to_look_at_it(tmp_path: Path) -> None:
    """No record of the domain points at it before it is approved."""
    clock, tasks = FrozenClock(datetime.now(UTC).replace(microsecond=0)), Tasks("assets")
    service = opened(tmp_path, clock, DomainPlugin(DOMAIN, tasks=tasks))
    store, objects = service.context.store, service.context.objects

    def carve(work: TaskContext, context: StepContext[PipelineJob, StepRun]) -> StepResult:
        objects.put("assets/p1/hero/draft.glb", b"a draft")
        return StepResult(artifacts=["assets/p1/hero/draft.glb"])

    carving = Pipeline(tasks, "carving", [PipelineStep("carve", carve, review=True)])
    with store.change(by="ann") as change:
        job = carving.start(change, {}, project="p1")
    ManualWorkers(store, [tasks]).drain()
    assert store.get(job.ref).status is JobStatus.PAUSED
    clock.advance(timedelta(days=2))
    swept = service.sweep().run()
    assert swept is not None
    assert (swept.reconciled.orphans, swept.reconciled.missing) == ([], [])
    assert objects.get("assets/p1/hero/draft.glb").read() == b"a draft"
    store.close()
