"""Objects that have come: the event of a store finds whose each is, early, late, twice, or never."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote_plus

import pytest

from penstock import Store
from penstock.domains.novae import bundle_writing, contributions, dropped_objects
from penstock.domains.novae.dataset_files import file_record
from penstock.domains.novae.datasets import add_dataset
from penstock.domains.novae.model import (
    Dataset,
    DatasetType,
    FileObject,
    ProcessingStatus,
    StrayObject,
    dataset_identity,
)
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_files import RAW_PHOTOMETRY
from penstock.domains.novae.novae_commands import commands
from penstock.domains.novae.store_events import read_events
from penstock.errors import InvalidValue
from penstock.files import object_reads
from penstock.schema.role import Role
from penstock.work import Task, TaskStatus
from tests.domains.novae.data_story import (
    INGEST,
    NOVA_ID,
    OTHER_ID,
    added,
    datasets,
    known,
    outcomes,
    runs,
    sent,
    the_dataset,
)
from tests.domains.novae.made_files import light_curve_csv
from tests.domains.novae.story import Astronomer, context_of, later, new_nova, work, work_through

BUCKET = "novacat"


def put_event(*keys: str, etag: str = "e1", bucket: str = BUCKET, name: str = "ObjectCreated:Put") -> dict[str, Any]:
    """An event as S3 sends it."""
    return {"Records": [_record(key, etag, bucket, name) for key in keys]}


def _record(key: str, etag: str, bucket: str, name: str) -> dict[str, Any]:
    thing = {"key": quote_plus(key, safe="/"), "size": 10, "eTag": etag, "sequencer": "0A1B"}
    return {"eventSource": "aws:s3", "eventName": name, "s3": {"bucket": {"name": bucket}, "object": thing}}


def expected(catalogue: NovaCatalogue, name: str = "table.csv") -> tuple[Dataset, FileObject]:
    """A dataset whose file is to be put into the bucket by somebody, and its record."""
    now = catalogue.store.clock.now()
    dataset = Dataset(
        nova_id=NOVA_ID,
        dataset_type=DatasetType.PHOTOMETRY,
        provider="aavso",
        dataset_id=dataset_identity("aavso", name),
        created_at=now,
        updated_at=now,
    )
    key = RAW_PHOTOMETRY.key(str(NOVA_ID), name, dataset_id=dataset.dataset_id)
    record = file_record(dataset, bucket=BUCKET, key=key, now=now)
    with catalogue.store.change() as change:
        add_dataset(change, dataset)
        change.put(record)
    return dataset, record


def test_a_dropped_file_finds_its_dataset_and_is_ingested(anywhere: NovaCatalogue) -> None:
    """NC-29, NC-30, F-NC-8: on every engine; its key is decoded, and told twice it is worked on once."""
    known(anywhere)
    _, record = expected(anywhere, "my table+1.csv")
    anywhere.objects.put(record.s3_key, light_curve_csv())
    ann = Astronomer(anywhere)
    event = put_event(record.s3_key)
    assert "my+table%2B1.csv" in event["Records"][0]["s3"]["object"]["key"]
    assert ann.post("/events/objects", event) == {"received": 1, "repeated": 0, "ignored": 0}
    work_through(anywhere)
    assert the_dataset(anywhere).processing_status is ProcessingStatus.COMPLETED
    assert outcomes(anywhere, INGEST) == [("SUCCEEDED", "INGESTED")]
    assert ann.post("/events/objects", event) == {"received": 0, "repeated": 1, "ignored": 0}
    later(anywhere, minutes=5)
    assert ann.post("/events/objects", put_event(record.s3_key, etag="late"))["received"] == 1
    work_through(anywhere)
    assert outcomes(anywhere, INGEST) == [("SUCCEEDED", "INGESTED")]


def test_an_event_that_beats_the_index_finds_its_owner_all_the_same(
    catalogue: NovaCatalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-NC-8: the index has nothing yet; the key itself says where the record is."""
    known(catalogue)
    _, record = expected(catalogue)
    catalogue.objects.put(record.s3_key, light_curve_csv())
    usual = type(catalogue.store).find

    def lagging(store: Any, query: Any, **options: Any) -> Any:
        return iter(()) if query.pattern.name == "by_object" else usual(store, query, **options)

    monkeypatch.setattr(type(catalogue.store), "find", lagging)
    found = dropped_objects.owner_of(catalogue.store, BUCKET, record.s3_key)
    assert found is not None
    assert found.dataset_id == record.dataset_id


