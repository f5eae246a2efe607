"""discover_spectra_products: every provider is asked what it has of a nova, and each product becomes one dataset.

Providers are asked one after the other, each by itself: one that fails stops none of the others. The same product is
the same dataset, whoever finds it and however often. Light curves that providers have are found in the same way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.astronomy.judgement import Finding
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.dataset_runs import launch_for
from penstock.domains.novae.datasets import add_dataset, due_datasets, lookup_dataset
from penstock.domains.novae.lookup_records import DoubtfulItem
from penstock.domains.novae.model import Nova
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_table import dataset_identity
from penstock.domains.novae.providers.provider import (
    FoundProduct,
    NovaQuery,
    ProductSearch,
    SkyPlace,
    UnusableAnswer,
)
from penstock.domains.novae.run_bookkeeping import Doubtful, note_doubt
from penstock.domains.novae.runs import nova_at_work, still_stands
from penstock.domains.novae.states import DatasetType, ProcessingStatus
from penstock.domains.novae.verdicts import leave_desk
from penstock.domains.novae.workflow import CLASSES, HOUR, NOVAE_RETRY, NovaInput, NovaStep, nova_workflow, step
from penstock.errors import Conflict
from penstock.kernel.change import Change
from penstock.kernel.lease import LeaseLost
from penstock.work import ChildRun, ChildStatus, FanOut, StepResult, TaskContext
from penstock.work.errors import Quarantine, Terminal, code_of

_MOST_DOUBTFUL = 200
"Items that cannot be read are kept, so many of one answer."
_PATIENCE = 5
"How often a product may be found by others at the same moment."
_LONGEST = 2000


class Discovery(NovaInput):
    """What discover_spectra_products is asked."""


@dataclass(slots=True)
class Found:
    """What came of one provider's answer."""

    new: int = 0
    updated: int = 0
    republished: int = 0
    launched: int = 0
    unread: int = 0

    def told(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in self.__slots__}


# The steps


def _plan(work: TaskContext, context: NovaStep) -> Sequence[Mapping[str, Any]]:
    sources = NovaCatalogue.within(work.domain).sources
    spectra = [{"provider": each.name, "type": DatasetType.SPECTRA.value} for each in sources.spectra]
    return [*spectra, *({"provider": each.name, "type": DatasetType.PHOTOMETRY.value} for each in sources.photometry)]


def _ask(work: TaskContext, context: NovaStep, input: dict[str, Any]) -> StepResult:
    """Ask one provider, and keep what it has; what cannot be read is kept beside it, as it came."""
    catalogue, nova_id = NovaCatalogue.within(work.domain), nova_at_work(work, context)
    kind, name = DatasetType(input["type"]), str(input["provider"])
    try:
        search = _search(catalogue, kind, name, nova_query(work.store.get(Nova.at(nova_id=nova_id))))
    except (UnusableAnswer, Quarantine) as unusable:
        note_doubt(work, Doubtful(code_of(unusable), str(unusable)))
        finding = (
            unusable.finding if isinstance(unusable, UnusableAnswer) else Finding(code_of(unusable), str(unusable))
        )
        _keep_doubtful(work, nova_id, name, [finding])
        return StepResult(metrics={"provider": name, "unusable": code_of(unusable)})
    found = Found(unread=len(search.findings))
    for product in search:
        work.check()
        _keep_product(work, context, nova_id, kind, product, found)
    _keep_doubtful(work, nova_id, name, search.findings)
    return StepResult(metrics={"provider": name, "complete": search.complete, **found.told()})


def _join(work: TaskContext, context: NovaStep, children: Sequence[ChildRun]) -> StepResult:
    """What all of them had; Terminal if none could be asked."""
    failed = [each for each in children if each.status is ChildStatus.FAILED]
    if children and len(failed) == len(children):
        raise Terminal(f"no provider could be asked: {failed[0].code}: {failed[0].error}")
    counts = {name: sum(int(each.metrics.get(name, 0)) for each in children) for name in Found.__slots__}
    told: dict[str, Any] = {"providers": len(children), "failed": len(failed), **counts}
    told["failures"] = {str(each.input.get("provider")): each.code for each in failed}
    told["unusable"] = [each.metrics["provider"] for each in children if "unusable" in each.metrics]
    return StepResult(metrics=told)


def _launch(work: TaskContext, context: NovaStep) -> StepResult:
    """Have everything worked on that waits for it: also what failed before and has rested, or was left by a worker."""
    nova_id, told = nova_at_work(work, context), dict(context.made("discover").metrics)
    due = [each for kind in DatasetType for each in due_datasets(work.store, nova_id, kind)]
    begun = [launch_for(work, each, parent=context.job) for each in due]
    told["launched"] = int(told.get("launched", 0)) + sum(each.is_new for each in begun)
    return StepResult(outcome=_outcome(told), metrics=told)


def _outcome(told: Mapping[str, Any]) -> str:
    if told["failed"] or told["unusable"]:
        return "PARTLY_DISCOVERED"
    return "DISCOVERED" if told["new"] or told["updated"] or told["republished"] else "NOTHING_NEW"


DISCOVER = nova_workflow(
    "discover_spectra_products",
    Discovery,
    [
        step(
            "discover",
            FanOut(_plan, _ask, _join, tolerate=True, retry=NOVAE_RETRY, concurrency=1, classes=CLASSES),
        ),
        step("launch", _launch),
    ],
    window=HOUR,
)


