"""Rows: how a record's values are handed to a driver and how a row becomes a record, compiled once per entity.

The functions are generated as source, because a loop over fields would cost more than the driver itself.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn, TypeVar

from pydantic import ValidationError

from penstock.engines.sql.dialect import Dialect
from penstock.errors import DamagedRecord
from penstock.operations.reads import Ref, Unreadable
from penstock.schema.documents import has_only_texts
from penstock.schema.generated import expressed
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape

Bind = Callable[[Mapping[str, Any]], tuple[Any, ...]]
"Makes parameters of a record's values."
Row = tuple[Any, ...]
Read = Callable[[Row], dict[str, Any]]
"Makes a record's values of a row."
Take = Callable[[Sequence[Row]], list[Row]]
"Makes tuples of some fields of rows."
_Found = TypeVar("_Found")
DAMAGES = (ValueError, KeyError, TypeError, AttributeError, ValidationError, RecursionError)


@dataclass(frozen=True, slots=True)
class RowCodec:
    """The two directions between a record's values and a row of its table."""

    bind: Bind
    "All columns' parameters, in the order of the fields."
    bind_key: Bind
    "The key columns' parameters, in the order of the key."
    values: Read
    "A row's values by field name."
    record: Callable[[Row], Any]
    "A row as a record."
    one: dict[str, Callable[[Any], Any]]
    "A single field's parameter."
    key: Read
    "The key fields of a row, of which nothing else is looked at."


def compile_codec(shape: EntityShape, dialect: Dialect) -> RowCodec:
    """Generate the functions for one entity."""
    fields = list(shape.fields.values())
    names = _names(fields, dialect)
    loads = {f.name: _load(f, dialect, i, surely=f.name in shape.key.fields) for i, f in enumerate(fields)}

    @cache
    def reader(without: frozenset[str]) -> Read:
        entries = ", ".join(f"{name!r}: {load}" for name, load in loads.items() if name not in without)
        read: Read = expressed("read", "r", f"{{{entries}}}", about=f"a row of {shape.name}", names=names)
        return read

    others = frozenset(shape.fields) - frozenset(shape.key.fields)
    return RowCodec(
        bind=bind_of(shape, dialect, list(shape.fields)),
        bind_key=bind_of(shape, dialect, shape.key.fields),
        values=reader(frozenset()),
        record=_recorder(shape, reader),
        one={f.name: _single(f, dialect, names) for f in fields},
        key=lambda row: reader(others)(row),
    )


def _names(fields: Sequence[FieldShape], dialect: Dialect) -> dict[str, Any]:
    """What the generated functions know of the columns, by their positions."""
    names: dict[str, Any] = {**dialect.names, "copied": copy.deepcopy, "absent": _absent}
    for position, field in enumerate(fields):
        names[f"python_{position}"] = field.python
        names[f"load_{position}"] = field.load
        names[f"default_{position}"] = field.default
        if field.kind is Kind.CHOICE:
            names[f"members_{position}"] = field.python._value2member_map_
    return names


def bind_of(shape: EntityShape, dialect: Dialect, names: Sequence[str]) -> Bind:
    """Generate what makes the parameters of these fields, in this order."""
    binds = [_bind(shape.fields[n], dialect, f"v[{n!r}]") for n in names]
    bind: Bind = expressed("bind", "v", f"({', '.join(binds)},)", about=shape.name, names=dialect.names)
    return bind


def _bind(field: FieldShape, dialect: Dialect, source: str) -> str:
    expression = dialect.bind.get(field.kind)
    if expression is None:
        return source
    expression = expression.replace("{digits}", str(field.digits))
    if not field.optional:
        return expression.replace("{x}", source)
    return f"(None if {source} is None else {expression.replace('{x}', source)})"


def _load(field: FieldShape, dialect: Dialect, position: int, *, surely: bool) -> str:
    """How a column's value is loaded; one of the key is surely there."""
    source = f"r[{position}]"
    expression = dialect.load.get(field.kind, "{x}").replace("{members}", f"members_{position}")
    if field.kind is Kind.DOCUMENT and not has_only_texts(field.python):
        expression = dialect.numbers.replace("{x}", expression)
    if field.load is not None:
        expression = f"load_{position}({expression})"
    loaded = expression.replace("{x}", source)
    if surely or (loaded == source and field.optional) or (field.kind not in dialect.load and _may_be_null(field)):
        return loaded
    return f"({_missing(field, position)} if {source} is None else {loaded})"


def _may_be_null(field: FieldShape) -> bool:
    """May a document be JSON's null? A driver that reads JSON itself gives it as it gives a missing value."""
    if field.kind is not Kind.DOCUMENT or field.optional or field.default is not None:
        return False
    if field.load is None:
        return field.python in (Any, object)
    try:
        return field.load(None) is None
    except DAMAGES:
        return False


