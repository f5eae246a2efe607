"""Capacity units by DynamoDB's rules, and what they cost.

Reads count in 4 KB, writes in 1 KB, transactions twice. Prices are data, with their date and source: `prices.toml`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files

READ_BYTES = 4 * 1024
WRITE_BYTES = 1024


def read_units(size: int, *, strong: bool = True, transaction: bool = False) -> float:
    """What reading this many bytes costs; an eventually consistent read costs half."""
    units = max(1, -(-size // READ_BYTES))
    return units * (2.0 if transaction else 1.0 if strong else 0.5)


def write_units(size: int, *, transaction: bool = False) -> float:
    """What writing this many bytes costs."""
    return max(1, -(-size // WRITE_BYTES)) * (2.0 if transaction else 1.0)


Amount = int | float | Decimal


@dataclass(frozen=True, slots=True)
class Prices:
    """What one service asks, in US dollars; a price that it does not have is zero."""

    region: str
    as_of: date
    source: str
    million_reads: Decimal
    million_writes: Decimal
    storage: Decimal
    "A GB for a month."
    point_in_time: Decimal = Decimal(0)
    "A GB for a month, where every moment can be restored."
    backup: Decimal = Decimal(0)
    "A GB for a month, of backups made on demand."
    egress: Decimal = Decimal(0)
    "A GB that leaves for the internet."


@cache
def prices(service: str = "dynamodb") -> Prices:
    """The prices of ``dynamodb`` or ``s3``."""
    text = files("penstock.cost").joinpath("prices.toml").read_text()
    return Prices(**tomllib.loads(text, parse_float=Decimal)[service])


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars, by what they are paid for."""

    reads: Decimal
    writes: Decimal
    storage: Decimal
    backups: Decimal
    egress: Decimal

    @property
    def total(self) -> Decimal:
        return self.reads + self.writes + self.storage + self.backups + self.egress


def estimate(
    reads: Amount = 0,
    writes: Amount = 0,
    gb: Amount = 0,
    *,
    backup_gb: Amount = 0,
    egress_gb: Amount = 0,
    point_in_time: bool = False,
    at: Prices | None = None,
) -> Cost:
    """What a month with so many read and write units (of S3: requests) and so much stored costs.

    ``gb`` is the average over the month, of tables and indexes together; ``point_in_time`` backs all of it up.
    """
    price = at or prices()
    return Cost(
        reads=_exact(reads) * price.million_reads / 1_000_000,
        writes=_exact(writes) * price.million_writes / 1_000_000,
        storage=_exact(gb) * price.storage,
        backups=_exact(gb) * price.point_in_time * point_in_time + _exact(backup_gb) * price.backup,
        egress=_exact(egress_gb) * price.egress,
    )


def _exact(amount: Amount) -> Decimal:
    return Decimal(str(amount)) if isinstance(amount, float) else Decimal(amount)
