"""Surveys: records that others have written, looked at more closely than whoever reads them needs to."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from penstock.operations.scan_page import ScanPage
from penstock.schema.shape import EntityShape


@runtime_checkable
class SurveyingEngine(Protocol):
    """An engine that can tell how a store's records differ from those that it would have written."""

    def survey(self, shape: EntityShape, *, after: str | None = None, limit: int = 1000) -> ScanPage:
        """A page of a walk as `scan` has it, in a table that may lack what is declared.

        Records are told with what is stored otherwise than it would be written and what no field has, and beside them
        whatever stands in the table and is not the entity's by its key, unless it says that it is another's.
        """
        ...