def _missing(field: FieldShape, position: int) -> str:
    """What stands for a value that is missing."""
    if field.optional:
        return "None"
    if field.default is None:
        return "absent()"
    # Records must not share a list: what one does to it, the others would have as well.
    return f"copied(default_{position})" if field.kind is Kind.DOCUMENT else f"default_{position}"


def _absent() -> NoReturn:
    raise ValueError("a value is missing")


def _single(field: FieldShape, dialect: Dialect, names: dict[str, Any]) -> Callable[[Any], Any]:
    expression = dialect.bind.get(field.kind, "{x}").replace("{digits}", str(field.digits))
    bind: Callable[[Any], Any] = expressed("bind", "x", expression.replace("{x}", "x"), about=field.name, names=names)
    return bind


def _recorder(shape: EntityShape, reader: Callable[[frozenset[str]], Read]) -> Callable[[Row], Any]:
    build, values = shape.build, reader(frozenset())
    needed = [(i, f.name) for i, f in enumerate(shape.fields.values()) if not f.optional and f.default is None]

    def record(row: Row) -> Any:
        try:
            return build(values(row))
        except DAMAGES as error:
            absent = frozenset(name for position, name in needed if row[position] is None)
            if not absent:
                raise _damaged(shape, row, error) from error
        return completed(row, absent)

    def completed(row: Row, absent: frozenset[str]) -> Any:
        """A row from before the table grew: what each record makes for itself, its declaration makes now."""
        try:
            return build(dict(vars(shape.check(reader(absent)(row)))))
        except DAMAGES as error:
            raise _damaged(shape, row, error) from error

    return record


def _damaged(shape: EntityShape, row: Row, error: Exception) -> DamagedRecord:
    """Hand-written SQL can store what the declaration does not allow; say which record, never its content."""
    columns = list(shape.fields)
    key = ", ".join(f"{n}={row[columns.index(n)]}" for n in shape.key.fields)
    if lacking := _lacking(error):
        return DamagedRecord(
            f"{shape.name}({key}) has no {', '.join(lacking)}; give each such field a default, "
            f"or each row of {shape.relation} a value"
        )
    return DamagedRecord(
        f"{shape.name}({key}) is stored in a form its declaration does not allow ({type(error).__name__}); "
        f"correct the row in {shape.relation}"
    )


def _lacking(error: Exception) -> list[str]:
    """The fields that an error says have no value."""
    found = error.errors() if isinstance(error, ValidationError) else []
    return [str(e["loc"][0]) for e in found if e["type"] == "missing" and len(e["loc"]) == 1]


def projected(shape: EntityShape, dialect: Dialect, names: Sequence[str], wanted: Sequence[str]) -> tuple[Take, Read]:
    """Generate what makes tuples of the wanted fields, and values by name, of rows that have these columns only.

    Either raises DamagedRecord for what a whole record would have to be read to make sense of.
    """
    fields = [shape.fields[n] for n in names]
    known = _names(fields, dialect)
    loads = {f.name: _load(f, dialect, i, surely=f.name in shape.key.fields) for i, f in enumerate(fields)}
    about = f"some fields of {shape.name}"
    row = f"({', '.join(loads[n] for n in wanted)},)"
    take: Take = expressed("take", "rows", f"[{row} for r in rows]", about=about, names=known)
    entries = ", ".join(f"{name!r}: {load}" for name, load in loads.items())
    read: Read = expressed("read", "r", f"{{{entries}}}", about=about, names=known)
    return _careful(shape, take), _careful(shape, read)


def _careful(shape: EntityShape, read: Callable[[Any], _Found]) -> Callable[[Any], _Found]:
    def careful(given: Any) -> _Found:
        try:
            return read(given)
        except DAMAGES as error:
            raise DamagedRecord(f"{shape.name}: some fields of a row do not fit their declaration") from error

    return careful


def unreadable_row(codec: RowCodec, shape: EntityShape, row: Row, error: DamagedRecord) -> Unreadable:
    """A row of all columns that cannot be read, as it is told beside the others."""
    columns = list(shape.fields)
    try:
        key = codec.key(row)
        name = repr(Ref(shape, {n: key[n] for n in shape.key.fields}))
    except DAMAGES:
        key, name = None, f"{shape.name}({', '.join(f'{n}={row[columns.index(n)]}' for n in shape.key.fields)})"
    project = row[columns.index(shape.project.name)] if shape.project is not None else None
    return Unreadable(shape, name, str(error), key, None if project is None else str(project))
