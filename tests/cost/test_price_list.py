"""Prices are dated data that a user can replace, and what a month costs by them."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from penstock.cost.monthly_cost import monthly_cost
from penstock.cost.price_list import price_list, read_price_list
from penstock.errors import Misconfigured


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    return path


def test_prices_are_data_with_a_date_and_a_source() -> None:
    """VM-26, F-VM-8: half of what the document says for requests; an index is stored at the table's price."""
    asked = price_list().dynamodb
    assert (asked.million_writes, asked.million_reads) == (Decimal("0.625"), Decimal("0.125"))
    assert (asked.storage, asked.point_in_time, asked.backup) == (Decimal("0.25"), Decimal("0.20"), Decimal("0.10"))
    for section in (price_list().dynamodb, price_list().provisioned, price_list().s3):
        assert section.as_of >= date(2024, 11, 1)
        assert section.source.startswith("https://aws.amazon.com/")
        assert section.region == "us-east-1"


def test_a_user_says_other_prices_with_their_date_and_source(tmp_path: Path) -> None:
    """F-VM-8: what the file does not say stays as it was."""
    said = _file(tmp_path, '[dynamodb]\nas_of = 2026-05-01\nsource = "our contract"\nmillion_writes = 0.5\n')
    asked = read_price_list(said)
    assert (asked.dynamodb.million_writes, asked.dynamodb.as_of) == (Decimal("0.5"), date(2026, 5, 1))
    assert (asked.dynamodb.million_reads, asked.dynamodb.source) == (Decimal("0.125"), "our contract")
    assert asked.s3 == price_list().s3


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[dynamodb]\nmillion_writes = 0.5\n", r"does not say as_of and source"),
        (
            '[dynamodb]\nas_of = 2026-05-01\nsource = "x"\nmillion_write = 1\n',
            r"no million_write; did you mean million_",
        ),
        (
            '[dynamodb]\nas_of = 2026-05-01\nsource = "x"\nstorage = -1\n',
            r"storage of \[dynamodb\] is -1; write a number",
        ),
        ('[dynamodb]\nas_of = 2026-05-01\nsource = "x"\nstorage = nan\n', r"write a number that is not negative"),
        ('[dynamodb]\nas_of = 2026-05-01\nsource = "x"\nstorage = true\n', r"is True; write a number"),
        ('[s3]\nas_of = "may"\nsource = "x"\n', r"as_of of \[s3\] is 'may'; write a day"),
        ('[s3]\nas_of = 2026-05-01\nsource = " "\n', r"write a text"),
        ("[lambda]\n", r"no section \[lambda\] of prices; there are dynamodb, provisioned, s3"),
        ("dynamodb = 1\n", r"no section \[dynamodb\]"),
        ("[dynamodb\n", r"cannot be read"),
    ],
)
def test_prices_that_do_not_fit_are_refused_with_what_is_wrong(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(Misconfigured, match=told):
        read_price_list(_file(tmp_path, text))
    with pytest.raises(Misconfigured, match="cannot be read"):
        read_price_list(tmp_path / "none.toml")


def test_a_month_of_videos() -> None:
    """VM-26: the document's kinds of cost at the corrected prices; an index is stored, and backed up with its table."""
    at = price_list().dynamodb
    cost = monthly_cost(at, 2_000_000, 1_000_000, 2.5, index_gb=1.5, point_in_time=True)
    assert cost.writes == Decimal("0.625")
    assert cost.reads == Decimal("0.25")
    assert (cost.storage, cost.indexes) == (Decimal("0.625"), Decimal("0.375"))
    assert cost.backups == Decimal("0.50")
    assert cost.total == Decimal("2.375")
    assert monthly_cost(at, backup_gb=4).total == Decimal("0.40")
    assert monthly_cost(at, reads=0.5).reads == Decimal("0.0000000625")


def test_each_further_region_is_written_and_stored_anew() -> None:
    """AC-48: a region more costs a write more for each write, and all that is stored."""
    at = price_list().dynamodb
    one, two = (monthly_cost(at, 8, 1_000_000, 4, replicas=n) for n in (0, 1))
    assert (two.writes, two.storage, two.reads) == (2 * one.writes, 2 * one.storage, one.reads)
