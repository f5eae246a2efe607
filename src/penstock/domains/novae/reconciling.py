"""name_check_and_reconcile: what those who know names say a nova is called, beside what the catalogue says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from penstock.domains.novae.candidates import (
    Candidate,
    apart,
    candidate_of,
    candidate_told,
    contradiction,
    put_together,
)
from penstock.domains.novae.decisions import Ruling
from penstock.domains.novae.founding import AT_ONCE, rename_entry
from penstock.domains.novae.model import Nova
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_names import all_names, checked_name, claim_names, further, give_names, owner_of
from penstock.domains.novae.nova_table import normalize_name
from penstock.domains.novae.positions import position_of
from penstock.domains.novae.run_bookkeeping import Doubtful
from penstock.domains.novae.run_records import JobRun
from penstock.domains.novae.runs import Begun, Origin, begin, followed
from penstock.domains.novae.workflow import HOUR, NOVAE_RETRY, NovaInput, NovaStep, nova_workflow, part, step
from penstock.kernel.store import Store
from penstock.work import ChildRun, ChildStatus, FanOut, StepResult, TaskContext, Terminal

NO_CHANGE, UPDATED = "NO_CHANGE", "UPDATED"


class NameCheck(NovaInput):
    """What name_check_and_reconcile is asked; with a decision it goes on where another run could not know."""

    decision: dict[str, Any] | None = None


def check_names(
    catalogue: NovaCatalogue, nova_id: UUID, *, by: str, correlation_id: str | None = None
) -> Begun[JobRun]:
    """Have the names of a nova compared with what others call it."""
    return begin(catalogue, NAME_CHECK, NameCheck(nova_id=nova_id), by=by, origin=Origin(correlation_id))


def _plan(work: TaskContext, context: NovaStep) -> Sequence[dict[str, Any]]:
    if context.input.get("decision") is not None:
        return []
    return [{"resolver": number} for number in range(len(NovaCatalogue.within(work.domain).sources.resolvers))]


def _ask(work: TaskContext, context: NovaStep, input: dict[str, Any]) -> StepResult:
    resolvers = NovaCatalogue.within(work.domain).sources.resolvers
    if input["resolver"] >= len(resolvers):
        raise Terminal("this authority is asked no more; the settings have changed since the run began")
    nova = followed(work.store, context.job.nova_id)
    found = resolvers[input["resolver"]].resolve(nova.preferred_name).matches
    return StepResult(metrics={"matches": [candidate_of(each).told() for each in found]})


def _gather(work: TaskContext, context: NovaStep, parts: Sequence[ChildRun]) -> StepResult:
    """What all authorities say; one that does not answer keeps no other from being heard."""
    done = [each for each in parts if each.status is ChildStatus.DONE]
    if parts and not done:
        raise Terminal(f"none of {len(parts)} authorities could be asked")
    for each in done:
        if doubt := each.metrics.get("doubtful"):
            work.log.warning("an authority answered with what cannot be read: %s", doubt.get("reason"))
    matches = [match for each in done for match in each.metrics.get("matches", ())]
    nova = followed(work.store, context.job.nova_id)
    before = [nova.preferred_name, len(nova.aliases)]
    return StepResult(metrics={"matches": matches, "asked": len(parts), "answered": len(done), "before": before})


def _reconcile(work: TaskContext, context: NovaStep) -> StepResult:
    """What is new is taken over; what contradicts waits for a person."""
    nova, decision = followed(work.store, context.job.nova_id), context.input.get("decision")
    if decision is not None and decision["verdict"] == Ruling.REJECT:
        return StepResult(outcome=NO_CHANGE)
    told = context.made("ask").metrics["matches"] if decision is None else [decision.get("match")]
    objects = put_together(map(candidate_told, filter(None, told)))
    if not objects:
        return StepResult(outcome=NO_CHANGE)
    candidate = objects[0] if decision is not None else _agreed(work.store, nova, objects)
    return _updated(work, nova, candidate, before=context.made("ask").metrics["before"])


def _agreed(store: Store, nova: Nova, objects: Sequence[Candidate]) -> Candidate:
    """The one object that all say it is, at its place, with names that are nobody else's; Doubtful if not."""
    matches = [each.told() for each in objects]
    if len(objects) > 1:
        raise Doubtful(
            "AMBIGUOUS_NAME", f"{nova.preferred_name} is {len(objects)} objects", details={"matches": matches}, asks=[]
        )
    away = apart(objects[0].position, position_of(nova))
    if (code := contradiction(away)) is not None and away is not None:
        reason = f"{nova.preferred_name} is {away:.1f} arcseconds from where it was"
        raise Doubtful(code, reason, details={"matches": matches, "arcsec": round(away, 3)}, asks=[nova.nova_id])
    others = {owner for name in objects[0].names if (owner := owner_of(store, name)) not in (None, nova.nova_id)}
    if others:
        raise Doubtful(
            "NAME_COLLISION",
            f"{nova.preferred_name} has names of {len(others)} other novae",
            details={"matches": matches},
            asks=[nova.nova_id, *(each for each in others if each is not None)],
        )
    return objects[0]


def _updated(work: TaskContext, nova: Nova, candidate: Candidate, *, before: list[Any]) -> StepResult:
    """New names are taken over, a few at a time, and the preferred one is what the authorities prefer."""
    store = work.store

    def attempt() -> bool:
        found = followed(store, nova.nova_id)
        own = (None, found.nova_id)
        free = [name for name in further(candidate.names, all_names(found)) if owner_of(store, name) in own][:AT_ONCE]
        renamed = _prefers(store, found, candidate)
        if not free and not renamed:
            return False
        with work.change(why="as the authorities have it") as change:
            give_names(change, change.track(found), free)
            if renamed:
                rename_entry(change, found, candidate.name)
                former, found.preferred_name = found.preferred_name, candidate.name
                found.normalized_preferred_name = checked_name(candidate.name)
                found.aliases = [*further([former, *found.aliases], [candidate.name])]
                found.updated_at = store.clock.now()
                if not free:
                    claim_names(change, found.nova_id, [candidate.name])
            change.save(found)
        return bool(free)

    while store.retried(attempt):
        pass
    after = followed(store, nova.nova_id)
    changed = before != [after.preferred_name, len(after.aliases)]
    told = {"preferred_name": after.preferred_name, "names": len(all_names(after))}
    return StepResult(outcome=UPDATED if changed else NO_CHANGE, metrics=told)


def _prefers(store: Store, nova: Nova, candidate: Candidate) -> bool:
    """Do the authorities call it otherwise, by a name that can be its own?"""
    if normalize_name(candidate.name) == nova.normalized_preferred_name:
        return False
    return owner_of(store, candidate.name) in (None, nova.nova_id)


ASK = FanOut(_plan, part(_ask), _gather, tolerate=True, retry=NOVAE_RETRY)
NAME_CHECK = nova_workflow(
    "name_check_and_reconcile", NameCheck, [step("ask", ASK), step("reconcile", _reconcile)], window=HOUR
)
