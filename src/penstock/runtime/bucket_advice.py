"""What a deployment asks of whoever keeps its bucket."""

from __future__ import annotations

from urllib.parse import urlsplit

from penstock.objects.s3.page_origins import page_step
from penstock.operations.plan import PlanStep
from penstock.runtime.settings import Settings


def bucket_advice(settings: Settings) -> list[PlanStep]:
    """That the service's own pages, and those that may use it, can use its files; none for local files."""
    parts = urlsplit(settings.objects)
    if parts.scheme != "s3":
        return []
    return [page_step(parts.netloc, list(dict.fromkeys((_origin(settings.url), *settings.cors_origins))))]


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
