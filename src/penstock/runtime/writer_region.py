"""The one region in which work is done, where tables are replicated to several.

DynamoDB lets the last writer win between regions: a lease, a claim or a condition that holds in one says nothing of
what was written in another at the same moment. So all that takes leases runs in one region; others read.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from penstock.errors import Misconfigured
from penstock.runtime.settings import Settings


def check_writer(settings: Settings) -> None:
    """Misconfigured if work is done in another region than that of the store."""
    if is_elsewhere(settings):
        raise Misconfigured(
            f"work is done in {settings.writer_region} alone (PENSTOCK_WRITER_REGION), and this store is in "
            f"{store_region(settings)}; run workers and relays there, and here the service alone: --workers none"
        )


def is_elsewhere(settings: Settings) -> bool:
    """Is the store in a region that only reads?"""
    if settings.writer_region is None or urlsplit(settings.store).scheme != "dynamodb":
        return False
    here = store_region(settings)
    if here is None:
        raise Misconfigured("work is done in one region, so say which this is: PENSTOCK_STORE=dynamodb://REGION")
    return here != settings.writer_region


def store_region(settings: Settings) -> str | None:
    """The region of a store on DynamoDB, as far as settings say."""
    parts = urlsplit(settings.store)
    if parts.scheme != "dynamodb":
        return None
    return parts.netloc or settings.dynamodb_region or settings.aws_region
