"""Uploads: a file is reserved, sent to a signed URL, verified, and only then does a record point at it.

    upload = uploads.reserve(scene, "mv/projects/7/scenes/scene_001.mp4", size=1_048_576, content_type="video/mp4")
    where = uploads.url(upload)                       # the client sends the bytes there
    with uploads.finalize(upload.upload_id, sha256=told_by_the_client, by="editor") as arrived:
        scene = arrived.change.get(scene.ref)
        arrived.change.save(scene.finish(video_clip_s3_key=arrived.key))

The bytes wait under ``uploads/`` until their size, SHA-256 and true type are known and the block has raised nothing;
then they are copied where they belong, and the record changes in the same commit that closes the upload. Whatever dies
in between, `sweep` settles: an open upload never has a record that points at its file, so its bytes may go; a closed
one needs none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice

from penstock.declare.entity import Entity
from penstock.declare.pattern import until
from penstock.errors import Conflict, ForeignFile, InvalidValue, NotFound, PenstockError, TooLarge
from penstock.files.object_reads import Examined, every, examine, lookup
from penstock.files.upload import UNSETTLED, Upload, UploadStatus
from penstock.kernel.change import Change
from penstock.kernel.idempotency import Claim
from penstock.kernel.readable import readable, tell
from penstock.kernel.store import Store
from penstock.media.media_type import checked_content_type, fits
from penstock.operations.file_access import check_pointing
from penstock.operations.reads import Unreadable
from penstock.ports.ids import sortable_id
from penstock.ports.object_store import ObjectStore
from penstock.ports.stored_object import LONGEST_EXPIRY, SignedUrl, checked_key, checked_size
from penstock.schema.file_pattern import ARCHIVE, TRASH, UPLOADS

_LARGEST = 5 * 1024**4
_MOST_PARTS = 10_000
_MEGABYTE = 1024 * 1024
REMEMBERED = timedelta(days=7)
_STRAY_AFTER = timedelta(days=1)
"A URL that was signed before its upload closed may still be in use."
_UNFINISHED_AFTER = LONGEST_EXPIRY + timedelta(days=1)
_FORSAKEN_AFTER = timedelta(days=30)
_LOOKED_UP = 100
_SETTLED = {
    UploadStatus.ARRIVED: "the file is there and is being looked at; wait until that is over",
    UploadStatus.DONE: "the file was taken already; announce it again to replace it",
    UploadStatus.REFUSED: "the file was refused; announce another one",
    UploadStatus.ABANDONED: "the file was given up; announce it again",
}
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_STAGING = re.compile(UPLOADS + r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"The form of every key under which bytes wait. Whatever else lies there is somebody else's."


class UploadRefused(InvalidValue):
    """What has come is not what was announced; the record was not changed."""

    slug = "upload-refused"


class FileTooLarge(TooLarge):
    """A file has more bytes than are taken."""

    slug = "file-too-large"
    hint = "Send a smaller file, such as one that is exported at a lower rate; the detail says how large it may be."


@dataclass(frozen=True, slots=True)
class PartUrl:
    """Where one part is to be sent: the bytes of the file from ``start`` up to ``stop``."""

    number: int
    start: int
    stop: int
    url: SignedUrl


@dataclass(frozen=True, slots=True)
class Arrived:
    """A file that is verified, where it will lie once the block ends, and the change that points a record at it."""

    change: Change
    key: str
    size: int
    sha256: str
    content_type: str


@dataclass(slots=True)
class SweptUploads:
    """What became of uploads that nobody finished."""

    abandoned: int = 0
    strays: int = 0
    "Objects under uploads/ without an open upload."


class Uploads:
    """Brings files to an object store and records to point at them.

    An upload must be finished within its ``life``, seven days at most. A file larger than ``at_once`` is sent in parts.
    """

    def __init__(
        self,
        store: Store,
        objects: ObjectStore,
        *,
        life: timedelta = timedelta(days=1),
        at_once: int = 64 * _MEGABYTE,
        part_size: int = 16 * _MEGABYTE,
    ) -> None:
        if not timedelta(0) < life <= LONGEST_EXPIRY:
            raise InvalidValue(f"an upload lives for {LONGEST_EXPIRY.days} days at most, not {life}")
        self._store, self._objects, self._life = store, objects, life
        self._at_once, self._part_size = at_once, part_size

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
    ) -> Upload:
        """Announce a file that a record is to point at. ForeignFile when it may not; nothing is sent yet.

        With a claim, the reservation ends it, and keeps its ``upload_id``.
        """
        check_pointing(record.__shape__, record.__dict__, checked_key(target))
        if target.startswith((UPLOADS, TRASH, ARCHIVE)):
            raise ForeignFile(f"{target} lies where the kernel keeps objects of its own; choose another place")
        if sha256 is not None and not _SHA256.fullmatch(sha256):
            raise InvalidValue("a SHA-256 is told in 64 hexadecimal digits")
        if checked_size(size) > _LARGEST:
            raise FileTooLarge(f"{target} would have {size} bytes; an object has at most {_LARGEST}")
        now = self._store.clock.now()
        project = record.__dict__.get("project_id")
        upload = Upload(
            upload_id=str(sortable_id(now)),
            project_id=None if project is None else str(project),
            target=target,
            subject=repr(record.ref),
            size=size,
            content_type=checked_content_type(content_type),
            sha256=sha256.lower() if sha256 else None,
            part_size=None if size <= self._at_once else max(self._part_size, -(-size // _MOST_PARTS)),
            created_at=now,
            expires_at=now + self._life,
        )
        if upload.part_size is not None:
            # Before the record: one that died here is found among the store's unfinished ones.
            upload.parts_id = self._objects.begin_parts(upload.staging, content_type=upload.content_type)
        with self._store.change(by=by, project=upload.project_id, once=once) as change:
            change.create(upload)
            change.result = {"upload_id": upload.upload_id}
        return upload

    # Sending

    def url(self, upload: Upload) -> SignedUrl:
        """Where the whole file is to be put, with exactly the size and type announced."""
        if upload.parts_id is not None:
            raise InvalidValue(f"the file of upload {upload.upload_id} is sent in parts; ask for part_urls")
        left = self._time_left(upload)
        return self._objects.upload_url(
            upload.staging, size=upload.size, content_type=upload.content_type, expires=left
        )

    def part_urls(self, upload: Upload, *, limit: int = 100) -> list[PartUrl]:
        """Where the next parts that have not arrived are to be put; none when all have. So a broken upload goes on."""
        left = self._time_left(upload)
        parts_id, _ = _in_parts(upload)
        return [
            PartUrl(
                number,
                start,
                stop,
                self._objects.part_url(upload.staging, parts_id, number, size=stop - start, expires=left),
            )
            for number, start, stop in self.missing(upload)[:limit]
        ]

    def missing(self, upload: Upload) -> list[tuple[int, int, int]]:
        """The number of each part that has not arrived, and where in the file it starts and stops."""
        parts_id, _ = _in_parts(upload)
        have = {part.number: part.size for part in self._objects.parts(upload.staging, parts_id)}
        return [span for span in _spans(upload) if have.get(span[0]) != span[2] - span[1]]

    def is_open(self, upload: Upload) -> bool:
        """Can it still be sent?"""
        try:
            self._time_left(upload)
        except UploadRefused:
            return False
        return True

    def abandon(self, upload: Upload, *, by: str | None = None) -> None:
        """Give an upload up: what has arrived of it goes, and its URLs lead nowhere."""
        if upload.parts_id is not None:
            self._objects.drop_parts(upload.staging, upload.parts_id)
        self._objects.delete([upload.staging])
        with self._store.change(by=by) as change:
            change.save(change.track(upload).abandon(forget_at=self._store.clock.now() + REMEMBERED))

    def has_arrived(self, upload: Upload) -> bool:
        """Is all of it there, as far as its size tells?"""
        if upload.parts_id is not None:
            with suppress(NotFound):  # they are joined already
                return not self.part_urls(upload, limit=1)
        sent = lookup(self._objects, upload.staging)
        return sent is not None and sent.size == upload.size

    # Finishing

    def arrive(self, change: Change, upload: Upload, *, sha256: str | None = None) -> Upload:
        """Say that all of a file is there, in the change that has it looked at; UploadRefused if it is not."""
        self._time_left(upload)
        told = _told_digest(upload, sha256)
        if not self.has_arrived(upload):
            raise UploadRefused("the file has not arrived as it was announced; send what is missing")
        change.save(change.track(upload).arrive(sha256=told))
        return upload

    def refuse(self, upload: Upload, *, error: str, by: str | None = None) -> None:
        """What has arrived cannot be used: the upload says why, and its bytes go."""
        with self._store.change(by=by, project=upload.project_id) as change:
            change.save(change.track(upload).refuse(error=error, forget_at=self._store.clock.now() + REMEMBERED))
        with suppress(PenstockError):  # what is left of it is the sweep's
            self._objects.delete([upload.staging])

    @contextmanager
    def finalize(
        self,
        upload_id: str,
        *,
        sha256: str | None = None,
        replace: bool = False,
        typed: bool = True,
        inspect: Callable[[str], None] | None = None,
        alive: Callable[[], object] = lambda: None,
        by: str | None = None,
        why: str | None = None,
        once: Claim | None = None,
    ) -> Iterator[Arrived]:
        """Verify what has come and put it in its place; the block changes records, and the upload closes with them.

        UploadRefused when it is not what was announced. Conflict when another file is in its place already, unless
        it may ``replace`` that one, whose bytes are then gone. ``inspect`` gets the key under which the bytes wait, and
        raises if they are not fit for their place. Where that decides what the file is, and not what was announced, it
        is not ``typed``. The file is put there when the block has ended: one that raises replaces nothing. It may all
        be repeated after any failure. With a claim, the change ends it. ``alive`` is called while it is read, and may
        raise.
        """
        upload = self._store.get(Upload.at(upload_id=upload_id))
        found = self._verified(upload, sha256, typed=typed, alive=alive)
        if inspect is not None:
            inspect(upload.staging)
        with self._store.change(by=by, why=why, project=upload.project_id, once=once) as change:
            yield Arrived(change, upload.target, found.size, found.sha256, found.content_type)
            # Before the commit, so that no record points at nothing; after the block, which may refuse the file.
            self._put_in_place(upload, found, replace)
            forget_at = self._store.clock.now() + REMEMBERED
            change.save(change.track(upload).finish(sha256=found.sha256, forget_at=forget_at))
        with suppress(PenstockError):  # it has succeeded; what is left of it is the sweep's
            self._objects.delete([upload.staging])

    def _verified(self, upload: Upload, sha256: str | None, *, typed: bool, alive: Callable[[], object]) -> Examined:
        if upload.status is not UploadStatus.ARRIVED:  # what came in time may be looked at later
            self._time_left(upload)
        told = _told_digest(upload, sha256)
        self._join_parts(upload)
        try:
            found = examine(self._objects, upload.staging, alive=alive)
        except NotFound:
            raise UploadRefused("the file has not arrived; send it first") from None
        if found.size != upload.size:
            raise UploadRefused(f"the file has {found.size} bytes; {upload.size} were announced")
        if found.sha256 != told:
            raise UploadRefused("the bytes of the file have another SHA-256 than announced")
        if typed and not fits(upload.content_type, found.content_type):
            raise UploadRefused(f"the file is {found.content_type}; {upload.content_type} was announced")
        return found

    def _join_parts(self, upload: Upload) -> None:
        if upload.parts_id is None:
            return
        try:
            parts = self._objects.parts(upload.staging, upload.parts_id)
        except NotFound:
            return  # a try before this one has joined them
        wanted = {number: stop - start for number, start, stop in _spans(upload)}
        if {part.number: part.size for part in parts} == wanted:
            self._objects.finish_parts(upload.staging, upload.parts_id, parts)
            return
        joined = lookup(self._objects, upload.staging)
        if joined is None or joined.size != upload.size:
            raise UploadRefused(f"{len(parts)} of {len(wanted)} parts of the file are whole; send the others")
        # A try before this one has joined them, and died while it removed them.
        self._objects.drop_parts(upload.staging, upload.parts_id)

    def _put_in_place(self, upload: Upload, found: Examined, replace: bool) -> None:
        try:
            # By its etag: the client may still put other bytes where these were verified.
            self._objects.copy(upload.staging, upload.target, etag=found.etag, absent=not replace)
        except Conflict:
            if not self._is_in_place(upload, found):
                raise Conflict(
                    f"other bytes lie at {upload.target}, or have just come; send the file again to another place, "
                    f"or let it replace them"
                ) from None

    def _is_in_place(self, upload: Upload, found: Examined) -> bool:
        """Did a try before this one put the very bytes there?"""
        try:
            return examine(self._objects, upload.target).sha256 == found.sha256
        except NotFound:
            return False

    def _time_left(self, upload: Upload) -> timedelta:
        left = upload.expires_at - self._store.clock.now()
        if upload.status is not UploadStatus.OPEN:
            raise UploadRefused(_SETTLED[upload.status])
        if left < timedelta(seconds=1):
            raise UploadRefused("the time to send the file is over; announce it again")
        return left

    # Settling what nobody finished

    def sweep(self) -> SweptUploads:
        """Abandon uploads whose time is over, and remove whatever lies under uploads/ without one."""
        done = SweptUploads()
        now = self._store.clock.now()
        # What has arrived is looked at by somebody, who may be away for a while but not for ever.
        for status, over in ((UploadStatus.OPEN, now), (UploadStatus.ARRIVED, now - _FORSAKEN_AFTER)):
            for upload in readable(self._store, Upload.by_status(status=status, expires_at=until(over))):
                with suppress(Conflict):  # it was finished just now
                    self.abandon(upload, by="sweep")
                    done.abandoned += 1
        waiting = (
            found
            for found in every(self._objects, UPLOADS)
            if found.modified_at < now - _STRAY_AFTER and _STAGING.fullmatch(found.key)
        )
        while some := list(islice(waiting, _LOOKED_UP)):
            unreadable: list[Unreadable] = []
            refs = [Upload.at(upload_id=f.key.removeprefix(UPLOADS)) for f in some]
            uploads = self._store.get_many(refs, unreadable=unreadable)
            tell(unreadable)
            kept = {u.name for u in unreadable}  # whose file it is, nobody can tell
            for found, owner, ref in zip(some, uploads, refs, strict=True):
                if (owner is None and repr(ref) not in kept) or (owner and owner.status not in UNSETTLED):
                    done.strays += self._objects.delete_unchanged(found)
        self._objects.drop_unfinished(before=now - _UNFINISHED_AFTER)
        return done


def _told_digest(upload: Upload, sha256: str | None) -> str:
    """The one SHA-256 that was told of a file."""
    told = {digest.lower() for digest in (sha256, upload.sha256) if digest}
    if len(told) == 1:
        return told.pop()
    raise UploadRefused(
        "nothing verifies the file; tell its SHA-256, when it is reserved or now"
        if not told
        else "the file was announced with another SHA-256; correct it or leave it out"
    )


def _in_parts(upload: Upload) -> tuple[str, int]:
    if upload.parts_id is None or upload.part_size is None:
        raise InvalidValue(f"the file of upload {upload.upload_id} is sent at once; ask for its url")
    return upload.parts_id, upload.part_size


def _spans(upload: Upload) -> list[tuple[int, int, int]]:
    """The number of each part, and where in the file it starts and stops."""
    _, size = _in_parts(upload)
    starts = range(0, upload.size, size)
    return [(number, start, min(start + size, upload.size)) for number, start in enumerate(starts, 1)]
