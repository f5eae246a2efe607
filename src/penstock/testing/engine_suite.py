"""Every promise of an engine, as one class to subclass."""

from __future__ import annotations

from penstock.testing.promises.batches import Batches
from penstock.testing.promises.changes import Changes
from penstock.testing.promises.commits import Commits
from penstock.testing.promises.concurrency import Concurrency
from penstock.testing.promises.conditions import ConditionalWrites
from penstock.testing.promises.defaults import Defaults
from penstock.testing.promises.ensuring import Ensuring
from penstock.testing.promises.expiry import Expiry
from penstock.testing.promises.feed import FeedPromises
from penstock.testing.promises.kernel import KernelOnTop
from penstock.testing.promises.kinds import Kinds
from penstock.testing.promises.limits import LimitPromises
from penstock.testing.promises.lookups import Lookups
from penstock.testing.promises.paging import Paging
from penstock.testing.promises.patterns import Patterns
from penstock.testing.promises.saves import GuardedSaves
from penstock.testing.promises.scanning import Scanning
from penstock.testing.promises.selections import Selections
from penstock.testing.promises.sizes import Sizes
from penstock.testing.promises.trimming import Trimming
from penstock.testing.promises.updates import Updates


class EngineSuite(
    Ensuring,
    Lookups,
    ConditionalWrites,
    Updates,
    Defaults,
    Commits,
    Batches,
    Patterns,
    Paging,
    Expiry,
    Selections,
    Scanning,
    Kinds,
    LimitPromises,
    Concurrency,
    FeedPromises,
    Trimming,
    Sizes,
    Changes,
    GuardedSaves,
    KernelOnTop,
):
    """All promises, of the engine and of the kernel on top of it. Provide a fixture ``engine``: a fresh, empty one."""
