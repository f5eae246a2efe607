"""download_and_validate_spectra through the running system: leases, files, fingerprints, verdicts, and outcomes."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta
from typing import Any

import pytest

from penstock.domains.novae.dataset_runs import begin_for
from penstock.domains.novae.dataset_workflow import MOST_FAILURES
from penstock.domains.novae.model import Attempt, Dataset, Eligibility, ProcessingStatus, RunStatus
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.work import RetryLater, Terminal
from tests.domains.novae.archive import Archive
from tests.domains.novae.data_story import (
    DOWNLOAD,
    NOVA_ID,
    assert_files_stand,
    discovered,
    files,
    known,
    outcomes,
    runs,
    the_dataset,
    told,
    verdicts,
)
from tests.domains.novae.known_sky import KnownSky
from tests.domains.novae.made_files import cut, in_strange_unit, spectrum_fits
from tests.domains.novae.story import later, new_dataset, work, work_through, workers


def test_a_product_becomes_a_validated_spectrum_with_its_products(eso: Archive, anywhere: NovaCatalogue) -> None:
    """NC-22, NC-25, NC-26, NC-27, NC-28, NC-31: on every engine, each file where the documents have it."""
    eso.publish("a.fits", spectrum_fits())
    known(anywhere)
    discovered(anywhere)
    dataset = the_dataset(anywhere)
    assert outcomes(anywhere) == [("SUCCEEDED", "VALIDATED")]
    assert (dataset.validation_status, dataset.quarantine_reason_code) == ("VALID", None)
    assert (dataset.byte_length, len(dataset.sha256 or "")) == (len(spectrum_fits()), 64)
    assert dataset.header_signature is not None
    assert (dataset.profile_selection or {})["chosen"] == "plain_image"
    assert (dataset.profile_selection or {})["inputs"]["provider"] == "eso"
    assert dataset.summary is not None
    assert (dataset.summary["points"], dataset.summary["wavelength_range"]) == (200, [4000.0, 5990.0])
    assert set(files(anywhere, dataset)) == {
        "raw/primary.fits",
        "raw/source.json",
        "derived/normalized/spectrum.ecsv",
        "derived/normalized/spectrum.fits",
        "derived/plots/preview.png",
    }
    assert dataset.raw_key == f"raw/spectra/{NOVA_ID}/{dataset.dataset_id}/primary.fits"
    assert_files_stand(anywhere, dataset)
    (run,) = runs(anywhere, DOWNLOAD)
    tried = list(anywhere.store.find(Attempt.of_run(nova_id=NOVA_ID, job_run_id=run.job_run_id)))
    assert sorted(each.task for each in tried) == ["acquire", "normalize", "store", "validate"]
    assert all(each.succeeded and each.dataset_id == dataset.dataset_id for each in tried)
    (event,) = told(anywhere, "spectrum.validated")
    assert (event["dataset_id"], event["sha256"]) == (str(dataset.dataset_id), dataset.sha256)
    assert event["job_run_id"] == str(run.job_run_id)


def test_what_is_done_gives_its_lease_back_and_is_eligible_no_more(eso: Archive, catalogue: NovaCatalogue) -> None:
    """F-NC-3, F-NC-6, F-NC-7: neither lease nor key in the index is left; asked again, it is skipped, not leased."""
    eso.publish("a.fits", spectrum_fits())
    known(catalogue)
    discovered(catalogue)
    dataset = the_dataset(catalogue)
    assert (dataset.lease_owner, dataset.lease_expires_at, dataset.lease_epoch) == (None, None, 1)
    eligible = Dataset.by_eligibility(nova_id=NOVA_ID, eligibility=Eligibility.DOWNLOAD)
    assert list(catalogue.store.find(eligible)) == []
    later(catalogue, days=1)
    begin_for(catalogue, dataset, by="ann")
    work_through(catalogue)
    assert outcomes(catalogue)[-1] == ("SUCCEEDED", "SKIPPED_DUPLICATE")
    assert the_dataset(catalogue).lease_epoch == 1


def test_a_dataset_at_work_is_leased_and_still_found(eso: Archive, catalogue: NovaCatalogue) -> None:
    """NC-22, F-NC-6: by its run, for longer than a step takes; and it stays eligible, so that it is found again."""
    eso.publish("a.fits", spectrum_fits())
    known(catalogue)
    at_work = workers(catalogue)
    _begin_discovery(catalogue)
    while not (found := [d for d in catalogue.store.find(Dataset.of_nova(nova_id=NOVA_ID)) if d.lease_owner]):
        assert at_work.run_one() is not None
    (dataset,), (run,) = found, runs(catalogue, DOWNLOAD)
    assert (dataset.processing_status, dataset.lease_owner) == ("IN_PROGRESS", str(run.job_run_id))
    left = (dataset.lease_expires_at or 0) - catalogue.store.clock.now().timestamp()
    assert left > timedelta(minutes=15).total_seconds()
    eligible = Dataset.by_eligibility(nova_id=NOVA_ID, eligibility=Eligibility.DOWNLOAD)
    assert [each.dataset_id for each in catalogue.store.find(eligible)] == [dataset.dataset_id]


def _begin_discovery(catalogue: NovaCatalogue) -> None:
    from penstock.domains.novae.product_discovery import DISCOVER, Discovery
    from penstock.domains.novae.runs import begin

    begin(catalogue, DISCOVER, Discovery(nova_id=NOVA_ID), by="ann")


def test_every_step_prolongs_the_lease(eso: Archive, catalogue: NovaCatalogue) -> None:
    """F-NC-4: a run whose steps wait for long has its dataset all the same, as long as nobody else took it."""
    eso.publish("a.fits", spectrum_fits())
    known(catalogue)
    _begin_discovery(catalogue)
    at_work, ends = workers(catalogue), set[int]()
    while at_work.run_one() is not None:
        ends |= {
            d.lease_expires_at for d in catalogue.store.find(Dataset.of_nova(nova_id=NOVA_ID)) if d.lease_expires_at
        }
        later(catalogue, minutes=12)
    assert outcomes(catalogue) == [("SUCCEEDED", "VALIDATED")]
    assert len(ends) >= 3


def test_a_long_download_renews_its_lease_while_it_goes_on(
    eso: Archive, catalogue: NovaCatalogue, sky: KnownSky
) -> None:
    """F-NC-4: by a heartbeat that every piece gives."""
    eso.publish("a.fits", spectrum_fits())
    known(catalogue)
    seen: list[int] = []
    usual = sky.downloads.acquire

    def slow(product: Any, folder: Any, **options: Any) -> Any:
        for _ in range(3):
            later(catalogue, minutes=4)
            options["tell"](0.5)
            seen.extend(d.lease_expires_at or 0 for d in catalogue.store.find(Dataset.of_nova(nova_id=NOVA_ID)))
        return usual(product, folder, **options)

    sky.downloads.acquire = slow  # type: ignore[method-assign]
    discovered(catalogue)
    assert len(set(seen)) > 1
    assert the_dataset(catalogue).processing_status is ProcessingStatus.COMPLETED


def test_the_same_bytes_published_again_are_not_judged_again(eso: Archive, catalogue: NovaCatalogue) -> None:
    """NC-26, NC-36: another edition with the same fingerprint short-circuits, and says so."""
    eso.publish("a.fits", spectrum_fits())
    known(catalogue)
    discovered(catalogue)
    before = the_dataset(catalogue)
    later(catalogue, hours=2)
    _touch(eso)
    discovered(catalogue)
    after = the_dataset(catalogue)
    assert outcomes(catalogue) == [("SUCCEEDED", "VALIDATED"), ("SUCCEEDED", "SKIPPED_DUPLICATE")]
    assert (after.processing_status, after.fingerprint) == ("COMPLETED", before.fingerprint)
    assert (after.artifacts, after.lease_epoch) == (before.artifacts, 2)
    assert len(verdicts(catalogue, after)) == 1
    second = runs(catalogue, DOWNLOAD)[1]
    tried = catalogue.store.find(Attempt.of_run(nova_id=NOVA_ID, job_run_id=second.job_run_id))
    assert [each.task for each in tried] == ["acquire"]


def _touch(archive: Archive) -> None:
    import os

    os.utime(archive.folder / "a.fits", ns=(10**18, 10**18))


def test_other_bytes_of_the_same_product_are_judged_and_the_former_verdict_stays(
    eso: Archive, catalogue: NovaCatalogue
) -> None:
    """NC-17, NC-26, F-NC-5: one dataset, two verdicts; neither file takes the other's place."""
    eso.publish("a.fits", in_strange_unit())
    known(catalogue)
    discovered(catalogue)
    assert the_dataset(catalogue).quarantine_reason_code == "UNKNOWN_UNIT"
    later(catalogue, hours=2)
    eso.publish("a.fits", spectrum_fits(seed=2))
    run = discovered(catalogue)
    assert (run.results or {})["republished"] == 1
    dataset = the_dataset(catalogue)
    former, present = verdicts(catalogue, dataset)
    assert (former.validation_status, former.code) == ("QUARANTINED", "UNKNOWN_UNIT")
    assert (present.validation_status, present.fingerprint) == ("VALID", dataset.fingerprint)
    assert former.sha256 != present.sha256
    assert dataset.processing_status is ProcessingStatus.COMPLETED
    assert dataset.raw_key is not None
    assert dataset.raw_key.endswith(f"/{(dataset.sha256 or '')[:16]}/primary.fits")
    assert_files_stand(catalogue, dataset)


