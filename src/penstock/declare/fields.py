"""Reads the fields of an entity class: which kind each annotation is, and under which names it is stored."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from penstock.declare.attribute import StoredAs
from penstock.declare.begins import beginning
from penstock.declare.computed import computation
from penstock.declare.formerly import Formerly, Instead, Retyped
from penstock.declare.keys_within import keys_within
from penstock.declare.personal import marked_within, opened_by, seen_by
from penstock.declare.rights import written_by
from penstock.declare.stored_names import check_attribute_name, check_column_name
from penstock.declare.unique import unique_within
from penstock.declare.units import Instant
from penstock.errors import DeclarationError
from penstock.schema.documents import plain
from penstock.schema.kinds import FieldShape, Kind, Retyping
from penstock.schema.number_bounds import Bounds, exact_bounds, whole_bounds
from penstock.schema.object_key import HoldsFolder

_SIMPLE = {
    str: Kind.TEXT,
    UUID: Kind.IDENTIFIER,
    int: Kind.INTEGER,
    float: Kind.FLOAT,
    Decimal: Kind.DECIMAL,
    bool: Kind.FLAG,
    bytes: Kind.BYTES,
    date: Kind.DAY,
}


def read_fields(cls: type[BaseModel], naming: Callable[[str], str]) -> dict[str, FieldShape]:
    """Every field of the class as a shape; DeclarationError for what cannot be stored."""
    fields = {name: _read(cls.__name__, name, info, naming) for name, info in cls.model_fields.items()}
    for shape in fields.values():
        check_column_name(f"{cls.__name__}.{shape.name}", shape.column)
        check_attribute_name(f"{cls.__name__}.{shape.name}", shape.attribute)
    for which in ("attribute", "column"):
        seen: dict[str, str] = {}
        for shape in fields.values():
            label = getattr(shape, which)
            same = label.lower() if which == "column" else label  # SQLite takes capitals for small letters
            if same in seen:
                raise DeclarationError(
                    f"{cls.__name__}: {seen[same]} and {shape.name} share the {which} {label!r}; rename one"
                )
            seen[same] = shape.name
    return fields


def _read(entity: str, name: str, info: FieldInfo, naming: Callable[[str], str]) -> FieldShape:
    annotation, optional, metadata = _unwrap(info.annotation, list(info.metadata))
    stored = next((m for m in metadata if isinstance(m, StoredAs)), StoredAs())
    instant = next((m for m in metadata if isinstance(m, Instant)), None)
    kind = _kind(entity, name, annotation, instant)
    if marked_within(annotation):
        raise DeclarationError(
            f"{entity}.{name}: only a part of it is marked as personal, and fields are shown whole or not at all; "
            f"mark the field, or keep that part in a field of its own"
        )
    dump, load = _document(annotation) if kind is Kind.DOCUMENT else (None, None)
    default = _default(info)
    computed, begun = computation(info.annotation, info.metadata), beginning(info.annotation, info.metadata)
    retyped = next((m for m in metadata if isinstance(m, Retyped)), None)
    if optional and computed is None and begun is None and (default is not None or info.default_factory is not None):
        raise DeclarationError(
            f"{entity}.{name} may be None but has another default, as which a missing value would come back; "
            f"make it required, or None by default"
        )
    return FieldShape(
        name=name,
        attribute=stored.name or naming(name),
        column=stored.column or name,
        kind=kind,
        optional=optional,
        stored=not stored.in_key_only,
        digits=instant.digits if instant else 0,
        python=annotation,
        bounds=_bounds(kind, metadata),
        dump=dump,
        load=load,
        default=default,
        made=computed is None and begun is None and default is None and info.default_factory is not None,
        keys=keys_within(info.annotation, info.metadata),
        folders=keys_within(info.annotation, info.metadata, marked=HoldsFolder),
        personal=seen_by(metadata),
        opened_by=opened_by(metadata),
        computation=computed,
        unique_within=unique_within(metadata),
        written_by=written_by(metadata),
        formerly=tuple(m.name for m in metadata if isinstance(m, Formerly)),
        retyping=None if retyped is None else _retyping(entity, name, info, retyped),
        begins=begun,
        instead={lost: value for m in metadata if isinstance(m, Instead) for lost, value in m.of.items()},
    )


def _retyping(entity: str, name: str, info: FieldInfo, said: Retyped[Any]) -> Retyping:
    """What a field was; where it lay, the store knows."""
    annotation, _, metadata = _unwrap(said.was, [])
    instant = next((m for m in metadata if isinstance(m, Instant)), None)
    kind = _kind(entity, name, annotation, instant)
    dump, load = _document(annotation) if kind is Kind.DOCUMENT else (None, None)
    digits = instant.digits if instant else 0
    former = FieldShape(name, name, name, kind, optional=True, digits=digits, python=annotation, dump=dump, load=load)
    was: TypeAdapter[Any] = TypeAdapter(said.was)
    declared: Any = info.annotation
    present: TypeAdapter[Any] = TypeAdapter(declared)
    back = said.back
    return Retyping(
        former,
        forward=lambda value: present.validate_python(said.forward(was.validate_python(value))),
        back=None if back is None else lambda value: was.validate_python(back(value)),
        check=was.validate_python,
    )


def _default(info: FieldInfo) -> Any:
    """As what a missing value comes back; None where there is nothing, or where it is made anew for each record."""
    if info.default_factory is list:
        return []
    if info.default_factory is dict:
        return {}
    return None if info.default is PydanticUndefined else info.default


def _unwrap(annotation: Any, metadata: list[Any]) -> tuple[Any, bool, list[Any]]:
    """Peel Optional, Annotated and NewType off an annotation."""
    optional = False
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation, *more = get_args(annotation)
            metadata = metadata + more
        elif origin in (Union, types.UnionType) and type(None) in get_args(annotation):
            rest = [a for a in get_args(annotation) if a is not type(None)]
            if len(rest) != 1:
                return annotation, True, metadata
            annotation, optional = rest[0], True
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        else:
            return annotation, optional, metadata


def _kind(entity: str, name: str, annotation: Any, instant: Instant | None) -> Kind:
    if annotation is datetime:
        if instant is None:
            raise DeclarationError(
                f"{entity}.{name} is a datetime without a precision; use UtcSeconds, UtcMillis or UtcMicros"
            )
        return Kind.INSTANT
    if annotation in _SIMPLE:
        return _SIMPLE[annotation]
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        if not all(isinstance(member.value, str) for member in annotation):
            raise DeclarationError(f"{entity}.{name}: the values of {annotation.__name__} must be strings")
        return Kind.CHOICE
    if get_origin(annotation) in (set, frozenset):
        if get_origin(annotation) is set or get_args(annotation) != (str,):
            raise DeclarationError(f"{entity}.{name}: a set is declared as frozenset[str]")
        return Kind.TEXTS
    if annotation in (set, frozenset):
        raise DeclarationError(f"{entity}.{name}: a set is declared as frozenset[str]")
    return Kind.DOCUMENT


def _bounds(kind: Kind, metadata: Iterable[Any]) -> Bounds | None:
    if kind is Kind.INTEGER:
        return whole_bounds(metadata)
    return exact_bounds(metadata) if kind is Kind.DECIMAL else None


def _document(annotation: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any] | None]:
    """How a list, map or model becomes plain JSON values, and back."""
    if _is_json(annotation):
        return plain, None
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)

    def dump(value: Any) -> Any:
        return plain(adapter.dump_python(value, mode="json"))

    return dump, adapter.validate_python


def _is_json(annotation: Any) -> bool:
    """Do JSON's own values need no conversion to be of this type?"""
    annotation, _, _ = _unwrap(annotation, [])
    if annotation in (str, bool, Any, object):
        return True
    if annotation in (list, dict):
        return True
    origin, arguments = get_origin(annotation), get_args(annotation)
    return (origin is list and _is_json(arguments[0])) or (
        origin is dict and arguments[0] is str and _is_json(arguments[1])
    )
