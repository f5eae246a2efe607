"""What the plan says a month costs, beside what it costs: 10,000 files of 500 KB, each heard once."""

from __future__ import annotations

from decimal import Decimal

from penstock.cost.monthly_cost import MonthlyCost, monthly_cost
from penstock.cost.price_list import PriceList
from penstock.cost.printed_figure import PrintedFigure

FILES, GIGABYTES = 10_000, Decimal(5)
HELD = GIGABYTES * 2 / 30
"What two days of a month hold."


def files_cost(prices: PriceList) -> MonthlyCost:
    """What the files cost."""
    return monthly_cost(prices.s3, reads=FILES, writes=FILES, gb=HELD, egress_gb=GIGABYTES)


def records_cost(prices: PriceList) -> MonthlyCost:
    """What the records cost; that they expire costs nothing."""
    return monthly_cost(prices.dynamodb, writes=FILES)


PRINTED = (
    PrintedFigure(
        "Storage of the files",
        "$0.12",
        lambda prices: f"${files_cost(prices).storage:.3f}",
        f"5 GB come in a month, but two days of it, {HELD:.2f} GB, are there",
        "TA-27",
    ),
    PrintedFigure("10,000 files put", "$0.05", lambda prices: f"${files_cost(prices).writes:.2f}", "", "TA-27"),
    PrintedFigure(
        "10,000 files got",
        "$0.04",
        lambda prices: f"${files_cost(prices).reads:.3f}",
        "the price is of a million, not of 100,000",
        "TA-27",
    ),
    PrintedFigure(
        "5,000 files deleted a day",
        "$0.025",
        lambda prices: "$0",
        "deleting is free; and 333 files a day are made",
        "TA-27",
    ),
    PrintedFigure(
        "DynamoDB",
        "$1.25",
        lambda prices: f"${records_cost(prices).total:.3f}",
        "that was the price of a million writes; 10,000 are made, and expiry is free",
        "TA-27",
    ),
    PrintedFigure(
        "5 GB sent to people",
        "",
        lambda prices: f"${files_cost(prices).egress:.2f}",
        "forgotten, and the largest part",
        "TA-27",
    ),
    PrintedFigure(
        "All of it",
        "$1.50",
        lambda prices: f"${files_cost(prices).total + records_cost(prices).total:.2f}",
        "",
        "TA-27",
    ),
)