@pytest.mark.parametrize(
    ("data", "status", "code", "outcome", "event"),
    [
        (in_strange_unit(), "QUARANTINED", "UNKNOWN_UNIT", ("QUARANTINED", "QUARANTINED"), "dataset.quarantined"),
        (
            cut(spectrum_fits()),
            "FAILED_TERMINAL",
            "TRUNCATED",
            ("SUCCEEDED", "TERMINAL_INVALID"),
            "dataset.terminal_invalid",
        ),
    ],
)
def test_what_is_not_valid_says_why_and_is_laid_aside(
    eso: Archive, anywhere: NovaCatalogue, data: bytes, status: str, code: str, outcome: tuple[str, str], event: str
) -> None:
    """NC-27: verdict, code and details; the file, its headers and a plot lie in quarantine for whoever decides."""
    eso.publish("odd.fits", data)
    known(anywhere)
    discovered(anywhere)
    dataset = the_dataset(anywhere)
    assert (dataset.processing_status, dataset.quarantine_reason_code) == (status, code)
    assert (dataset.quarantine_details or {})["reason"]
    assert outcomes(anywhere) == [outcome]
    assert [(each["dataset_id"], each["code"]) for each in told(anywhere, event)] == [(str(dataset.dataset_id), code)]
    assert (dataset.eligibility, dataset.lease_owner, dataset.artifacts) == ("NONE", None, [])
    (verdict,) = verdicts(anywhere, dataset)
    aside = {key.rpartition("/")[2]: key for key in verdict.evidence}
    assert set(aside) == {"primary.fits", "context.json", "preview.png"}
    assert all(key.startswith(f"quarantine/spectra/{NOVA_ID}/{dataset.dataset_id}/") for key in aside.values())
    context = json.loads(anywhere.objects.get(aside["context.json"]).read())
    assert context["code"] == code
    assert any("SIMPLE" in line for line in context["evidence"]["headers"])
    assert_files_stand(anywhere, dataset)


