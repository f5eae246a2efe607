"""A declaration and one store's layout of it: refs, queries, conditions and records, from one to the other and back."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from penstock.errors import DamagedRecord, IndexIncomplete, InvalidValue, LayoutMismatch, StaleComputed
from penstock.operations.conditions import All, Any_, Compare, Condition, Missing, Not, OneOf, Present, fields_of, holds
from penstock.operations.reads import Page, Place, Query, RawPlace, Ref, Unreadable
from penstock.operations.updates import Remove, Set, Update
from penstock.operations.writes import Patch
from penstock.schema.derived_shape import DerivedShape, Twin
from penstock.schema.lost_choices import ChoiceConversion, check_choice
from penstock.schema.shape import PatternShape

_Values = Mapping[str, Any]


class DerivedEntity:
    """Turns what a process means into what the store has."""

    def __init__(self, derived: DerivedShape) -> None:
        self.derived = derived
        self.shape, self.declared = derived.shape, derived.declared
        self._patterns: dict[PatternShape, PatternShape] = {}
        self._constant = {n: f.default for n, f in derived.absent.items()}
        self._is_made = any(f.made or f.begins or f.computation is not None for f in derived.absent.values())
        self.choices = {n: c for n, c in derived.conversions.items() if isinstance(c, ChoiceConversion)}
        "Fields of which former choices may be stored."
        self._settled = frozenset({*derived.conversions, *derived.twins, *derived.beginning})
        "Fields of which more is written than what a patch says."
        self.checked = frozenset({*derived.absent, *derived.needed, *derived.refused})
        "Fields of which not every value can be written, or not yet."
        self._other = frozenset({*derived.absent, *derived.conversions, *derived.beginning})
        "Fields that conditions cannot speak of as they are declared."

    # Records

    def values(self, stored: _Values) -> dict[str, Any]:
        """The values of the declared fields; DamagedRecord where one cannot be made of what is stored."""
        found = {n: stored[n] if n in stored else copy.deepcopy(self._constant.get(n)) for n in self.declared.fields}
        for name, conversion in self.derived.conversions.items():
            found[name] = conversion.load(found[name])
        for name, rule in self.derived.beginning.items():
            if found[name] is None or name in self.derived.computing:
                found[name] = rule.value(f"{self.declared.label}.{name}", found)
        if self._is_made:
            given = {n: v for n, v in found.items() if n not in self.derived.absent}
            return dict(vars(self.declared.check(given)))
        return found

    def record(self, stored: Any) -> Any:
        """A record of the declaration; None of None."""
        return None if stored is None else self.declared.build(self.values(stored.__dict__))

    def records(self, stored: Iterable[Any]) -> tuple[list[Any], list[Unreadable]]:
        """Records of the declaration, and those of which none can be made: None stands for each of them."""
        records: list[Any] = []
        unreadable = []
        for each in stored:
            try:
                records.append(self.record(each))
            except (DamagedRecord, InvalidValue) as error:
                ref: Ref[Any] = Ref(self.declared, {n: each.__dict__[n] for n in self.shape.key.fields})
                unreadable.append(Unreadable(self.declared, repr(ref), f"{ref!r}: {error}", ref.key))
                records.append(None)
        return records, unreadable

    def found(self, stored: _Values | None) -> _Values | None:
        """What a refusal found, in the declaration's fields."""
        if stored is None:
            return None
        told = {**self._constant, **{n: v for n, v in stored.items() if n in self.declared.fields}}
        for name, conversion in self.derived.conversions.items():
            if name in told:
                told[name] = conversion.load(told[name])
        for name, rule in self.derived.beginning.items():
            is_missing = told.get(name) is None or name in self.derived.computing
            if is_missing and all(n in told for n in rule.of):
                with suppress(InvalidValue):
                    told[name] = rule.value(f"{self.declared.label}.{name}", told)
        return told

    def unreadable(self, told: Unreadable) -> Unreadable:
        return replace(told, shape=self.declared)

    # Reading

    def ref(self, ref: Ref[Any]) -> Ref[Any]:
        return Ref(self.shape, ref.key)

    def query(self, query: Query[Any]) -> Query[Any]:
        """The question as the store can answer it; IndexIncomplete where it would leave records out."""
        pattern = self._patterns.get(query.pattern) or self._pattern(query.pattern)
        named = {*fields_of(query.filter), *(query.fields or ())}
        for name in sorted(named & self.derived.absent.keys()):
            raise self.not_known(name)
        for name in sorted(named & self.derived.beginning.keys()):
            raise self._not_filled(name)
        return replace(query, pattern=pattern, filter=self.condition(query.filter))

    def _pattern(self, declared: PatternShape) -> PatternShape:
        index, key = None, self.shape.key
        if declared.index is not None:
            name = declared.index.place.name
            if name in self.derived.incomplete:
                raise IndexIncomplete(
                    f"{declared.label}: the index {name} does not have every record of {self.declared.label} under the "
                    f"key that is declared here; run `penstock migrate` with the newer declaration, and ask by that "
                    f"when it is done"
                )
            if name not in self.shape.indexes:
                raise self.not_known(name)
            index = self.shape.indexes[name]
            key = index.key
            for field in sorted(index.watched & self.derived.computing):
                raise self._not_filled(field)
            for field in sorted(index.watched & self.choices.keys()):
                raise IndexIncomplete(
                    f"{declared.label}: records may have values of {self.declared.label}.{field} that are declared no "
                    f"longer, and are in the index {name} with those; run `penstock migrate`, and ask when it is done"
                )
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
        if query.fields is not None:
            return replace(page, records=self._projected(query.fields, page.records), unreadable=told, place=place)
        records, damaged = self.records(page.records)
        return replace(page, records=[r for r in records if r is not None], unreadable=(*told, *damaged), place=place)

    def _projected(self, fields: Sequence[str], records: list[Any]) -> list[Any]:
        loads = [(at, self.derived.conversions[n].load) for at, n in enumerate(fields) if n in self.derived.conversions]
        if not loads:
            return records
        found = [list(record) for record in records]
        for record in found:
            for at, load in loads:
                record[at] = load(record[at])
        return [tuple(record) for record in found]

    def _place(self, end: Any) -> Any:
        return end if isinstance(end, RawPlace) or end is None else self.found(end)

    # Conditions

    def condition(self, condition: Condition | None) -> Condition | None:
        """The condition on what is stored: a field that the store does not know yet is as good as its default."""
        if condition is None or fields_of(condition).isdisjoint(self._other):
            return condition
        return self._stored(condition)

    def _stored(self, condition: Condition) -> Condition:
        match condition:
            case All(parts):
                return All(tuple(self._stored(p) for p in parts))
            case Any_(parts):
                return Any_(tuple(self._stored(p) for p in parts))
            case Not(inner):
                return Not(self._stored(inner))
        named = fields_of(condition)
        for name in sorted(named & self.derived.beginning.keys()):
            raise self._not_filled(name)
        if not named.isdisjoint(self.derived.absent):
            return self._of_absent(condition)
        return condition if named.isdisjoint(self.derived.conversions) else self._converted(condition)

    def _of_absent(self, condition: Condition) -> Condition:
        standing, missing = holds(condition, self._constant), holds(condition, None)
        if standing == missing:
            return _ALWAYS if standing else _NEVER
        return Present() if standing else Not(Present())

    def _converted(self, condition: Condition) -> Condition:
        """A condition on a field that is stored as another type, of which only equality means the same."""
        match condition:
            case Present() | Missing():
                return condition
            case Compare(name, "=", value) if name in self.choices:
                return OneOf(name, tuple(self.choices[name].stored_as(value)))
            case Compare(name, "<>", value) if name in self.choices:
                return All(tuple(Compare(name, "<>", text) for text in self.choices[name].stored_as(value)))
            case OneOf(name, values) if name in self.choices:
                return OneOf(name, tuple(text for value in values for text in self.choices[name].stored_as(value)))
            case Compare(name, ("=" | "<>") as operator, value):
                stored = self.derived.conversions[name].dumped_or_none(value)
                if stored is None:
                    return _NEVER if operator == "=" else _ALWAYS
                return Compare(name, operator, stored)
            case OneOf(name, values):
                found = [self.derived.conversions[name].dumped_or_none(v) for v in values]
                known = tuple(v for v in found if v is not None)
                return OneOf(name, known) if known else _NEVER
        name = sorted(fields_of(condition))[0]
        raise LayoutMismatch(
            f"{self.declared.label}.{name} is still stored as another type, in another order; compare it when "
            f"`penstock migrate` is done"
        )

    def asks_for_unfilled(self, condition: Condition | None) -> bool:
        """Does it speak of what some records do not have yet, so that it takes reading them?"""
        return condition is not None and not fields_of(condition).isdisjoint(self.derived.beginning)

    def made_of(self, condition: Condition) -> frozenset[str]:
        """The stored fields that a condition rests on."""
        named = fields_of(condition)
        sources = {n for name in named & self.derived.beginning.keys() for n in self.derived.beginning[name].of}
        return frozenset((named | sources) & self.shape.fields.keys()) - set(self.shape.key.fields)

    # Writing

    def stored_values(self, values: _Values) -> dict[str, Any]:
        """The values of a whole record as they are stored, at all of their places."""
        absent = self.derived.absent
        stored = {n: v for n, v in values.items() if n not in absent} if absent else dict(values)
        for name, conversion in self.derived.conversions.items():
            stored[name] = conversion.dump(stored.get(name))
        for name, twin in self.derived.twins.items():
            if name in self.declared.fields:
                stored[twin.name] = _followed(twin, stored.get(name))
        return stored

    def stored_patch(self, patch: Patch) -> Patch:
        """The patch as it is stored, at all places; StaleComputed where it must be known what stands before it."""
        if self._settled.isdisjoint([u.field for u in patch.updates]):
            return patch
        updates: list[Update] = []
        for update in patch.updates:
            updates += self._stored_updates(update) if update.field in self._settled else (update,)
        return replace(patch, updates=tuple(updates))

    def _stored_updates(self, update: Update) -> Iterator[Update]:
        name = update.field
        if not isinstance(update, Set | Remove):
            raise StaleComputed(f"{self.declared.label}.{name} is on its way to another layout; set its value")
        value = update.value if isinstance(update, Set) else None
        if name in self.derived.conversions:
            value = self.derived.conversions[name].dump(value)
        yield _assigned(name, value)
        if name in self.derived.twins:
            twin = self.derived.twins[name]
            yield _assigned(twin.name, _followed(twin, value))

    def is_relative(self, update: Update) -> bool:
        """Does it take what stands before it to know what stands at all places of its field?"""
        return update.field in self._settled and not isinstance(update, Set | Remove)

    # What cannot be written yet

    def check_value(self, name: str, value: Any) -> None:
        """LayoutMismatch for a value that others could not read, or would erase."""
        if name in self.derived.refused and value is not None:
            check_choice(f"{self.declared.label}.{name}", self.derived.refused[name], value)
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

    def _not_filled(self, name: str) -> IndexIncomplete:
        return IndexIncomplete(
            f"{self.declared.label}.{name} is not written in every record yet, so that nobody can ask for it; run "
            f"`penstock migrate`, and ask again when it is done"
        )

    def not_known(self, name: str) -> LayoutMismatch:
        return LayoutMismatch(
            f"{self.declared.label}.{name} is not known to the store yet, so that others would erase it; run "
            f"`penstock tables apply`"
        )


def _followed(twin: Twin, value: Any) -> Any:
    return None if value is None or twin.follow is None else twin.follow(value)


def _assigned(name: str, value: Any) -> Update:
    return Remove(name) if value is None else Set(name, value)


_ALWAYS: Condition = Present() | Not(Present())
_NEVER: Condition = Present() & Not(Present())


def _stored_default(field: Any) -> Any:
    return field.dump(field.default) if field.dump is not None and field.default is not None else field.default


Entities = Callable[[Any], DerivedEntity | None]
"What a shape is derived to in a store; None where it lies as it is declared."