def test_an_event_that_comes_before_the_record_is_looked_at_again(catalogue: NovaCatalogue) -> None:
    """F-NC-8: whoever announces the object has not committed yet; a little later the owner is there."""
    known(catalogue)
    dataset_id = dataset_identity("aavso", "table.csv")
    key = RAW_PHOTOMETRY.key(str(NOVA_ID), "table.csv", dataset_id=dataset_id)
    catalogue.objects.put(key, light_curve_csv())
    ann = Astronomer(catalogue)
    ann.post("/events/objects", put_event(key))
    work(catalogue)
    assert runs(catalogue, INGEST) == []
    expected(catalogue)
    work_through(catalogue)
    assert the_dataset(catalogue).processing_status is ProcessingStatus.COMPLETED
    assert list(catalogue.store.find(StrayObject.told())) == []


def test_an_object_with_a_path_that_tells_nothing_is_found_by_the_index(catalogue: NovaCatalogue) -> None:
    """NC-29: by exact match of bucket and key; another bucket's is another object."""
    known(catalogue)
    _, record = expected(catalogue)
    (found,) = catalogue.store.find(FileObject.by_object(bucket=BUCKET, s3_key=record.s3_key))
    assert found == record
    assert dropped_objects.owner_of(catalogue.store, "another", record.s3_key) is None
    assert dropped_objects.owner_of(catalogue.store, BUCKET, f"prod/data/{record.s3_key}") == record


def test_an_unknown_object_is_told_and_not_tried_for_ever(catalogue: NovaCatalogue) -> None:
    """F-NC-8: after its attempts it stands in the list of strays; no task is left, and none has failed."""
    known(catalogue)
    ann = Astronomer(catalogue)
    odd = ["holiday/picture of me.jpg", "raw/spectra/x/y/../z", f"raw/photometry/{OTHER_ID}/{NOVA_ID}/upload/a.csv"]
    ann.post("/events/objects", put_event(*odd))
    work_through(catalogue)
    assert sorted(each["s3_key"] for each in ann.get("/events/strays")["items"]) == sorted(odd)
    assert _tasks_left(catalogue) == []


def _tasks_left(catalogue: NovaCatalogue) -> list[Task]:
    left = (TaskStatus.WAITING, TaskStatus.FAILED, TaskStatus.QUARANTINED)
    return [task for status in left for task in catalogue.store.find(Task.by_status(status=status))]


def test_an_unknown_object_is_told_also_if_no_record_could_have_its_key(catalogue: NovaCatalogue) -> None:
    """S3 allows line breaks in a key, and more bytes than a record's key has beside the bucket."""
    known(catalogue)
    ann = Astronomer(catalogue)
    long = ["é" * 511 + end for end in "ab"]
    ann.post("/events/objects", put_event("a\nb.csv", *long))
    work_through(catalogue)
    listed = [each["s3_key"] for each in ann.get("/events/strays")["items"]]
    assert len(listed) == 3
    assert "a\\nb.csv" in listed
    assert len([key for key in listed if key.startswith("é" * 380)]) == 2, "cut, and still two"
    assert _tasks_left(catalogue) == []


def test_a_file_that_was_announced_and_dropped_into_the_bucket_is_taken(catalogue: NovaCatalogue) -> None:
    """NC-29, F-NC-8: its record is older than its bytes, so the event alone is enough; other bytes are told."""
    known(catalogue)
    reserved = sent(catalogue, light_curve_csv())
    key = reserved.contribution.s3_key
    assert dropped_objects.owner_of(catalogue.store, BUCKET, key) is not None
    catalogue.objects.put(key, light_curve_csv(3))
    ann = Astronomer(catalogue)
    ann.post("/events/objects", put_event(key))
    work_through(catalogue)
    assert datasets(catalogue) == []
    (stray,) = ann.get("/events/strays")["items"]
    assert "SHA-256" in stray["reason"]
    catalogue.objects.put(key, light_curve_csv())
    ann.post("/events/dropped", {"key": key})
    work_through(catalogue)
    assert the_dataset(catalogue).processing_status is ProcessingStatus.COMPLETED
    assert contributions.contribution_of(catalogue, reserved.contribution.contribution_id).where is None


def test_what_was_made_here_is_told_of_and_nothing_done(catalogue: NovaCatalogue) -> None:
    """NC-36: products are objects, too."""
    known(catalogue)
    added(catalogue, light_curve_csv())
    dataset = the_dataset(catalogue)
    Astronomer(catalogue).post("/events/objects", put_event(*dataset.artifacts))
    work_through(catalogue)
    assert len(runs(catalogue, INGEST)) == 1
    assert list(catalogue.store.find(StrayObject.told())) == []


