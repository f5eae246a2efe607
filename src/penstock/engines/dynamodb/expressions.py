"""Conditions and updates as DynamoDB's expressions. Every attribute name is aliased, whether reserved or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from penstock.engines.dynamodb.item_encoder import document
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.layout import Value
from penstock.operations.conditions import (
    All,
    Any_,
    Between,
    Compare,
    Condition,
    Missing,
    Not,
    OneOf,
    Present,
    fields_of,
    holds,
    needs_record,
)
from penstock.operations.defaults import default_holds
from penstock.operations.index_keys import index_attributes
from penstock.operations.spelling import AsStored
from penstock.operations.updates import Add, Append, Exclude, Include, Remove, Set, SetIfAbsent, Update
from penstock.operations.writes import Patch
from penstock.schema.kinds import FieldShape, Kind, key_text


class Aliases:
    """The names and values of one request, each under an alias."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, Value] = {}
        self._known: dict[str, str] = {}

    def name(self, attribute: str) -> str:
        alias = self._known.get(attribute)
        if alias is None:
            alias = self._known[attribute] = f"#n{len(self._known)}"
            self.names[alias] = attribute
        return alias

    def value(self, value: Value) -> str:
        alias = f":v{len(self.values)}"
        self.values[alias] = value
        return alias

    def keep_values(self, count: int) -> None:
        """Forget all values but the first so many."""
        for alias in list(self.values)[count:]:
            del self.values[alias]

    def into(self, request: dict[str, Any]) -> None:
        """Put what was used into the request; DynamoDB refuses empty maps."""
        if self.names:
            request["ExpressionAttributeNames"] = self.names
        if self.values:
            request["ExpressionAttributeValues"] = self.values


class _Expression(NamedTuple):
    """A piece of a condition. DynamoDB refuses redundant parentheses, so it tells whether it needs them."""

    text: str
    compound: bool = False

    @property
    def grouped(self) -> str:
        return f"({self.text})" if self.compound else self.text


_LONG = 3000
"Characters, of 4,096 that DynamoDB takes; with those that may follow, and 300 operators, there is no room for more."


class ConditionCompiler:
    """Compiles the condition of one write. Its key is known, and so are the fields that live in the key alone."""

    def __init__(self, item: ItemType, key: Mapping[str, Any], aliases: Aliases) -> None:
        self._item = item
        self._key = key
        self._aliases = aliases
        self._stands = item.layout.key[0].name
        self._item_is_there = False
        "Does the condition hold only where an item stands, whatever its other parts say?"
        self._briefly = False
        "Is it left out that a missing attribute is as good as its default?"

    def compile(self, condition: Condition, now: int) -> str:
        """The expression; an expired record counts as none."""
        self._item_is_there = needs_record(condition)
        given = len(self._aliases.values)
        expression = self._any(condition)
        if len(expression.text) > _LONG:
            self._aliases.keep_values(given)
            self._briefly = True
            expression = self._any(_shortened(condition))
        expiry = self._item.shape.expiry
        if expiry is None:
            return expression.text
        end = self._aliases.name(self._item.shape.fields[expiry].attribute)
        moment = self._aliases.value({"N": str(now)})
        if holds(condition, None):
            return f"{end} <= {moment} OR {expression.grouped}"
        return f"{expression.grouped} AND (attribute_not_exists({end}) OR {end} > {moment})"

    def _any(self, condition: Condition) -> _Expression:
        if self._in_key_alone(condition):
            return self._constant(holds(condition, self._key), holds(condition, None))
        match condition:
            case AsStored(name, _, None):
                return _Expression(f"attribute_not_exists({self._name(name)})")
            case AsStored(name, _, stored):
                return _Expression(f"{self._name(name)} = {self._aliases.value(stored)}")
            case Compare(name, operator, value):
                compared = _Expression(f"{self._name(name)} {operator} {self._value(name, value)}")
                return self._or_default(name, condition, compared)
            case Between(name, low, high):
                return self._or_default(name, condition, self._between(name, low, high))
            case OneOf(name, values):
                if not values:
                    return self._constant(False, False)
                members = ", ".join(self._value(name, v) for v in values)
                return self._or_default(name, condition, _Expression(f"{self._name(name)} IN ({members})"))
            case Present(name) if name in self._item.defaults:  # it misses only where the whole item does
                return self._constant(True, False)
            case Missing(name) if name in self._item.defaults:
                return self._constant(False, True)
            case Present(name):
                return _Expression(f"attribute_exists({self._name(name)})")
            case Missing(name):
                return _Expression(f"attribute_not_exists({self._name(name)})")
            case All(parts):
                return self._joined(" AND ", parts) if parts else self._constant(True, True)
            case Any_(parts):
                return self._joined(" OR ", self._possible(parts)) if parts else self._constant(False, False)
            case Not(inner):
                return _Expression(f"NOT ({self._any(inner).text})")
        raise TypeError(f"not a condition: {condition!r}")

    def _joined(self, operator: str, parts: tuple[Condition, ...]) -> _Expression:
        if len(parts) == 1:
            return self._any(parts[0])
        return _Expression(operator.join(self._any(p).grouped for p in parts), compound=True)

    def _or_default(self, name: str, condition: Condition, compared: _Expression) -> _Expression:
        """The comparison, in which a missing attribute is as good as its field's default."""
        default = self._item.defaults.get(name)
        if default is None or (self._briefly and isinstance(condition, Compare) and condition.operator == "="):
            return compared
        missing_passes = isinstance(condition, Compare) and condition.operator == "<>"
        if default_holds(self._item.shape.fields[name], default, condition) == missing_passes:
            return compared
        attribute = self._name(name)
        if missing_passes:  # and must not, unless there is no item at all
            text = f"{compared.text} AND attribute_exists({attribute})"
            if not self._item_is_there:
                text = f"({text}) OR attribute_not_exists({self._name(None)})"
        elif self._item_is_there:
            text = f"{compared.grouped} OR attribute_not_exists({attribute})"
        else:
            text = f"{compared.grouped} OR (attribute_exists({self._name(None)}) AND attribute_not_exists({attribute}))"
        return _Expression(text, compound=True)

    def _possible(self, parts: tuple[Condition, ...]) -> tuple[Condition, ...]:
        """Without what cannot be: that an item which is there has no value of a field with a default."""
        if not self._item_is_there:
            return parts
        return tuple(p for p in parts if type(p) is not Missing or p.field not in self._item.defaults) or parts[:1]

    def _between(self, name: str, low: Any, high: Any) -> _Expression:
        field = self._item.shape.fields[name]
        if _ordered(field, low) > _ordered(field, high):  # DynamoDB refuses such a BETWEEN; it just never holds
            return self._constant(False, False)
        text = f"{self._name(name)} BETWEEN {self._value(name, low)} AND {self._value(name, high)}"
        return _Expression(text, compound=True)

    def _in_key_alone(self, condition: Condition) -> bool:
        if isinstance(condition, All | Any_ | Not):
            return False
        return any(not self._item.shape.fields[n].stored for n in fields_of(condition))

    def _constant(self, standing: bool, absent: bool) -> _Expression:
        """An expression whose truth depends only on whether an item stands there."""
        name = self._aliases.name(self._stands)
        present, missing = f"attribute_exists({name})", f"attribute_not_exists({name})"
        if standing != absent:
            return _Expression(present if standing else missing)
        return _Expression(f"{present} {'OR' if standing else 'AND'} {missing}", compound=True)

    def _name(self, field: str | None) -> str:
        attribute = self._stands if field is None else self._item.shape.fields[field].attribute
        return self._aliases.name(attribute)

    def _value(self, field: str, value: Any) -> str:
        return self._aliases.value(self._item.encoders[field](value))


