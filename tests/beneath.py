"""The engine that a store was given, for what only that engine can tell."""

from __future__ import annotations

from typing import Any

from penstock import Store


def beneath(store: Store) -> Any:
    """The engine beneath the layouts by which a store goes."""
    return getattr(store.engine, "beneath", store.engine)
