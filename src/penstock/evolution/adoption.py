"""Adoption: a store that others have written, as a declaration sees it; looked through, and nothing is changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from penstock.declare.domain import Domain
from penstock.errors import Misconfigured
from penstock.kernel.store import Store
from penstock.operations.plan import PlanStep
from penstock.operations.reads import Ref
from penstock.operations.scan_page import ScanPage
from penstock.ports.engine import Engine
from penstock.ports.scanning import scanned
from penstock.schema.shape import EntityShape

EXAMPLES = 5
"So many records are named for each thing that is told."


class AdoptedEntity(Struct, frozen=True):
    """What there is of one entity."""

    label: str
    fitting: int
    "Records that are as if Penstock had written them."
    unindexed: dict[str, int]
    "Records that an index has not, or not as their fields say, by the index: they are not found by it, or wrongly."
    damaged: int
    "Records that cannot be read."
    examples: tuple[str, ...] = ()


class Adoption(Struct, frozen=True):
    """What comes of looking through a store."""

    entities: tuple[AdoptedEntity, ...]
    missing: tuple[PlanStep, ...]
    "What `penstock tables apply` would add."


def adoption(store: Store, domains: Sequence[Domain]) -> Adoption:
    """Look through all records of some domains."""
    shapes = [shape for domain in domains for shape in domain.shapes]
    missing = store.engine.ensure(shapes, dry_run=True)
    return Adoption(tuple(_entity(store.engine, shape) for shape in shapes), tuple(missing))


def _entity(engine: Engine, shape: EntityShape) -> AdoptedEntity:
    fitting = damaged = 0
    unindexed: Counter[str] = Counter()
    broken: list[str] = []
    astray: list[str] = []
    for page in _pages(engine, shape):
        damaged += len(page.unreadable)
        broken += [told.why for told in page.unreadable[: EXAMPLES - len(broken)]]
        for found in page.found:
            fitting += not found.stale
            unindexed.update(found.stale)
            if found.stale and len(astray) < EXAMPLES:
                ref: Ref[object] = Ref(shape, {n: found.record.__dict__[n] for n in shape.key.fields})
                astray.append(f"{ref!r} is not in {', '.join(sorted(found.stale))} as its fields say")
    return AdoptedEntity(shape.label, fitting, dict(sorted(unindexed.items())), damaged, (*broken, *astray))


def _pages(engine: Engine, shape: EntityShape) -> Iterator[ScanPage]:
    try:
        yield from scanned(engine, shape)
    except Misconfigured:  # there is no such table, which is told with all that is missing
        return
