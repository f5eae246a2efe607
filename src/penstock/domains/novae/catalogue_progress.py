"""How far the work on a nova is: what was found by now, what is at work, and what each dataset proved to be."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.model import Nova
from penstock.domains.novae.run_records import JobRun, NameRun
from penstock.domains.novae.runs import find_run, followed
from penstock.domains.novae.states import ProcessingStatus, RunStatus
from penstock.kernel.store import Store
from penstock.operations.reads import Range

LOOK = 0.3
"Seconds between looks at how far it is."
AT_WORK = (ProcessingStatus.READY, ProcessingStatus.IN_PROGRESS)
_DOWNLOADS = ("download_and_validate_spectra", "ingest_photometry_dataset")


@dataclass(frozen=True, slots=True)
class CatalogueProgress:
    """How the work that a name began stands."""

    run: NameRun
    nova: Nova | None = None
    runs: tuple[JobRun, ...] = ()
    "Those for the nova since the name was asked for."
    datasets: tuple[Dataset, ...] = ()

    @property
    def over(self) -> bool:
        """Is nothing at work any more?"""
        return self.run.status is not RunStatus.RUNNING and all(r.status is not RunStatus.RUNNING for r in self.runs)

    @property
    def papers(self) -> int | None:
        """How many papers were found; None while they are looked for."""
        done = self._ended("refresh_references")
        return None if done is None else int((done.results or {}).get("written", 0))

    @property
    def asked(self) -> bool:
        """Has every provider been asked for products?"""
        return self._ended("discover_spectra_products") is not None

    @property
    def worked_on(self) -> tuple[int, int]:
        """How many runs for datasets are over, of how many."""
        own = [run for run in self.runs if run.workflow_name in _DOWNLOADS]
        return sum(run.status is not RunStatus.RUNNING for run in own), len(own)

    @property
    def failed(self) -> list[JobRun]:
        """The runs that came to nothing, though not for what is wrong with a dataset."""
        return [run for run in self.runs if run.status is RunStatus.FAILED]

    def _ended(self, workflow: str) -> JobRun | None:
        own = [run for run in self.runs if run.workflow_name == workflow and run.status is not RunStatus.RUNNING]
        return own[-1] if own else None


def look(store: Store, job_run_id: UUID) -> CatalogueProgress:
    """How the work stands that a run for a name began."""
    run = find_run(store, job_run_id)
    assert isinstance(run, NameRun), "a name's run is asked for"
    if run.nova_id is None:
        return CatalogueProgress(run)
    nova = followed(store, run.nova_id)
    since: Range[datetime] = Range(run.started_at, None)
    runs = tuple(store.find(JobRun.of_nova(nova_id=nova.nova_id, started_at=since)))
    return CatalogueProgress(run, nova, runs, tuple(store.find(Dataset.of_nova(nova_id=nova.nova_id))))


def watch(store: Store, job_run_id: UUID) -> Iterator[CatalogueProgress]:
    """The same again and again, until nothing is at work any more."""
    while True:
        found = look(store, job_run_id)
        yield found
        if found.over:
            return
        time.sleep(LOOK)


def ended(store: Store, job_run_id: UUID, tell: Callable[[JobRun | NameRun], None] = lambda run: None) -> JobRun:
    """A run for a nova, once it is over."""
    for _ in commits(store):
        run = find_run(store, job_run_id)
        tell(run)
        if run.status is not RunStatus.RUNNING:
            assert isinstance(run, JobRun), "a run for a nova is asked for"
            return run
    raise AssertionError("commits never end")


def commits(store: Store) -> Iterator[None]:
    """Now, and whenever something may have been written; whoever looks then sees at once that a thing is over."""
    waiter = store.engine.listen()
    try:
        while True:
            yield
            waiter.wait(LOOK)
    finally:
        waiter.close()


@dataclass(frozen=True, slots=True)
class VerdictCount:
    """How many datasets of a nova there are, by what they proved to be."""

    valid: int = 0
    waiting: int = 0
    refused: int = 0
    failed: int = 0
    at_work: int = 0
    by_type: dict[str, int] = field(default_factory=dict)

    @staticmethod
    def of(datasets: list[Dataset] | tuple[Dataset, ...]) -> VerdictCount:
        states = Counter(each.processing_status for each in datasets)
        return VerdictCount(
            valid=states[ProcessingStatus.COMPLETED],
            waiting=states[ProcessingStatus.QUARANTINED],
            refused=states[ProcessingStatus.FAILED_TERMINAL],
            failed=states[ProcessingStatus.FAILED_RETRYABLE],
            at_work=sum(states[each] for each in AT_WORK),
            by_type=dict(Counter(each.dataset_type.value.lower() for each in datasets)),
        )

    def told(self) -> str:
        """In a few words, without what there is none of."""
        words = {
            "valid": self.valid,
            "waiting for a person": self.waiting,
            "refused": self.refused,
            "failed for now": self.failed,
            "at work": self.at_work,
        }
        return ", ".join(f"{count} {word}" for word, count in words.items() if count) or "none"
