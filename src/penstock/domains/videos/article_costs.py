"""What the article says of units and prices, beside what they are."""

from __future__ import annotations

from penstock.cost.capacity import read_units, write_units
from penstock.cost.price_list import PriceList
from penstock.cost.printed_figure import PrintedFigure

_KB = 1024


def _reads_of_three_kilobytes(prices: PriceList) -> str:
    strong, eventual = (100 * read_units(3 * _KB, strong=each) for each in (True, False))
    return f"{strong:g} strong / {eventual:g} eventual"


PRINTED = (
    PrintedFigure(
        "A read of 1 KB",
        "1 strong / 0.5 eventual",
        lambda prices: f"{read_units(_KB):g} strong / {read_units(_KB, strong=False):g} eventual",
        "true, and so it is of 4 KB, in which reads are counted",
        "VM-13",
    ),
    PrintedFigure(
        "100 reads a second of 3 KB",
        "300 strong / 150 eventual",
        _reads_of_three_kilobytes,
        "reads count in 4 KB; 1 KB is the unit of writes",
        "VM-14",
    ),
    PrintedFigure(
        "100 writes a second of 3 KB",
        "",
        lambda prices: f"{100 * write_units(3 * _KB):g}",
        "the 300 that were printed for reads",
        "VM-14",
    ),
    PrintedFigure(
        "On-demand mode",
        "no planning",
        lambda prices: "no planning; 3,000 reads or 1,000 writes a second of one partition key",
        "a hot key is refused however much the table may take",
        "VM-15",
    ),
    PrintedFigure("Storage, a GB-month", "$0.25", lambda prices: f"${prices.dynamodb.storage}", "", "VM-26"),
    PrintedFigure(
        "Storage of an index, a GB-month",
        "$0.20",
        lambda prices: f"${prices.dynamodb.storage}",
        "an index is stored at the table's price",
        "VM-26",
    ),
    PrintedFigure(
        "A million writes",
        "$1.25",
        lambda prices: f"${prices.dynamodb.million_writes}",
        "half since November 2024",
        "VM-26",
    ),
    PrintedFigure(
        "A million reads",
        "$0.25",
        lambda prices: f"${prices.dynamodb.million_reads}",
        "half since November 2024",
        "VM-26",
    ),
    PrintedFigure(
        "Point-in-time recovery, a GB-month",
        "$0.10",
        lambda prices: f"${prices.dynamodb.point_in_time}",
        "that is the price of a backup on demand",
        "VM-26",
    ),
)
