"""A process that only reads, and hears of changes as late as it may: the store cannot be asked before."""

from __future__ import annotations

from typing import Any

from penstock import FrozenClock, Store
from penstock.errors import Unavailable
from penstock.kernel.layouts.knower import HELD
from penstock.kernel.layouts.stored_layout import EDITION
from tests.beneath import beneath
from tests.evolution.proof.interleaved import as_another_process


def late(store: Store, clock: FrozenClock) -> Store:
    """A store that learns of another edition only when what it knows has ended."""
    knowledge: Any = as_another_process(store).engine.knowledge  # type: ignore[attr-defined]
    engine = beneath(store)
    get = engine.get

    def asked(refs: Any, **options: Any) -> Any:
        if refs[0].shape is EDITION.shape and clock.monotonic() < knowledge._asked + HELD:
            raise Unavailable("the store cannot be asked just now")
        return get(refs, **options)

    engine.get = asked
    return store
