"""Datasets of novae: found by their ids, made once for each product, and counted among those that wait for work."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from penstock.domains.novae.dataset_records import Dataset, DatasetPlace
from penstock.domains.novae.errors import NoSuchDataset
from penstock.domains.novae.states import DatasetType, Eligibility
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from penstock.operations.conditions import Missing

WORK = {DatasetType.SPECTRA: Eligibility.DOWNLOAD, DatasetType.PHOTOMETRY: Eligibility.INGEST}
"What datasets of a type wait for."


def lookup_dataset(store: Store, nova_id: UUID, dataset_id: UUID) -> Dataset | None:
    """A dataset of a nova by its id; None where there is none."""
    place = store.lookup(DatasetPlace.at(nova_id=nova_id, dataset_id=dataset_id))
    if place is not None:
        return store.lookup(place.dataset)
    # One that was written without its place, by others or before there were any.
    return next((each for each in store.find(Dataset.of_nova(nova_id=nova_id)) if each.dataset_id == dataset_id), None)


def find_dataset(store: Store, nova_id: UUID, dataset_id: UUID) -> Dataset:
    """A dataset of a nova by its id; NoSuchDataset where there is none."""
    found = lookup_dataset(store, nova_id, dataset_id)
    if found is None:
        raise NoSuchDataset(f"nova {nova_id} has no dataset {dataset_id}")
    return found


def add_dataset(change: Change, dataset: Dataset) -> Dataset:
    """Create a dataset, with the place it is found by."""
    told = {name: dataset.__dict__[name] for name in ("nova_id", "dataset_id", "dataset_type", "provider")}
    change.put(DatasetPlace(**told))
    return change.put(dataset, when=Missing())


def due_datasets(store: Store, nova_id: UUID, type: DatasetType) -> Iterator[Dataset]:
    """Those that wait for work and do not rest, as the index of eligibility has them.

    One whose file is still to come waits for that.
    """
    now = store.clock.now()
    for dataset in store.find(Dataset.by_eligibility(nova_id=nova_id, eligibility=WORK[type])):
        if dataset.locators and not dataset.rests(now):
            yield dataset
