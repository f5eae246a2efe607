"""What a store and its changes are given: the right kind of thing, or a refusal that names the right one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from penstock.declare.attr import Attr
from penstock.declare.domain import Domain
from penstock.declare.entity import Entity
from penstock.errors import InvalidValue
from penstock.operations.conditions import All, Any_, Between, Compare, Condition, Missing, Not, OneOf, Present
from penstock.operations.item_collection import ItemCollection
from penstock.operations.reads import Query, Ref
from penstock.operations.updates import Add, Append, Exclude, Include, Set, SetIfAbsent, Update
from penstock.schema.kinds import FieldShape, Kind, said
from penstock.schema.shape import EntityShape

_TYPES: dict[Kind, type | tuple[type, ...]] = {
    Kind.TEXT: str,
    Kind.IDENTIFIER: UUID,
    Kind.INTEGER: int,
    Kind.FLOAT: (int, float),
    Kind.DECIMAL: (int, Decimal),
    Kind.FLAG: bool,
    Kind.BYTES: bytes,
    Kind.INSTANT: datetime,
    Kind.DAY: date,
    Kind.TEXTS: frozenset,
}


def check_ref(given: Any, does: str, when: Any = None) -> None:
    """Refuse what does not name one record, or is no condition on it."""
    if type(given) is not Ref:
        raise InvalidValue(f"{does} takes a ref, such as Entity.at(…) or record.ref, not {_named(given)}")
    if when is not None:
        check_condition(given.shape, when)


def check_query(given: Any, does: str) -> None:
    """Refuse what is no question."""
    if type(given) is not Query and not isinstance(given, ItemCollection):
        one = "; get reads the one record of a ref" if type(given) is Ref else ""
        raise InvalidValue(f"{does} takes a query, such as Entity.pattern(…), not {_named(given)}{one}")


def check_several(given: Any, does: str) -> None:
    """Refuse one where several are wanted, also one that could be walked through."""
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | Entity | type):
        raise InvalidValue(f"{does} takes several, in a list for example, not {_named(given)}")


def shape_of(given: Any, does: str, when: Any = None) -> EntityShape:
    """The shape of a record; refuses what is none, or no condition on it."""
    shape: EntityShape | None = None if isinstance(given, type) else getattr(given, "__shape__", None)
    if shape is None:
        raise InvalidValue(f"{does} takes a record of an entity that has a table, not {_named(given)}")
    if when is not None:
        check_condition(shape, when)
    return shape


def check_page(limit: Any, cursor: Any) -> None:
    """Refuse a page of no size, and what was never a cursor."""
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= 1000:
        given = limit if isinstance(limit, int) else _named(limit)
        raise InvalidValue(f"a page has 1 to 1000 records, not {given}")
    if cursor is not None and not isinstance(cursor, str):
        raise InvalidValue(f"a cursor is the text that the page before has told, not {_named(cursor)}")


def check_place(query: Any, given: Any) -> None:
    """Refuse what is no place in the order of a query: neither a record of its entity nor the values of its keys."""
    check_query(query, "cursor")
    if isinstance(query, ItemCollection):
        raise InvalidValue("cursor takes a query of one entity; a page of a collection has its cursor with it")
    shape = query.pattern.entity
    if isinstance(given, dict):
        if missing := [n for n in (*shape.key.fields, *query.pattern.key.fields) if given.get(n) is None]:
            raise InvalidValue(f"a place in {query.pattern.label} needs a value of {', '.join(dict.fromkeys(missing))}")
    elif getattr(given, "__shape__", None) is not shape or isinstance(given, type):
        raise InvalidValue(f"a place in {query.pattern.label} is a record of {shape.name}, not {_named(given)}")


def check_domain(given: Any) -> None:
    """Refuse to create tables of what is no domain."""
    if not isinstance(given, Domain):
        raise InvalidValue(f"ensure takes domains, such as Domain('films', Film), not {_named(given)}")


def check_texts(does: str, **given: Any) -> None:
    """Refuse names that are no texts."""
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise InvalidValue(f"{does}({name}=…) takes a text, not {_named(value)}")


def check_condition(shape: EntityShape, given: Any) -> None:
    """Refuse what is no condition on records of this entity."""
    match given:
        case Compare(name, _, value):
            _check_operand(shape, name, value)
        case Between(name, low, high):
            _check_operand(shape, name, low)
            _check_operand(shape, name, high)
        case OneOf(name, values):
            for value in values:
                _check_operand(shape, name, value)
        case Present(None) | Missing(None):
            pass
        case Present(str(name)) | Missing(str(name)):
            _field(shape, name)
        case All(parts) | Any_(parts):
            for part in parts:
                check_condition(shape, part)
        case Not(inner):
            check_condition(shape, inner)
        case _:
            raise InvalidValue(
                f"{shape.name}: a condition is made by the(Entity.field), such as the(…).equals(…), not {_named(given)}"
            )


def check_updates(shape: EntityShape, updates: Iterable[Any]) -> None:
    """Refuse what is no update of records of this entity."""
    for update in updates:
        match update:
            case Set(name, None):
                _field(shape, name)
            case Set(name, value) | SetIfAbsent(name, value) | Include(name, value) | Exclude(name, value):
                _check_operand(shape, name, value)
            case Add(name, amount):
                if _field(shape, name).kind not in (Kind.INTEGER, Kind.DECIMAL):
                    raise _of_another(shape, name)
                _check_operand(shape, name, amount)
            case Append(name):
                if _field(shape, name).kind is not Kind.DOCUMENT:
                    raise _of_another(shape, name)
            case Update(name):
                _field(shape, name)
            case _:
                raise InvalidValue(
                    f"{shape.name}: an update is made by the(Entity.field), such as the(…).set(…), not {_named(update)}"
                )


def owned_by(record: Any, owner: str) -> Condition:
    """That the record which stands has the same value of the field ``owner`` as this one, which has to have one."""
    shape = shape_of(record, "claim")
    check_texts("claim", owner=owner)
    field = shape.fields.get(owner)
    if field is None:
        close = difflib.get_close_matches(owner or "", shape.fields, n=1)
        hint = f"did you mean {close[0]}?" if close else "name the field that tells whose it is"
        raise InvalidValue(f"claim(owner={said(owner)}): {shape.name} has no such field; {hint}")
    if field.kind in (Kind.DOCUMENT, Kind.TEXTS):
        raise InvalidValue(f"claim(owner={owner!r}): {shape.name}.{owner} is {field.kind.noun}, which names no owner")
    value = record.__dict__[owner]
    if value is None or value == "":
        raise InvalidValue(f"claim(owner={owner!r}): {shape.name}.{owner} has no value, so it would be nobody's claim")
    return Compare(owner, "=", value)


def check_given(shape: EntityShape, given: Any) -> None:
    """Refuse to take another entity's record for the one that was read."""
    if getattr(given, "__shape__", None) is not shape or isinstance(given, type):
        raise InvalidValue(f"given= takes the record of {shape.name} that was read, not {_named(given)}")


