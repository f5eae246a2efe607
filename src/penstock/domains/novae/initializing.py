"""initialize_nova: from a name to the nova it means, which is found, made, or waits for a person."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from penstock.domains.novae.candidates import Candidate, candidate_of, candidate_told, judged, put_together
from penstock.domains.novae.decisions import Ruling
from penstock.domains.novae.founding import Founded, found, found_as
from penstock.domains.novae.ingesting import INGEST
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_names import checked_name, further, novae_called
from penstock.domains.novae.nova_table import nova_identity
from penstock.domains.novae.run_bookkeeping import Doubtful
from penstock.domains.novae.run_records import NameRun
from penstock.domains.novae.runs import Begun, Origin, begin, followed, launch
from penstock.domains.novae.states import NovaStatus
from penstock.domains.novae.workflow import HOUR, NameInput, NameStep, NovaInput, name_workflow, step
from penstock.work import StepResult, TaskContext

CREATED, EXISTS, REJECTED = "CREATED_AND_LAUNCHED", "EXISTS_AND_LAUNCHED", "REJECTED"
DEPRECATED = "DEPRECATED"
"It is a nova that is said to be none; nothing is looked for."
RESOLVE: Final = ("resolve", "settle", "launch")
SETTLE: Final = ("settle", "launch")


class Initialize(NameInput):
    """What initialize_nova is asked; with a decision it goes on where another run could not know."""

    decision: dict[str, Any] | None = None


def initialize(
    catalogue: NovaCatalogue, candidate_name: str, *, by: str, correlation_id: str | None = None
) -> Begun[NameRun]:
    """Have the nova of a name found or made, and its papers and spectra looked for."""
    checked_name(candidate_name)
    wanted = Initialize(candidate_name=candidate_name)
    return begin(catalogue, INITIALIZE_NOVA, wanted, by=by, origin=Origin(correlation_id))


def _look_up(work: TaskContext, context: NameStep) -> StepResult:
    """Is it the name of a nova that there is? Several are never told apart silently."""
    name, decision = context.input["candidate_name"], context.input.get("decision")
    if decision is not None:
        if decision["verdict"] == Ruling.REJECT:
            return StepResult(then=(), outcome=REJECTED)
        return StepResult(then=SETTLE if decision.get("match") or decision.get("nova_id") else RESOLVE)
    meant = novae_called(work.store, name)
    if len(meant) > 1:
        raise Doubtful("AMBIGUOUS_NAME", f"{name} is the name of {len(meant)} novae", asks=meant)
    if meant and followed(work.store, meant[0]).status is NovaStatus.DEPRECATED:
        return StepResult(then=(), outcome=DEPRECATED, metrics={"nova_id": str(meant[0])})
    if meant and meant[0] != nova_identity(context.job.job_run_id):
        return StepResult(then=("launch",), metrics={"nova_id": str(meant[0]), "created": False})
    return StepResult(then=RESOLVE)


def _resolve(work: TaskContext, context: NameStep) -> StepResult:
    """Ask those who know names what it means."""
    name = context.input["candidate_name"]
    resolvers = NovaCatalogue.within(work.domain).sources.resolvers
    told = [match for resolver in resolvers for match in resolver.resolve(name).matches]
    objects = put_together(map(candidate_of, told))
    if context.input.get("decision") is not None:
        meant: Candidate | str = objects[0] if len(objects) == 1 else _known_by_name_alone(name, objects)
    else:
        meant = judged(name, objects)
    if isinstance(meant, str):
        return StepResult(then=(), outcome=meant, metrics={"matches": [each.told() for each in objects]})
    return StepResult(metrics={"match": meant.told()})


def _known_by_name_alone(name: str, objects: list[Candidate]) -> Candidate:
    """What a person says is new, though nobody else knows it."""
    if objects:
        matches = [each.told() for each in objects]
        raise Doubtful(
            "AMBIGUOUS_NAME", f"{name} may mean {len(matches)} objects", details={"matches": matches}, asks=[]
        )
    return Candidate(name, (name,), None, frozenset(), ())


def _settle(work: TaskContext, context: NameStep) -> StepResult:
    """The nova that it is, or a new one, in one commit with its names and its place."""
    name, decision, run = context.input["candidate_name"], context.input.get("decision"), context.job
    new_id = nova_identity(run.job_run_id)
    if decision is None:
        candidate = _also_called(candidate_told(context.made("resolve").metrics["match"]), name)
        made = found(work.store, work.change, candidate, new_id=new_id, correlation_id=run.correlation_id)
    else:
        made = _settled(work, context, decision, new_id)
    return StepResult(metrics={"nova_id": str(made.nova_id), "created": made.created})


def _settled(work: TaskContext, context: NameStep, decision: dict[str, Any], new_id: UUID) -> Founded:
    name, told, nova_id = context.input["candidate_name"], decision.get("match"), decision.get("nova_id")
    if told is None and nova_id is None:
        told = context.made("resolve").metrics["match"]
    candidate = Candidate(name, (name,), None, frozenset(), ()) if told is None else candidate_told(told)
    return found_as(
        work.store,
        work.change,
        _also_called(candidate, name),
        name,
        nova_id=None if nova_id is None else UUID(nova_id),
        new_id=new_id,
    )


def _also_called(candidate: Candidate, name: str) -> Candidate:
    names = (*candidate.names, *further([name], candidate.names))
    return replace(candidate, names=names)


def _launch(work: TaskContext, context: NameStep) -> StepResult:
    """Have its papers and spectra looked for."""
    made = context.made("settle" if _went_through_settle(context) else "look_up").metrics
    child = launch(work, INGEST, NovaInput(nova_id=UUID(made["nova_id"])), parent=context.job)
    told = {"nova_id": made["nova_id"], "launched": [str(child.run.job_run_id)]}
    return StepResult(outcome=CREATED if made["created"] else EXISTS, metrics=told)


def _went_through_settle(context: NameStep) -> bool:
    return "nova_id" not in context.made("look_up").metrics


INITIALIZE_NOVA = name_workflow(
    "initialize_nova",
    Initialize,
    [step("look_up", _look_up), step("resolve", _resolve), step("settle", _settle), step("launch", _launch)],
    window=HOUR,
)