def test_a_zip_is_unpacked_and_its_one_spectrum_read(eso: Archive, catalogue: NovaCatalogue) -> None:
    """NC-26, NC-28: the archive and what was in it are kept as they came."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("night1/spec.fits", spectrum_fits())
        archive.writestr("README.txt", "how it was reduced")
    eso.publish("a.zip", packed.getvalue())
    known(catalogue)
    discovered(catalogue)
    dataset = the_dataset(catalogue)
    kept = files(catalogue, dataset)
    assert dataset.processing_status is ProcessingStatus.COMPLETED
    assert {"raw/archive.zip", "raw/unzipped/night1/spec.fits", "raw/unzipped/README.txt"} <= set(kept)
    assert dataset.file_name == "spec.fits"
    assert_files_stand(catalogue, dataset)


def test_a_zip_with_several_spectra_waits_for_whoever_says_which(eso: Archive, catalogue: NovaCatalogue) -> None:
    """NC-27: what came is of no use as it is; the reason names what to do."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in (1, 2):
            archive.writestr(f"{number}.fits", spectrum_fits(seed=number))
    eso.publish("a.zip", packed.getvalue())
    known(catalogue)
    discovered(catalogue)
    dataset = the_dataset(catalogue)
    assert (dataset.processing_status, dataset.quarantine_reason_code) == ("QUARANTINED", "SEVERAL_FITS_IN_ARCHIVE")
    assert "member=NAME" in (dataset.quarantine_details or {})["reason"]


# Failing