# What is asked, and what is kept of the answer


def nova_query(nova: Nova) -> NovaQuery:
    """A nova as providers are asked about it."""
    names = tuple(dict.fromkeys([nova.preferred_name, *nova.aliases]))
    ra, dec = nova.ra_deg, nova.dec_deg
    return NovaQuery(names, None if ra is None or dec is None else SkyPlace(ra, dec))


def _search(catalogue: NovaCatalogue, type: DatasetType, name: str, nova: NovaQuery) -> ProductSearch:
    if type is DatasetType.SPECTRA:
        spectra = next((each for each in catalogue.sources.spectra if each.name == name), None)
        found = None if spectra is None else spectra.products(nova)
    else:
        photometry = next((each for each in catalogue.sources.photometry if each.name == name), None)
        found = None if photometry is None else photometry.photometry(nova)
    if found is None:
        raise Terminal(f"no provider is called {name!r} any more; add it to NC_PROVIDERS")
    return found


def _keep_product(
    work: TaskContext, context: NovaStep, nova_id: UUID, type: DatasetType, product: FoundProduct, found: Found
) -> None:
    """One product, one dataset; its run is launched if there is something to do."""
    for tries_left in reversed(range(_PATIENCE)):
        try:
            dataset = _kept(work, nova_id, type, product, found)
            break
        except LeaseLost:
            raise
        except Conflict:
            if not tries_left:
                raise
    now = work.store.clock.now()
    free = dataset.processing_status in (ProcessingStatus.READY, ProcessingStatus.FAILED_RETRYABLE)
    if free and not dataset.rests(now):
        found.launched += launch_for(work, dataset, parent=context.job).is_new


def _kept(work: TaskContext, nova_id: UUID, type: DatasetType, product: FoundProduct, found: Found) -> Dataset:
    dataset_id = dataset_identity(product.provider, product.identity)
    there = lookup_dataset(work.store, nova_id, dataset_id)
    told = _told(product)
    with work.change(why="discovered") as change:
        still_stands(change, nova_id)
        if there is None:
            dataset = add_dataset(change, _new_dataset(change, nova_id, type, product, told))
            change.emit("product.discovered", dataset, **_announced(dataset))
            found.new += 1
            return dataset
        republished = product.republished((there.product or {}).get("edition"))
        if not republished and all(getattr(there, name) == value for name, value in told.items()):
            return there
        return _updated(change, change.track(there), told, found, republished=republished)


def _updated(change: Change, dataset: Dataset, told: Mapping[str, Any], found: Found, *, republished: bool) -> Dataset:
    """The same product, with other locators or hints; one with other bytes is downloaded again."""
    if dataset.product is not None and told["product"].get("edition") is None:
        # A provider that says nothing of the edition this time has not published another.
        told = {**told, "product": {**told["product"], "edition": dataset.product.get("edition")}}
    for name, value in told.items():
        setattr(dataset, name, value)
    dataset.updated_at = change.store.clock.now()
    reopens = republished and dataset.processing_status in _OVER
    if republished:
        dataset.ticket = dataset.description = None  # they may be others as well
    if reopens:
        leave_desk(change, dataset)
        dataset.reopen()
    found.republished += republished
    found.updated += not republished
    change.save(dataset)
    if republished:
        change.emit("product.republished", dataset, **_announced(dataset))
    return dataset


_OVER = (ProcessingStatus.COMPLETED, ProcessingStatus.QUARANTINED, ProcessingStatus.FAILED_TERMINAL)


def _told(product: FoundProduct) -> dict[str, Any]:
    """What a dataset keeps of a product."""
    hints = {str(name): value for name, value in product.hints.items()}
    bibcode = hints.get("bibcode")
    return {
        "locators": [each[:_LONGEST] for each in product.locators][:20],
        "hints": hints,
        "bibcode": bibcode if isinstance(bibcode, str) else None,
        "product": {
            "native_id": product.native_id,
            "version": product.version,
            "checksum": product.checksum,
            "edition": product.edition,
            "weak": product.weak,
        },
        "provider_identity": product.identity,
    }


def _new_dataset(
    change: Change, nova_id: UUID, type: DatasetType, product: FoundProduct, told: Mapping[str, Any]
) -> Dataset:
    now = change.store.clock.now()
    return Dataset(
        nova_id=nova_id,
        dataset_type=type,
        provider=product.provider,
        dataset_id=dataset_identity(product.provider, product.identity),
        created_at=now,
        updated_at=now,
        **told,
    )


def _announced(dataset: Dataset) -> dict[str, Any]:
    return {
        "nova_id": str(dataset.nova_id),
        "dataset_id": str(dataset.dataset_id),
        "provider": dataset.provider,
        "dataset_type": dataset.dataset_type.value,
    }


def _keep_doubtful(work: TaskContext, nova_id: UUID, provider: str, findings: Sequence[Finding]) -> None:
    for finding in findings[:_MOST_DOUBTFUL]:
        words = f"{finding.code}:{finding.message}:{sorted(map(str, finding.details.items()))}"
        item = DoubtfulItem(
            nova_id=nova_id,
            source=provider,
            item_id=hashlib.sha256(words.encode()).hexdigest()[:16],
            reason_code=finding.code,
            reason=finding.message[:_LONGEST],
            item=finding.details,
            found_at=work.store.clock.now(),
        )
        with work.change(why="cannot be read") as change:
            change.put(item)
