"""Merging: one nova was another all along. Its rows move, its files stay where they are, and its id leads to the other.

From the first commit on the old id answers with the new, and nobody writes under it any more. What is left there moves
in small commits, each of which takes a row away and puts it where it belongs: killed anywhere, the run goes on with
what is left. Runs and attempts stay where they were, as traces that end by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Any
from uuid import UUID

from penstock.astronomy.sky_position import sky_cell
from penstock.declare.attr import the
from penstock.declare.entity import Entity
from penstock.domains.novae.dataset_runs import launch_for
from penstock.domains.novae.discovery_date import DiscoveryDate, earliest_known, is_earlier, move_discovery
from penstock.domains.novae.errors import NotMergeable
from penstock.domains.novae.founding import AT_ONCE, move_entry
from penstock.domains.novae.ingesting import INGEST
from penstock.domains.novae.model import (
    Alias,
    Dataset,
    DatasetPlace,
    DatasetVerdict,
    DoubtfulItem,
    FileObject,
    NameClaim,
    Nova,
    NovaBundle,
    NovaPosition,
    NovaReference,
    NovaStatus,
    ProcessingStatus,
    Reference,
)
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_names import all_names, checked_name, go_by
from penstock.domains.novae.positions import position_of, put_position
from penstock.domains.novae.run_records import JobRun
from penstock.domains.novae.runs import Begun, Origin, begin_within, followed, launch, still_stands
from penstock.domains.novae.states import DiscoverySource
from penstock.domains.novae.workflow import NovaInput, NovaStep, nova_workflow, step
from penstock.errors import InvalidValue
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from penstock.operations.conditions import Condition, Present
from penstock.operations.reads import Query
from penstock.work import StepResult, TaskContext

MERGED = "MERGED"
TOGETHER = 15
"Rows that move in one commit."

Moved = Callable[[Store, Any, UUID], "tuple[Entity | None, Condition]"]
"What a row becomes at its new nova, None where that has it already; and on what condition it leaves the old one."


class Merge(NovaInput):
    """Which nova is merged into the one that the run is for."""

    identity = ("merged_id",)
    merged_id: UUID


def merge(catalogue: NovaCatalogue, nova_id: UUID, into: UUID, *, by: str, why: str | None = None) -> Begun[JobRun]:
    """Say that a nova is another. At once its id answers with the other; its rows follow. NotMergeable if either is no
    nova of its own any more."""
    store = catalogue.store

    def attempt() -> Begun[JobRun]:
        one, other = _mergeable(store, nova_id), _mergeable(store, into)
        if one.nova_id == other.nova_id:
            raise NotMergeable(f"nova {nova_id} is merged into another, not into itself")
        with store.change(by=by, why=why, once=catalogue.once) as change:
            was = one.status
            change.save(change.track(one).merge(into=other.nova_id))
            change.check(Nova.at(nova_id=other.nova_id), the(Nova.status).equals(NovaStatus.ACTIVE))
            move_entry(change, one, since=was)
            change.emit("nova.merged", one, into=str(other.nova_id))
            wanted = Merge(nova_id=other.nova_id, merged_id=one.nova_id)
            run = begin_within(change, catalogue, MERGE, wanted, Origin())
            change.result = {"job_run_id": str(run.job_run_id)}
        return Begun(run, is_new=True)

    return store.retried(attempt)


def deprecate(catalogue: NovaCatalogue, nova_id: UUID, *, by: str, why: str | None = None) -> Nova:
    """Say that a nova is none, or none of ours, and why; it stays readable, and in the list of those that are so."""
    store = catalogue.store

    def attempt() -> Nova:
        nova = followed(store, nova_id)
        if nova.status is NovaStatus.DEPRECATED:
            return nova
        if why is None or not why.strip():
            raise InvalidValue(f"say why {nova.preferred_name} is no nova of this catalogue: others will ask")
        with store.change(by=by, why=why, once=catalogue.once) as change:
            change.track(nova)
            nova.deprecated_because = why
            _moved(change, nova, nova.deprecate, "nova.deprecated")
        return nova

    return store.retried(attempt)


def restore(catalogue: NovaCatalogue, nova_id: UUID, *, by: str, why: str | None = None) -> Nova:
    """Take back that a nova is none: it is in the list again, and is worked on as before."""
    store = catalogue.store

    def attempt() -> Nova:
        nova = followed(store, nova_id)
        if nova.status is NovaStatus.ACTIVE:
            return nova
        with store.change(by=by, why=why or "it is a nova after all", once=catalogue.once) as change:
            change.track(nova)
            nova.deprecated_because = None
            _moved(change, nova, nova.restore, "nova.restored")
        return nova

    return store.retried(attempt)


def _moved(change: Change, nova: Nova, move: Callable[[], Nova], event: str) -> None:
    """Save a nova's move, with its place in the list, and tell of it."""
    was = nova.status
    nova.updated_at = change.store.clock.now()
    nova.version_counter += 1
    change.save(move())
    move_entry(change, nova, since=was)
    change.emit(event, nova, name=nova.preferred_name)
    change.result = {"nova_id": str(nova.nova_id)}


