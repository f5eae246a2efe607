"""Novae: names that mean one nova, datasets that one worker has, and every access pattern of the document."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from boto3.dynamodb.conditions import Key
from pydantic import ValidationError

from penstock import Store, since, the
from penstock.domains.novae.model import (
    DOMAIN,
    NOVA_CAT,
    Alias,
    Attempt,
    Dataset,
    DatasetType,
    Doubt,
    DoubtfulItem,
    Eligibility,
    ErrorClass,
    FileObject,
    JobRun,
    JobRunPlace,
    NameAttempt,
    NameClaim,
    NameRun,
    Nova,
    NovaEntry,
    NovaPosition,
    NovaReference,
    NovaStatus,
    ProcessingStatus,
    Reference,
    RunLock,
    RunStatus,
    SkyCell,
    dataset_identity,
    file_identity,
    normalize_name,
)
from penstock.errors import Conflict, IllegalMove, InvalidValue
from penstock.schema.shape import KeyAttribute

from .keys import assert_every_pattern_is_a_query, index_key_of, key_of, transitions

pytestmark = pytest.mark.every_engine

NOVA_ID = UUID("11111111-1111-4111-8111-111111111111")
OTHER_ID = UUID("22222222-2222-4222-8222-222222222222")
RUN_ID = UUID("33333333-3333-4333-8333-333333333333")
NOON = datetime(2037, 3, 1, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
TICK = timedelta(microseconds=1)
STAMPS: dict[str, Any] = {"created_at": NOON, "updated_at": NOON}


def nova(nova_id: UUID = NOVA_ID, name: str = "V1324 Sco", **fields: Any) -> Nova:
    return Nova(
        **{
            "nova_id": nova_id,
            "preferred_name": name,
            "normalized_preferred_name": normalize_name(name),
            **STAMPS,
            **fields,
        }
    )


def dataset(identity: str = "ADP.1", provider: str = "ESO", **fields: Any) -> Dataset:
    given: dict[str, Any] = {
        "nova_id": NOVA_ID,
        "dataset_type": DatasetType.SPECTRA,
        "provider": provider,
        "dataset_id": dataset_identity(provider, identity),
        "provider_identity": identity,
    }
    return Dataset(**{**given, **STAMPS, **fields})


UPLOADED = f"raw/photometry/{NOVA_ID}/{dataset().dataset_id}/upload/a.csv"
PREVIEW = f"derived/spectra/{NOVA_ID}/{dataset().dataset_id}/plots/preview.png"


def file(s3_key: str = UPLOADED, **fields: Any) -> FileObject:
    given: dict[str, Any] = {
        "nova_id": NOVA_ID,
        "dataset_id": dataset().dataset_id,
        "file_id": file_identity("nova-private", s3_key),
        "dataset_type": DatasetType.SPECTRA,
        "provider": "ESO",
        "bucket": "nova-private",
        "s3_key": s3_key,
    }
    return FileObject(**{**given, **STAMPS, **fields})


def run(**fields: Any) -> JobRun:
    given = {"nova_id": NOVA_ID, "started_at": NOON, "job_run_id": RUN_ID, "workflow_name": "ingest_new_nova"}
    return JobRun(**{**given, **fields})


def attempt(task: str = "download", number: int = 1, **fields: Any) -> Attempt:
    given: dict[str, Any] = {"nova_id": NOVA_ID, "job_run_id": RUN_ID, "task": task, "attempt": number}
    return Attempt(**{**given, "ts": NOON, "succeeded": True, **fields})


# Layout


def test_the_table_is_the_documents() -> None:
    """NC-1, NC-3, NC-4, NC-5: one table, three indexes."""
    place = NOVA_CAT.place
    assert place.name == "NovaCat"
    assert (place.partition, place.sort) == (KeyAttribute("PK"), KeyAttribute("SK")), "which are texts"
    assert [(i.name, i.partition.name, i.sort and i.sort.name) for i in place.indexes.values()] == [
        ("GSI1", "GSI1PK", "GSI1SK"),
        ("GSI2", "GSI2PK", "GSI2SK"),
        ("GSI3", "GSI3PK", "GSI3SK"),
    ]


def test_every_key_is_the_documents() -> None:
    """NC-2, NC-8, NC-9, NC-14, NC-15, NC-17, NC-25, NC-32…NC-34, F-NC-2, F-NC-10, F-NC-11: letter for letter."""
    partition = f"NOVA#{NOVA_ID}"
    dataset_id = dataset().dataset_id
    name: dict[str, Any] = {"normalized_name": "v1324 sco", "nova_id": NOVA_ID}
    assert key_of(nova()) == (partition, "META")
    assert key_of(Alias(**name)) == ("NAME#v1324 sco", f"NOVA#{NOVA_ID}")
    assert key_of(NameClaim(**name)) == ("NAME#v1324 sco", "CLAIM")
    paper: dict[str, Any] = {"nova_id": NOVA_ID, "reference_id": "2012ATel.4157....1W"}
    assert key_of(Reference(**paper, **STAMPS)) == (partition, "REF#2012ATel.4157....1W")
    assert key_of(NovaReference(**paper)) == (partition, "NOVAREF#2012ATel.4157....1W")
    assert key_of(dataset()) == (partition, f"DATASET#SPECTRA#ESO#{dataset_id}")
    photometry = dataset(dataset_type=DatasetType.PHOTOMETRY)
    assert key_of(photometry) == (partition, f"DATASET#PHOTOMETRY#ESO#{dataset_id}")
    assert key_of(file()) == (partition, f"FILE#{dataset_id}#{file().file_id}")
    assert key_of(run()) == (partition, f"JOBRUN#2037-03-01T12:00:00.000000Z#{RUN_ID}")
    place = JobRunPlace(job_run_id=RUN_ID, workflow_name="initialize_nova", started_at=NOON)
    assert key_of(place) == (f"JOBRUN#{RUN_ID}", "META")
    assert key_of(attempt(number=2)) == (
        partition,
        f"ATTEMPT#{RUN_ID}#download#002#2037-03-01T12:00:00.000000Z",
    )


def test_every_further_key_is_apart_from_the_documents() -> None:
    """F-NC-10, F-NC-11: runs of names, locks, lists, places and doubts have partitions or prefixes of their own."""
    name_run = NameRun(normalized_name="v1324 sco", started_at=NOON, job_run_id=RUN_ID, workflow_name="initialize_nova")
    assert key_of(name_run) == ("NAME#v1324 sco", f"JOBRUN#2037-03-01T12:00:00.000000Z#{RUN_ID}")
    tried = NameAttempt(
        normalized_name="v1324 sco", job_run_id=RUN_ID, task="resolve", attempt=1, ts=NOON, succeeded=True
    )
    assert key_of(tried) == ("NAME#v1324 sco", f"ATTEMPT#{RUN_ID}#resolve#001#2037-03-01T12:00:00.000000Z")
    lock = RunLock(request="Ingest:1:x", turn=1, workflow_name="ingest_new_nova", job_run_id=RUN_ID, started_at=NOON)
    assert key_of(lock) == ("IDEMPOTENCY#Ingest:1:x", "LOCK")
    entry = NovaEntry(status=NovaStatus.ACTIVE, created_at=NOON, nova_id=NOVA_ID, preferred_name="V1324 Sco")
    assert key_of(entry) == ("NOVAE#ACTIVE", f"2037-03-01T12:00:00Z#{NOVA_ID}")
    assert key_of(NovaPosition(cell="1-2", nova_id=NOVA_ID, ra_deg=1, dec_deg=2)) == ("SKY#1-2", f"NOVA#{NOVA_ID}")
    assert key_of(SkyCell(cell="1-2", turn=1)) == ("SKY#1-2", "CELL")
    doubt = Doubt(job_run_id=RUN_ID, asked_at=NOON, workflow_name="w", reason_code="c", subject="s")
    assert key_of(doubt) == (f"JOBRUN#{RUN_ID}", "DOUBT")
    assert index_key_of(doubt, "GSI1") == ("DOUBTS", f"2037-03-01T12:00:00.000000Z#{RUN_ID}")
    odd = DoubtfulItem(nova_id=NOVA_ID, source="ads", item_id="i", reason_code="c", reason="r", found_at=NOON)
    assert key_of(odd) == (f"NOVA#{NOVA_ID}", "DOUBTFUL#ads#i")


def test_every_index_key_is_the_documents() -> None:
    """NC-3, NC-4, NC-5, NC-9, NC-28: eligibility, names, objects."""
    assert index_key_of(dataset(), "GSI1") == (f"NOVA#{NOVA_ID}", f"ELIG#DOWNLOAD#{dataset().dataset_id}")
    alias = Alias(normalized_name="v1324 sco", nova_id=NOVA_ID)
    assert index_key_of(alias, "GSI2") == ("NAME#v1324 sco", f"NOVA#{NOVA_ID}")
    assert index_key_of(file(), "GSI3") == ("S3#nova-private", UPLOADED)
    others = (nova(), run(), attempt())
    assert [index_key_of(record, name) for record in others for name in ("GSI1", "GSI2", "GSI3")] == [None] * 9


def test_a_separator_in_a_provider_or_task_is_escaped() -> None:
    """F-X-5: so that no provider's prefix is another's."""
    odd = dataset(provider="ESO#1")
    assert key_of(odd)[1] == f"DATASET#SPECTRA#ESO%231#{odd.dataset_id}"
    assert key_of(attempt("plot #1"))[1] == f"ATTEMPT#{RUN_ID}#plot%20%231#001#2037-03-01T12:00:00.000000Z"


@pytest.mark.parametrize(
    "spelling", ["V1324 Sco", " v1324  sco ", "V1324_Sco", "V1324\tSCO", "v1324_ sco", "\u00a0V1324 Sco\n"]
)
def test_a_name_has_one_spelling(spelling: str) -> None:
    """NC-6, F-NC-11: trimmed, underscores as spaces, lower case, single spaces."""
    assert normalize_name(spelling) == "v1324 sco"


def test_the_same_product_is_the_same_dataset() -> None:
    """NC-17, F-NC-5: whoever finds it; and no two products share an id."""
    assert dataset_identity("ESO", "ADP.1") == dataset_identity("ESO", "ADP.1")
    assert dataset_identity("ESO", "ADP.1").version == 5
    different = [("ESO", "ADP.2"), ("CfA", "ADP.1"), ("ESO:ADP", "1"), ("ESO", "ADP:1"), ("E", "SO:ADP.1")]
    assert len({dataset_identity(*pair) for pair in [("ESO", "ADP.1"), *different]}) == 6
    assert file_identity("b", "k") != dataset_identity("b", "k")


def test_the_fields_have_the_documents_names() -> None:
    """NC-13, NC-16, NC-19, NC-22, NC-26, NC-27, NC-31."""
    documented = {
        Nova: "nova_id discovery_date last_ingest_at status created_at updated_at schema_version",
        Dataset: "provider locators hints processing_status lease_owner lease_expires_at lease_epoch byte_length etag "
        "sha256 fits_checksum header_signature validation_status quarantine_reason_code quarantine_details "
        "profile_selection artifacts eligibility",
        FileObject: "nova_id dataset_id dataset_type bucket s3_key byte_length etag sha256",
    }
    for entity, names in documented.items():
        assert set(names.split()) <= {f.attribute for f in entity.__shape__.fields.values() if f.stored}


@pytest.mark.parametrize("wrong", ["2012", "2012-13-01", "2012-06-32", "June 2012", "2012-6-1"])
def test_a_papers_date_has_one_width(wrong: str) -> None:
    """NC-16, F-NC-9: a month alone is day 00, which sorts before its days."""
    assert "2012-06-00" < "2012-06-01"
    assert nova(discovery_date="2012-06-00").discovery_date == "2012-06-00"
    with pytest.raises(ValidationError):
        nova(discovery_date=wrong)


# States


def test_the_dataset_machine_is_exactly_this() -> None:
    """NC-22…NC-24, NC-27, F-NC-7: one machine."""
    assert transitions(Dataset) == {
        ("READY", "IN_PROGRESS"),
        ("FAILED_RETRYABLE", "IN_PROGRESS"),
        ("IN_PROGRESS", "IN_PROGRESS"),
        ("IN_PROGRESS", "COMPLETED"),
        ("IN_PROGRESS", "QUARANTINED"),
        ("IN_PROGRESS", "FAILED_RETRYABLE"),
        ("IN_PROGRESS", "FAILED_TERMINAL"),
        ("QUARANTINED", "FAILED_TERMINAL"),
        ("COMPLETED", "FAILED_TERMINAL"),
        ("QUARANTINED", "READY"),
        ("COMPLETED", "READY"),
        ("FAILED_TERMINAL", "READY"),
    }


@pytest.mark.parametrize(
    ("state", "verdict", "eligible"),
    [
        ("READY", None, True),
        ("IN_PROGRESS", None, True),
        ("FAILED_RETRYABLE", "RETRYABLE_ERROR", True),
        ("COMPLETED", "VALID", False),
        ("QUARANTINED", "QUARANTINED", False),
        ("FAILED_TERMINAL", "TERMINAL_INVALID", False),
    ],
)
def test_verdict_and_eligibility_follow_from_the_state(state: str, verdict: str | None, eligible: bool) -> None:
    """NC-20, NC-27, NC-35, F-NC-6, F-NC-7: and NONE has no key in the index."""
    spectrum = dataset(processing_status=state)
    assert (spectrum.validation_status, spectrum.eligibility) == (verdict, "DOWNLOAD" if eligible else "NONE")
    photometry = dataset(processing_status=state, dataset_type=DatasetType.PHOTOMETRY)
    assert photometry.eligibility == ("INGEST" if eligible else "NONE")
    assert (index_key_of(spectrum, "GSI1") is not None) is eligible
    assert (index_key_of(photometry, "GSI1") is not None) is eligible


def test_what_follows_cannot_be_set() -> None:
    """F-NC-7: neither the verdict nor the eligibility, by hand or by patch."""
    record = dataset()
    with pytest.raises(ValidationError, match="frozen"):
        record.eligibility = Eligibility.NONE
    with pytest.raises(ValidationError, match="frozen"):
        record.validation_status = None
    with pytest.raises(InvalidValue, match="frozen"):
        the(Dataset.eligibility).set(Eligibility.NONE)
    assert dataset(eligibility=Eligibility.NONE).eligibility == "DOWNLOAD"


def test_a_lease_is_granted_kept_and_reclaimed() -> None:
    """NC-22, NC-23, NC-24, F-NC-3, F-NC-4: the first one too; the epoch only grows."""
    record = dataset()
    record.lease(owner="run-1", now=NOON, until=NOON + HOUR)
    assert (record.processing_status, record.lease_owner) == ("IN_PROGRESS", "run-1")
    assert (record.lease_expires_at, record.lease_epoch) == (int((NOON + HOUR).timestamp()), 1)
    with pytest.raises(IllegalMove, match="leased by run-1"):
        record.lease(owner="run-2", now=NOON + HOUR, until=NOON + 2 * HOUR)
    assert record.lease_owner == "run-1"
    record.lease(owner="run-2", now=NOON + HOUR + TICK, until=NOON + 2 * HOUR)
    assert (record.lease_owner, record.lease_epoch) == ("run-2", 2)


@pytest.mark.parametrize("ending", ["accept", "fail", "reject"])
def test_an_ending_gives_the_lease_back(ending: str) -> None:
    """F-NC-3: its fields are removed, the epoch stays; a finished dataset is not leased again."""
    record = dataset()
    record.lease(owner="run-1", now=NOON, until=NOON + HOUR)
    getattr(record, ending)()
    assert (record.lease_owner, record.lease_expires_at, record.lease_epoch) == (None, None, 1)
    if ending == "fail":
        record.lease(owner="run-2", now=NOON, until=NOON + HOUR)
        assert record.lease_epoch == 2
    else:
        with pytest.raises(IllegalMove, match="lease needs"):
            record.lease(owner="run-2", now=NOON + 2 * HOUR, until=NOON + 3 * HOUR)


def test_a_quarantine_says_why_and_is_cleared_by_a_person() -> None:
    """NC-27: reason, details and the profile that was chosen."""
    record = dataset(processing_status="IN_PROGRESS")
    record.quarantine(code="UNKNOWN_PROFILE", details={"INSTRUME": "X"}, profile={"chosen": None})
    assert (record.validation_status, record.quarantine_reason_code) == ("QUARANTINED", "UNKNOWN_PROFILE")
    assert (record.quarantine_details, record.profile_selection) == ({"INSTRUME": "X"}, {"chosen": None})
    record.reopen()
    assert (record.processing_status, record.quarantine_reason_code, record.eligibility) == ("READY", None, "DOWNLOAD")


def test_runs_and_novae_end_in_one_way() -> None:
    """NC-12, NC-13: a run succeeds, quarantines or fails; a nova is merged for good, or deprecated until restored."""
    assert transitions(JobRun) == {("RUNNING", "SUCCEEDED"), ("RUNNING", "QUARANTINED"), ("RUNNING", "FAILED")}
    assert transitions(Nova) == {("ACTIVE", "MERGED"), ("ACTIVE", "DEPRECATED"), ("DEPRECATED", "ACTIVE")}
    ended = run()
    ended.succeed(outcome="CREATED_AND_LAUNCHED", at=NOON + HOUR)
    assert (ended.status, ended.outcome, ended.finished_at) == (
        RunStatus.SUCCEEDED,
        "CREATED_AND_LAUNCHED",
        NOON + HOUR,
    )
    merged = nova()
    merged.merge(into=OTHER_ID)
    assert (merged.status, merged.merged_into) == (NovaStatus.MERGED, OTHER_ID)


# Questions


def test_no_pattern_scans() -> None:
    """NC-35: each reads one partition of the table or of an index."""
    assert_every_pattern_is_a_query(DOMAIN)


def initialize(store: Store, record: Nova) -> None:
    """A nova, its name and the claim on it, or nothing of it."""
    name = record.normalized_preferred_name
    with store.change() as change:
        change.create(NameClaim(normalized_name=name, nova_id=record.nova_id))
        change.create(Alias(normalized_name=name, nova_id=record.nova_id))
        change.create(record)


def test_a_name_means_none_one_or_several(store: Store) -> None:
    """NC-6, NC-7, NC-9, NC-10, F-NC-1: read by key, so at once; many names may mean one nova."""
    found = Alias.by_name(normalized_name="v1324 sco")
    assert found.pattern.index is None, "an index may not have heard of it yet"
    assert list(store.find(found)) == []
    initialize(store, nova())
    assert [a.nova_id for a in store.find(found)] == [NOVA_ID]
    store.create(Alias(normalized_name="nova sco 2012", nova_id=NOVA_ID))
    assert [a.nova_id for a in store.find(Alias.by_name(normalized_name="nova sco 2012"))] == [NOVA_ID]
    store.create(Alias(normalized_name="v1324 sco", nova_id=OTHER_ID))  # explicitly allowed
    assert [a.nova_id for a in store.find(found)] == [NOVA_ID, OTHER_ID]


def test_a_second_nova_cannot_take_a_name(store: Store) -> None:
    """NC-8, NC-10, F-NC-2: the claim refuses, and nothing of the second nova is left."""
    initialize(store, nova())
    with pytest.raises(Conflict):
        initialize(store, nova(OTHER_ID))
    assert store.lookup(Nova.at(nova_id=OTHER_ID)) is None
    assert [a.nova_id for a in store.find(Alias.by_name(normalized_name="v1324 sco"))] == [NOVA_ID]
    with pytest.raises(Conflict):
        store.create(nova())


def test_a_nova_is_read_and_changed_in_parts(store: Store) -> None:
    """NC-11, NC-13: an update keeps what it does not name."""
    store.create(nova(aliases=["Nova Sco 2012"]))
    ref = Nova.at(nova_id=NOVA_ID)
    store.patch(ref, the(Nova.last_ingest_at).set(NOON + HOUR), the(Nova.version_counter).add(1))
    assert store.get(ref) == nova(aliases=["Nova Sco 2012"], last_ingest_at=NOON + HOUR, version_counter=1)


def test_the_discovery_date_only_moves_earlier(store: Store) -> None:
    """NC-14, NC-15, NC-16, F-NC-9: from the papers' own dates."""
    store.create(nova())
    for number, day in enumerate(["2012-07-01", "2012-06-00", "2013-01-05"]):
        paper: dict[str, Any] = {"nova_id": NOVA_ID, "reference_id": f"paper-{number}"}
        store.put(Reference(**paper, date=day, **STAMPS))
        store.put(NovaReference(**paper))
    store.put(NovaReference(nova_id=NOVA_ID, reference_id="paper-0"))
    assert len(list(store.find(NovaReference.of_nova(nova_id=NOVA_ID)))) == 3
    dates = [r.date for r in store.find(Reference.of_nova(nova_id=NOVA_ID)) if r.date]
    earlier = the(Nova.discovery_date).absent() | the(Nova.discovery_date).after(min(dates))
    store.patch(Nova.at(nova_id=NOVA_ID), the(Nova.discovery_date).set(min(dates)), when=earlier)
    later = the(Nova.discovery_date).absent() | the(Nova.discovery_date).after("2012-06-15")
    with pytest.raises(Conflict):
        store.patch(Nova.at(nova_id=NOVA_ID), the(Nova.discovery_date).set("2012-06-15"), when=later)
    assert store.get(Nova.at(nova_id=NOVA_ID)).discovery_date == "2012-06-00"


