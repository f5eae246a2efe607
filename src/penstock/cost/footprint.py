"""What a write costs, told from the record before it and the record after it.

By DynamoDB's rules: the table takes the larger of the two; each index that holds the record takes one write when it
enters, leaves or changes there, two when its key there changes, none when nothing changes. A transaction takes the
table's part twice, and the indexes' part once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from penstock.cost.capacity import write_units
from penstock.operations.conditions import All, Condition, Missing
from penstock.operations.index_keys import index_attributes
from penstock.operations.updates import Set, SetIfAbsent, apply
from penstock.operations.writes import Check, Delete, Patch, Put, Write
from penstock.schema.kinds import Kind
from penstock.schema.shape import EntityShape, IndexPlace, IndexShape
from penstock.schema.size import key_attributes, record_size

IndexKey = tuple[Any, ...]
Identity = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Image:
    """A record as DynamoDB would hold it: its size, and under which key each index has it."""

    size: int = 0
    entries: Mapping[str, IndexKey] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)


ABSENT = Image()
"No record stands there."


def image_of(shape: EntityShape, values: Mapping[str, Any]) -> Image:
    """The image of a record whose documents are plain values, as engines take them."""
    held = {name: value for name in shape.fields if (value := values.get(name)) is not None}
    attributes: dict[str, Any] = {
        f.attribute: held[f.name] for f in shape.fields.values() if f.name in held and f.stored
    }
    keys = key_attributes(shape, held)
    attributes |= keys
    entries = {}
    for place in shape.table.indexes.values():
        key = tuple(attributes.get(name) for name in _names(place))
        if None not in key:
            entries[place.name] = key
    return Image(record_size(shape, held, keys), entries, held)


def image_of_loaded(shape: EntityShape, values: Mapping[str, Any]) -> Image:
    """The image of a record as engines give it back, with documents that may be models."""
    return image_of(
        shape,
        {
            name: f.dump(value) if f.kind is Kind.DOCUMENT and f.dump is not None else value
            for name, f in shape.fields.items()
            if (value := values.get(name)) is not None
        },
    )


class Glimpse:
    """A record that was read, as its size and its values: an image of it is made only if somebody writes to it."""

    __slots__ = ("shape", "size", "values")

    def __init__(self, shape: EntityShape, loaded: Mapping[str, Any]) -> None:
        self.shape, self.values = shape, dict(loaded)
        for f in shape.documents:  # whoever has the record may change them in place
            if f.dump is not None and self.values.get(f.name) is not None:
                self.values[f.name] = f.dump(self.values[f.name])
        self.size = record_size(shape, self.values)

    def image(self) -> Image:
        return image_of(self.shape, self.values)


def _names(place: IndexPlace) -> tuple[str, ...]:
    return (place.partition.name,) if place.sort is None else (place.partition.name, place.sort.name)


@dataclass(frozen=True, slots=True)
class Footprint:
    """One write with the record before and after it."""

    write: Write
    before: Image
    after: Image
    assumed: bool = False
    "Does nobody know what stood there?"
    certain: bool = True
    "Is all of the record after it known?"

    @property
    def bytes(self) -> int:
        return max(self.before.size, self.after.size)

    @property
    def table_units(self) -> float:
        return write_units(self.bytes)

    @property
    def index_units(self) -> float:
        return index_units(self.before, self.after)

    def units(self, *, transaction: bool = False) -> float:
        """What the write takes when it is carried out."""
        return self.table_units * (2 if transaction else 1) + self.index_units

    def leaving(self, after: Image) -> Footprint:
        """The same write, now that the record it left is known."""
        before = _unlike(self.write, after) if self.assumed and isinstance(self.write, Patch) else self.before
        return replace(self, before=before, after=after, certain=True)


def index_units(before: Image, after: Image) -> float:
    """What the indexes take when one image of a record becomes another."""
    return sum(units for _, units in units_by_index(before, after))


def units_by_index(before: Image, after: Image) -> Iterator[tuple[str, float]]:
    """What each index takes that takes something."""
    for name in {**before.entries, **after.entries}:
        was, now = before.entries.get(name), after.entries.get(name)
        if was is None:
            yield name, write_units(after.size)
        elif now is None:
            yield name, write_units(before.size)
        elif was != now:
            yield name, write_units(before.size) + write_units(after.size)
        elif before.values != after.values:
            yield name, write_units(max(before.size, after.size))


def footprint(write: Write, before: Image | None) -> Footprint:
    """What a write does to the record that stands there; ``before`` is None when nobody knows it.

    Then this is assumed: a put meets nothing; a patch meets a record of the size it leaves, and changes each index
    key it touches; a delete or a check meets a record of at most 1 KB, in the indexes its entity is always in.
    """
    match write:
        case Put(shape, values, when):
            known = before is not None or (_needs_absence(when) and shape.expiry is None)
            return Footprint(write, before or ABSENT, image_of(shape, values), assumed=not known)
        case Patch(shape, key, updates):
            if before is None:
                after = _least(write)
                return Footprint(write, _unlike(write, after), after, assumed=True, certain=False)
            return Footprint(write, before, image_of(shape, apply(updates, {**before.values, **key})))
        case Delete(shape):
            return Footprint(write, before or _usual(shape), ABSENT, assumed=before is None)
        case Check(shape):
            stands = before or _usual(shape)
            return Footprint(write, stands, stands, assumed=before is None, certain=before is not None)


def _needs_absence(condition: Condition | None) -> bool:
    """Does the condition hold only where no record stands?"""
    match condition:
        case Missing(None):
            return True
        case All(parts):
            return any(_needs_absence(p) for p in parts)
    return False


def _usual(shape: EntityShape) -> Image:
    """A record of which nothing is known but that it stands."""
    return Image(0, {i.place.name: () for i in shape.indexes.values() if _always_holds(shape, i)})


def _always_holds(shape: EntityShape, index: IndexShape) -> bool:
    return not index.when and not any(shape.fields[n].optional for n in index.key.fields)


def _least(patch: Patch) -> Image:
    """What surely stands after a patch: the key, the values it sets, and its part in indexes."""
    values = dict(patch.key)
    values |= {u.field: u.value for u in patch.updates if isinstance(u, Set | SetIfAbsent)}
    shown = image_of(patch.shape, values)
    gone = {name for name in _touched(patch) if name not in shown.entries and not _is_written(patch, name)}
    usual = {name: key for name, key in _usual(patch.shape).entries.items() if name not in gone}
    written = dict.fromkeys(_touched(patch) - gone, ())
    return Image(shown.size, {**usual, **written, **shown.entries}, shown.values)


def _unlike(patch: Patch, after: Image) -> Image:
    """What a patch may have met: a record of the same size, with other keys in the indexes it touches."""
    return Image(after.size, {**after.entries, **dict.fromkeys(_touched(patch), (patch,))}, {})


def _touched(patch: Patch) -> set[str]:
    """The indexes whose keys a patch writes or removes."""
    fields = patch.shape.fields
    changed = {*index_attributes(patch), *(fields[u.field].attribute for u in patch.updates)}
    return {p.name for p in patch.shape.table.indexes.values() if changed & set(_names(p))}


def _is_written(patch: Patch, index: str) -> bool:
    return any(index_attributes(patch).get(n) is not None for n in _names(patch.shape.table.indexes[index]))


_OVERHEAD = 500
"About what an image takes beside its values."


class Images:
    """The images that were last seen of records, the latest ones, up to a number of bytes. Threads may share it."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._held = 0
        self._images: OrderedDict[Identity, Image | Glimpse] = OrderedDict()
        self._lock = Lock()

    def last(self, shape: EntityShape, key: Mapping[str, Any]) -> Image | None:
        """What stood there when it was last seen; ABSENT for nothing, None when it was not seen."""
        found = self._images.get(identity(shape, key))
        return found.image() if isinstance(found, Glimpse) else found

    def keep(self, shape: EntityShape, key: Mapping[str, Any], image: Image | Glimpse | None) -> None:
        """Remember what stands there now, or forget what stood there."""
        place = identity(shape, key)
        with self._lock:
            former = self._images.pop(place, None)
            if former is not None:
                self._held -= former.size + _OVERHEAD
            if image is None:
                return
            self._images[place] = image
            self._held += image.size + _OVERHEAD
            while self._held > self._budget:
                _, oldest = self._images.popitem(last=False)
                self._held -= oldest.size + _OVERHEAD

    def clear(self) -> None:
        with self._lock:
            self._images.clear()
            self._held = 0


def identity(shape: EntityShape, key: Mapping[str, Any]) -> Identity:
    """What tells this record from every other."""
    return (shape, *(key[n] for n in shape.key.fields))