def test_a_download_is_tried_three_times_with_the_documents_pauses(
    eso: Archive, catalogue: NovaCatalogue, sky: KnownSky
) -> None:
    """NC-25: one attempt each, with its error; then the run fails, and the dataset rests."""
    eso.publish("a.fits", spectrum_fits())
    known(catalogue)
    sky.downloads.fails = _unavailable
    _begin_discovery(catalogue)
    work(catalogue)
    times = [catalogue.store.clock.now()]
    for pause in (10, 60):
        later(catalogue, seconds=pause - 1)
        assert work(catalogue) == 0
        later(catalogue, seconds=1)
        assert work(catalogue) > 0
        times.append(catalogue.store.clock.now())
    (run,) = runs(catalogue, DOWNLOAD)
    assert run.status is RunStatus.FAILED
    tried = list(catalogue.store.find(Attempt.of_run(nova_id=NOVA_ID, job_run_id=run.job_run_id)))
    assert [(each.task, each.succeeded) for each in tried] == [("acquire", False)] * 3
    dataset = the_dataset(catalogue)
    assert (dataset.processing_status, dataset.lease_owner) == ("FAILED_RETRYABLE", None)
    assert (dataset.attempt_count, dataset.eligibility) == (1, "DOWNLOAD")
    assert dataset.next_eligible_attempt_at == int(times[-1].timestamp()) + 60
    assert "is away" in (dataset.failure or "")


def _unavailable(identity: str) -> None:
    raise RuntimeError("the archive is away")


def _gone(identity: str) -> None:
    raise Terminal("404: there is no such file")


def test_a_dataset_of_which_nobody_says_where_it_is_fails_by_its_id(catalogue: NovaCatalogue) -> None:
    """As a record can be that others write: without an identity of its provider's, too."""
    known(catalogue)
    dataset = new_dataset(catalogue.store, NOVA_ID, provider_identity=None)
    begin_for(catalogue, dataset, by="ann")
    work_through(catalogue)
    assert outcomes(catalogue) == [("FAILED", "Terminal")]
    expected = f"ESO says of no place where {dataset.dataset_id} can be had"
    assert expected in (the_dataset(catalogue).failure or "")


def test_a_dataset_that_fails_again_and_again_rests_longer_and_is_given_up(
    eso: Archive, catalogue: NovaCatalogue, sky: KnownSky
) -> None:
    """F-NC-6: after a terminal failure nothing is eligible for ever, and nothing is tried at once."""
    eso.publish("a.fits", spectrum_fits())
    known(catalogue)
    sky.downloads.fails = _gone
    rests = []
    discovered(catalogue)
    for _ in range(MOST_FAILURES - 1):
        dataset = the_dataset(catalogue)
        rests.append((dataset.next_eligible_attempt_at or 0) - int(catalogue.store.clock.now().timestamp()))
        later(catalogue, seconds=1)
        begin_for(catalogue, dataset, by="ann")
        work_through(catalogue)
        assert outcomes(catalogue)[-1][1] == "SKIPPED_RESTING"
        later(catalogue, seconds=rests[-1])
        begin_for(catalogue, dataset, by="ann")
        work_through(catalogue)
    assert rests == [60, 300, 3600, 86_400, 86_400, 86_400, 86_400]
    dataset = the_dataset(catalogue)
    assert (dataset.processing_status, dataset.eligibility) == ("FAILED_TERMINAL", "NONE")
    assert dataset.quarantine_reason_code == "GIVEN_UP"
    later(catalogue, days=1)
    sky.downloads.fails = lambda identity: None
    eso.publish("a.fits", spectrum_fits(seed=3))
    discovered(catalogue)
    assert the_dataset(catalogue).processing_status is ProcessingStatus.COMPLETED


def test_what_has_rested_is_tried_again_by_the_next_discovery(
    eso: Archive, catalogue: NovaCatalogue, sky: KnownSky
) -> None:
    """NC-21, NC-35: it is found by the index of eligibility."""
    eso.publish("a.fits", spectrum_fits())
    known(catalogue)
    sky.downloads.fails = _gone
    discovered(catalogue)
    sky.downloads.fails = lambda identity: None
    later(catalogue, hours=2)
    discovered(catalogue)
    assert outcomes(catalogue) == [("FAILED", "Terminal"), ("SUCCEEDED", "VALIDATED")]
    assert (the_dataset(catalogue).attempt_count, the_dataset(catalogue).failure) == (0, None)


def test_a_server_that_says_when_to_come_again_is_heard(eso: Archive, catalogue: NovaCatalogue, sky: KnownSky) -> None:
    """NC-36: a retry goes on where the run is, and does nothing twice."""
    eso.publish("a.fits", spectrum_fits())
    known(catalogue)
    asked: list[str] = []

    def busy(identity: str) -> None:
        asked.append(identity)
        if len(asked) == 1:
            raise RetryLater("429", after=timedelta(seconds=45))

    sky.downloads.fails = busy
    discovered(catalogue)
    assert (outcomes(catalogue), len(asked)) == ([("SUCCEEDED", "VALIDATED")], 2)
