"""Decisions: what a run could not know, a person says, and another run goes on with that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from penstock.domains.novae.errors import DoubtOver, NoSuchNova
from penstock.domains.novae.lookup_records import Doubt, DoubtStatus
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.run_records import WorkflowRun
from penstock.domains.novae.runs import Origin, begin_within, find_run, followed
from penstock.domains.novae.workflow import WORKFLOWS
from penstock.errors import InvalidValue
from penstock.kernel.store import Store


class Ruling(StrEnum):
    """What a person says."""

    EXISTING = "existing"
    "It is the nova that is named."
    NEW = "new"
    "It is a nova of its own: the object that is chosen among those that were found."
    ACCEPT = "accept"
    "What the authorities say is right."
    REJECT = "reject"
    "It is none, or nothing is to be done."


class NovaDecision(BaseModel):
    """What a person has decided."""

    model_config = ConfigDict(extra="forbid")
    verdict: Ruling
    nova_id: UUID | None = Field(None, description="Of `existing`: which nova it is.")
    match: int | None = Field(
        None, ge=0, le=1000, description="Of `new` and `accept`: which of the `matches` it is, from 0."
    )
    note: str | None = Field(None, max_length=1000, description="For the audit trail.")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.verdict is Ruling.EXISTING) != (self.nova_id is not None):
            raise ValueError("nova_id is told with the verdict existing, and with no other")
        if self.match is not None and self.verdict not in (Ruling.NEW, Ruling.ACCEPT):
            raise ValueError("match is told with the verdict new or accept, and with no other")
        return self


POSSIBLE: dict[str, frozenset[Ruling]] = {
    "initialize_nova": frozenset({Ruling.EXISTING, Ruling.NEW, Ruling.REJECT}),
    "name_check_and_reconcile": frozenset({Ruling.ACCEPT, Ruling.REJECT}),
}
"What can be said to the doubts of each workflow."


def find_doubt(store: Store, job_run_id: UUID) -> Doubt:
    """What a run could not decide; NoSuchNova if there is none."""
    doubt = store.lookup(Doubt.at(job_run_id=job_run_id))
    if doubt is None:
        raise NoSuchNova(f"nothing waits for a decision about run {job_run_id}")
    return doubt


def decide(catalogue: NovaCatalogue, job_run_id: UUID, decision: NovaDecision, *, by: str) -> Doubt:
    """Decide about what a run could not know. Another run goes on with that, in the same commit; DoubtOver if somebody
    was quicker."""
    store = catalogue.store

    def attempt() -> Doubt:
        doubt = find_doubt(store, job_run_id)
        if doubt.status is not DoubtStatus.WAITING:
            raise DoubtOver(
                f"{doubt.decided_by} has decided {(doubt.decision or {}).get('verdict')} about run {job_run_id}; "
                f"run {doubt.continued_by} went on with that"
            )
        told = _told(store, doubt, decision)
        with store.change(by=by, why=decision.note, once=catalogue.once) as change:
            workflow = WORKFLOWS[doubt.workflow_name]
            wanted = workflow.input.model_validate({**_asked(store, doubt), "decision": told})
            origin = Origin(doubt.correlation_id, continues=doubt.job_run_id)
            run: WorkflowRun = begin_within(change, catalogue, workflow, wanted, origin)
            change.track(doubt)
            now = store.clock.now()
            change.save(doubt.decide(decision=told, by=by, at=now, note=decision.note, run=run.job_run_id))
            change.emit("doubt.decided", doubt, verdict=told["verdict"], correlation_id=doubt.correlation_id)
            change.result = {"job_run_id": str(job_run_id)}
        return doubt

    return store.retried(attempt)


def _asked(store: Store, doubt: Doubt) -> Mapping[str, Any]:
    """What the run was asked; of one that is forgotten by now, as much as the doubt tells."""
    try:
        return find_run(store, doubt.job_run_id).asked_for or {}
    except NoSuchNova:
        return doubt.details.get("asked_for") or {}


def _told(store: Store, doubt: Doubt, decision: NovaDecision) -> dict[str, Any]:
    """A decision as the next run is given it: with the object that was chosen, as it was shown."""
    possible = POSSIBLE.get(doubt.workflow_name, frozenset())
    if decision.verdict not in possible:
        raise InvalidValue(
            f"{decision.verdict.value} is no answer to {doubt.workflow_name}; say {' or '.join(sorted(possible))}"
        )
    told: dict[str, Any] = {"verdict": decision.verdict.value, "by_run": str(doubt.job_run_id)}
    matches = doubt.details.get("matches") or []
    if decision.nova_id is not None:
        told["nova_id"] = str(followed(store, decision.nova_id).nova_id)
    if matches and decision.verdict is not Ruling.REJECT:
        told["match"] = _chosen(matches, decision)
    return told


def _chosen(matches: Sequence[dict[str, Any]], decision: NovaDecision) -> dict[str, Any] | None:
    """The object that is meant; None where a nova is named, and it may be any of them."""
    if len(matches) == 1 and decision.match in (None, 0):
        return matches[0]
    if decision.verdict is Ruling.EXISTING:
        return None
    if decision.match is None or decision.match >= len(matches):
        raise InvalidValue(f"which of the {len(matches)} matches is it? Say match=0 to {len(matches) - 1}")
    return matches[decision.match]