def _field(shape: EntityShape, name: str) -> FieldShape:
    field = shape.fields.get(name)
    if field is None:
        raise InvalidValue(f"{shape.name} has no field {name!r}; the(Entity.field) has to name its own entity")
    return field


def _check_operand(shape: EntityShape, name: str, value: Any) -> None:
    """Refuse a value of another kind than the field's: it was made for another entity's field of the same name."""
    field = _field(shape, name)
    if field.kind is Kind.DOCUMENT:
        return
    if field.kind is Kind.CHOICE:
        fits = isinstance(value, str | field.python)
    else:
        fits = isinstance(value, _TYPES[field.kind]) and (field.kind is Kind.FLAG or not isinstance(value, bool))
    if not fits:
        raise _of_another(shape, name)


def _of_another(shape: EntityShape, name: str) -> InvalidValue:
    return InvalidValue(
        f"{shape.name}.{name} is {shape.fields[name].kind.noun}, which this is not made for; "
        f"the(Entity.field) has to name its own entity"
    )


def _named(given: Any) -> str:
    """What was given, in a word or two and without its content."""
    if type(given) is Ref:
        return f"the ref of a record of {given.shape.name}"
    if type(given) is Query:
        return f"a query by {given.pattern.label}"
    if isinstance(given, Attr):
        return f"the field {given!r}"
    if isinstance(given, type):
        return f"the class {given.__name__}"
    if isinstance(given, Entity):
        return f"a record of {type(given).__name__}"
    if isinstance(given, Condition | Update):
        return f"the {'condition' if isinstance(given, Condition) else 'update'} {type(given).__name__}"
    return "None" if given is None else f"a {type(given).__name__}"
