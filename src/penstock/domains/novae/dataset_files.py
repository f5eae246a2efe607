"""Files of datasets: each has its record before it has its bytes, and no bytes ever take the place of others.

A file lies where the documents say. Should other bytes be there already, or be on their way there from a worker that
was given up, it lies in a folder of its own beside them: so whoever wakes up late replaces nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from hashlib import file_digest
from pathlib import Path

from penstock.domains.novae.dataset_lease import HeldDataset
from penstock.domains.novae.dataset_records import Dataset, FileObject
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_files import in_edition
from penstock.domains.novae.nova_table import file_identity
from penstock.errors import Conflict
from penstock.files.placement import put_in_free_place
from penstock.kernel.change import Change
from penstock.schema.file_pattern import FilePattern
from penstock.work import TaskContext


@dataclass(frozen=True, slots=True)
class FileKeeper:
    """Keeps files of a dataset that a run has leased."""

    work: TaskContext
    catalogue: NovaCatalogue
    dataset: Dataset
    held: HeldDataset

    def keep(self, path: Path, pattern: FilePattern, name: str, *, etag: str | None = None) -> FileObject:
        """Put a file in its place under a name; the record of it, which is written before."""
        digest = sha256_of(path)
        for place in (name, in_edition(name, digest)):
            key = pattern.key(str(self.dataset.nova_id), place, dataset_id=self.dataset.dataset_id)
            record = self._record(key, path.stat().st_size, digest, etag)
            if self._announce(record) and put_in_free_place(self.work.objects, key, path):
                return record
        raise Conflict(f"other bytes lie at {key}, which only these can have; look at who else writes to the bucket")

    def _record(self, key: str, size: int, digest: str, etag: str | None) -> FileObject:
        return file_record(
            self.dataset, bucket=self.catalogue.bucket, key=key, now=self.work.store.clock.now(), size=size
        ).model_copy(update={"sha256": digest, "etag": etag})

    def _announce(self, record: FileObject) -> bool:
        """Write the record of a file that is to come; False where another file has the place."""
        there = self.work.store.lookup(record.ref)
        if there is not None:
            return bool(there.sha256 == record.sha256)
        with self.work.change(why="a file is to come") as change:
            self.held.fence(change)
            change.create(record)
        return True


def file_record(dataset: Dataset, *, bucket: str, key: str, now: datetime, size: int | None = None) -> FileObject:
    """The record of a file of a dataset."""
    return FileObject(
        nova_id=dataset.nova_id,
        dataset_id=dataset.dataset_id,
        file_id=file_identity(bucket, key),
        dataset_type=dataset.dataset_type,
        provider=dataset.provider,
        bucket=bucket,
        s3_key=key,
        byte_length=size,
        created_at=now,
        updated_at=now,
    )


def announce_file(change: Change, dataset: Dataset, *, bucket: str, key: str, size: int | None = None) -> FileObject:
    """Write the record of a file that somebody else is to send."""
    return change.put(file_record(dataset, bucket=bucket, key=key, now=change.store.clock.now(), size=size))


def sha256_of(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
