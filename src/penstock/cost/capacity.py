"""Capacity units by DynamoDB's rules: reads count in 4 KB, writes in 1 KB, transactions twice."""

from __future__ import annotations

from collections.abc import Iterable

READ_BYTES = 4 * 1024
WRITE_BYTES = 1024
PAGE_BYTES = 2**20
"What one Query reads at most."


def read_units(size: int, *, strong: bool = True, transaction: bool = False) -> float:
    """What reading this many bytes costs; an eventually consistent read costs half."""
    units = max(1, -(-size // READ_BYTES))
    return units * (2.0 if transaction else 1.0 if strong else 0.5)


def write_units(size: int, *, transaction: bool = False) -> float:
    """What writing this many bytes costs."""
    return max(1, -(-size // WRITE_BYTES)) * (2.0 if transaction else 1.0)


def query_pages(sizes: Iterable[int]) -> list[int]:
    """The bytes of each request that records of these sizes take; one request when there are none."""
    pages = [0]
    for size in sizes:
        if pages[-1] >= PAGE_BYTES:
            pages.append(0)
        pages[-1] += size
    return pages
