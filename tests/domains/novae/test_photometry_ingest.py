"""ingest_photometry_dataset through the running system: sent, found or dropped; each row a measurement or told."""

from __future__ import annotations

import io

import pytest
from astropy.table import Table

from penstock.astronomy.photometry.unit import KNOWN_UNITS
from penstock.domains.novae import contributions
from penstock.domains.novae.data_records import ContributionStatus
from penstock.domains.novae.dataset_runs import begin_for
from penstock.domains.novae.model import Attempt, DatasetType, ProcessingStatus
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.errors import InvalidValue
from penstock.files.uploads import UploadRefused
from tests.domains.novae.archive import Archive
from tests.domains.novae.data_story import (
    INGEST,
    NOVA_ID,
    added,
    assert_files_stand,
    datasets,
    discovered,
    files,
    known,
    outcomes,
    runs,
    sent,
    the_dataset,
    told,
)
from tests.domains.novae.made_files import light_curve_csv, spectrum_fits, unknown_table
from tests.domains.novae.story import Astronomer, later, work_through

TICKET = """OBJECT NAME: V1324_Sco
TIME UNITS: days
FLUX UNITS: mag
FILTER SYSTEM: Johnson
MAGNITUDE SYSTEM: Vega
TIME SYSTEM: JD
TIME COLUMN NUMBER: 0
FLUX COLUMN NUMBER: 1
FLUX ERROR COLUMN NUMBER: 2
FILTER/FREQUENCY/ENERGY RANGE COLUMN NUMBER: 3
BIBCODE: 2015MNRAS.447.1661F
DATA FILENAME: table.csv
TICKET STATUS: Completed
"""


def _bare_table(rows: int = 6) -> bytes:
    return "".join(f"{2456080.5 + day},{10 + day / 4:.2f},0.03,V\n" for day in range(rows)).encode()


def test_a_table_that_somebody_sends_becomes_a_light_curve(anywhere: NovaCatalogue) -> None:
    """NC-28, NC-30, NC-31: on every engine; status, artifacts and rows, each where the documents have it."""
    known(anywhere)
    taken = added(anywhere, light_curve_csv(12))
    dataset = the_dataset(anywhere)
    assert (taken.status, taken.dataset_id) == (ContributionStatus.TAKEN, dataset.dataset_id)
    assert outcomes(anywhere, INGEST) == [("SUCCEEDED", "INGESTED")]
    assert (dataset.processing_status, dataset.eligibility, dataset.lease_owner) == ("COMPLETED", "NONE", None)
    assert dataset.raw_key == f"raw/photometry/{NOVA_ID}/{dataset.dataset_id}/upload/table.csv"
    assert set(files(anywhere, dataset)) == {
        "raw/upload/table.csv",
        "derived/normalized/light_curve.ecsv",
        "derived/normalized/light_curve.fits",
        "derived/plots/preview.png",
    }
    assert_files_stand(anywhere, dataset)
    ecsv = next(key for key in dataset.artifacts if key.endswith(".ecsv"))
    table = Table.read(io.BytesIO(anywhere.objects.get(ecsv).read()), format="ascii.ecsv")
    assert (len(table), table["jd"][0], table["value"][0]) == (12, 2456080.5, 10.0)
    (event,) = told(anywhere, "photometry.ingested")
    assert (event["nova_id"], event["dataset_id"]) == (str(NOVA_ID), str(dataset.dataset_id))


def test_rows_that_cannot_be_read_are_counted_and_shown(catalogue: NovaCatalogue) -> None:
    """NC-31: not dropped: how many they are, which, and why."""
    known(catalogue)
    added(catalogue, light_curve_csv(40, bad=2))
    summary = the_dataset(catalogue).summary or {}
    assert (summary["rows"], summary["unread"]) == (40, 2)
    assert [each["row"] for each in summary["unread_rows"]] == [42, 43]
    assert all("faint?" in each["text"] and each["why"] for each in summary["unread_rows"])