def test_datasets_of_a_provider(store: Store) -> None:
    """NC-17, NC-18, NC-19, F-NC-5: its own only; found again, it is refused and its locators are renewed."""
    store.put_many([dataset("a"), dataset("b"), dataset("a", "ESO2"), dataset("a", dataset_type="PHOTOMETRY")])
    store.create(dataset("a", nova_id=OTHER_ID))

    def found(**asked: Any) -> set[UUID]:
        return {d.dataset_id for d in store.find(Dataset.of_nova(nova_id=NOVA_ID, **asked))}

    ours = {dataset_identity("ESO", "a"), dataset_identity("ESO", "b")}
    assert found(dataset_type=DatasetType.SPECTRA, provider="ESO") == ours
    assert found(dataset_type=DatasetType.SPECTRA) == {*ours, dataset_identity("ESO2", "a")}
    assert found(dataset_type=DatasetType.PHOTOMETRY) == {dataset_identity("ESO", "a")}
    assert len(list(store.find(Dataset.of_nova(nova_id=NOVA_ID)))) == 4
    with pytest.raises(Conflict):
        store.create(dataset("a"))
    renewed = store.patch(
        dataset("a").ref, the(Dataset.locators).set(["https://archive/a"]), the(Dataset.hints).set({"grating": "B"})
    )
    assert (renewed.locators, renewed.hints, renewed.provider_identity) == (
        ["https://archive/a"],
        {"grating": "B"},
        "a",
    )


