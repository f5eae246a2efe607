"""Capacity arithmetic, as DynamoDB counts and not as the document does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock import Store
from penstock.cost.capacity import read_units, write_units


@pytest.mark.parametrize(
    ("size", "strong", "eventual", "write"),
    [(0, 1, 0.5, 1), (1024, 1, 0.5, 1), (1025, 1, 0.5, 2), (4096, 1, 0.5, 4), (4097, 2, 1, 5), (409_600, 100, 50, 400)],
)
def test_units_are_counted_in_4_kb_read_and_1_kb_written(
    size: int, strong: float, eventual: float, write: float
) -> None:
    """VM-13, F-VM-1: strong = ceil(size / 4 KB), eventual half of it, write = ceil(size / 1 KB)."""
    assert read_units(size) == strong
    assert read_units(size, strong=False) == eventual
    assert write_units(size) == write
    assert (read_units(size, transaction=True), write_units(size, transaction=True)) == (2 * strong, 2 * write)


def test_a_hundred_reads_of_three_kilobytes() -> None:
    """VM-14, F-VM-1: 100 strong or 50 eventual, not 300 or 150; the 300 are what writing would cost."""
    assert 100 * read_units(3 * 1024) == 100
    assert 100 * read_units(3 * 1024, strong=False) == 50
    assert 100 * write_units(3 * 1024) == 300


def test_tables_need_no_throughput_planning(dynamo: Store, raw_table: Callable[[str], Any]) -> None:
    """VM-15, TA-1: tables are made on demand."""
    for name in ("VideoMetadata", "tts_temp_audio"):
        assert raw_table(name).billing_mode_summary["BillingMode"] == "PAY_PER_REQUEST"