def _shortened(condition: Condition) -> Condition:
    """The condition with less than half of its text: that fields have a value, or are missing, as that they have it.

    It refuses more. Where a field is missing, `conflicts` asks again, by what is found there.
    """
    match condition:
        case All(parts):
            return All(tuple(_shortened(p) for p in parts))
        case Any_((Compare(field, "=") as same, Missing(other))) if field == other:
            return same
    return condition


class FilterCompiler(ConditionCompiler):
    """Compiles the filter of a query, which may not speak of the key."""

    def filter(self, condition: Condition) -> str:
        self._item_is_there = True  # or it would not be looked at
        return self._any(condition).text

    def _constant(self, standing: bool, absent: bool) -> _Expression:
        """An expression that always holds, or never does."""
        name = self._aliases.name(_NEVER)
        return _Expression(f"attribute_not_exists({name})" if standing else f"attribute_exists({name})")


_NEVER = "penstock:never"
"An attribute that no item has."


def _ordered(field: FieldShape, value: Any) -> Any:
    """A value in a form that Python orders as DynamoDB does."""
    if field.kind in (Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL, Kind.BYTES):
        return value
    return key_text(field, value).encode()


class UpdateCompiler:
    """Compiles the updates of one patch, together with the index attributes that change with them."""

    def __init__(self, item: ItemType, aliases: Aliases) -> None:
        self._item = item
        self._aliases = aliases
        self._clauses: dict[str, list[str]] = {}

    def compile(self, patch: Patch) -> str:
        """The update expression."""
        for update in patch.updates:
            self._add(update)
        for attribute, value in index_attributes(patch).items():
            if attribute not in self._item.layout.key_names:
                self._index(attribute, value)
        return " ".join(f"{verb} {', '.join(parts)}" for verb, parts in self._clauses.items())

    def _add(self, update: Update) -> None:
        name = self._aliases.name(self._item.shape.fields[update.field].attribute)
        match update:
            case Remove() | Set(_, None):
                self._clause("REMOVE", name)
            case Set(field, value):
                self._clause("SET", f"{name} = {self._value(field, value)}")
            case SetIfAbsent(field, value):
                first = self._value(field, self._item.defaults.get(field, value))
                self._clause("SET", f"{name} = if_not_exists({name}, {first})")
            case Add(field, amount):
                start, more = self._value(field, self._item.defaults.get(field, 0)), self._value(field, amount)
                self._clause("SET", f"{name} = if_not_exists({name}, {start}) + {more}")
            case Append(field, items):
                start = self._value(field, self._item.defaults.get(field, []))
                more = self._aliases.value(document(list(items)))
                self._clause("SET", f"{name} = list_append(if_not_exists({name}, {start}), {more})")
            case Include(field, members):
                self._clause("ADD", f"{name} {self._value(field, members)}")
            case Exclude(field, members):
                self._clause("DELETE", f"{name} {self._value(field, members)}")
            case _:
                raise TypeError(f"not an update: {update!r}")

    def _index(self, attribute: str, value: str | int | None) -> None:
        name = self._aliases.name(attribute)
        if value is None:
            self._clause("REMOVE", name)
        else:
            self._clause("SET", f"{name} = {self._aliases.value(index_value(self._item, attribute, value))}")

    def _clause(self, verb: str, text: str) -> None:
        self._clauses.setdefault(verb, []).append(text)

    def _value(self, field: str, value: Any) -> str:
        return self._aliases.value(self._item.encoders[field](value))


def index_value(item: ItemType, attribute: str, value: str | int) -> Value:
    """The value of an index attribute, as a string or as a number."""
    return {"N": str(value)} if item.layout.is_number(attribute) else {"S": str(value)}
