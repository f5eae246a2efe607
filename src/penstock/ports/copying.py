"""Copies within a store: where it can do so itself, no record has to travel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from penstock.operations.copied_page import CopiedPage
from penstock.schema.shape import EntityShape


@runtime_checkable
class CopyingEngine(Protocol):
    """An engine whose store can set fields to what others are at that moment."""

    def copy_fields(
        self, shape: EntityShape, pairs: Mapping[str, str], *, after: str | None = None, limit: int = 1000
    ) -> CopiedPage:
        """Have each field of a page of records be as another of the same record; pairs are from which to which.

        ``after`` is where a page ended, which may be kept.
        """
        ...
