"""Capacity arithmetic, as DynamoDB counts and not as the document does."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from penstock import Store
from penstock.cost.capacity import estimate, prices, read_units, write_units


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


def test_prices_are_data_with_a_date_and_a_source() -> None:
    """VM-26, F-VM-8: half of what the document says for requests; an index is stored at the table's price."""
    asked = prices()
    assert (asked.million_writes, asked.million_reads) == (Decimal("0.625"), Decimal("0.125"))
    assert (asked.storage, asked.point_in_time, asked.backup) == (Decimal("0.25"), Decimal("0.20"), Decimal("0.10"))
    for service in ("dynamodb", "s3"):
        assert prices(service).as_of >= date(2024, 11, 1)
        assert prices(service).source.startswith("https://aws.amazon.com/")
        assert prices(service).region == "us-east-1"


def test_a_month_of_videos() -> None:
    """VM-26: the document's kinds of cost at the corrected prices, 4 GB of which 1.5 GB are indexes."""
    cost = estimate(2_000_000, 1_000_000, 4, point_in_time=True)
    assert cost.writes == Decimal("0.625")
    assert cost.reads == Decimal("0.25")
    assert cost.storage == Decimal("1.00")
    assert cost.backups == Decimal("0.80")
    assert cost.total == Decimal("2.675")
    assert estimate(backup_gb=4).total == Decimal("0.40")
    assert estimate(reads=0.5).reads == Decimal("0.0000000625")


def test_a_month_of_temporary_speech() -> None:
    """TA-27, F-TA-9: 10,000 files of 500 KB a month, each kept for two days, written once and downloaded once."""
    files, gigabytes = 10_000, Decimal(5)
    held = gigabytes * 2 / 30
    objects = estimate(reads=files, writes=files, gb=held, egress_gb=gigabytes, at=prices("s3"))
    assert round(held, 2) == Decimal("0.33")
    assert objects.storage < Decimal("0.01")
    assert objects.writes == Decimal("0.05")
    assert objects.reads == Decimal("0.004")
    assert objects.egress == Decimal("0.45")

    records = estimate(writes=files)
    assert records.total == Decimal("0.00625"), "the document's $1.25 was the price of a million"
    assert estimate(writes=1_000_000).total == Decimal("0.625")
    assert round(objects.total + records.total, 2) == Decimal("0.52")
