"""download_and_validate_spectra: a product of a provider becomes a validated, normalised and drawn spectrum."""

from __future__ import annotations

from datetime import timedelta

from penstock.domains.novae.dataset_workflow import (
    DatasetInput,
    acquire,
    let_go,
    normalize,
    store_products,
    validate,
)
from penstock.domains.novae.run_bookkeeping import at_end_of
from penstock.domains.novae.workflow import DOWNLOAD_LIMIT, DOWNLOAD_RETRY, nova_workflow, step

VALIDATION_LIMIT = timedelta(minutes=5)


class SpectraDownload(DatasetInput):
    """What download_and_validate_spectra is asked."""


DOWNLOAD_AND_VALIDATE = nova_workflow(
    "download_and_validate_spectra",
    SpectraDownload,
    [
        step("acquire", acquire, retry=DOWNLOAD_RETRY, limit=DOWNLOAD_LIMIT),
        step("validate", validate, limit=VALIDATION_LIMIT),
        step("normalize", normalize),
        step("store", store_products),
    ],
)
at_end_of(DOWNLOAD_AND_VALIDATE.name)(let_go)
