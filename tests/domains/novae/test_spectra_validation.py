"""download_and_validate_spectra through the running system: leases, files, fingerprints, verdicts, and outcomes."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from penstock.domains.novae.model import Dataset, Eligibility, FileObject, ProcessingStatus
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from tests.domains.novae.archive import NOVA, Archive
from tests.domains.novae.known_sky import KnownSky
from tests.domains.novae.made_files import spectrum_fits
from tests.domains.novae.story import Astronomer, new_nova, work_through

NOVA_ID = UUID("11111111-1111-4111-8111-111111111111")


@pytest.fixture
def eso(sky: KnownSky, tmp_path: Path) -> Archive:
    archive = Archive("eso", tmp_path / "eso")
    sky.downloads.archives.append(archive)
    return archive


def test_smoke(eso: Archive, catalogue: NovaCatalogue) -> None:
    eso.publish("a.fits", spectrum_fits())
    new_nova(catalogue.store, NOVA_ID, NOVA)
    from penstock.domains.novae.discovery import DISCOVER, Discovery
    from penstock.domains.novae.runs import begin

    begun = begin(catalogue, DISCOVER, Discovery(nova_id=NOVA_ID), by="ann")
    work_through(catalogue)
    ann = Astronomer(catalogue)
    print(ann.run(str(begun.run.job_run_id)))
    for run in ann.runs(NOVA_ID):
        print(run["workflow_name"], run["status"], run["outcome"], run.get("error_message"))
        for a in ann.attempts(run["job_run_id"]):
            print("   ", a["task"], a["succeeded"], a.get("error_message"))
    (dataset,) = catalogue.store.find(Dataset.of_nova(nova_id=NOVA_ID))
    print(dataset)
    for f in catalogue.store.find(FileObject.of_nova(nova_id=NOVA_ID)):
        print(f.s3_key, f.sha256)
    assert dataset.processing_status is ProcessingStatus.COMPLETED
    assert dataset.eligibility is Eligibility.NONE
