"""The lease on a dataset: one of many has it, on every engine, and who has lost it writes nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from typing import Any
from uuid import uuid4

import pytest

from penstock import FrozenClock, Store
from penstock.domains.novae import dataset_lease
from penstock.domains.novae.dataset_lease import PERIOD, HeldDataset
from penstock.domains.novae.dataset_records import PAUSES
from penstock.domains.novae.dataset_runs import begin_for, request_for, workflow_for
from penstock.domains.novae.model import Dataset, FileObject, ProcessingStatus
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.runs import Origin, begin_within
from penstock.domains.novae.states import ValidationStatus
from penstock.domains.novae.verdicts import DatasetOutcome, record
from penstock.errors import Conflict, IllegalMove
from penstock.files.object_reads import every
from tests.domains.novae.archive import Archive
from tests.domains.novae.data_story import (
    DOWNLOAD,
    NOVA_ID,
    assert_files_stand,
    discovered,
    known,
    outcomes,
    runs,
    the_dataset,
    verdicts,
)
from tests.domains.novae.known_sky import KnownSky
from tests.domains.novae.made_files import spectrum_fits
from tests.domains.novae.story import later, new_dataset, work_through, workers

pytestmark = pytest.mark.every_engine

EIGHT = 8


def _take(store: Store, dataset: Dataset, owner: str, barrier: Barrier | None = None) -> HeldDataset | None:
    if barrier is not None:
        barrier.wait(timeout=30)
    try:
        with store.change(by=owner) as change:
            return dataset_lease.take(change, dataset, owner=owner)
    except (Conflict, IllegalMove):
        return None


def _all_at_once(store: Store, dataset: Dataset) -> list[HeldDataset]:
    barrier = Barrier(EIGHT)
    with ThreadPoolExecutor(EIGHT) as crowd:
        tries = [crowd.submit(_take, store, dataset.model_copy(), f"run-{n}", barrier) for n in range(EIGHT)]
        return [held for each in tries if (held := each.result(timeout=60)) is not None]


def test_of_eight_at_once_exactly_one_has_the_lease(anywhere: NovaCatalogue) -> None:
    """NC-22, NC-23, F-NC-3: of a dataset that nobody had, on every engine."""
    known(anywhere)
    dataset = new_dataset(anywhere.store, NOVA_ID)
    (held,) = _all_at_once(anywhere.store, dataset)
    there = anywhere.store.get(dataset.ref)
    assert (there.processing_status, there.lease_owner, there.lease_epoch) == ("IN_PROGRESS", held.owner, 1)
    assert there.lease_expires_at == int((anywhere.store.clock.now() + PERIOD).timestamp())


def test_of_eight_who_reclaim_an_expired_lease_exactly_one_has_it(anywhere: NovaCatalogue) -> None:
    """NC-24, F-NC-3: and before its time is over nobody has."""
    known(anywhere)
    dataset = new_dataset(anywhere.store, NOVA_ID)
    assert _take(anywhere.store, dataset, "the-first") is not None
    later(anywhere, seconds=PERIOD.total_seconds())
    assert _all_at_once(anywhere.store, anywhere.store.get(dataset.ref)) == []
    later(anywhere, seconds=2)
    (held,) = _all_at_once(anywhere.store, anywhere.store.get(dataset.ref))
    there = anywhere.store.get(dataset.ref)
    assert (there.lease_owner, there.lease_epoch) == (held.owner, 2)


@pytest.mark.parametrize("ended", ["COMPLETED", "QUARANTINED", "FAILED_TERMINAL"])
def test_a_finished_dataset_is_never_leased_again(anywhere: NovaCatalogue, ended: str) -> None:
    """F-NC-3: also where an old expiry is still there, as others may have left it."""
    known(anywhere)
    dataset = new_dataset(anywhere.store, NOVA_ID, processing_status=ended, lease_expires_at=1)
    assert _take(anywhere.store, dataset, "run") is None


def test_who_has_lost_the_lease_writes_nothing(anywhere: NovaCatalogue) -> None:
    """F-NC-4: neither a verdict nor a file's record: owner and epoch stand in the condition of each."""
    known(anywhere)
    dataset = new_dataset(anywhere.store, NOVA_ID)
    zombie = _take(anywhere.store, dataset, "zombie")
    assert zombie is not None
    stale = anywhere.store.get(dataset.ref)
    later(anywhere, seconds=PERIOD.total_seconds() + 1)
    heir = _take(anywhere.store, anywhere.store.get(dataset.ref), "heir")
    assert heir is not None
    outcome = DatasetOutcome(ValidationStatus.VALID, "f" * 32)
    with pytest.raises(Conflict), anywhere.store.change() as change:
        record(change, stale, zombie, outcome, run=uuid4())
    with pytest.raises(Conflict), anywhere.store.change() as change:
        zombie.fence(change)
        change.put(_file(dataset))
    assert verdicts(anywhere, dataset) == []
    assert anywhere.store.lookup(_file(dataset).ref) is None
    with anywhere.store.change() as change:
        record(change, anywhere.store.get(dataset.ref), heir, outcome, run=uuid4())
    assert anywhere.store.get(dataset.ref).processing_status is ProcessingStatus.COMPLETED


