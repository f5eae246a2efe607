"""What the bucket's owner does so that every file of a video is encrypted where it lies, whoever sends it."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import urlsplit

from penstock.operations.plan import ADVICE, PlanStep

ENCRYPTION = {"Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}, "BucketKeyEnabled": False}]}


def advice(objects_url: str, setting: Callable[[str], str | None]) -> list[PlanStep]:
    """The rule for where this deployment keeps its files; none for local files, which lie on disks of one's own.

    The bucket is asked, and not each request: clients send to signed URLs, and could leave a header out.
    """
    parts = urlsplit(objects_url)
    if parts.scheme != "s3":
        return []
    detail = (
        f"Videos in s3://{parts.netloc} are to be encrypted at rest with AES-256, as S3 does by default. Say so: "
        f"`aws s3api put-bucket-encryption --bucket {parts.netloc} --server-side-encryption-configuration "
        f"'{json.dumps(ENCRYPTION)}'`"
    )
    return [PlanStep(ADVICE, f"encryption of {parts.netloc}", detail)]
