"""What a bucket must say so that pages may read and send its files by signed URLs: without it browsers refuse them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from penstock.operations.plan import ADVICE, PlanStep


def page_rule(origins: Sequence[str]) -> dict[str, Any]:
    """The CORS rule as S3 wants it, for pages of these origins."""
    return {
        "ID": "penstock-pages",
        "AllowedOrigins": list(origins),
        "AllowedMethods": ["GET", "HEAD", "PUT"],
        "AllowedHeaders": ["content-type", "range"],
        "ExposeHeaders": ["ETag", "Content-Range"],
        "MaxAgeSeconds": 3600,
    }


def page_step(bucket: str, origins: Sequence[str]) -> PlanStep:
    """The advice for whoever keeps the bucket."""
    detail = (
        f"Pages of {', '.join(origins)} read and send files of s3://{bucket} by signed URLs only if it has this CORS "
        f"rule; `aws s3api put-bucket-cors --bucket {bucket}` replaces all that it has:\n"
        f"{json.dumps(page_rule(origins))}"
    )
    return PlanStep(ADVICE, f"CORS rule of {bucket}", detail)
