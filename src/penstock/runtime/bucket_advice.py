"""What a deployment asks of whoever keeps its bucket."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from penstock.objects.s3.page_origins import page_rule
from penstock.operations.plan import ADVICE, PlanStep
from penstock.runtime.settings import Settings


def bucket_advice(settings: Settings) -> list[PlanStep]:
    """How the service's own pages, and those that may use it, come by its files; nothing for local files."""
    parts = urlsplit(settings.objects)
    if parts.scheme != "s3":
        return []
    bucket, origins = parts.netloc, page_origins(settings)
    detail = (
        f"Pages of {', '.join(origins)} read and send files of s3://{bucket} by signed URLs only if it has this CORS "
        f"rule; `aws s3api put-bucket-cors --bucket {bucket}` replaces all that it has:\n"
        f"{json.dumps(page_rule(origins))}"
    )
    return [PlanStep(ADVICE, f"CORS rule of {bucket}", detail)]


def page_origins(settings: Settings) -> list[str]:
    """Whose pages use the files of the service: its own, and those that may use it."""
    return list(dict.fromkeys((_origin(settings.url), *settings.cors_origins)))


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
