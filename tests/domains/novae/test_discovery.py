"""discover_spectra_products through the running system: each product one dataset, however often it is found."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from boto3.dynamodb.conditions import Key

from penstock import Store
from penstock.astronomy.judgement import FileFinding
from penstock.domains.novae.model import (
    Dataset,
    DatasetType,
    DoubtfulItem,
    Eligibility,
    ProcessingStatus,
    RunStatus,
    dataset_identity,
)
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.product_discovery import DISCOVER, Discovery
from penstock.domains.novae.providers.provider import FoundProduct, ProductSearch, UnusableAnswer
from penstock.domains.novae.runs import begin
from penstock.work.working import WORKING
from tests.domains.novae.archive import Archive
from tests.domains.novae.data_story import NOVA_ID, datasets, discovered, known, outcomes, runs, the_dataset, told
from tests.domains.novae.known_sky import KnownSky
from tests.domains.novae.made_files import light_curve_csv, spectrum_fits
from tests.domains.novae.story import Astronomer, later, work_through, workers


def test_each_product_is_one_dataset_told_once_and_downloaded(eso: Archive, anywhere: NovaCatalogue) -> None:
    """NC-17, NC-18, NC-19, NC-20, F-NC-5: discovered again, it is the same one, and nothing is told or done twice."""
    eso.publish("a.fits", spectrum_fits(seed=1), id="ADP.1", instrument="XSHOOTER")
    eso.publish("b.fits", spectrum_fits(seed=2), id="ADP.2")
    known(anywhere)
    run = discovered(anywhere)
    assert (run.status, run.outcome, (run.results or {})["new"]) == (RunStatus.SUCCEEDED, "DISCOVERED", 2)
    found = {each.provider_identity: each for each in datasets(anywhere)}
    assert {each.dataset_id for each in found.values()} == {
        dataset_identity("eso", identity or "") for identity in found
    }
    first = found["id:ADP.1"]
    assert (first.locators, first.hints["instrument"]) == (["local:a.fits"], "XSHOOTER")
    assert (first.product or {})["native_id"] == "ADP.1"
    assert len(told(anywhere, "product.discovered")) == 2
    later(anywhere, hours=2)
    again = discovered(anywhere)
    assert (again.outcome, (again.results or {})["launched"]) == ("NOTHING_NEW", 0)
    assert len(datasets(anywhere)) == 2
    assert len(told(anywhere, "product.discovered")) == 2
    assert outcomes(anywhere) == [("SUCCEEDED", "VALIDATED")] * 2


def test_what_was_just_found_waits_under_the_documents_index(eso: Archive, catalogue: NovaCatalogue) -> None:
    """NC-20, NC-21, NC-35: state and index keys are set together: the query has exactly the eligible ones."""
    eso.publish("a.fits", spectrum_fits(seed=1))
    eso.publish("lc.csv", light_curve_csv(), kind="photometry")
    known(catalogue)
    begin(catalogue, DISCOVER, Discovery(nova_id=NOVA_ID), by="ann")
    at_work = workers(catalogue)
    while len(datasets(catalogue)) < 2:
        assert at_work.run_one() is not None
    for kind, eligibility in (
        (DatasetType.SPECTRA, Eligibility.DOWNLOAD),
        (DatasetType.PHOTOMETRY, Eligibility.INGEST),
    ):
        waits = list(catalogue.store.find(Dataset.by_eligibility(nova_id=NOVA_ID, eligibility=eligibility)))
        assert [each.dataset_type for each in waits] == [kind]
    ann = Astronomer(catalogue)
    listed = ann.get(f"/novae/{NOVA_ID}/datasets", waiting=True)["items"]
    assert [each["eligibility"] for each in listed] == ["DOWNLOAD"]
    work_through(catalogue)
    assert ann.get(f"/novae/{NOVA_ID}/datasets", waiting=True)["items"] == []


def test_the_documents_query_finds_what_waits(
    eso: Archive, dynamo: Store, raw_table: Any, local: Any, sky: KnownSky
) -> None:
    """NC-3, NC-20, NC-21: on DynamoDB, by GSI1 and begins_with ELIG#DOWNLOAD#, and nothing once it is done."""
    dynamo.ensure(WORKING)
    catalogue = NovaCatalogue(dynamo, local, sky.sources())
    eso.publish("a.fits", spectrum_fits())
    known(catalogue)
    begin(catalogue, DISCOVER, Discovery(nova_id=NOVA_ID), by="ann")
    at_work = workers(catalogue)
    while not datasets(catalogue):
        assert at_work.run_one() is not None
    asked = Key("GSI1PK").eq(f"NOVA#{NOVA_ID}") & Key("GSI1SK").begins_with("ELIG#DOWNLOAD#")
    items = raw_table("NovaCat").query(IndexName="GSI1", KeyConditionExpression=asked)["Items"]
    dataset_id = datasets(catalogue)[0].dataset_id
    assert [item["SK"] for item in items] == [f"DATASET#SPECTRA#eso#{dataset_id}"]
    work_through(catalogue)
    assert raw_table("NovaCat").query(IndexName="GSI1", KeyConditionExpression=asked)["Items"] == []
    item = raw_table("NovaCat").get_item(Key={"PK": f"NOVA#{NOVA_ID}", "SK": f"DATASET#SPECTRA#eso#{dataset_id}"})
    assert {"GSI1PK", "GSI1SK", "lease_owner", "lease_expires_at"}.isdisjoint(item["Item"])


