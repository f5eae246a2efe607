"""Merging: rows move, objects stay, and the old id answers with the new everywhere."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from penstock import the
from penstock.domains.novae import merging
from penstock.domains.novae.errors import NotMergeable
from penstock.domains.novae.model import (
    Dataset,
    FileObject,
    Nova,
    NovaReference,
    NovaStatus,
    ProcessingStatus,
    Reference,
    dataset_identity,
    file_identity,
)
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.errors import Conflict
from penstock.schema.role import Role
from tests.domains.novae.known_sky import KnownSky, nova_object
from tests.domains.novae.story import Astronomer, aliases_of, later, new_dataset, new_nova, owner, work, work_through

MINUTE = timedelta(minutes=1)


def raw_key(nova_id: UUID) -> str:
    """Where the first file of a nova's only dataset lies, for ever."""
    return f"raw/spectra/{nova_id}/{dataset_identity('ESO', f'ADP.{nova_id}')}/primary.fits"


def two(catalogue: NovaCatalogue) -> tuple[UUID, UUID]:
    """Two novae of which the first has something of everything."""
    store, one, other = catalogue.store, uuid4(), uuid4()
    new_nova(store, one, f"Old {one}")
    new_nova(store, other, f"New {other}")
    for number in range(18):
        add_paper(catalogue, one, f"paper-{number}", "2012-06-01")
    add_paper(catalogue, one, "shared", "2011-01-01")
    add_paper(catalogue, other, "shared", "2012-01-01")
    dataset = new_dataset(store, one, f"ADP.{one}", processing_status="COMPLETED", artifacts=[raw_key(one)])
    now = store.clock.now()
    store.create(
        FileObject(
            nova_id=one,
            dataset_id=dataset.dataset_id,
            file_id=file_identity("private", raw_key(one)),
            dataset_type=dataset.dataset_type,
            provider="ESO",
            bucket="private",
            s3_key=raw_key(one),
            created_at=now,
            updated_at=now,
        )
    )
    return one, other


def add_paper(catalogue: NovaCatalogue, nova_id: UUID, reference_id: str, date: str) -> None:
    now = catalogue.store.clock.now()
    about: dict[str, Any] = {"nova_id": nova_id, "reference_id": reference_id, "created_at": now}
    catalogue.store.put(Reference(**about, updated_at=now, date=date))
    catalogue.store.put(NovaReference(**about))


def assert_merged(catalogue: NovaCatalogue, one: UUID, other: UUID) -> None:
    """Nothing is left of the first, nothing is lost, and nothing is there twice."""
    store = catalogue.store
    assert merging.rows_left(store, one) == []
    papers = {r.reference_id: r.date for r in store.find(Reference.of_nova(nova_id=other))}
    assert (len(papers), papers["shared"]) == (19, "2011-01-01")
    assert len(list(store.find(NovaReference.of_nova(nova_id=other)))) == 19
    (dataset,) = store.find(Dataset.of_nova(nova_id=other))
    assert (dataset.processing_status, dataset.validation_status) == ("COMPLETED", "VALID")
    assert dataset.artifacts == [raw_key(one)]
    (file,) = store.find(FileObject.by_object(bucket="private", s3_key=raw_key(one)))
    assert (file.nova_id, file.dataset_id) == (other, dataset.dataset_id)
    names = [f"old {one}", f"new {other}"]
    assert [aliases_of(store, name) for name in names] == [[other], [other]]
    assert [owner(store, name) for name in names] == [other, other]
    nova = store.get(Nova.at(nova_id=other))
    assert (nova.aliases, nova.status) == ([f"Old {one}"], NovaStatus.ACTIVE)
    assert nova.discovery_date == "2011-01-01"
    old = store.get(Nova.at(nova_id=one))
    assert (old.status, old.merged_into) == (NovaStatus.MERGED, other)


