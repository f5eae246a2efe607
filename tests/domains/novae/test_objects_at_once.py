"""Objects that come while something else happens to their dataset, or while others tell of them, too."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest

from penstock.domains.novae import dropped_objects
from penstock.domains.novae.data_records import QuarantineEntry
from penstock.domains.novae.dataset_files import file_record
from penstock.domains.novae.model import Dataset, Nova, NovaStatus, ProcessingStatus, StrayObject
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.store_events import read_events
from penstock.files import object_reads
from penstock.work import Task
from tests.domains.novae.data_story import INGEST, NOVA_ID, OTHER_ID, known, runs, the_dataset, told
from tests.domains.novae.made_files import light_curve_csv
from tests.domains.novae.story import Astronomer, later, new_dataset, new_nova, workers
from tests.domains.novae.test_dropped_objects import BUCKET, expected, put_event


def dropped(catalogue: NovaCatalogue, key: str) -> str:
    """What came of an object of which somebody says that it lies there; the run that it begins is left waiting."""
    task_id = dropped_objects.drop(catalogue, key, by="ann")
    workers(catalogue).run_one()
    return str((catalogue.store.get(Task.at(task_id=task_id)).result or {}).get("outcome"))


def test_events_that_two_deliver_at_once_are_received_once_and_answered_the_same_again(
    catalogue: NovaCatalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if there are so many that they are taken in several commits, and the last is the one that is refused."""
    keys = [f"holiday/{n}.jpg" for n in range(25)]
    usual, others = dropped_objects._unheard, [read_events(put_event(keys[-1]))]

    def raced(store: Any, events: Any) -> Any:
        found = usual(store, events)
        if others:
            dropped_objects.receive(catalogue, others.pop(), by="bob")
        return found

    monkeypatch.setattr(dropped_objects, "_unheard", raced)
    event = put_event(*keys)
    event["Records"] += put_event("gone.jpg", name="ObjectRemoved:Delete")["Records"]
    ann = Astronomer(catalogue)
    first = ann.post("/events/objects", event, key="once")
    assert first == {"received": 24, "repeated": 1, "ignored": 1}
    assert ann.post("/events/objects", event, key="once") == first
    assert len(workers(catalogue).waiting()) == 25


def test_an_object_whose_key_names_no_nova_is_found_by_the_index_if_one_alone_claims_it(
    catalogue: NovaCatalogue,
) -> None:
    dataset = new_dataset(catalogue.store, NOVA_ID)
    key = f"raw/photometry/V1324_Sco/{dataset.dataset_id}/upload/table.csv"
    record = file_record(dataset, bucket=BUCKET, key=key, now=catalogue.store.clock.now())
    catalogue.store.put(record)
    assert dropped_objects.owner_of(catalogue.store, BUCKET, key) == record
    catalogue.store.put(record.model_copy(update={"nova_id": OTHER_ID}))
    assert dropped_objects.owner_of(catalogue.store, BUCKET, key) is None


def changed(catalogue: NovaCatalogue, dataset: Dataset, **fields: Any) -> None:
    catalogue.store.put(catalogue.store.get(dataset.ref).model_copy(update=fields))


def test_what_has_come_is_worked_on_at_once_though_its_dataset_rests(catalogue: NovaCatalogue) -> None:
    """And it stands no longer among what is nobody's."""
    known(catalogue)
    dataset, record = expected(catalogue)
    assert dropped(catalogue, record.s3_key) == "UNKNOWN", "its bytes are not there yet"
    (stray,) = catalogue.store.find(StrayObject.told())
    assert [each["key"] for each in told(catalogue, "object.unknown")] == [stray.s3_key]
    tomorrow = int((catalogue.store.clock.now() + timedelta(days=1)).timestamp())
    resting: dict[str, Any] = {"processing_status": ProcessingStatus.FAILED_RETRYABLE}
    changed(catalogue, dataset, **resting, next_eligible_attempt_at=tomorrow)
    catalogue.objects.put(record.s3_key, light_curve_csv())
    later(catalogue, seconds=1)
    assert dropped(catalogue, record.s3_key) == "TAKEN"
    assert len(runs(catalogue, INGEST)) == 1
    assert the_dataset(catalogue).next_eligible_attempt_at is None
    assert list(catalogue.store.find(StrayObject.told())) == []
    told_now = catalogue.store.get(record.ref)
    assert (told_now.byte_length, told_now.updated_at) == (len(light_curve_csv()), catalogue.store.clock.now())
    assert told_now.sha256 == sha256(light_curve_csv()).hexdigest()


def test_what_is_nobodys_is_forgotten_after_a_month(catalogue: NovaCatalogue) -> None:
    assert dropped(catalogue, "holiday/1.jpg") == "UNKNOWN"
    later(catalogue, days=29)
    assert len(list(catalogue.store.find(StrayObject.told()))) == 1
    later(catalogue, days=1)
    assert list(catalogue.store.find(StrayObject.told())) == []


def test_other_bytes_of_what_waits_for_a_person_take_it_from_the_desk(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    dataset, record = expected(catalogue)
    now = catalogue.store.clock.now()
    changed(catalogue, dataset, processing_status=ProcessingStatus.QUARANTINED, quarantined_at=now)
    about: dict[str, Any] = {"dataset_id": dataset.dataset_id, "nova_id": NOVA_ID, "provider": dataset.provider}
    entry = QuarantineEntry(**about, quarantined_at=now, dataset_type=dataset.dataset_type, reason_code="NO_TIMES")
    catalogue.store.put(entry)
    catalogue.objects.put(record.s3_key, light_curve_csv())
    assert dropped(catalogue, record.s3_key) == "TAKEN"
    assert list(catalogue.store.find(QuarantineEntry.waiting())) == []
    assert the_dataset(catalogue).processing_status is ProcessingStatus.READY


def test_what_comes_while_somebody_works_on_it_begins_no_second_run(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    dataset, record = expected(catalogue)
    changed(catalogue, dataset, processing_status=ProcessingStatus.IN_PROGRESS)
    catalogue.objects.put(record.s3_key, light_curve_csv())
    assert dropped(catalogue, record.s3_key) == "KNOWN"
    assert runs(catalogue, INGEST) == []


def test_what_comes_while_its_nova_is_merged_begins_no_run_for_the_former_one(
    catalogue: NovaCatalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    known(catalogue)
    new_nova(catalogue.store, OTHER_ID, "Nova Sco 2012")
    _, record = expected(catalogue)
    catalogue.objects.put(record.s3_key, light_curve_csv())
    usual, nova = object_reads.examine, catalogue.store.get(Nova.at(nova_id=NOVA_ID))

    def meanwhile(*given: Any, **more: Any) -> Any:
        merged: dict[str, Any] = {"status": NovaStatus.MERGED, "merged_into": OTHER_ID}
        catalogue.store.put(nova.model_copy(update=merged))
        return usual(*given, **more)

    monkeypatch.setattr(dropped_objects, "examine", meanwhile)
    assert dropped(catalogue, record.s3_key) == "None"
    assert len(workers(catalogue).waiting()) == 1, "it is looked at again"
    assert runs(catalogue, INGEST) == []
