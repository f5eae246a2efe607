"""Records that go from one store to another as they lie there, without anybody looking into them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from penstock.operations.scan_page import RowPage
from penstock.schema.shape import EntityShape

Row: TypeAlias = tuple[Any, ...]


@runtime_checkable
class RowPassing(Protocol):
    """An engine whose records lie in rows, which may be read and written without looking into them."""

    def row_forms(self, shape: EntityShape) -> tuple[str, ...]:
        """How records of an entity can be told, by names, first as they lie; none if they lie otherwise than declared.

        Rows of the same form are the same only if their records are.
        """
        ...

    def scan_rows(self, shape: EntityShape, *, form: str, after: str | None = None, limit: int = 1000) -> RowPage:
        """Rows in the order of `scan`, which also says what the places are; told in a form beside."""
        ...

    def load_rows(self, shape: EntityShape, rows: Sequence[Row], *, form: str) -> bool:
        """Write rows that were read elsewhere, each of another record, replacing what stands there, all or none.

        False, and nothing is written, where rows of that form have to be looked into.
        """
        ...

    def read_row(self, shape: EntityShape, row: Row) -> Any:
        """The record of a row; DamagedRecord if it cannot be read."""
        ...


def common_form(source: object, target: object, shape: EntityShape) -> str | None:
    """The form in which two engines can tell the same records by the same rows."""
    if not isinstance(source, RowPassing) or not isinstance(target, RowPassing):
        return None
    known = target.row_forms(shape)
    return next((form for form in source.row_forms(shape) if form in known), None)
