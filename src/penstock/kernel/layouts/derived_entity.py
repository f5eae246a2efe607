"""A declaration and one store's layout of it: refs, queries, conditions and records, from one to the other and back."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from penstock.errors import IndexIncomplete, LayoutMismatch
from penstock.operations.conditions import All, Any_, Condition, Not, Present, fields_of, holds
from penstock.operations.reads import Page, Place, Query, RawPlace, Ref, Unreadable
from penstock.schema.derived_shape import DerivedShape
from penstock.schema.shape import PatternShape

_Values = Mapping[str, Any]


class DerivedEntity:
    """Turns what a process means into what the store has."""

    def __init__(self, derived: DerivedShape) -> None:
        self.derived = derived
        self.shape, self.declared = derived.shape, derived.declared
        self._patterns: dict[PatternShape, PatternShape] = {}
        self._constant = {n: f.default for n, f in derived.absent.items()}
        self._is_made = any(f.made or f.computation is not None for f in derived.absent.values())

    # Records

    def values(self, stored: _Values) -> dict[str, Any]:
        """The values of the declared fields."""
        found = {n: stored[n] if n in stored else copy.deepcopy(self._constant.get(n)) for n in self.declared.fields}
        if self._is_made:
            given = {n: v for n, v in found.items() if n not in self.derived.absent}
            return dict(vars(self.declared.check(given)))
        return found

    def record(self, stored: Any) -> Any:
        """A record of the declaration; None of None."""
        return None if stored is None else self.declared.build(self.values(stored.__dict__))

    def found(self, stored: _Values | None) -> _Values | None:
        """What a refusal found, in the declaration's fields."""
        if stored is None:
            return None
        return {**self._constant, **{n: v for n, v in stored.items() if n in self.declared.fields}}

    def unreadable(self, told: Unreadable) -> Unreadable:
        return replace(told, shape=self.declared)

    # Reading

    def ref(self, ref: Ref[Any]) -> Ref[Any]:
        return Ref(self.shape, ref.key)

    def query(self, query: Query[Any]) -> Query[Any]:
        """The question as the store can answer it; IndexIncomplete where it would leave records out."""
        pattern = self._patterns.get(query.pattern) or self._pattern(query.pattern)
        named = {*fields_of(query.filter), *(query.fields or ())} & self.derived.absent.keys()
        if named:
            raise self.not_known(sorted(named)[0])
        return replace(query, pattern=pattern)

    def _pattern(self, declared: PatternShape) -> PatternShape:
        index, key = None, self.shape.key
        if declared.index is not None:
            name = declared.index.place.name
            if name in self.derived.incomplete:
                raise IndexIncomplete(
                    f"{declared.label}: the index {name} does not have every record of {self.declared.label} yet; run "
                    f"`penstock migrate`, and ask again when it is done"
                )
            if name not in self.shape.indexes:
                raise self.not_known(name)
            index = self.shape.indexes[name]
            key = index.key
        found = self._patterns[declared] = PatternShape(
            declared.name,
            self.shape,
            key,
            index,
            declared.parameters,
            declared.optional,
            declared.ranged,
            declared.backwards,
            declared.summary,
        )
        return found

    def page(self, query: Query[Any], page: Page[Any]) -> Page[Any]:
        """A page of the store as one of the declaration."""
        told = tuple(self.unreadable(u) for u in page.unreadable)
        place: Place | None = page.place
        if place is None and page.more and query.fields is None:
            place = self._place(page.end)
        records = page.records if query.fields is not None else [self.record(r) for r in page.records]
        return replace(page, records=records, unreadable=told, place=place)

    def _place(self, end: Any) -> Any:
        return end if isinstance(end, RawPlace) or end is None else self.found(end)

    # Conditions

    def condition(self, condition: Condition | None) -> Condition | None:
        """The condition, of which a field that the store does not know yet is as good as its default."""
        if condition is None or not self.derived.absent or fields_of(condition).isdisjoint(self.derived.absent):
            return condition
        return self._without_absent(condition)

    def _without_absent(self, condition: Condition) -> Condition:
        match condition:
            case All(parts):
                return All(tuple(self._without_absent(p) for p in parts))
            case Any_(parts):
                return Any_(tuple(self._without_absent(p) for p in parts))
            case Not(inner):
                return Not(self._without_absent(inner))
        if fields_of(condition).isdisjoint(self.derived.absent):
            return condition
        standing, missing = holds(condition, self._constant), holds(condition, None)
        if standing == missing:
            return Present() | Not(Present()) if standing else Present() & Not(Present())
        return Present() if standing else Not(Present())

    # What cannot be written yet

    def check_value(self, name: str, value: Any) -> None:
        """LayoutMismatch for a value that others could not read, or would erase."""
        absent = self.derived.absent.get(name)
        if absent is not None and value is not None and value != _stored_default(absent):
            raise self.not_known(name)
        if value is None and name in self.derived.needed:
            raise LayoutMismatch(
                f"{self.declared.label}.{name} must have a value as long as older declarations may read it; run "
                f"`penstock migrate`, after which it may be left out"
            )

    def check_creation(self) -> None:
        if self.derived.unfilled:
            raise LayoutMismatch(
                f"{self.declared.label}: the store's records have {', '.join(self.derived.unfilled)}, of which this "
                f"declaration knows nothing; nothing was written"
            )

    def not_known(self, name: str) -> LayoutMismatch:
        return LayoutMismatch(
            f"{self.declared.label}.{name} is not known to the store yet, so that others would erase it; run "
            f"`penstock tables apply`"
        )


def _stored_default(field: Any) -> Any:
    return field.dump(field.default) if field.dump is not None and field.default is not None else field.default


Entities = Callable[[Any], DerivedEntity | None]
"What a shape is derived to in a store; None where it lies as it is declared."
