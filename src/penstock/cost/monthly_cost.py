"""What a month costs, by what it is paid for."""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import Decimal

from penstock.cost.price_list import Prices

Amount = int | float | Decimal


@dataclass(frozen=True, slots=True)
class MonthlyCost:
    """US dollars a month, by what they are paid for."""

    reads: Decimal = Decimal(0)
    writes: Decimal = Decimal(0)
    storage: Decimal = Decimal(0)
    indexes: Decimal = Decimal(0)
    backups: Decimal = Decimal(0)
    egress: Decimal = Decimal(0)

    @property
    def total(self) -> Decimal:
        return sum((getattr(self, name) for name in _NAMES), Decimal(0))


_NAMES = tuple(f.name for f in fields(MonthlyCost))


def monthly_cost(
    at: Prices,
    reads: Amount = 0,
    writes: Amount = 0,
    gb: Amount = 0,
    *,
    index_gb: Amount = 0,
    backup_gb: Amount = 0,
    egress_gb: Amount = 0,
    point_in_time: bool = False,
    replicas: int = 0,
) -> MonthlyCost:
    """What a month with so many read and write units (of S3: requests) and so much stored costs.

    ``gb`` and ``index_gb`` are averages over the month. Backups are of tables alone: an index is made anew from its
    table. Each further region stores all of it and is written as often.
    """
    regions = 1 + replicas
    return MonthlyCost(
        reads=_exact(reads) * at.million_reads / 1_000_000,
        writes=_exact(writes) * (at.million_writes + replicas * at.million_replicated) / 1_000_000,
        storage=_exact(gb) * at.storage * regions,
        indexes=_exact(index_gb) * at.storage * regions,
        backups=_exact(gb) * at.point_in_time * point_in_time * regions + _exact(backup_gb) * at.backup,
        egress=_exact(egress_gb) * at.egress,
    )


def _exact(amount: Amount) -> Decimal:
    return Decimal(str(amount)) if isinstance(amount, float) else Decimal(amount)
