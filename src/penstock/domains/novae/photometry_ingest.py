"""ingest_photometry_dataset: a table of photometry becomes a normalised light curve."""

from __future__ import annotations

from penstock.domains.novae.dataset_workflow import (
    DatasetInput,
    acquire,
    let_go,
    normalize,
    store_products,
    validate,
)
from penstock.domains.novae.run_bookkeeping import at_end_of
from penstock.domains.novae.spectra_validation import VALIDATION_LIMIT
from penstock.domains.novae.workflow import DOWNLOAD_LIMIT, DOWNLOAD_RETRY, nova_workflow, step


class PhotometryIngestion(DatasetInput):
    """What ingest_photometry_dataset is asked."""


INGEST_PHOTOMETRY = nova_workflow(
    "ingest_photometry_dataset",
    PhotometryIngestion,
    [
        step("acquire", acquire, retry=DOWNLOAD_RETRY, limit=DOWNLOAD_LIMIT),
        step("validate", validate, limit=VALIDATION_LIMIT),
        step("normalize", normalize),
        step("ingest", store_products),
    ],
)
at_end_of(INGEST_PHOTOMETRY.name)(let_go)
