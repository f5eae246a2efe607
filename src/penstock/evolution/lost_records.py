"""Records that have a choice which is declared no longer, counted, with examples; nothing is changed."""

from __future__ import annotations

from msgspec import Struct

from penstock.kernel.layouts.derived_entity import DerivedEntity
from penstock.kernel.layouts.evolving_engine import by_layouts
from penstock.kernel.layouts.stored_layout import StoredLayout
from penstock.kernel.store import Store
from penstock.operations.reads import Ref
from penstock.ports.scanning import scanned
from penstock.schema.derived_shape import through
from penstock.schema.shape import EntityShape

EXAMPLES = 5
"So many records are named."


class LostRecords(Struct, frozen=True):
    """The records that have one such value."""

    what: str
    "The field,"
    value: str
    records: int
    examples: tuple[str, ...]
    instead: str | None
    "What stands for it; None where the declaration does not say."

    @property
    def said(self) -> str:
        """What people are told."""
        count = "1 record has" if self.records == 1 else f"{self.records} records have"
        then = f"{self.instead} stands instead" if self.instead else "nothing stands instead: say so, with Instead"
        more = ", …" if self.records > len(self.examples) else ""
        return f"{count} the value {self.value} of {self.what}, and {then} ({', '.join(self.examples)}{more})"


def lost_records(store: Store, shape: EntityShape, stored: StoredLayout) -> list[LostRecords]:
    """All that have one, by field and value."""
    engine = by_layouts(store.engine)
    derived = through(
        shape,
        stored.layout,
        announced=stored.following,
        stage=stored.stage,
        key_texts=engine.features.key_texts,
    )
    entity = DerivedEntity(derived)
    if not entity.choices:
        return []
    found: dict[tuple[str, str], list[str]] = {}
    counts: dict[tuple[str, str], int] = {}
    for page in scanned(engine.beneath, derived.shape):
        for each in page.found:
            for name, choice in entity.choices.items():
                value = each.record.__dict__[name]
                if value in choice.lost:
                    counts[name, value] = counts.get((name, value), 0) + 1
                    named = found.setdefault((name, value), [])
                    if len(named) < EXAMPLES:
                        named.append(_named(shape, each.record))
    return [_lost(shape, *where, counts[where], found[where]) for where in sorted(counts)]


def _lost(shape: EntityShape, name: str, value: str, records: int, examples: list[str]) -> LostRecords:
    instead = shape.fields[name].instead.get(value)
    text = None if instead is None else str(getattr(instead, "value", instead))
    return LostRecords(f"{shape.label}.{name}", value, records, tuple(examples), text)


def _named(shape: EntityShape, record: object) -> str:
    ref: Ref[object] = Ref(shape, {n: record.__dict__[n] for n in shape.key.fields})
    return repr(ref)