def _file(dataset: Dataset) -> FileObject:
    from penstock.domains.novae.dataset_files import file_record

    key = f"raw/spectra/{NOVA_ID}/{dataset.dataset_id}/primary.fits"
    return file_record(dataset, bucket="b", key=key, now=dataset.created_at)


def test_a_worker_that_wakes_up_after_another_run_took_over_changes_nothing(
    eso: Archive, catalogue: NovaCatalogue, sky: KnownSky, clock: FrozenClock
) -> None:
    """NC-24, F-NC-4: its bytes are other ones, and neither record nor object becomes them."""
    eso.publish("a.fits", spectrum_fits(seed=1))
    known(catalogue)
    usual = sky.downloads.acquire

    def stall(product: Any, folder: Path, **options: Any) -> Any:
        """The first worker has its bytes, and stalls; meanwhile all its leases end, and another run does the work."""
        sky.downloads.acquire = usual  # type: ignore[method-assign]
        came = usual(product, folder, **options)
        eso.publish("a.fits", spectrum_fits(seed=2))
        clock.advance(timedelta(days=2))
        dataset = the_dataset(catalogue)
        with catalogue.store.change() as change:
            wanted = request_for(dataset)
            begin_within(change, catalogue, workflow_for(dataset), wanted, Origin())
        others = workers(catalogue)
        others.drain()
        return came

    sky.downloads.acquire = stall  # type: ignore[method-assign]
    discovered(catalogue)
    work_through(catalogue)
    dataset = the_dataset(catalogue)
    ended = outcomes(catalogue)
    assert ("SUCCEEDED", "VALIDATED") in ended
    assert len([each for each in ended if each == ("SUCCEEDED", "VALIDATED")]) == 1
    assert dataset.processing_status is ProcessingStatus.COMPLETED
    assert len(verdicts(catalogue, dataset)) == 1
    assert_files_stand(catalogue, dataset)
    there = {each.key for each in every(catalogue.objects, "raw/")}
    assert dataset.raw_key in there


def test_a_run_whose_dataset_another_has_says_so(eso: Archive, catalogue: NovaCatalogue) -> None:
    """NC-23: it is no failure, and the other goes on."""
    known(catalogue)
    dataset = new_dataset(catalogue.store, NOVA_ID)
    assert _take(catalogue.store, dataset, "another") is not None
    begin_for(catalogue, dataset, by="ann")
    work_through(catalogue, most=2)
    assert outcomes(catalogue) == [("SUCCEEDED", "SKIPPED_LEASED")]
    assert catalogue.store.get(dataset.ref).lease_owner == "another"


def test_a_run_that_is_cancelled_gives_its_dataset_back(eso: Archive, catalogue: NovaCatalogue) -> None:
    """F-NC-3: on every end the lease is released."""
    eso.publish("a.fits", spectrum_fits())
    known(catalogue)
    from penstock.domains.novae.product_discovery import DISCOVER, Discovery
    from penstock.domains.novae.runs import begin
    from penstock.domains.novae.spectra_validation import DOWNLOAD_AND_VALIDATE

    begin(catalogue, DISCOVER, Discovery(nova_id=NOVA_ID), by="ann")
    at_work = workers(catalogue)
    while not any(each.lease_owner for each in catalogue.store.find(Dataset.of_nova(nova_id=NOVA_ID))):
        assert at_work.run_one() is not None
    (run,) = runs(catalogue, DOWNLOAD)
    DOWNLOAD_AND_VALIDATE.pipeline.cancel(catalogue.store, run, by="ann", why="not wanted")
    dataset = the_dataset(catalogue)
    assert (dataset.lease_owner, dataset.processing_status) == (None, "FAILED_RETRYABLE")
    rest = (dataset.next_eligible_attempt_at or 0) - int(catalogue.store.clock.now().timestamp())
    assert rest == PAUSES[0].total_seconds()