def test_a_nova_was_another_all_along(anywhere: NovaCatalogue) -> None:
    """NC-10, NC-13, NC-28: its id, its names, its papers, its datasets and files lead to the other."""
    one, other = two(anywhere)
    ann = Astronomer(anywhere)
    begun = ann.post(f"/novae/{one}/merge", {"into": str(other), "why": "one star"})
    assert ann.get(f"/novae/{one}")["nova_id"] == str(other), "at once"
    (found,) = ann.get("/novae/by-name", name=f"Old {one}")["items"]
    assert found["nova_id"] == str(other), "though its names have not moved yet"
    work_through(anywhere)
    run = ann.run(begun["job_run_id"])
    assert (run["status"], run["outcome"], run["nova_id"]) == ("SUCCEEDED", "MERGED", str(other))
    assert_merged(anywhere, one, other)
    for path in ("", "/aliases", "/references", "/runs"):
        assert ann.get(f"/novae/{one}{path}") == ann.get(f"/novae/{other}{path}")
    assert [n["nova_id"] for n in ann.get("/novae", status="MERGED")["items"]] == [str(one)]
    asked = ann.post(f"/novae/{one}/ingest")
    assert asked["nova_id"] == str(other), "what is asked for it is done for the other"


def test_the_runs_of_a_merged_nova_stay(anywhere: NovaCatalogue) -> None:
    """NC-32, NC-34: as traces, found by its own id and by theirs."""
    one, other = two(anywhere)
    ann = Astronomer(anywhere)
    run = ann.post(f"/novae/{one}/ingest")
    work_through(anywhere)
    before = len(ann.runs(one))
    ann.post(f"/novae/{one}/merge", {"into": str(other)})
    work_through(anywhere)
    assert len(ann.runs(one, own=True)) == before
    assert ann.run(run["job_run_id"])["outcome"] == "LAUNCHED"


def test_a_run_for_a_nova_that_is_merged_meanwhile_goes_on_for_the_other(
    anywhere: NovaCatalogue, sky: KnownSky
) -> None:
    """NC-36, NC-38: nothing is written under the old id any more."""
    from penstock.domains.novae.providers.provider import Paper

    one, other = two(anywhere)
    sky.papers.held = [Paper("late", date="2009-01-01")]
    ann = Astronomer(anywhere)
    begun = ann.post(f"/novae/{one}/references/refresh")
    sky.papers.fails = lambda: merge_once(anywhere, one, other)
    work_through(anywhere)
    run = ann.run(begun["job_run_id"])
    assert (run["outcome"], run["results"]["written"], run["results"]["failed"]) == ("REFRESHED", 1, 0)
    assert merging.rows_left(anywhere.store, one) == []
    assert anywhere.store.get(Nova.at(nova_id=other)).discovery_date == "2009-01-01"


def merge_once(catalogue: NovaCatalogue, one: UUID, other: UUID) -> None:
    if catalogue.store.get(Nova.at(nova_id=one)).status is NovaStatus.ACTIVE:
        merging.merge(catalogue, one, other, by="ann")


def test_a_dataset_that_is_worked_on_is_taken_from_its_worker(anywhere: NovaCatalogue) -> None:
    """NC-22, NC-23, F-NC-4: what the worker writes later is refused, and the next one has an epoch of its own."""
    store = anywhere.store
    one, other = new_nova(store, uuid4(), "A").nova_id, new_nova(store, uuid4(), "B").nova_id
    dataset, now = new_dataset(store, one), store.clock.now()
    with store.change() as change:
        leased = change.get(dataset.ref).lease(owner="w1", now=now, until=now + 15 * MINUTE)
        change.save(leased)
    Astronomer(anywhere).post(f"/novae/{one}/merge", {"into": str(other)})
    work_through(anywhere)
    ours = the(Dataset.lease_owner).equals("w1") & the(Dataset.lease_epoch).equals(1)
    with pytest.raises(Conflict):
        store.patch(dataset.ref, the(Dataset.sha256).set("late"), when=ours)
    assert store.lookup(dataset.ref) is None
    (moved,) = store.find(Dataset.of_nova(nova_id=other))
    # Taken up again at once, by a run that finds no provider to ask.
    told = (moved.processing_status, moved.lease_owner, moved.lease_epoch)
    assert told == (ProcessingStatus.FAILED_RETRYABLE, None, 3)
    (waiting,) = store.find(Dataset.by_eligibility(nova_id=other, eligibility=moved.eligibility))
    assert waiting.dataset_id == dataset.dataset_id


