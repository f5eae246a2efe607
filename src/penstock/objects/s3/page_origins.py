"""What a bucket must say so that pages may read and send its files by signed URLs: without it browsers refuse them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


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
