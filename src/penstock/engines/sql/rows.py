"""Rows: how a record's values are handed to a driver and how a row becomes a record, compiled once per entity.

The functions are generated as source, because a loop over fields would cost more than the driver itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from penstock.engines.sql.dialect import Dialect
from penstock.errors import DamagedRecord
from penstock.kinds import FieldShape, Kind
from penstock.shape import EntityShape

Bind = Callable[[Mapping[str, Any]], tuple[Any, ...]]
"Makes parameters of a record's values."


@dataclass(frozen=True, slots=True)
class RowCodec:
    """The two directions between a record's values and a row of its table."""

    bind: Bind
    "All columns' parameters, in the order of the fields."
    bind_key: Bind
    "The key columns' parameters, in the order of the key."
    values: Callable[[tuple[Any, ...]], dict[str, Any]]
    "A row's values by field name."
    record: Callable[[tuple[Any, ...]], Any]
    "A row as a record."
    one: dict[str, Callable[[Any], Any]]
    "A single field's parameter."


def compile_codec(shape: EntityShape, dialect: Dialect) -> RowCodec:
    """Generate the functions for one entity."""
    fields = list(shape.fields.values())
    names: dict[str, Any] = dict(dialect.names)
    for position, field in enumerate(fields):
        names[f"python_{position}"] = field.python
        names[f"load_{position}"] = field.load
        names[f"default_{position}"] = field.default
        if field.kind is Kind.CHOICE:
            names[f"members_{position}"] = field.python._value2member_map_
    loads = [f"{f.name!r}: {_load(f, dialect, i)}" for i, f in enumerate(fields)]
    # Generated from names that were checked at declaration.
    values = eval(compile(f"lambda r: {{{', '.join(loads)}}}", f"<rows of {shape.name}>", "eval"), names)
    return RowCodec(
        bind=bind_of(shape, dialect, list(shape.fields)),
        bind_key=bind_of(shape, dialect, shape.key.fields),
        values=values,
        record=_recorder(shape, values),
        one={f.name: _single(f, dialect, names) for f in fields},
    )


def bind_of(shape: EntityShape, dialect: Dialect, names: Sequence[str]) -> Bind:
    """Generate what makes the parameters of these fields, in this order."""
    binds = [_bind(shape.fields[n], dialect, f"v[{n!r}]") for n in names]
    function: Bind = eval(f"lambda v: ({', '.join(binds)},)", dict(dialect.names))
    return function


def _bind(field: FieldShape, dialect: Dialect, source: str) -> str:
    expression = dialect.bind.get(field.kind)
    if expression is None:
        return source
    expression = expression.replace("{digits}", str(field.digits))
    if not field.optional:
        return expression.replace("{x}", source)
    return f"(None if {source} is None else {expression.replace('{x}', source)})"


def _load(field: FieldShape, dialect: Dialect, position: int) -> str:
    source = f"r[{position}]"
    expression = dialect.load.get(field.kind, "{x}")
    expression = expression.replace("{members}", f"members_{position}")
    if field.load is not None:
        expression = f"load_{position}({expression})"
    if expression == "{x}" and field.default is None:
        return source
    missing = f"default_{position}"
    if not field.optional and field.default is None:
        return expression.replace("{x}", source)
    return f"({missing} if {source} is None else {expression.replace('{x}', source)})"


def _single(field: FieldShape, dialect: Dialect, names: dict[str, Any]) -> Callable[[Any], Any]:
    expression = dialect.bind.get(field.kind, "{x}").replace("{digits}", str(field.digits))
    function: Callable[[Any], Any] = eval(f"lambda x: {expression.replace('{x}', 'x')}", names)
    return function


def _recorder(
    shape: EntityShape, values: Callable[[tuple[Any, ...]], dict[str, Any]]
) -> Callable[[tuple[Any, ...]], Any]:
    build = shape.build

    def record(row: tuple[Any, ...]) -> Any:
        try:
            return build(values(row))
        except (ValueError, KeyError, TypeError, AttributeError, ValidationError) as error:
            raise _damaged(shape, row, error) from error

    return record


def _damaged(shape: EntityShape, row: tuple[Any, ...], error: Exception) -> DamagedRecord:
    """Hand-written SQL can store what the declaration does not allow; say which record, never its content."""
    columns = list(shape.fields)
    key = ", ".join(f"{n}={row[columns.index(n)]}" for n in shape.key.fields)
    return DamagedRecord(
        f"{shape.name}({key}) is stored in a form its declaration does not allow ({type(error).__name__}); "
        f"correct the row in {shape.relation}"
    )