def test_other_bytes_under_the_same_key_are_ingested_anew(catalogue: NovaCatalogue) -> None:
    """NC-36: what an object is, its bytes say."""
    known(catalogue)
    _, record = expected(catalogue)
    catalogue.objects.put(record.s3_key, light_curve_csv(5))
    ann = Astronomer(catalogue)
    ann.post("/events/objects", put_event(record.s3_key, etag="one"))
    work_through(catalogue)
    later(catalogue, minutes=1)
    catalogue.objects.put(record.s3_key, light_curve_csv(9))
    ann.post("/events/objects", put_event(record.s3_key, etag="two"))
    work_through(catalogue)
    assert outcomes(catalogue, INGEST) == [("SUCCEEDED", "INGESTED")] * 2
    assert (the_dataset(catalogue).summary or {})["rows"] == 9


def test_in_the_terminal_a_failure_is_told_once_however_long_it_lasts(
    catalogue: NovaCatalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    known(catalogue)
    dataset, record = expected(catalogue)
    catalogue.objects.put(record.s3_key, light_curve_csv())
    failures, usual = [RuntimeError("the files are away")] * 2, object_reads.examine

    def examine(*given: Any, **more: Any) -> Any:
        if failures:
            raise failures.pop()
        return usual(*given, **more)

    def commits(store: Store) -> Iterator[None]:
        while True:
            yield
            work(catalogue)
            later(catalogue, minutes=1)

    monkeypatch.setattr(dropped_objects, "examine", examine)
    monkeypatch.setattr(bundle_writing, "commits", commits)
    said = list[str]()
    terminal: Any = SimpleNamespace(tell=said.append, working=lambda **where: nullcontext(context_of(catalogue)))
    commands(terminal)["novae dropped"](BUCKET, record.s3_key)
    assert said == [
        "the files are away; it is looked for again, for three minutes",
        f"TAKEN: {record.s3_key} of dataset {dataset.dataset_id}",
    ]


def test_only_who_may_edit_may_tell_of_objects(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    Astronomer(catalogue, Role.VIEWER).post("/events/objects", put_event("a"), status=403)
    Astronomer(catalogue).post("/events/objects", {"hello": "world"}, status=422)


# Envelopes


def test_every_envelope_is_opened() -> None:
    """NC-29, F-NC-8: S3's own with encoded keys, EventBridge's with plain ones, SNS and SQS around them."""
    import json

    s3 = put_event("raw/a b+c.csv", "raw/ü.csv")
    assert [each.key for each in read_events(s3).events] == ["raw/a b+c.csv", "raw/ü.csv"]
    bridge = {
        "source": "aws.s3",
        "detail-type": "Object Created",
        "detail": {"bucket": {"name": "b"}, "object": {"key": "raw/a+b%20c.csv", "size": 3, "etag": "x"}},
    }
    (event,) = read_events(bridge).events
    assert (event.bucket, event.key, event.size, event.etag) == ("b", "raw/a+b%20c.csv", 3, "x")
    assert len(read_events({"Records": [{"body": json.dumps(s3)}]}).events) == 2
    assert len(read_events({"Records": [{"Sns": {"Message": json.dumps(s3)}}]}).events) == 2
    assert len(read_events({"Message": json.dumps(bridge)}).events) == 1
    assert read_events({"Event": "s3:TestEvent"}).events == ()
    removed = read_events(put_event("raw/a", name="ObjectRemoved:Delete"))
    assert (removed.events, removed.ignored) == ((), 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"Records": [{"eventName": "ObjectCreated:Put", "s3": {}}]},
        {"Records": [{"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": 1}, "object": {"key": "a"}}}]},
        {"Message": "no json"},
        {"Message": "[1]"},
        put_event(*["k"] * 1001),
        put_event("k" * 4000),
    ],
)
def test_what_is_no_event_is_refused_in_words(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        read_events(wrong)


def test_a_merged_novas_objects_are_found_under_the_other(catalogue: NovaCatalogue) -> None:
    """NC-29: objects stay where they are, and their keys keep the old id; their records have moved."""
    from penstock.domains.novae import merging

    known(catalogue)
    new_nova(catalogue.store, OTHER_ID, "Nova Sco 2012")
    _, record = expected(catalogue)
    catalogue.objects.put(record.s3_key, light_curve_csv())
    merging.merge(catalogue, NOVA_ID, OTHER_ID, by="ann")
    work_through(catalogue)
    found = dropped_objects.owner_of(catalogue.store, BUCKET, record.s3_key)
    assert found is not None
    assert found.nova_id == OTHER_ID
    later(catalogue, minutes=1)
    Astronomer(catalogue).post("/events/objects", put_event(record.s3_key))
    work_through(catalogue)
    dataset = the_dataset(catalogue, OTHER_ID)
    assert (dataset.processing_status, dataset.raw_key) == ("COMPLETED", record.s3_key)