@pytest.mark.parametrize(
    ("one_is", "other_is", "left"),
    [("COMPLETED", "READY", "COMPLETED"), ("READY", "COMPLETED", "COMPLETED"), ("READY", "READY", "FAILED_RETRYABLE")],
)
def test_of_a_product_that_both_have_the_one_with_a_verdict_stays(
    catalogue: NovaCatalogue, one_is: str, other_is: str, left: str
) -> None:
    store = catalogue.store
    one, other = new_nova(store, uuid4(), "A").nova_id, new_nova(store, uuid4(), "B").nova_id
    new_dataset(store, one, processing_status=one_is)
    new_dataset(store, other, processing_status=other_is)
    merging.merge(catalogue, one, other, by="ann")
    work_through(catalogue)
    assert [d.processing_status for d in store.find(Dataset.of_nova(nova_id=other))] == [left]


def test_the_place_of_a_merged_nova_is_that_of_the_other(anywhere: NovaCatalogue, sky: KnownSky) -> None:
    sky.names.objects = [nova_object("A", at=(83.6, 22.0)), nova_object("B")]
    ann = Astronomer(anywhere)
    one, other = ann.initialized("A")["nova_id"], ann.initialized("B")["nova_id"]
    ann.post(f"/novae/{one}/merge", {"into": other})
    work_through(anywhere)
    (found,) = ann.get("/novae/by-position", ra=83.6, dec=22.0)["items"]
    assert (found["nova"]["nova_id"], found["nova"]["ra_deg"]) == (other, 83.6)
    sky.names.objects = [nova_object("C", at=(83.6, 22.0))]
    assert ann.initialized("C")["nova_id"] == other


def test_novae_are_merged_one_after_the_other(anywhere: NovaCatalogue) -> None:
    """The first id leads to the last, also while rows still move."""
    store = anywhere.store
    first, second, third = (new_nova(store, uuid4(), name).nova_id for name in "ABC")
    new_dataset(store, first)
    merging.merge(anywhere, first, second, by="ann")
    merging.merge(anywhere, second, third, by="ann")
    work_through(anywhere)
    ann = Astronomer(anywhere)
    assert {ann.get(f"/novae/{each}")["nova_id"] for each in (first, second, third)} == {str(third)}
    assert len(list(store.find(Dataset.of_nova(nova_id=third)))) == 1
    assert sorted(ann.get(f"/novae/{first}/aliases")["names"]) == ["A", "B", "C"]
    assert [owner(store, name) for name in "abc"] == [third] * 3


def test_what_is_no_nova_of_its_own_is_not_merged(anywhere: NovaCatalogue) -> None:
    store = anywhere.store
    one, other = new_nova(store, uuid4(), "A").nova_id, new_nova(store, uuid4(), "B").nova_id
    ann = Astronomer(anywhere)
    ann.post(f"/novae/{one}/merge", {"into": str(one)}, 409)
    ann.post(f"/novae/{one}/merge", {"into": str(uuid4())}, 404)
    ann.post(f"/novae/{one}/merge", {"into": str(other)})
    refused = ann.post(f"/novae/{one}/merge", {"into": str(other)}, 409)
    assert refused["detail"] == f"nova {one} is MERGED into {other}"
    ann.post(f"/novae/{other}/merge", {"into": str(one)}, 409)


def test_two_that_are_merged_into_each_other_at_once_are_merged_one_way(anywhere: NovaCatalogue) -> None:
    store = anywhere.store
    one, other = new_nova(store, uuid4(), "A").nova_id, new_nova(store, uuid4(), "B").nova_id

    def merge(pair: tuple[UUID, UUID]) -> bool:
        try:
            merging.merge(anywhere, *pair, by="ann")
        except NotMergeable:
            return False
        return True

    with ThreadPoolExecutor(2) as crowd:
        assert sum(crowd.map(merge, [(one, other), (other, one)])) == 1


def test_a_nova_that_is_none_is_deprecated(anywhere: NovaCatalogue) -> None:
    """NC-13: it stays readable, in the list of its own kind."""
    sky_id = new_nova(anywhere.store, uuid4(), "A").nova_id
    ann = Astronomer(anywhere, Role.EDITOR)
    assert ann.post(f"/novae/{sky_id}/deprecate", {"why": "a dwarf nova"}, 200)["status"] == "DEPRECATED"
    assert ann.post(f"/novae/{sky_id}/deprecate", None, 200)["status"] == "DEPRECATED"
    assert [n["nova_id"] for n in ann.get("/novae", status="DEPRECATED")["items"]] == [str(sky_id)]
    assert ann.get("/novae")["items"] == []
    later(anywhere, seconds=1)
    assert work(anywhere) == 0
