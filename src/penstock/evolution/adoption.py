"""Adoption: a store that others have written, as a declaration sees it; looked through, and nothing is changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import cast

from msgspec import Struct
from pydantic import ValidationError

from penstock.declare.domain import Domain
from penstock.errors import Misconfigured
from penstock.kernel.store import Store
from penstock.operations.plan import PlanStep
from penstock.operations.reads import Ref
from penstock.operations.scan_page import ScannedRecord, ScanPage
from penstock.ports.surveying import SurveyingEngine
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
    otherwise: dict[str, int]
    "Records whose values are stored in another form, by attribute or column: they are read, and asked for, by ours."
    unknown: dict[str, int]
    "Records that have what no field has: it is not read, and goes when they are written anew."
    damaged: int
    "Records that cannot be read, that no declaration would allow, or whose key is none."
    examples: tuple[str, ...] = ()


class Adoption(Struct, frozen=True):
    """What comes of looking through a store."""

    entities: tuple[AdoptedEntity, ...]
    missing: tuple[PlanStep, ...]
    "What `penstock tables apply` would add."


def adoption(store: Store, domains: Sequence[Domain]) -> Adoption:
    """Look through all records of some domains."""
    engine = store.engine
    if not hasattr(engine, "survey"):
        raise Misconfigured(f"a store of {type(engine).__name__} cannot be looked through")
    shapes = [shape for domain in domains for shape in domain.shapes]
    missing = engine.ensure(shapes, dry_run=True)
    sharing = Counter(shape.table.name for shape in shapes)
    return Adoption(
        tuple(
            _Survey(s, is_alone=sharing[s.table.name] == 1).of(_pages(cast("SurveyingEngine", engine), s))
            for s in shapes
        ),
        tuple(missing),
    )


class _Survey:
    """Counts what there is of one entity, and keeps examples of each kind."""

    def __init__(self, shape: EntityShape, *, is_alone: bool) -> None:
        self._shape, self._is_alone = shape, is_alone
        self._counts: dict[str, Counter[str]] = {kind: Counter() for kind in ("unindexed", "otherwise", "unknown")}
        self._fitting = self._damaged = 0
        self._examples: dict[str, list[str]] = {}

    def of(self, pages: Iterable[ScanPage]) -> AdoptedEntity:
        for page in pages:
            for told in page.unreadable:
                self._add_damaged(told.why)
            if self._is_alone or self._shape.table.tag is not None:
                for key in page.strangers:
                    self._add_damaged(f"{self._shape.label} has no such key as that of {key}, which nobody will find")
            for found in page.found:
                self._look_at(found)
        counts = {kind: dict(sorted(counted.items())) for kind, counted in self._counts.items()}
        examples = tuple(example for kept in self._examples.values() for example in kept)
        return AdoptedEntity(self._shape.label, self._fitting, damaged=self._damaged, examples=examples, **counts)

    def _look_at(self, found: ScannedRecord) -> None:
        ref: Ref[object] = Ref(self._shape, {n: found.record.__dict__[n] for n in self._shape.key.fields})
        wrong = _refused(self._shape, found)
        if wrong is not None:
            return self._add_damaged(f"{ref!r} is not allowed by its declaration: {wrong}")
        self._fitting += not (found.stale or found.otherwise or found.unknown)
        self._add("unindexed", found.stale, f"{ref!r} is not in {{}} as its fields say")
        self._add("otherwise", found.otherwise, f"{ref!r} has {{}} in another form than it would be written")
        self._add("unknown", found.unknown, f"{ref!r} has {{}}, which no field has")

    def _add(self, kind: str, names: Collection[str], example: str) -> None:
        if names:
            self._counts[kind].update(names)
            self._keep(kind, example.format(", ".join(sorted(names))))

    def _add_damaged(self, why: str) -> None:
        self._damaged += 1
        self._keep("damaged", why)

    def _keep(self, kind: str, example: str) -> None:
        kept = self._examples.setdefault(kind, [])
        if len(kept) < EXAMPLES:
            kept.append(example)


def _refused(shape: EntityShape, found: ScannedRecord) -> str | None:
    """Why nobody could write this record; attributes are named, and no value unless a rule of the declaration does."""
    try:
        shape.check(dict(found.record.__dict__))
    except ValidationError as error:
        told = [(".".join(map(str, e["loc"])), e["msg"], e["type"]) for e in error.errors()]
        return "; ".join(f"{where} ({kind})" if where else text for where, text, kind in told)
    return None


def _pages(engine: SurveyingEngine, shape: EntityShape) -> Iterator[ScanPage]:
    after: str | None = None
    while True:
        try:
            page = engine.survey(shape, after=after)
        except Misconfigured:  # there is no such table, which is told with all that is missing
            return
        yield page
        after = page.place
        if after is None:
            return
