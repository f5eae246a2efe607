"""What else can be wrong with a declaration: lifetimes, states of an index, parameters of keys and patterns."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from penstock.declare.lifetime import Expires, KeepLatest, Lifetime, RetainFor
from penstock.errors import DeclarationError
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape, TablePlace

Fields = Mapping[str, FieldShape]
_PLAIN = {Kind.TEXT: str, Kind.INTEGER: int, Kind.FLAG: bool}


def keyword_parameters(where: str, signature: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of a key or pattern function, which are all given by name."""
    parameters = list(inspect.signature(signature).parameters.values())[1:]
    for parameter in parameters:
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            raise DeclarationError(f"{where}: {parameter.name} must be given by name; write * before it, alone")
    return parameters


def check_lifetimes(entity: str, fields: Fields, place: TablePlace, lifetimes: tuple[Lifetime, ...]) -> None:
    """Lifetimes are measured by fields there are, and what the database would remove says so."""
    if len([x for x in lifetimes if isinstance(x, Expires)]) > 1:
        raise DeclarationError(f"{entity} has more than one Expires; a record has one end")
    for lifetime in lifetimes:
        if isinstance(lifetime, RetainFor):
            field = fields.get(lifetime.since)
            if field is None or field.kind not in (Kind.INSTANT, Kind.DAY):
                raise DeclarationError(f"{entity}: RetainFor(since={lifetime.since!r}) needs a field that is a moment")
            if lifetime.when is not None:
                state_of(entity, fields, lifetime.when)
        elif isinstance(lifetime, KeepLatest):
            if lifetime.count < 1:
                raise DeclarationError(f"{entity}: KeepLatest({lifetime.count}) keeps nothing; keep at least one")
            for name in lifetime.per:
                if name not in fields:
                    raise DeclarationError(f"{entity}: KeepLatest(per=…) names {name!r}, which is not a field")
            if (lifetime.said_by is None) is not (lifetime.said_in is None):
                raise DeclarationError(f"{entity}: KeepLatest takes said_by=… and said_in=… together, or neither")
            spared = fields.get(lifetime.spared_until or "")
            if lifetime.spared_until is not None and (spared is None or spared.kind is not Kind.INSTANT):
                raise DeclarationError(
                    f"{entity}: KeepLatest(spared_until={lifetime.spared_until!r}) needs a field that is a moment"
                )
    if not any(isinstance(x, Expires) for x in lifetimes):
        for field in fields.values():
            if place.expiry is not None and field.stored and field.attribute == place.expiry:
                raise DeclarationError(
                    f"{entity}.{field.name} is stored as {place.expiry!r}, by which the table ends records; "
                    f"declare Expires(at={field.name!r}), or rename the field's attribute"
                )


def check_last_modified(entity: str, fields: Fields, last_modified: str | None) -> None:
    """The moment of the last change is a moment that can change."""
    if last_modified is not None and (last_modified not in fields or fields[last_modified].kind is not Kind.INSTANT):
        raise DeclarationError(f"{entity}: last_modified={last_modified!r} needs a field that is a moment")


def check_version(shape: EntityShape) -> None:
    """A version is a number that begins at 1 and that nothing is found by: it changes with every write."""
    if shape.version is None:
        return
    field = shape.fields.get(shape.version)
    where = f"{shape.name}: version={shape.version!r}"
    if field is None or field.kind is not Kind.INTEGER or field.optional or field.default != 1:
        raise DeclarationError(f"{where} needs a field that begins at 1, such as {shape.version}: int = 1")
    if field.name in shape.key.fields or field.name in shape.indexed or field.unique_within is not None:
        raise DeclarationError(f"{where} cannot be part of a key or unique, as it changes with every write")
    if any(field.name in (f.unique_within or ()) for f in shape.unique):
        raise DeclarationError(f"{where}: nothing is unique within it, as it changes with every write")


def state_of(entity: str, fields: Fields, states: tuple[Enum, ...]) -> str:
    """The one field that these states, all of one kind, are states of."""
    kinds = {type(state) for state in states}
    found = [f.name for f in fields.values() if f.kind is Kind.CHOICE and {f.python} == kinds]
    if len(found) != 1:
        wrong = "no field has" if not found else f"{' and '.join(found)} both have"
        raise DeclarationError(f"{entity}: RetainFor(when=…) names states that {wrong}; name states of one field")
    return found[0]


def check_when(entity: str, index: str, fields: Fields, when: Mapping[str, frozenset[Any]]) -> None:
    """An index depends on values that its fields can have."""
    for name, allowed in when.items():
        where = f"{entity}: the index {index} depends on {name!r}"
        field = fields.get(name)
        if field is None:
            raise DeclarationError(f"{where}, which is not a field")
        wanted = field.python if field.kind is Kind.CHOICE else _PLAIN.get(field.kind)
        if wanted is None:
            raise DeclarationError(f"{where}, which is {field.kind.noun}; use a state, a flag, a text or an integer")
        if not allowed:
            raise DeclarationError(f"{where}, but names no value of it; give at least one")
        for value in allowed:
            right = isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))
            if not right or (wanted is str and isinstance(value, Enum)):
                raise DeclarationError(f"{where} being {value!r}, which is no {wanted.__name__}")


def check_sql_indexes(entity: str, fields: Fields, indexes: tuple[tuple[str, ...], ...]) -> None:
    for name in (n.lstrip("-") for names in indexes for n in names):
        if name not in fields:
            raise DeclarationError(f"{entity}: sql_indexes names {name!r}, which is not a field")


def check_tags(table: str, shape: EntityShape, others: list[EntityShape]) -> None:
    """An item's tag tells whose it is."""
    for other in others:
        if shape.tag is not None and shape.tag == other.tag:
            raise DeclarationError(
                f"{shape.name} and {other.name} have the same tag {shape.tag!r} in table {table}; give one another tag="
            )
