"""The ledger of usage: keeps what a process has counted, one write for each project, every so often."""

from __future__ import annotations

import logging
from decimal import Decimal
from pathlib import Path

from penstock.cost.meter import Meter, Usage
from penstock.cost.monthly_cost import monthly_cost
from penstock.cost.price_list import PriceList, price_list, read_price_list
from penstock.kernel.store import Store
from penstock.runtime.settings import Settings
from penstock.work.budget import spend

log = logging.getLogger("penstock.usage")

EVERY = 60.0
"Seconds."


class UsageLedger:
    """Takes what a meter has counted to the records of projects' spending."""

    def __init__(self, store: Store, meter: Meter, prices: PriceList) -> None:
        self._store, self._meter, self._prices = store, meter, prices
        meter.keep_with(self.keep, every=EVERY)

    def keep(self) -> int:
        """Keep what was counted; for how many projects. What cannot be kept now is counted on."""
        kept = 0
        counted = self._meter.drain()
        with self._meter.silent():
            while counted:
                project, used = counted.popitem()
                try:
                    spend(self._store, project, used, _dollars(used.total, self._prices))
                except Exception as error:  # whoever happens to keep it did something else, which went well
                    for other, left in ((project, used), *counted.items()):
                        self._meter.put_back(other, left)
                    log.warning("what was used could not be kept; it will be tried again: %s", error)
                    return kept
                kept += 1
        return kept


def chosen_prices(settings: Settings) -> PriceList:
    """The prices of a deployment."""
    return price_list() if settings.prices is None else read_price_list(Path(settings.prices))


def _dollars(used: Usage, prices: PriceList) -> Decimal:
    """What units cost: those that were measured, where they were."""
    reads, writes = used.read_units, used.write_units
    if used.measured_requests:
        reads, writes = used.measured_read_units, used.measured_write_units + used.refused_units
    return monthly_cost(prices.dynamodb, reads, writes).total