def _mergeable(store: Store, nova_id: UUID) -> Nova:
    nova = store.get(Nova.at(nova_id=nova_id))
    if nova.status is not NovaStatus.ACTIVE:
        into = f" into {nova.merged_into}" if nova.merged_into else ""
        raise NotMergeable(f"nova {nova_id} is {nova.status.value}{into}")
    return nova


# Rows


def _as_it_is(store: Store, row: Any, target: UUID) -> tuple[Entity | None, Condition]:
    """A row that its new nova takes over unless it has it already."""
    there = row.model_copy(update={"nova_id": target})
    return (there if store.lookup(there.ref) is None else None), Present()


def _gone(store: Store, row: Any, target: UUID) -> tuple[Entity | None, Condition]:
    """A row that is made anew where it is wanted; its files are nobody's then."""
    return None, Present()


def _paper(store: Store, row: Reference, target: UUID) -> tuple[Entity | None, Condition]:
    """Of a paper that both have, the earlier date counts."""
    known = store.lookup(Reference.at(nova_id=target, reference_id=row.reference_id))
    if known is None:
        return row.model_copy(update={"nova_id": target}), Present()
    date = min(filter(None, (row.date, known.date)), default=None)
    merged = known.model_copy(update={"date": date, "details": {**row.details, **known.details}})
    return (merged if merged != known else None), Present()


_SETTLED = (ProcessingStatus.COMPLETED, ProcessingStatus.QUARANTINED, ProcessingStatus.FAILED_TERMINAL)


def _dataset(store: Store, row: Dataset, target: UUID) -> tuple[Entity | None, Condition]:
    """A dataset moves as it stands. One that somebody works on is taken from them: what they write is refused, as the
    row is gone, and the next one who leases it has an epoch of their own."""
    as_read = the(Dataset.processing_status).equals(row.processing_status)
    as_read &= the(Dataset.lease_epoch).equals(row.lease_epoch) & the(Dataset.updated_at).equals(row.updated_at)
    known = store.lookup(Dataset.at.of({**row.__dict__, "nova_id": target}))
    if known is not None and (known.processing_status in _SETTLED or row.processing_status not in _SETTLED):
        return None, as_read
    told = row.model_dump(exclude={"validation_status", "eligibility"}) | {"nova_id": target}
    epoch = max(row.lease_epoch, 0 if known is None else known.lease_epoch) + 1
    if row.processing_status is ProcessingStatus.IN_PROGRESS:
        told |= {"processing_status": ProcessingStatus.READY, "lease_owner": None, "lease_expires_at": None}
    return Dataset(**told | {"lease_epoch": epoch}), as_read


ROWS: list[tuple[Callable[..., Query[Any]], Moved]] = [
    (Reference.of_nova, _paper),
    (NovaReference.of_nova, _as_it_is),
    (DoubtfulItem.of_nova, _as_it_is),
    (Dataset.of_nova, _dataset),
    (FileObject.of_nova, _as_it_is),
    (DatasetPlace.of_nova, _as_it_is),
    (DatasetVerdict.of_nova, _as_it_is),
    (NovaBundle.of_nova, _gone),
]
"What belongs to a nova and moves with it. Whoever keeps more under a nova adds it here."


def _move_rows(work: TaskContext, context: NovaStep) -> StepResult:
    """Whatever is left under the old id, a few rows at a time, until nothing is."""
    source, moved = UUID(context.input["merged_id"]), 0
    for query, become in ROWS:
        while count := work.store.retried(partial(_move_some, work, query, become, source)):
            moved += count
            work.check()
    return StepResult(metrics={"moved": moved})


def _move_some(work: TaskContext, query: Callable[..., Query[Any]], become: Moved, source: UUID) -> int:
    store, target = work.store, followed(work.store, source).nova_id
    rows = list(islice(store.find(query(nova_id=source)), TOGETHER))
    if rows:
        with work.change(why="merged") as change:
            still_stands(change, target)
            for row in rows:
                there, leaving = become(store, row, target)
                if there is not None:
                    change.put(there)
                change.delete(row.ref, when=leaving)
    return len(rows)


