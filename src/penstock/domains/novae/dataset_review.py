"""How people look at a dataset: its curves, its products, and what they decide at the quarantine desk."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from penstock.domains.novae import quarantine
from penstock.domains.novae.data_records import DatasetVerdict, QuarantineEntry
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.datasets import lookup_dataset
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.states import DatasetType, ProcessingStatus
from penstock.kernel.store import Store
from penstock.operations.reads import Query, Ref
from penstock.review.plot import CurvePlot
from penstock.review.reviewable import (
    ChoiceKind,
    MadeChoice,
    Neighbours,
    ReasonNeed,
    Reviewable,
    ReviewChoice,
    ReviewFile,
)
from penstock.review.viewer import Viewer
from penstock.work.domain_context import DomainContext

_VIEWERS = {DatasetType.SPECTRA: Viewer.SPECTRUM, DatasetType.PHOTOMETRY: Viewer.LIGHT_CURVE}


def _files(context: DomainContext, dataset: Dataset) -> Iterable[ReviewFile]:
    """The file that was judged, as curves; then what was made of it. Of what waits, the evidence comes first."""
    if _waits(dataset):
        yield from _evidence(context, dataset)
    if dataset.raw_key is not None:
        yield ReviewFile(
            "data",
            dataset.raw_key,
            title=dataset.file_name or dataset.raw_key.rpartition("/")[2],
            viewer=_VIEWERS[dataset.dataset_type],
            plot=partial(_curves, dataset),
            # What people say of it changes how it is read.
            plotted_with=dataset.fingerprint or "",
        )
    for key in dict.fromkeys(dataset.artifacts):
        name = "/".join(key.split("/")[4:]) or key.rpartition("/")[2]
        yield ReviewFile(name, key, title=key.rpartition("/")[2])


def _evidence(context: DomainContext, dataset: Dataset) -> Iterable[ReviewFile]:
    """The pictures of what is wrong with it, drawn although it could not be read as it should be."""
    asked = DatasetVerdict.of_dataset(nova_id=dataset.nova_id, dataset_id=dataset.dataset_id)
    latest = max(context.store.find(asked), key=lambda verdict: verdict.judged_at, default=None)
    for key in () if latest is None else latest.evidence:
        if key.endswith(".png"):
            yield ReviewFile("evidence", key, title="evidence")


def _curves(dataset: Dataset, path: Path) -> CurvePlot:
    # Only whoever draws needs numpy and astropy.
    from penstock.domains.novae.dataset_curves import curves_of

    return curves_of(dataset, path)


def _catalogue(made: MadeChoice) -> NovaCatalogue:
    return NovaCatalogue.within(made.context).used_by(made.caller)


def _clear(made: MadeChoice) -> None:
    dataset, by = made.record, made.caller.name
    quarantine.clear(_catalogue(made), dataset.nova_id, dataset.dataset_id, note=made.reason, by=by)


def _reject(made: MadeChoice) -> None:
    dataset, by = made.record, made.caller.name
    quarantine.reject(_catalogue(made), dataset.nova_id, dataset.dataset_id, reason=made.reason or "", by=by)


def _route(verb: str) -> Any:
    return lambda dataset: f"POST /api/nc/novae/{dataset.nova_id}/datasets/{dataset.dataset_id}/{verb}"


def _waits(dataset: Dataset) -> bool:
    return dataset.processing_status is ProcessingStatus.QUARANTINED


def _desk(store: Store, dataset: Dataset) -> Neighbours:
    """The datasets before and behind this one at the quarantine desk."""
    if dataset.quarantined_at is None:
        return None, None
    place = {
        "quarantined_at": dataset.quarantined_at,
        "dataset_id": dataset.dataset_id,
        "nova_id": dataset.quarantined_for or dataset.nova_id,
    }
    queue = QuarantineEntry.waiting()
    return _behind(store, queue.reversed(), place), _behind(store, queue, place)


def dataset_of(store: Store, entry: QuarantineEntry) -> Ref[Any] | None:
    """The dataset that an entry of the desk is about."""
    found = lookup_dataset(store, entry.nova_id, entry.dataset_id)
    return None if found is None else found.ref


def _behind(store: Store, queue: Query[QuarantineEntry], place: dict[str, Any]) -> Ref[Any] | None:
    for entry in store.page(queue, limit=5, cursor=store.cursor(queue, place)).records:
        found = lookup_dataset(store, entry.nova_id, entry.dataset_id)
        if found is not None and _waits(found):
            return found.ref
    return None


REVIEWS = (
    Reviewable(
        Dataset,
        files=_files,
        queue=_desk,
        choices=(
            ReviewChoice(
                *(ChoiceKind.APPROVE, "Clear for another try", _clear),
                when=_waits,
                route=_route("clear"),
                reason_field="note",
            ),
            ReviewChoice(
                *(ChoiceKind.REJECT, "Reject for good", _reject),
                when=_waits,
                route=_route("reject"),
                reason=ReasonNeed.REQUIRED,
                reason_field="reason",
            ),
        ),
        title=lambda dataset: dataset.file_name or f"{dataset.provider} {dataset.dataset_id}",
    ),
)
