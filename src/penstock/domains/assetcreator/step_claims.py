"""The documents' idempotency of a step: one run of it happens once, and whoever asks again gets its result."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from penstock.domains.assetcreator.bookkeeping import Idempotency
from penstock.domains.assetcreator.model import Job, Step
from penstock.domains.assetcreator.orders import request_of, seed_of
from penstock.kernel.idempotency import Claim, Replay, once_key, seize
from penstock.kernel.lease import end_second
from penstock.work import TaskContext

REMEMBERED = timedelta(hours=48)
"Between the documents' 24 and 72 hours, however far clocks are apart."


def step_key(job: Job, step: Step, *, model_version: str) -> str:
    """The documents' hash of six parts: project, type, step, inputs, seed, and the version of the model.

    Among the inputs are the job and its round: two equal jobs both generate, and a rejected run is no reason not to run
    again.
    """
    request = request_of(job)
    inputs: dict[str, Any] = {"job": job.job_id, "round": step.round, "request": request.model_dump(mode="json")}
    name, seed = step.step_name, seed_of(request, step.step_name)
    return once_key(job.project_id, job.asset_type.value, name.value, inputs, seed, model_version)


def claim_step(work: TaskContext, job: Job, step: Step, *, model_version: str) -> Claim | Replay:
    """The right to do a run of a step, or what came of it before."""
    now = work.store.clock.now()
    mark = Idempotency(
        idempotency_key=step_key(job, step, model_version=model_version),
        project_id=job.project_id,
        job_id=job.job_id,
        step_name=step.step_name,
        created_at=now,
        ttl=end_second(now + REMEMBERED),
    )
    # The lease on the task says that whoever had the claim before is gone.
    return seize(work.store, mark, owner=work.lease.owner, period=work.limit, under=work.lease)