# Names and places


def _move_names(work: TaskContext, context: NovaStep) -> StepResult:
    """The other goes by all of its names, a few at a time; claims move with them."""
    source = UUID(context.input["merged_id"])
    while work.store.retried(lambda: _move_some_names(work, source)):
        work.check()
    _move_place(work, source)
    return StepResult(metrics=context.made("rows").metrics)


def _move_some_names(work: TaskContext, source: UUID) -> bool:
    store = work.store
    one, other = store.get(Nova.at(nova_id=source)), followed(store, source)
    names = [name for name in all_names(one) if _goes_by(store, name, source)][:AT_ONCE]
    if not names:
        return False
    with work.change(why="merged") as change:
        go_by(change, change.track(other), names)
        change.save(other)
        for name in dict.fromkeys(map(checked_name, names)):
            _move_name(change, name, source, other.nova_id)
    return True


def _goes_by(store: Store, name: str, nova_id: UUID) -> bool:
    return store.lookup(Alias.at(normalized_name=checked_name(name), nova_id=nova_id)) is not None


def _move_name(change: Change, name: str, source: UUID, target: UUID) -> None:
    claim = change.store.lookup(NameClaim.at(normalized_name=name))
    if claim is not None and claim.nova_id == source:
        change.put(NameClaim(normalized_name=name, nova_id=target), when=the(NameClaim.nova_id).equals(source))
    change.put(Alias(normalized_name=name, nova_id=target, created_at=change.store.clock.now()))
    change.delete(Alias.at(normalized_name=name, nova_id=source), when=Present())


def _move_place(work: TaskContext, source: UUID) -> None:
    """The other is found where the first was, if it is known nowhere itself."""
    store = work.store

    def attempt() -> None:
        one, other = store.get(Nova.at(nova_id=source)), followed(store, source)
        at = position_of(one)
        if at is None:
            return
        with work.change(why="merged") as change:
            change.track(other)
            change.delete(NovaPosition.at(cell=sky_cell(at), nova_id=source))
            if position_of(other) is None:
                other.ra_deg, other.dec_deg = at.ra_degrees, at.dec_degrees
                other.position_source = one.position_source
                put_position(change, other.nova_id, at, source=one.position_source)
            change.save(other)

    store.retried(attempt)


def _sum_up(work: TaskContext, context: NovaStep) -> StepResult:
    """What is known of both is known of the one; and what its new names find is looked for."""
    other = followed(work.store, UUID(context.input["merged_id"]))
    found = _dated(work.store, UUID(context.input["merged_id"]), other.nova_id)
    child = launch(work, INGEST, NovaInput(nova_id=other.nova_id), parent=context.job)
    told = {**context.made("rows").metrics, "nova_id": str(other.nova_id), "launched": [str(child.run.job_run_id)]}
    told["taken_up"] = _take_up(work, context, other.nova_id)

    def note(change: Change) -> None:
        if found is not None and is_earlier(other, found.date):
            move_discovery(change, other.nova_id, found.date, source=found.source, about=found.about)

    return StepResult(outcome=MERGED, metrics=told, change=note)


def _dated(store: Store, source: UUID, target: UUID) -> DiscoveryDate | None:
    """The earliest date that is known of both; what somebody has said of the one that is gone is a date like others."""
    one = store.get(Nova.at(nova_id=source))
    said = one.discovery_source in (DiscoverySource.PERSON, DiscoverySource.INDEX)
    told = (
        DiscoveryDate(one.discovery_date, one.discovery_source, one.discovery_reference)
        if said and one.discovery_date and one.discovery_source
        else None
    )
    found = [each for each in (earliest_known(store, target), told) if each is not None]
    return min(found, key=lambda each: each.date, default=None)


def _take_up(work: TaskContext, context: NovaStep, nova_id: UUID) -> int:
    """Have those datasets worked on that were taken from their runs as they moved: nobody else would."""
    count = 0
    for dataset in work.store.find(Dataset.of_nova(nova_id=nova_id)):
        if dataset.processing_status is ProcessingStatus.READY:
            work.check()
            launch_for(work, dataset, parent=context.job)
            count += 1
    return count


MERGE = nova_workflow(
    "merge_novae", Merge, [step("rows", _move_rows), step("names", _move_names), step("sum_up", _sum_up)]
)


def rows_left(store: Store, nova_id: UUID) -> Sequence[Entity]:
    """What still lies under an id that was merged; nothing once the run is over."""
    found: Iterable[Entity] = (row for query, _ in ROWS for row in store.find(query(nova_id=nova_id)))
    return list(found)