def test_many_who_find_the_same_product_make_one_dataset(eso: Archive, anywhere: NovaCatalogue) -> None:
    """NC-17, F-NC-5: the id follows from the product, so the condition decides."""
    from penstock.domains.novae.datasets import add_dataset
    from penstock.errors import Conflict

    known(anywhere)
    now = anywhere.store.clock.now()
    fields: dict[str, Any] = {"nova_id": NOVA_ID, "dataset_type": DatasetType.SPECTRA, "provider": "eso"}
    fields |= {"dataset_id": dataset_identity("eso", "id:ADP.1"), "created_at": now, "updated_at": now}

    def find(number: int) -> bool:
        try:
            with anywhere.store.change() as change:
                add_dataset(change, Dataset(**fields, locators=[f"local:{number}"]))
            return True
        except Conflict:
            return False

    with ThreadPoolExecutor(8) as crowd:
        assert sum(crowd.map(find, range(8))) == 1
    assert len(datasets(anywhere)) == 1


def test_other_locators_and_hints_are_taken_over_without_another_download(
    eso: Archive, catalogue: NovaCatalogue
) -> None:
    """NC-18, NC-19: the same edition of a product, at another place."""
    digest = _sha(spectrum_fits())
    eso.publish("a.fits", spectrum_fits(), id="ADP.1", sha256=digest)
    known(catalogue)
    discovered(catalogue)
    later(catalogue, hours=2)
    eso._files.clear()
    eso.publish("moved/a.fits", spectrum_fits(), id="ADP.1", sha256=digest, instrument="UVES")
    run = discovered(catalogue)
    dataset = the_dataset(catalogue)
    assert ((run.results or {})["updated"], (run.results or {})["republished"]) == (1, 0)
    assert (dataset.locators, dataset.hints["instrument"]) == (["local:moved/a.fits"], "UVES")
    assert dataset.processing_status is ProcessingStatus.COMPLETED
    assert outcomes(catalogue) == [("SUCCEEDED", "VALIDATED")]


def _sha(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()


def test_one_provider_that_fails_stops_none_of_the_others(
    eso: Archive, catalogue: NovaCatalogue, sky: KnownSky, tmp_path: Path
) -> None:
    """NC-38: each is asked by itself, and the run tells who failed; after all failed, it has failed."""
    broken = Archive("broken", tmp_path / "broken", fails=_fail)
    sky.downloads.archives.insert(0, broken)
    eso.publish("a.fits", spectrum_fits())
    known(catalogue)
    run = discovered(catalogue)
    assert (run.status, run.outcome) == (RunStatus.SUCCEEDED, "PARTLY_DISCOVERED")
    assert (run.results or {})["failures"] == {"broken": "RuntimeError"}
    assert the_dataset(catalogue).processing_status is ProcessingStatus.COMPLETED
    eso.fails = _fail
    later(catalogue, hours=2)
    assert discovered(catalogue).status is RunStatus.FAILED


def _fail() -> None:
    raise RuntimeError("it is away")


def test_what_a_provider_says_and_nobody_can_read_is_kept_as_it_came(
    eso: Archive, catalogue: NovaCatalogue, sky: KnownSky
) -> None:
    """NC-19: a row that is no product, and an answer that is none, beside those that are."""
    eso.publish("a.fits", spectrum_fits())
    eso.publish("gone.fits", b"x")
    eso.withdraw("gone.fits")
    known(catalogue)
    run = discovered(catalogue)
    assert (run.results or {})["unread"] == 1
    (kept,) = catalogue.store.find(DoubtfulItem.of_nova(nova_id=NOVA_ID))
    assert (kept.source, kept.reason_code) == ("eso", "BAD_FILE")
    eso.fails = _unusable
    later(catalogue, hours=2)
    again = discovered(catalogue)
    assert (again.status, again.outcome) == (RunStatus.SUCCEEDED, "PARTLY_DISCOVERED")
    assert "NO_VOTABLE" in [each.reason_code for each in catalogue.store.find(DoubtfulItem.of_nova(nova_id=NOVA_ID))]


def _unusable() -> None:
    raise UnusableAnswer(FileFinding("NO_VOTABLE", "it answered with a page"))


def test_a_product_that_says_nothing_of_its_edition_is_not_taken_for_another() -> None:
    """NC-18: where nothing is told, nobody can say."""
    product = FoundProduct("eso", "1", "id:1", ("local:a",))
    assert (product.edition, product.republished("v1"), product.republished(None)) == (None, False, False)
    assert len(ProductSearch((product,))) == 1


def test_a_discovery_within_the_hour_is_the_same_run(eso: Archive, catalogue: NovaCatalogue) -> None:
    """NC-36: asked twice, providers are asked once."""
    known(catalogue)
    discovered(catalogue)
    discovered(catalogue)
    assert len(runs(catalogue, "discover_spectra_products")) == 1
    assert len(eso.asked) == 1
