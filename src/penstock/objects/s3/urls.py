"""Signed URLs of S3, made without asking it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from penstock.objects.disposition import checked_show_as, disposition
from penstock.objects.s3.s3_client import S3Connection, told
from penstock.ports.clock import Clock
from penstock.ports.stored_object import DEFAULT_EXPIRY, SignedUrl, checked_expiry, checked_key, checked_size


class S3Presigner:
    """Signs with the credentials in use; a URL ends with them, and says so."""

    def __init__(self, connection: S3Connection, *, prefix: str, clock: Clock) -> None:
        self._connection, self._prefix, self._clock = connection, prefix, clock

    def download_url(
        self,
        key: str,
        *,
        expires: timedelta = DEFAULT_EXPIRY,
        filename: str | None = None,
        show_as: str | None = None,
    ) -> SignedUrl:
        checked_show_as(show_as)
        answer = {"ResponseContentDisposition": disposition(filename, inline=show_as is not None)}
        if show_as is not None:
            answer["ResponseContentType"] = show_as
        return self._signed("get_object", "GET", key, expires, answer)

    def upload_url(self, key: str, *, size: int, content_type: str, expires: timedelta = DEFAULT_EXPIRY) -> SignedUrl:
        bound = {"ContentLength": checked_size(size), "ContentType": content_type}
        return self._signed("put_object", "PUT", key, expires, bound, {"Content-Type": content_type})

    def part_url(
        self, key: str, upload: str, number: int, *, size: int, expires: timedelta = DEFAULT_EXPIRY
    ) -> SignedUrl:
        bound = {"UploadId": upload, "PartNumber": number, "ContentLength": checked_size(size)}
        return self._signed("upload_part", "PUT", key, expires, bound)

    def _signed(
        self,
        operation: str,
        method: str,
        key: str,
        expires: timedelta,
        bound: dict[str, Any],
        headers: dict[str, str] | None = None,
    ) -> SignedUrl:
        place = {"Bucket": self._connection.bucket, "Key": self._prefix + checked_key(key)}
        with told(key):
            now = self._clock.now().replace(microsecond=0)
            lasts = checked_expiry(expires)
            end = self._connection.credentials_end()
            if end is not None:
                lasts = max(min(lasts, end - now), timedelta(seconds=1))
            url = self._connection.signing_client.generate_presigned_url(
                operation, Params={**place, **bound}, ExpiresIn=int(lasts.total_seconds()), HttpMethod=method
            )
        return SignedUrl(url, method, now + timedelta(seconds=int(lasts.total_seconds())), headers or {})
