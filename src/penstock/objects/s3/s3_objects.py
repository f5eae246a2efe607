"""Objects in a bucket of S3. A body is sent in parts as it comes, so that only a few of them are ever in memory."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256
from io import BytesIO
from itertools import chain, islice
from tempfile import SpooledTemporaryFile
from typing import Any

from penstock.errors import (
    OBJECTS,
    Conflict,
    InvalidValue,
    Misconfigured,
    NotFound,
    PenstockError,
    TooLarge,
    Unavailable,
    WrongRange,
)
from penstock.media.content_type import SNIFFED_BYTES, UNKNOWN, sniff
from penstock.objects.s3.s3_client import S3Connection, told
from penstock.objects.s3.urls import S3Presigner
from penstock.ports.clock import Clock, SystemClock
from penstock.ports.stored_object import (
    Body,
    Download,
    ListedObject,
    ObjectListing,
    StoredObject,
    UploadedPart,
    checked_key,
    checked_range,
    pieces_of,
)

_PART = 8 * 1024 * 1024
_MOST_PARTS = 10_000
_COPIED_AT_ONCE = 5 * 1024**3
_COPIED_PART = 512 * 1024**2
_DELETED_AT_ONCE = 1000
_PIECE = 256 * 1024
_TRIES = 5


class S3Objects(S3Presigner):
    """Objects in one bucket, all under one prefix if there is one. Threads may share it, and forked processes too."""

    def __init__(self, connection: S3Connection, *, prefix: str = "", clock: Clock | None = None) -> None:
        prefix = prefix.strip("/")
        super().__init__(connection, prefix=f"{prefix}/" if prefix else "", clock=clock or SystemClock())
        self._bucket, self.lookout = connection.bucket, connection.lookout

    # Objects

    def put(self, key: str, body: Body, *, absent: bool = False) -> StoredObject:
        place = self._place(key)
        digest = sha256()
        blocks = _blocks(pieces_of(body), digest.update)
        first = next(blocks, b"")
        condition = {"IfNoneMatch": "*"} if absent else {}
        content_type = sniff(first)
        if len(first) < _PART:
            size = len(first)
            answer = self._put_at_once(key, first, {**place, **condition, "ContentType": content_type})
        else:
            blocks = chain([first], blocks)
            del first  # or it would stay in memory until the last part has been sent
            answer, size = self._put_in_parts(key, blocks, content_type, condition)
        return StoredObject(key, size, _etag(answer), _date(answer), content_type, digest.hexdigest())

    def get(self, key: str, *, start: int = 0, stop: int | None = None) -> Download:
        checked_range(start, stop)
        place = self._place(key)
        asked = {} if start == 0 and stop is None else {"Range": f"bytes={start}-{'' if stop is None else stop - 1}"}
        try:
            with self._connection.asked(key):
                answer = self._client.get_object(**place, **asked)
        except WrongRange:
            if start:
                raise
            with self._connection.asked(key):  # an empty object has no range at all, not even from its beginning
                answer = self._client.get_object(**place)
        size = int(answer["ContentRange"].rpartition("/")[2]) if "ContentRange" in answer else answer["ContentLength"]
        body = answer["Body"]
        return Download(
            _stored(key, answer, size),
            start=start,
            stop=start + answer["ContentLength"],
            pieces=_received(body, key),
            close=body.close,
        )

    def head(self, key: str) -> StoredObject:
        place = self._place(key)
        with self._connection.asked(key):
            answer = self._client.head_object(**place)
        return _stored(key, answer, answer["ContentLength"])

    def list(self, prefix: str = "", *, limit: int = 1000, cursor: str | None = None) -> ObjectListing:
        if limit < 1:
            raise InvalidValue(f"a listing shows at least one object, not {limit}")
        after = {"ContinuationToken": cursor} if cursor else {}
        with self._connection.asked(f"objects under {prefix}"):
            answer = self._client.list_objects_v2(
                Bucket=self._bucket, Prefix=self._prefix + prefix, MaxKeys=min(limit, 1000), **after
            )
        return ObjectListing([self._found(o) for o in answer.get("Contents", ())], answer.get("NextContinuationToken"))

    def delete(self, keys: Iterable[str]) -> None:
        left = iter(keys)
        while batch := [{"Key": self._prefix + checked_key(key)} for key in islice(left, _DELETED_AT_ONCE)]:
            with self._connection.asked(f"{len(batch)} objects"):
                answer = self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": batch, "Quiet": True})
            if failed := answer.get("Errors"):
                raise Unavailable(
                    f"S3 did not delete {len(failed)} of {len(batch)} objects: {failed[0].get('Code')}", part=OBJECTS
                )

    def delete_unchanged(self, found: ListedObject) -> bool:
        place = self._place(found.key)
        try:
            with suppress(NotFound), self._connection.asked(found.key):
                self._client.delete_object(**place, IfMatch=f'"{found.etag}"')
        except Conflict:
            return not self._stands(found.key)
        return True

    def copy(self, source: str, target: str, *, etag: str | None = None, absent: bool = False) -> StoredObject:
        place = self._place(target)
        with self.get(source, stop=SNIFFED_BYTES) as beginning:
            content_type = sniff(b"".join(beginning))
            found = beginning.stored
        if etag is not None and etag != found.etag:
            raise Conflict(f"{source} has been replaced by other bytes")
        # From here on it must be the one whose content type was found.
        origin = {"CopySource": self._place(source), "CopySourceIfMatch": f'"{found.etag}"'}
        condition = {"IfNoneMatch": "*"} if absent else {}
        with self._connection.asked(f"a copy of {source} at {target}"):
            if found.size <= _COPIED_AT_ONCE:
                answer = self._client.copy_object(
                    **place, **origin, **condition, MetadataDirective="REPLACE", ContentType=content_type
                )
            else:
                answer = self._copy_in_parts(place, origin, condition, content_type, found.size)
        return StoredObject(target, found.size, _etag(answer), _date(answer), content_type)

    def local_file(self, key: str) -> None:
        self.head(key)

    # Uploads in parts

    def begin_parts(self, key: str, *, content_type: str) -> str:
        place = self._place(key)
        with self._connection.asked(key):
            return str(self._client.create_multipart_upload(**place, ContentType=content_type)["UploadId"])

    def put_part(self, key: str, upload: str, number: int, body: Body) -> UploadedPart:
        place = self._place(key)
        with SpooledTemporaryFile(max_size=2 * _PART) as held:
            for piece in pieces_of(body):
                held.write(piece)
            size = held.tell()
            held.seek(0)
            with self._connection.asked(f"upload of {key}"):
                answer = self._client.upload_part(**place, UploadId=upload, PartNumber=number, Body=held)
        return UploadedPart(number, size, _etag(answer))

    def parts(self, key: str, upload: str) -> Sequence[UploadedPart]:
        place = self._place(key)
        with self._connection.asked(f"upload of {key}"):
            pages = self._client.get_paginator("list_parts").paginate(**place, UploadId=upload)
            return [
                UploadedPart(part["PartNumber"], part["Size"], part["ETag"].strip('"'))
                for page in pages
                for part in page.get("Parts", ())
            ]

    def finish_parts(self, key: str, upload: str, parts: Sequence[UploadedPart]) -> StoredObject:
        place = self._place(key)
        told_parts = [{"PartNumber": p.number, "ETag": f'"{p.etag}"'} for p in sorted(parts, key=lambda p: p.number)]
        with self._connection.asked(f"upload of {key}"):
            self._client.complete_multipart_upload(**place, UploadId=upload, MultipartUpload={"Parts": told_parts})
        return self.head(key)

    def drop_parts(self, key: str, upload: str) -> None:
        place = self._place(key)
        with suppress(NotFound), self._connection.asked(f"upload of {key}"):
            self._client.abort_multipart_upload(**place, UploadId=upload)

    def drop_unfinished(self, *, before: datetime) -> int:
        dropped = 0
        with self._connection.asked("unfinished uploads"):
            pages = self._client.get_paginator("list_multipart_uploads").paginate(
                Bucket=self._bucket, Prefix=self._prefix
            )
            found = [u for page in pages for u in page.get("Uploads", ()) if u["Initiated"] < before]
        for upload in found:
            with suppress(NotFound), self._connection.asked("an unfinished upload"):
                self._client.abort_multipart_upload(Bucket=self._bucket, Key=upload["Key"], UploadId=upload["UploadId"])
                dropped += 1
        return dropped

    def reach(self) -> None:
        """Unavailable, or what else is wrong, if the bucket cannot be reached, or is none."""
        try:
            with self._connection.asked(f"the bucket {self._bucket}"):
                self._client.head_bucket(Bucket=self._bucket)
        except NotFound:
            raise Misconfigured(f"there is no bucket {self._bucket}; create it, or name another") from None

    def close(self) -> None:
        self._connection.close()

    # How it is sent

    @property
    def _client(self) -> Any:
        return self._connection.client

    def _place(self, key: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": self._prefix + checked_key(key)}

    def _found(self, told_object: dict[str, Any]) -> ListedObject:
        key = told_object["Key"].removeprefix(self._prefix)
        etag, modified = told_object["ETag"].strip('"'), told_object["LastModified"].astimezone(UTC)
        return ListedObject(key, told_object["Size"], etag, modified)

    def _put_at_once(self, key: str, content: bytes, request: dict[str, Any]) -> Any:
        for left in reversed(range(_TRIES)):
            try:
                with self._connection.asked(key):
                    return self._client.put_object(**request, Body=content, ChecksumSHA256=_checksum(content))
            except Conflict:
                # Two conditional writes that meet are both refused, and one of them may succeed when it tries again.
                if not left or self._stands(key):
                    raise Conflict(f"there is an object {key} already") from None
        raise AssertionError

    def _put_in_parts(
        self, key: str, blocks: Iterator[bytes], content_type: str, condition: dict[str, str]
    ) -> tuple[Any, int]:
        place, size = self._place(key), 0
        parts: list[dict[str, Any]] = []
        try:
            with (
                self._connection.asked(key),
                self._multipart(place, ContentType=content_type, ChecksumAlgorithm="SHA256") as upload,
            ):
                for number, block in enumerate(blocks, 1):
                    if number > _MOST_PARTS:
                        raise TooLarge(f"{key} has more than {_MOST_PARTS * _PART} bytes; upload it by signed URLs")
                    checksum = _checksum(block)
                    # The driver keeps what it has sent until garbage is collected; of a closed file nothing is left.
                    with BytesIO(block) as body:
                        part = self._client.upload_part(
                            **place, UploadId=upload, PartNumber=number, Body=body, ChecksumSHA256=checksum
                        )
                    parts.append({"PartNumber": number, "ETag": part["ETag"], "ChecksumSHA256": checksum})
                    size += len(block)
                answer = self._client.complete_multipart_upload(
                    **place, UploadId=upload, MultipartUpload={"Parts": parts}, **condition
                )
        except Conflict:
            raise Conflict(f"there is an object {key} already") from None
        return answer, size

    def _copy_in_parts(
        self, place: dict[str, str], origin: dict[str, Any], condition: dict[str, str], content_type: str, size: int
    ) -> Any:
        """As `copy_object` does, for what is too large for it."""
        parts = []
        part_size = copied_part(size)
        with self._multipart(place, ContentType=content_type) as upload:
            for number, start in enumerate(range(0, size, part_size), 1):
                span = f"bytes={start}-{min(start + part_size, size) - 1}"
                part = self._client.upload_part_copy(
                    **place, **origin, UploadId=upload, PartNumber=number, CopySourceRange=span
                )
                parts.append({"PartNumber": number, "ETag": part["CopyPartResult"]["ETag"]})
            return self._client.complete_multipart_upload(
                **place, UploadId=upload, MultipartUpload={"Parts": parts}, **condition
            )

    @contextmanager
    def _multipart(self, place: dict[str, str], **properties: str) -> Iterator[str]:
        """An upload in parts of our own, which is dropped unless it succeeds."""
        upload: str = self._client.create_multipart_upload(**place, **properties)["UploadId"]
        try:
            yield upload
        except BaseException:
            with suppress(PenstockError), self._connection.asked("an upload that failed"):
                self._client.abort_multipart_upload(**place, UploadId=upload)
            raise

    def _stands(self, key: str) -> bool:
        try:
            self.head(key)
        except NotFound:
            return False
        return True


def copied_part(size: int) -> int:
    """How large the parts are in which an object is copied, so that they are not too many."""
    return max(_COPIED_PART, -(-size // _MOST_PARTS))


def _blocks(pieces: Iterator[bytes], see: Callable[[bytes], None]) -> Iterator[bytes]:
    """The pieces as blocks of the size of a part, the last one shorter; each piece is seen as it passes."""
    held: list[memoryview] = []
    room = _PART
    for piece in pieces:
        see(piece)
        left = memoryview(piece)
        while left:
            held.append(left[:room])
            left = left[room:]
            room -= len(held[-1])
            if not room:
                block = b"".join(held)
                held, room = [], _PART
                yield block
                del block
    if held:
        yield b"".join(held)


def _received(body: Any, key: str) -> Iterator[bytes]:
    with told(key):
        yield from body.iter_chunks(_PIECE)


def _checksum(content: bytes) -> str:
    return b64encode(sha256(content).digest()).decode()


def _stored(key: str, answer: dict[str, Any], size: int) -> StoredObject:
    content_type = answer.get("ContentType") or UNKNOWN
    return StoredObject(key, size, _etag(answer), answer["LastModified"].astimezone(UTC), content_type)


def _etag(answer: dict[str, Any]) -> str:
    etag: str = answer.get("ETag") or answer["CopyObjectResult"]["ETag"]
    return etag.strip('"')


def _date(answer: dict[str, Any]) -> datetime:
    """When the store says it answered: it has just written the object."""
    return parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"]).astimezone(UTC)