def test_eligible_datasets_are_exactly_those(store: Store) -> None:
    """NC-20, NC-21, NC-35, F-NC-6: in progress still, finished no more, of this nova only."""
    store.put_many([dataset("ready"), dataset("done", processing_status="COMPLETED")])
    store.put_many([dataset("light", dataset_type="PHOTOMETRY"), dataset("ready", nova_id=OTHER_ID)])
    waiting = Dataset.by_eligibility(nova_id=NOVA_ID, eligibility=Eligibility.DOWNLOAD)
    assert [d.provider_identity for d in store.find(waiting)] == ["ready"]
    with store.change() as change:
        record = change.get(Dataset.at.of(dataset("ready").__dict__))
        change.save(record.lease(owner="run-1", now=NOON, until=NOON + HOUR))
    (leased,) = store.find(waiting)
    assert (leased.lease_owner, leased.processing_status) == ("run-1", ProcessingStatus.IN_PROGRESS)
    with store.change() as change:
        change.save(change.get(leased.ref).accept())
    assert list(store.find(waiting)) == []
    finished = store.get(leased.ref)
    assert (finished.eligibility, finished.validation_status, finished.lease_owner) == ("NONE", "VALID", None)
    ingest = Dataset.by_eligibility(nova_id=NOVA_ID, eligibility=Eligibility.INGEST)
    assert [d.provider_identity for d in store.find(ingest)] == ["light"]


