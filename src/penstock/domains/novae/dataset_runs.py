"""Runs for datasets: whichever workflow is theirs, begun for whoever asks, or launched by another run."""

from __future__ import annotations

from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.dataset_workflow import DatasetInput
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.photometry_ingest import INGEST_PHOTOMETRY, PhotometryIngestion
from penstock.domains.novae.run_records import JobRun, WorkflowRun
from penstock.domains.novae.runs import Begun, Origin, begin, begin_within, launch
from penstock.domains.novae.spectra_validation import DOWNLOAD_AND_VALIDATE, SpectraDownload
from penstock.domains.novae.states import DatasetType
from penstock.domains.novae.workflow import Workflow
from penstock.kernel.change import Change
from penstock.work import TaskContext


def workflow_for(dataset: Dataset) -> Workflow[JobRun]:
    """The workflow of a dataset's type."""
    return DOWNLOAD_AND_VALIDATE if dataset.dataset_type is DatasetType.SPECTRA else INGEST_PHOTOMETRY


def request_for(dataset: Dataset, locator: str | None = None) -> DatasetInput:
    """What that is asked."""
    kind = SpectraDownload if dataset.dataset_type is DatasetType.SPECTRA else PhotometryIngestion
    return kind(nova_id=dataset.nova_id, dataset_id=dataset.dataset_id, locator=locator)


def begin_for(
    catalogue: NovaCatalogue, dataset: Dataset, *, by: str, locator: str | None = None, origin: Origin | None = None
) -> Begun[JobRun]:
    """Have a dataset worked on, unless a run does so already."""
    return begin(catalogue, workflow_for(dataset), request_for(dataset, locator), by=by, origin=origin)


def begin_for_within(
    change: Change, catalogue: NovaCatalogue, dataset: Dataset, *, locator: str | None = None, origin: Origin
) -> JobRun:
    """The same with the rest of a change; Conflict if another just does so."""
    return begin_within(change, catalogue, workflow_for(dataset), request_for(dataset, locator), origin)


def launch_for(work: TaskContext, dataset: Dataset, *, parent: WorkflowRun) -> Begun[JobRun]:
    """The same for a run; a step that comes by again finds what it has launched."""
    return launch(work, workflow_for(dataset), request_for(dataset), parent=parent)
