"""Fault points for those who run real servers: lost answers, a server that is away, deaths, and clocks that are set.

What `penstock.testing.simulation` makes happen in memory, these make happen to the real thing.
"""

from penstock.testing.faults.blade import WRITES_OF_ENGINES, WRITES_OF_OBJECTS, Blade, Killed
from penstock.testing.faults.losing_proxy import LosingProxy
from penstock.testing.faults.settable_clock import SettableClock
from penstock.testing.faults.switch import Switch

__all__ = [
    "WRITES_OF_ENGINES",
    "WRITES_OF_OBJECTS",
    "Blade",
    "Killed",
    "LosingProxy",
    "SettableClock",
    "Switch",
]