def test_of_many_workers_one_gets_the_lease(store: Store) -> None:
    """NC-23, NC-24, NC-30, F-NC-4: a fresh one, and one that has run out; the epoch decides."""
    store.create(dataset())
    ref = dataset().ref

    def take(worker: int, now: datetime) -> bool:
        try:
            with store.change() as change:
                record = change.get(ref)
                epoch = the(Dataset.lease_epoch).equals(record.lease_epoch)
                change.save(record.lease(owner=f"run-{worker}", now=now, until=now + HOUR), when=epoch)
        except (Conflict, IllegalMove):
            return False
        return True

    with ThreadPoolExecutor(4) as workers:
        assert sum(workers.map(lambda w: take(w, NOON), range(8))) == 1
        assert sum(workers.map(lambda w: take(w, NOON + 2 * HOUR), range(8))) == 1
    assert store.get(ref).lease_epoch == 2


def test_fingerprints_are_kept(store: Store) -> None:
    """NC-26, NC-31, NC-37: written under the lease's epoch, so that no worker of before writes them."""
    store.create(dataset(processing_status="IN_PROGRESS", lease_owner="run-1", lease_epoch=3))
    prints = {"byte_length": 2880, "etag": "e", "sha256": "s", "fits_checksum": "f", "header_signature": "h"}
    updates = [the(getattr(Dataset, name)).set(value) for name, value in prints.items()]
    updates.append(the(Dataset.artifacts).set([PREVIEW]))
    ref = dataset().ref
    stale = the(Dataset.lease_owner).equals("run-0") & the(Dataset.lease_epoch).equals(2)
    with pytest.raises(Conflict):
        store.patch(ref, *updates, when=stale)
    ours = the(Dataset.lease_owner).equals("run-1") & the(Dataset.lease_epoch).equals(3)
    kept = store.patch(ref, *updates, when=ours)
    assert kept.model_dump(include=set(prints)) == prints
    assert kept.artifacts == [PREVIEW]


def test_an_object_leads_to_its_dataset(store: Store) -> None:
    """NC-28, NC-29, NC-30, F-NC-8: by bucket and exact key, to nova, dataset and type."""
    store.create(dataset())
    store.put_many([file(), file(f"{UPLOADED}.gz"), file(bucket="other-bucket", file_id=uuid4())])
    (found,) = store.find(FileObject.by_object(bucket="nova-private", s3_key=UPLOADED))
    assert (found.nova_id, found.dataset_id, found.dataset_type) == (NOVA_ID, dataset().dataset_id, "SPECTRA")
    assert store.get(found.dataset) == dataset()
    assert list(store.find(FileObject.by_object(bucket="nova-private", s3_key="raw/photometry"))) == []
    assert len(list(store.find(FileObject.of_dataset(nova_id=NOVA_ID, dataset_id=dataset().dataset_id)))) == 3
    with pytest.raises(ValidationError, match="not a URL"):
        file("s3://nova-private/a.csv")


def test_runs_come_in_the_order_they_began(store: Store) -> None:
    """NC-12, NC-32, F-NC-10: not in the order of their ids."""
    later, first = run(started_at=NOON + TICK), run(job_run_id=uuid4())
    store.put_many([later, first, run(nova_id=OTHER_ID)])
    assert [r.started_at for r in store.find(JobRun.of_nova(nova_id=NOVA_ID))] == [NOON, NOON + TICK]
    recent = JobRun.of_nova(nova_id=NOVA_ID, started_at=since(NOON + TICK))
    assert list(store.find(recent)) == [later]


def test_attempts_of_a_run(store: Store) -> None:
    """NC-25, NC-33, F-NC-11: one for each invocation, in order within a task; other runs apart."""
    failed = attempt(succeeded=False, error_class=ErrorClass.RETRYABLE, error_message="503", duration_ms=1200)
    store.put_many([attempt("validate"), attempt(number=10), attempt(number=2), failed])
    store.create(attempt(job_run_id=uuid4()))
    found = list(store.find(Attempt.of_run(nova_id=NOVA_ID, job_run_id=RUN_ID)))
    assert [(a.task, a.attempt) for a in found] == [
        ("download", 1),
        ("download", 2),
        ("download", 10),
        ("validate", 1),
    ]
    assert found[0] == failed
    downloads = Attempt.of_run(nova_id=NOVA_ID, job_run_id=RUN_ID, task="validate")
    assert [a.task for a in store.find(downloads)] == ["validate"]


def test_a_run_is_found_by_its_id_alone(store: Store) -> None:
    """NC-34, F-NC-10: also one that has no nova yet."""
    place = JobRunPlace(job_run_id=RUN_ID, workflow_name="initialize_nova", started_at=NOON, candidate_name="V1324 Sco")
    store.create(place)
    assert store.get(JobRunPlace.at(job_run_id=RUN_ID)).nova_id is None
    store.patch(place.ref, the(JobRunPlace.nova_id).set(NOVA_ID))
    assert store.get(JobRunPlace.at(job_run_id=RUN_ID)).nova_id == NOVA_ID


def test_traces_end_and_facts_stay(store: Store) -> None:
    """F-NC-11, F-X-2: runs and attempts may carry a ttl; what is known of a nova has none."""
    second = int(store.clock.now().timestamp())
    store.put_many([run(ttl=second), attempt(ttl=second)])
    assert list(store.find(JobRun.of_nova(nova_id=NOVA_ID))) == []
    assert list(store.find(Attempt.of_run(nova_id=NOVA_ID, job_run_id=RUN_ID))) == []
    traces = {"JobRun", "JobRunPlace", "Attempt", "NameRun", "NameAttempt", "RunLock"}
    on_their_way = {"Contribution", "StrayObject"}
    assert {shape.name for shape in DOMAIN.shapes if shape.expiry} == traces | on_their_way


# The items themselves


def test_the_documents_queries_work_on_what_penstock_wrote(dynamo: Store, raw_table: Callable[[str], Any]) -> None:
    """NC-3, NC-4, NC-5, NC-6, NC-21, NC-29: each index, asked as the document asks it."""
    initialize(dynamo, nova())
    dynamo.put_many([dataset(), file()])
    table = raw_table("NovaCat")

    def keys(index: str, condition: Any) -> list[tuple[str, str]]:
        items = table.query(IndexName=index, KeyConditionExpression=condition)["Items"]
        return [(item["PK"], item["SK"]) for item in items]

    eligible = Key("GSI1PK").eq(f"NOVA#{NOVA_ID}") & Key("GSI1SK").begins_with("ELIG#DOWNLOAD#")
    assert keys("GSI1", eligible) == [key_of(dataset())]
    assert keys("GSI2", Key("GSI2PK").eq("NAME#v1324 sco")) == [("NAME#v1324 sco", f"NOVA#{NOVA_ID}")]
    owner = Key("GSI3PK").eq("S3#nova-private") & Key("GSI3SK").eq(UPLOADED)
    assert keys("GSI3", owner) == [key_of(file())]


def test_a_verdict_removes_the_eligibility(dynamo: Store, raw_table: Callable[[str], Any]) -> None:
    """NC-20, NC-22, NC-27, F-NC-3, F-NC-6, F-X-7: lease and index attributes are removed, never null."""
    dynamo.create(dataset())
    ref = dataset().ref
    with dynamo.change() as change:
        change.save(change.get(ref).lease(owner="run-1", now=NOON, until=NOON + HOUR))
    (leased,) = raw_table("NovaCat").scan()["Items"]
    assert (leased["processing_status"], leased["lease_owner"], leased["lease_expires_at"]) == (
        "IN_PROGRESS",
        "run-1",
        int((NOON + HOUR).timestamp()),
    )
    assert leased["GSI1SK"] == f"ELIG#DOWNLOAD#{dataset().dataset_id}"
    with dynamo.change() as change:
        change.save(change.get(ref).accept())
    (valid,) = raw_table("NovaCat").scan()["Items"]
    assert (valid["validation_status"], valid["eligibility"], valid["lease_epoch"]) == ("VALID", "NONE", 1)
    assert not {"GSI1PK", "GSI1SK", "lease_owner", "lease_expires_at"} & set(valid)