def test_units_that_rows_tell_themselves_are_all_told_in_order(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    rows = [f"{2456080.5 + day},{10 + day},V,{unit}" for day, unit in enumerate(KNOWN_UNITS)]
    added(catalogue, "\n".join(["JD,flux,band,unit", *rows]).encode())
    assert (the_dataset(catalogue).summary or {})["units"] == sorted(KNOWN_UNITS)


def test_the_same_table_again_is_skipped(catalogue: NovaCatalogue) -> None:
    """NC-36: as SKIPPED_DUPLICATE, which stays what the run has come to."""
    known(catalogue)
    added(catalogue, light_curve_csv())
    later(catalogue, minutes=1)
    added(catalogue, light_curve_csv(), name="the-same.csv")
    assert outcomes(catalogue, INGEST) == [("SUCCEEDED", "INGESTED"), ("SUCCEEDED", "SKIPPED_DUPLICATE")]
    assert len(datasets(catalogue)) == 1
    second = runs(catalogue, INGEST)[1]
    tried = catalogue.store.find(Attempt.of_run(nova_id=NOVA_ID, job_run_id=second.job_run_id))
    assert [each.task for each in tried] == ["acquire"]


def test_a_table_without_a_header_is_read_by_its_ticket(catalogue: NovaCatalogue) -> None:
    """NC-30, NC-31: and the paper that the ticket names is the dataset's."""
    known(catalogue)
    added(catalogue, _bare_table(), ticket=TICKET)
    dataset = the_dataset(catalogue)
    assert dataset.processing_status is ProcessingStatus.COMPLETED
    assert (dataset.summary or {})["bands"] == {"V": 6}
    ann = Astronomer(catalogue)
    (paper,) = ann.get(f"/novae/{NOVA_ID}/cross-references")["items"]
    assert (paper["reference_id"], paper["known"]) == ("2015MNRAS.447.1661F", False)
    assert paper["datasets"] == [str(dataset.dataset_id)]


def test_a_table_that_waits_for_a_person_is_read_when_its_ticket_comes(catalogue: NovaCatalogue) -> None:
    """NC-27: the same bytes sent again with a ticket are looked at again."""
    known(catalogue)
    added(catalogue, _bare_table())
    first = the_dataset(catalogue)
    assert first.processing_status is ProcessingStatus.QUARANTINED
    later(catalogue, minutes=1)
    added(catalogue, _bare_table(), ticket=TICKET)
    dataset = the_dataset(catalogue)
    assert (dataset.dataset_id, dataset.processing_status) == (first.dataset_id, "COMPLETED")
    assert Astronomer(catalogue).get("/quarantine")["items"] == []


def test_photometry_of_a_provider_is_found_and_ingested(eso: Archive, catalogue: NovaCatalogue) -> None:
    """NC-20, NC-30: with the ticket that the provider has of it."""
    (eso.folder / "t.txt").write_text(TICKET)
    eso.publish("table.csv", _bare_table(), kind="photometry", ticket="t.txt")
    known(catalogue)
    discovered(catalogue)
    dataset = the_dataset(catalogue)
    assert (dataset.dataset_type, dataset.processing_status) == ("PHOTOMETRY", "COMPLETED")
    assert dataset.ticket == TICKET
    assert_files_stand(catalogue, dataset)


def test_what_is_no_photometry_waits_for_a_person(catalogue: NovaCatalogue) -> None:
    """NC-27: with the reason, and nothing is guessed."""
    known(catalogue)
    added(catalogue, unknown_table())
    dataset = the_dataset(catalogue)
    assert dataset.processing_status in ("QUARANTINED", "FAILED_TERMINAL")
    assert dataset.quarantine_reason_code
    assert dataset.artifacts == []


def test_a_spectrum_can_be_sent_as_well(catalogue: NovaCatalogue) -> None:
    """NC-28: by somebody who has it in a file."""
    known(catalogue)
    added(catalogue, spectrum_fits(), type=DatasetType.SPECTRA, name="mine.fits")
    dataset = the_dataset(catalogue)
    assert (dataset.provider, dataset.processing_status, dataset.file_name) == ("upload", "COMPLETED", "mine.fits")
    assert dataset.raw_key == f"raw/spectra/{NOVA_ID}/{dataset.dataset_id}/primary.fits"


def test_other_bytes_than_announced_are_refused(catalogue: NovaCatalogue) -> None:
    """NC-31: there is no dataset then, and what was announced can still be sent."""
    known(catalogue)
    reserved = sent(catalogue, light_curve_csv())
    assert reserved.where is not None
    catalogue.objects.put(reserved.where.upload.staging, light_curve_csv(3))
    with pytest.raises(UploadRefused):
        contributions.complete(catalogue, reserved.contribution.contribution_id, by="ann")
    assert datasets(catalogue) == []
    catalogue.objects.put(reserved.where.upload.staging, light_curve_csv())
    contributions.complete(catalogue, reserved.contribution.contribution_id, by="ann")
    work_through(catalogue)
    assert the_dataset(catalogue).processing_status is ProcessingStatus.COMPLETED


def test_hints_are_checked_when_they_are_said(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    with pytest.raises(InvalidValue, match="hint"):
        sent(catalogue, light_curve_csv(), hints={"colour": "red"})
    with pytest.raises(InvalidValue, match="no hint"):
        sent(catalogue, spectrum_fits(), type=DatasetType.SPECTRA, hints={"columns": {}})


def test_a_dataset_that_is_done_is_worked_on_no_more(catalogue: NovaCatalogue) -> None:
    """NC-36: whoever asks."""
    known(catalogue)
    added(catalogue, light_curve_csv())
    later(catalogue, minutes=1)
    begin_for(catalogue, the_dataset(catalogue), by="ann")
    work_through(catalogue)
    assert outcomes(catalogue, INGEST)[-1] == ("SUCCEEDED", "SKIPPED_DUPLICATE")
