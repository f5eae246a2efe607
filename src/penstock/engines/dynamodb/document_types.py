"""Documents on their way in: a declared type becomes a type to decode into, so that what does not fit is noticed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, get_args, get_origin

import msgspec

from penstock.engines.dynamodb.attribute_values import python_value
from penstock.schema.kinds import FieldShape

Reader = Callable[[Any], Any]


@cache
def wrapper(kind: str, type_: Any) -> type[msgspec.Struct]:
    """The struct of one attribute value, such as {"N": int}."""
    return msgspec.defstruct("Value", [(kind, type_)], frozen=True, gc=False)


def document_type(field: FieldShape) -> tuple[Any, Reader]:
    """The type a document is decoded into, and what makes plain values of it.

    A document with a ``load`` is validated by that, so any form will do.
    """
    return (dict[str, Any], python_value) if field.load is not None else _typed(field.python)


def is_texts(field: FieldShape) -> bool:
    """Is the document a list of strings? They are so common that they have a faster way."""
    if field.load is not None or get_origin(field.python) is not list:
        return False
    return _bare(get_args(field.python)[0]) is str


def _typed(annotation: Any) -> tuple[Any, Reader]:
    annotation = _bare(annotation)
    if annotation is str:
        return wrapper("S", str), attrgetter("S")
    if annotation is bool:
        return wrapper("BOOL", bool), attrgetter("BOOL")
    origin, arguments = get_origin(annotation) or annotation, get_args(annotation)
    if origin is list:
        return _list(arguments[0] if arguments else Any)
    if origin is dict:
        return _map(arguments[1] if arguments else Any)
    return dict[str, Any], python_value


def _list(member: Any) -> tuple[Any, Reader]:
    inner, read = _typed(member)
    return wrapper("L", list[inner]), lambda value: [read(v) for v in value.L]  # type: ignore[valid-type]


def _map(member: Any) -> tuple[Any, Reader]:
    inner, read = _typed(member)
    return wrapper("M", dict[str, inner]), lambda value: {n: read(v) for n, v in value.M.items()}  # type: ignore[valid-type]


def _bare(annotation: Any) -> Any:
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation
