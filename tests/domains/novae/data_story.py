"""What happens to datasets in these tests, in a few words: discover, work, look at what came of it."""

from __future__ import annotations

import hashlib
import urllib.request
from typing import Any
from uuid import UUID

from penstock.declare.pattern import since
from penstock.domains.novae import contributions
from penstock.domains.novae.contributions import NewFile
from penstock.domains.novae.data_records import Contribution, DatasetVerdict
from penstock.domains.novae.model import Dataset, DatasetType, FileObject, JobRun
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.product_discovery import DISCOVER, Discovery
from penstock.domains.novae.runs import begin
from penstock.files.object_reads import examine, lookup
from penstock.kernel.outbox import MessageStatus, SystemMessage
from tests.domains.novae.archive import NOVA
from tests.domains.novae.conftest import BEGUN
from tests.domains.novae.story import new_nova, work_through

NOVA_ID = UUID("11111111-1111-4111-8111-111111111111")
OTHER_ID = UUID("22222222-2222-4222-8222-222222222222")
DOWNLOAD = "download_and_validate_spectra"
INGEST = "ingest_photometry_dataset"


def discovered(catalogue: NovaCatalogue, nova_id: UUID = NOVA_ID) -> JobRun:
    """A nova whose providers were asked, and whose products were worked on."""
    begun = begin(catalogue, DISCOVER, Discovery(nova_id=nova_id), by="ann").run
    work_through(catalogue)
    ended: JobRun = catalogue.store.get(begun.ref)
    return ended


def known(catalogue: NovaCatalogue) -> None:
    """The nova of these tests."""
    new_nova(catalogue.store, NOVA_ID, NOVA)


def datasets(catalogue: NovaCatalogue, nova_id: UUID = NOVA_ID) -> list[Dataset]:
    return list(catalogue.store.find(Dataset.of_nova(nova_id=nova_id)))


def the_dataset(catalogue: NovaCatalogue, nova_id: UUID = NOVA_ID) -> Dataset:
    (found,) = datasets(catalogue, nova_id)
    return found


def verdicts(catalogue: NovaCatalogue, dataset: Dataset) -> list[DatasetVerdict]:
    query = DatasetVerdict.of_dataset(nova_id=dataset.nova_id, dataset_id=dataset.dataset_id)
    return sorted(catalogue.store.find(query), key=lambda each: each.judged_at)


def runs(catalogue: NovaCatalogue, workflow: str, nova_id: UUID = NOVA_ID) -> list[JobRun]:
    """Those of a workflow, in the order they began."""
    return [each for each in catalogue.store.find(JobRun.of_nova(nova_id=nova_id)) if each.workflow_name == workflow]


def outcomes(catalogue: NovaCatalogue, workflow: str = DOWNLOAD, nova_id: UUID = NOVA_ID) -> list[tuple[str, Any]]:
    return [(each.status.value, each.outcome) for each in runs(catalogue, workflow, nova_id)]


def files(catalogue: NovaCatalogue, dataset: Dataset) -> dict[str, FileObject]:
    """The files of a dataset, by what comes after its folder."""
    found = catalogue.store.find(FileObject.of_dataset(nova_id=dataset.nova_id, dataset_id=dataset.dataset_id))
    return {
        each.s3_key.split(f"/{dataset.dataset_id}/")[0].split("/")[0] + "/" + _tail(each, dataset): each
        for each in found
    }


def _tail(file: FileObject, dataset: Dataset) -> str:
    return file.s3_key.split(f"/{dataset.dataset_id}/")[1]


def assert_files_stand(catalogue: NovaCatalogue, dataset: Dataset) -> None:
    """Every file that a record names is there, and is what its record says; and every pointer has a record."""
    found = {each.s3_key: each for each in files(catalogue, dataset).values()}
    for key, each in found.items():
        assert lookup(catalogue.objects, key) is not None, key
        assert examine(catalogue.objects, key).sha256 == each.sha256, key
    pointed = [*dataset.artifacts, *([dataset.raw_key] if dataset.raw_key else [])]
    assert set(pointed) <= set(found)


def sent(
    catalogue: NovaCatalogue,
    data: bytes,
    *,
    type: DatasetType = DatasetType.PHOTOMETRY,
    name: str = "table.csv",
    nova_id: UUID = NOVA_ID,
    **said: Any,
) -> contributions.ReservedFile:
    """A file that somebody has announced, and whose bytes wait to be taken."""
    wanted = NewFile(dataset_type=type, file_name=name, size=len(data), sha256=hashlib.sha256(data).hexdigest(), **said)
    reserved = contributions.announce(catalogue, nova_id, wanted, by="ann")
    assert reserved.where is not None
    catalogue.objects.put(reserved.where.upload.staging, data)
    return reserved


def added(catalogue: NovaCatalogue, data: bytes, **said: Any) -> Contribution:
    """A file that somebody has sent, and that was worked on."""
    reserved = sent(catalogue, data, **said)
    taken = contributions.complete(catalogue, reserved.contribution.contribution_id, by="ann")
    work_through(catalogue)
    return taken


def told(catalogue: NovaCatalogue, type: str) -> list[dict[str, Any]]:
    """What others are told of one kind."""
    query = SystemMessage.by_status(status=MessageStatus.PENDING, ts=since(BEGUN))
    return [message.payload for message in catalogue.store.find(query) if message.type == type]


def fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=5) as answer:
        body: bytes = answer.read()
        return body
