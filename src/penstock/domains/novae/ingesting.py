"""ingest_new_nova: papers and spectra of a nova are looked for, each by a run of its own."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from penstock.declare.attr import the
from penstock.domains.novae.model import Nova, NovaStatus
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.run_records import JobRun
from penstock.domains.novae.runs import Begun, Origin, begin, launch, nova_at_work
from penstock.domains.novae.workflow import WORKFLOWS, NovaInput, NovaStep, nova_workflow, step
from penstock.kernel.change import Change
from penstock.work import StepResult, TaskContext

LAUNCHED = "LAUNCHED"
CHILDREN = ("refresh_references", "discover_spectra_products")
"What is launched, side by side; each goes its own way, and none of them fails this run."


def ingest(catalogue: NovaCatalogue, nova_id: UUID, *, by: str, correlation_id: str | None = None) -> Begun[JobRun]:
    """Have the papers and spectra of a nova looked for."""
    return begin(catalogue, INGEST, NovaInput(nova_id=nova_id), by=by, origin=Origin(correlation_id))


def _launch(work: TaskContext, context: NovaStep) -> StepResult:
    nova_id, now = nova_at_work(work, context), work.store.clock.now()
    wanted = [WORKFLOWS[name] for name in CHILDREN if name in WORKFLOWS]
    begun = [launch(work, each, each.input.model_validate({"nova_id": nova_id}), parent=context.job) for each in wanted]

    def note(change: Change) -> None:
        """When it was last looked for; whatever else is known of the nova stays as it is."""
        standing = the(Nova.status).differs(NovaStatus.MERGED)
        when_asked = (the(Nova.last_ingest_at).set(now), the(Nova.updated_at).set(now))
        change.patch(Nova.at(nova_id=nova_id), *when_asked, when=standing)

    launched = [str(each.run.job_run_id) for each in begun]
    return StepResult(outcome=LAUNCHED, metrics={"launched": launched}, change=note)


INGEST = nova_workflow("ingest_new_nova", NovaInput, [step("launch", _launch, limit=timedelta(minutes=10))])
