"""Killed between any two writes, of records or of files, and gone on with: one dataset, one verdict, nothing left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from penstock import FrozenClock, Store
from penstock.domains.novae import DOMAIN, contributions
from penstock.domains.novae.dataset_runs import begin_for
from penstock.domains.novae.model import Attempt, Dataset, FileObject, JobRun, ProcessingStatus, RunStatus
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.photometry_science import PhotometryScience
from penstock.domains.novae.spectrum_science import SpectrumScience
from penstock.errors import PenstockError
from penstock.files.object_reads import every as every_object
from penstock.objects import LocalObjects
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.testing.faults.blade import WRITES_OF_ENGINES, WRITES_OF_OBJECTS, Blade, Killed
from penstock.work import Task, TaskStatus
from penstock.work.working import WORKING
from tests.conftest import chosen_engines, furnished
from tests.domains.novae.archive import NOVA, Archive
from tests.domains.novae.conftest import BEGUN
from tests.domains.novae.data_story import assert_files_stand, datasets, discovered, sent, verdicts
from tests.domains.novae.known_sky import KnownSky
from tests.domains.novae.made_files import in_strange_unit, light_curve_csv, spectrum_fits
from tests.domains.novae.story import later, new_nova, work_through, workers

ENGINES = [name for name in ("sqlite", "postgres", "dynoxide") if name in chosen_engines()]


@pytest.fixture(params=[pytest.param(n, marks=[pytest.mark.long] if n != "sqlite" else []) for n in ENGINES])
def plain(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    clock: FrozenClock,
    local: LocalObjects,
    sky: KnownSky,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[NovaCatalogue]:
    """A catalogue whose pictures take no time: many are drawn."""
    for science in (SpectrumScience, PhotometryScience):
        monkeypatch.setattr(science, "picture", _no_picture)
    clock.set(BEGUN)
    opener, cleanup = furnished(request.param, request, tmp_path, (DOMAIN, WORKING))
    store = Store(opener(), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    yield NovaCatalogue(store, local, sky.sources())
    store.close()
    cleanup()


def _no_picture(self: Any, judged: Any, dataset: Any, path: Path, *, title: str) -> bool:
    path.write_bytes(b"\x89PNG\r\n\x1a\n of " + title.encode())
    return True


def _process(catalogue: NovaCatalogue, blade: Blade) -> NovaCatalogue:
    """The catalogue of another process, with its own connection to what is stored."""
    engine = blade.cut(catalogue.store.engine, *WRITES_OF_ENGINES)
    store = Store(engine, clock=catalogue.store.clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    return replace(catalogue, store=store, objects=blade.cut(catalogue.objects, *WRITES_OF_OBJECTS))


def kill_at_every_write(
    catalogue: NovaCatalogue,
    prepare: Callable[[], UUID],
    act: Callable[[NovaCatalogue, UUID], Any],
    check: Callable[[UUID], Any],
    *,
    every: int = 1,
    least: int = 1,
) -> None:
    """Do something in a process that dies at its first, second … write, and again in one that lives; then look."""
    for at in count(1, every):
        world, blade = prepare(), Blade(at)
        with suppress(Killed):
            act(_process(catalogue, blade), world)
        if blade.dead:
            _assert_every_object_has_an_owner(catalogue)
            later(catalogue, minutes=25)  # the leases of the dead one are over
            workers(catalogue).rescue()
            later(catalogue, minutes=5)
            act(_process(catalogue, Blade()), world)
        try:
            check(world)
        except AssertionError as wrong:
            raise AssertionError(f"killed at write {at}: {wrong}") from wrong
        if not blade.dead:
            assert at > least, f"there is more to be killed at than {at} writes"
            return


def _assert_every_object_has_an_owner(catalogue: NovaCatalogue) -> None:
    """F-NC-8: also at the very moment of a death: the record is written before the object."""
    for root in ("raw/", "derived/", "quarantine/"):
        for found in every_object(catalogue.objects, root):
            query = FileObject.by_object(bucket=catalogue.bucket, s3_key=found.key)
            assert [each.s3_key for each in catalogue.store.find(query)] == [found.key]


@pytest.fixture(params=[3, pytest.param(1, marks=pytest.mark.long)], ids=["every third", "each"])
def every_write(request: pytest.FixtureRequest) -> int:
    """Which writes are tried; fewer where that is slow."""
    step: int = request.param
    return step if "sqlite" in request.node.name else 3 * step


def _new_world(catalogue: NovaCatalogue) -> UUID:
    later(catalogue, hours=2)
    nova_id = uuid4()
    nova = new_nova(catalogue.store, nova_id, f"Nova {nova_id}")
    with catalogue.store.change() as change:
        change.track(nova)
        nova.aliases = [NOVA]  # what the archive calls it
        change.save(nova)
    return nova_id


def _assert_done(catalogue: NovaCatalogue, nova_id: UUID, *, status: str, outcome: str) -> Dataset:
    (dataset,) = datasets(catalogue, nova_id)
    assert (dataset.processing_status, dataset.lease_owner, dataset.lease_expires_at) == (status, None, None)
    assert len(verdicts(catalogue, dataset)) == 1
    found = [
        run for run in catalogue.store.find(JobRun.of_nova(nova_id=nova_id)) if "dataset_id" in (run.asked_for or {})
    ]
    ended = [(run.status, run.outcome) for run in found if not str(run.outcome).startswith("SKIPPED")]
    assert [word for _, word in ended] == [outcome], ended
    assert all(run.status is not RunStatus.RUNNING for run in found)
    assert_files_stand(catalogue, dataset)
    for task in (TaskStatus.WAITING, TaskStatus.RUNNING, TaskStatus.FAILED):
        assert list(catalogue.store.find(Task.by_status(status=task))) == []
    (run,) = [each for each in found if each.outcome == outcome]
    tried = list(catalogue.store.find(Attempt.of_run(nova_id=nova_id, job_run_id=run.job_run_id)))
    done = [each.task for each in tried if each.succeeded]
    assert len(done) == len(set(done)), "a step was done twice"
    return dataset


@pytest.mark.parametrize(
    ("data", "status", "outcome"),
    [
        (spectrum_fits(), ProcessingStatus.COMPLETED, "VALIDATED"),
        (in_strange_unit(), ProcessingStatus.QUARANTINED, "QUARANTINED"),
    ],
)
def test_killed_at_every_write_of_discovery_and_download(
    plain: NovaCatalogue, eso: Archive, every_write: int, data: bytes, status: ProcessingStatus, outcome: str
) -> None:
    """NC-25, NC-36, F-NC-4, F-NC-8: the dataset has one verdict, each file its record, and the lease is free."""
    eso.publish("a.fits", data)

    def act(catalogue: NovaCatalogue, nova_id: UUID) -> None:
        discovered(catalogue, nova_id)
        for each in datasets(catalogue, nova_id):
            if each.processing_status in (ProcessingStatus.READY, ProcessingStatus.FAILED_RETRYABLE):
                begin_for(catalogue, each, by="ann")
        work_through(catalogue)

    kill_at_every_write(
        plain,
        lambda: _new_world(plain),
        act,
        lambda nova_id: _assert_done(plain, nova_id, status=status, outcome=outcome),
        every=every_write,
        least=20,
    )


def test_killed_at_every_write_of_a_table_that_is_sent(plain: NovaCatalogue, every_write: int) -> None:
    """NC-30, NC-31, NC-36, F-NC-8: announced, sent, verified, ingested; there is one dataset, one light curve."""
    reserved: dict[UUID, UUID] = {}

    def prepare() -> UUID:
        nova_id = _new_world(plain)
        reserved[nova_id] = sent(plain, light_curve_csv(), nova_id=nova_id).contribution.contribution_id
        return nova_id

    def act(catalogue: NovaCatalogue, nova_id: UUID) -> None:
        contributions.complete(catalogue, reserved[nova_id], by="ann")
        work_through(catalogue)

    def check(nova_id: UUID) -> None:
        dataset = _assert_done(plain, nova_id, status="COMPLETED", outcome="INGESTED")
        assert (dataset.summary or {})["rows"] == 12
        kept = plain.store.find(FileObject.of_dataset(nova_id=nova_id, dataset_id=dataset.dataset_id))
        assert len(list(kept)) == 4

    kill_at_every_write(plain, prepare, act, check, every=every_write, least=10)


def test_killed_while_a_dataset_is_cleared(plain: NovaCatalogue, eso: Archive, every_write: int) -> None:
    """NC-27, NC-36: it is tried again once, and the desk is empty."""
    from penstock.domains.novae import quarantine

    eso.publish("a.fits", in_strange_unit())

    def prepare() -> UUID:
        nova_id = _new_world(plain)
        discovered(plain, nova_id)
        later(plain, minutes=1)
        return nova_id

    def act(catalogue: NovaCatalogue, nova_id: UUID) -> None:
        (dataset,) = datasets(catalogue, nova_id)
        with suppress(PenstockError):  # it was cleared before
            quarantine.clear(catalogue, nova_id, dataset.dataset_id, hints={"unit": "Angstrom"}, by="ann")
        work_through(catalogue)

    def check(nova_id: UUID) -> None:
        (dataset,) = datasets(plain, nova_id)
        assert (dataset.processing_status, len(verdicts(plain, dataset))) == ("COMPLETED", 2)
        assert_files_stand(plain, dataset)
        assert quarantine.waiting(plain, limit=200)[0] == []

    kill_at_every_write(plain, prepare, act, check, every=max(every_write, 2), least=5)


def test_the_moment_of_a_rescue_is_after_every_lease(clock: FrozenClock) -> None:
    """F-NC-4: the lease on a dataset lasts longer than the longest step."""
    from penstock.domains.novae.dataset_lease import PERIOD
    from penstock.domains.novae.workflow import DOWNLOAD_LIMIT

    assert DOWNLOAD_LIMIT + timedelta(minutes=1) < PERIOD
