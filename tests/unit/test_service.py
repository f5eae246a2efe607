"""The service's own duties."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from penstock import FrozenClock
from penstock.audit import SystemAudit
from penstock.domains.assetcreator.model import DOMAIN, AssetType, Audit, Job, StepName
from penstock.installed import Installed
from penstock.seals import verify
from penstock.service import Service
from penstock.settings import Settings


def test_the_trails_of_domains_are_sealed_with_the_kernels(tmp_path: Path) -> None:
    """AC-47: the asset creator keeps its own kind of line."""
    settings = Settings(
        store=f"sqlite:///{tmp_path}/s.db",
        objects=f"files://{tmp_path}/objects",
        secret="of the tests, and long enough",
    )
    service = Service(settings, [Installed(DOMAIN)])
    store, clock = service.around.store, FrozenClock()
    store.clock = store.ticks._clock = clock
    store.ensure(DOMAIN)
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
