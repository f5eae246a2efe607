"""What is left in a store of layouts that it had once, as far as it remembers them; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from penstock.declare.domain import Domain
from penstock.errors import Misconfigured
from penstock.kernel.layouts.former_layout import FormerLayout
from penstock.kernel.layouts.layout_register import LayoutRegister, Layouts
from penstock.kernel.layouts.stored_layout import StoredLayout
from penstock.kernel.store import Store
from penstock.operations.leftover import Leftover
from penstock.ports.dropping import DroppingEngine
from penstock.schema.derived_places import placed_as
from penstock.schema.differences import Takes, differences
from penstock.schema.fingerprint import Fingerprint, fingerprint_of
from penstock.schema.former_places import FormerPlaces, former_places
from penstock.schema.layout_names import named_as
from penstock.schema.migration_stage import DROPS
from penstock.schema.remembered_shape import remembered_shape, without_records
from penstock.schema.shape import EntityShape


class EntityLeftovers(Struct, frozen=True, eq=False):
    """What is left of one entity's former layouts."""

    shape: EntityShape
    found: tuple[Leftover, ...]
    refused: str | None
    "Why nothing of it can be dropped now; None where it can."
    is_gone: bool = False
    "Is the entity itself declared no longer?"

    @property
    def label(self) -> str:
        return self.shape.label

    @property
    def going(self) -> list[Leftover]:
        return [leftover for leftover in self.found if leftover.kept is None]


def remaining_layout(stored: Fingerprint, declared: Fingerprint) -> Fingerprint:
    """The layout that a store has once all leftovers are dropped; whoever follows a feed goes on with it."""
    return replace(declared, feed=stored.feed or declared.feed)


def entity_leftovers(store: Store, domains: Iterable[Domain], *, counted: bool = True) -> list[EntityLeftovers]:
    """Everything that `penstock migrate --drop-leftovers` has to do, and what keeps it from that.

    Of a domain that is not among these nothing is told: others may have it.
    """
    domains = tuple(domains)
    try:
        stored = LayoutRegister(store.engine, store.clock).everything()
    except Misconfigured:  # a store without tables has no leftovers
        return []
    shapes = [shape for domain in (store.own, *domains) for shape in domain.shapes]
    names = {domain.name for domain in domains}
    return [*_of_each(store, shapes, stored, counted), *_of_gone(store, names, shapes, stored, counted)]


def _of_each(store: Store, shapes: list[EntityShape], stored: Layouts, counted: bool) -> Iterator[EntityLeftovers]:
    for shape in shapes:
        layout = stored.get(shape.label)
        if layout is None or fingerprint_of(shape).digest in layout.former:
            continue
        found = standing_leftovers(store, shape, stored, counted=counted)
        if found or layout.stage in DROPS:
            yield EntityLeftovers(shape, tuple(found), why_not(layout, shape, store.engine.features.key_texts))


def _of_gone(
    store: Store, names: set[str], shapes: list[EntityShape], stored: Layouts, counted: bool
) -> Iterator[EntityLeftovers]:
    declared = {shape.label for shape in shapes}
    for label, layout in stored.items():
        if label not in declared and label.partition(".")[0] in names:
            found = left_records(store, layout, stored, counted=counted)[0]
            changing = layout.announced is not None and layout.stage not in DROPS
            why = f"{label} is just being changed; let that come to its end" if changing else None
            yield EntityLeftovers(remembered_shape(layout.layout), tuple(found), why, is_gone=True)


def left_records(
    store: Store, layout: StoredLayout, stored: Layouts, *, counted: bool
) -> tuple[list[Leftover], dict[str, EntityShape]]:
    """The tables of an entity that is declared no longer, and the entity as it was in each."""
    key_texts = store.engine.features.key_texts
    formers = [*_formers(store, layout.label), layout.layout]
    nowhere = replace(without_records(layout.layout), table="", relation="")
    places = former_places(formers, nowhere, _others(layout.label, stored), key_texts=key_texts)
    left = {f.table if key_texts else f.relation: remembered_shape(f) for f in formers}
    left = {name: shape for name, shape in left.items() if name in places.homes}
    beside = FormerLayout.__shape__  # a table that stands, and has none of it
    return dropping_engine(store).leftovers(beside, places, left, counted=counted), left


def _others(label: str, stored: Layouts) -> list[Fingerprint]:
    """What all other entities have, or are to have."""
    return [layout for s in stored.values() if s.label != label for layout in (s.layout, s.following) if layout]


def why_not(stored: StoredLayout, shape: EntityShape, key_texts: bool) -> str | None:
    """What keeps leftovers of an entity from being dropped, by what the store remembers; None where nothing does."""
    declared = fingerprint_of(shape)
    if stored.stage in DROPS and stored.announced_for == declared.digest:
        return None
    if stored.announced is not None:
        return f"{shape.label} is just being changed; let that come to its end, with `penstock migrate`"
    if declared.digest in stored.former:
        return f"{shape.label}: the store has a newer layout than this declaration"
    todo = [d for d in differences(stored.layout, declared, key_texts=key_texts) if d.takes is not Takes.NOBODY]
    if todo:
        command = "penstock tables apply" if all(d.takes is Takes.NOTHING_MORE for d in todo) else "penstock migrate"
        return f"{shape.label} is not as it is declared yet ({todo[0].what}: {todo[0].detail}); run `{command}` first"
    return None


def standing_leftovers(store: Store, shape: EntityShape, stored: Layouts, *, counted: bool) -> list[Leftover]:
    """What stands of an entity's former layouts, in the order in which it is dropped."""
    places, left = places_left(store, shape, stored)
    return [] if places.are_none else dropping_engine(store).leftovers(shape, places, left, counted=counted)


def places_left(store: Store, shape: EntityShape, stored: Layouts) -> tuple[FormerPlaces, dict[str, EntityShape]]:
    """Where former layouts of an entity had what nobody has now, and the entity as it was in tables that it left."""
    key_texts = store.engine.features.key_texts
    formers = [*_formers(store, shape.label), stored[shape.label].layout]
    own = remaining_layout(stored[shape.label].layout, fingerprint_of(shape))
    places = former_places(formers, own, _others(shape.label, stored), key_texts=key_texts)
    left = {}
    for former in formers:
        name = former.table if key_texts else former.relation
        if name in places.homes:
            left[name] = placed_as(shape, shape, named_as(former, own))
    return places, left


def _formers(store: Store, label: str) -> list[Fingerprint]:
    try:
        return [former.layout for former in store.find(FormerLayout.of_entity(label=label))]
    except Misconfigured:  # a store that was made before it remembered them
        return []


def dropping_engine(store: Store) -> DroppingEngine:
    """The store's engine as one that can drop."""
    engine = store.engine
    if not hasattr(engine, "leftovers"):
        raise Misconfigured(f"a store of {type(engine).__name__} cannot tell what is left in it")
    return cast("DroppingEngine", engine)
