"""File intake: a client reserves a place for a file, sends it, says that it is there, and a record points at it.

    intake = Intake(store, objects)
    reserved = intake.reserve(scene, target, size=size, content_type="video/mp4")       # the client sends the bytes
    upload = intake.upload_of(upload_id, project=project_id)
    with intake.finalize(upload, inspect=sound_video, sha256=told, by="ann") as (arrived, film):
        ...                                               # point a record at arrived.key, within arrived.change

What is sent is looked at as a file of this machine before anything points at it; what the look raises refuses it. Where
that takes long, `arrive` says that the file is there, in a change that enqueues a task to look (`work.inspection`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from penstock.declare.entity import Entity
from penstock.errors import NotFound
from penstock.files.object_reads import fetch
from penstock.files.scratch import scratch_folder
from penstock.files.sending import send_file
from penstock.files.upload import Upload
from penstock.files.uploads import Arrived, PartUrl, Uploads
from penstock.kernel.change import Change
from penstock.kernel.idempotency import Claim
from penstock.kernel.store import Store
from penstock.ports.object_store import ObjectStore
from penstock.ports.stored_object import SignedUrl

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReservedUpload:
    """A place for a file, and where to send it: at once, or in parts."""

    upload: Upload
    url: SignedUrl | None
    parts: list[PartUrl]


class Intake:
    """Takes files in that clients send past the service, to signed URLs."""

    def __init__(self, store: Store, objects: ObjectStore) -> None:
        self._store, self._objects, self._uploads = store, objects, Uploads(store, objects)

    def reserve(
        self,
        record: Entity,
        target: str,
        *,
        size: int,
        content_type: str,
        sha256: str | None = None,
        by: str | None = None,
        once: Claim | None = None,
    ) -> ReservedUpload:
        """Announce a file that a record is to point at."""
        announced: dict[str, Any] = {"size": size, "content_type": content_type, "sha256": sha256}
        return self.where(self._uploads.reserve(record, target, **announced, by=by, once=once))

    def where(self, upload: Upload) -> ReservedUpload:
        """Where to send the file, or what is missing of it."""
        if upload.parts_id is None:
            return ReservedUpload(upload, self._uploads.url(upload), [])
        return ReservedUpload(upload, None, self._uploads.part_urls(upload))

    def arrive(self, change: Change, upload: Upload, *, sha256: str | None = None) -> Upload:
        """Say that all of a file is there, in the change that has it looked at; UploadRefused if it is not."""
        return self._uploads.arrive(change, upload, sha256=sha256)

    def refuse(self, upload: Upload, *, error: str, by: str | None = None) -> None:
        """What has arrived cannot be used: the upload says why, and its bytes go."""
        self._uploads.refuse(upload, error=error, by=by)

    def is_open(self, upload: Upload) -> bool:
        """Can it still be sent?"""
        return self._uploads.is_open(upload)

    def send(self, upload: Upload, path: Path, *, sent: Callable[[int], None] = lambda size: None) -> None:
        """Send a file of this machine, or what is missing of it; ``sent`` is told of each piece that is on its way.

        InvalidValue if the file is not as it was announced, or changes meanwhile.
        """
        send_file(self._uploads, self._objects, upload, path, sent=sent)

    def upload_of(self, upload_id: str, *, project: object) -> Upload:
        """An upload of a project; NotFound for any other."""
        upload = self._store.lookup(Upload.at(upload_id=upload_id))
        if upload is None or upload.project_id != str(project):
            raise NotFound(f"no upload {upload_id} of project {project}")
        return upload

    @contextmanager
    def finalize(
        self,
        upload: Upload,
        *,
        inspect: Callable[[Path], T],
        typed: bool = True,
        before: Callable[[], None] = lambda: None,
        alive: Callable[[], object] = lambda: None,
        sha256: str | None = None,
        by: str,
        once: Claim | None = None,
    ) -> Iterator[tuple[Arrived, T]]:
        """The file is there: look at it, and put it in its place when the block has pointed a record at it.

        ``before`` may refuse it at once, before a large file is fetched and looked at. Where the look
        decides what the file is, rather than what was announced, it is not ``typed``. ``alive`` is called while it is
        read, and may raise.
        """
        seen: list[T] = []

        def look(key: str) -> None:
            before()
            with scratch_folder("intake") as folder:
                seen.append(inspect(fetch(self._objects, key, folder)))

        told: dict[str, Any] = {"sha256": sha256, "replace": True, "typed": typed, "by": by, "once": once}
        with self._uploads.finalize(upload.upload_id, inspect=look, alive=alive, **told) as arrived:
            yield arrived, seen[-1]
