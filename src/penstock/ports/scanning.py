"""All records of an entity, page after page, for whoever walks through them alone."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.operations.scan_page import ScanPage
from penstock.ports.engine import Engine
from penstock.schema.shape import EntityShape


def scanned(engine: Engine, shape: EntityShape, *, after: str | None = None, limit: int = 1000) -> Iterator[ScanPage]:
    """The pages of a walk, from its beginning or behind a place."""
    while True:
        page = engine.scan(shape, after=after, limit=limit)
        yield page
        after = page.place
        if after is None:
            return
