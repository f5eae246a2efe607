"""Records on their way to an engine: the limits that hold everywhere, checked before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any

import msgspec

from penstock.errors import InvalidValue, TooLarge
from penstock.operations.computed_values import with_computed_values
from penstock.operations.file_access import check_files
from penstock.operations.updates import Add, Append, Exclude, Include, Set, SetIfAbsent, Update
from penstock.operations.writes import Check, Delete, Patch, Put, Write
from penstock.schema import documents
from penstock.schema.generated import expressed
from penstock.schema.kinds import INTEGER_LIMIT, FieldShape, Kind
from penstock.schema.shape import COMMIT_WRITES, RECORD_BYTES, EntityShape, IndexShape
from penstock.schema.size import document_size, record_size, value_size
from penstock.schema.template import Template


def _texts(value: frozenset[str]) -> frozenset[str]:
    if not value:
        raise InvalidValue("a set has no member; leave the field out instead")
    for member in value:
        documents.text(member)
    return value


_CHECKS: dict[Kind, Callable[[Any], Any]] = {
    Kind.TEXT: documents.text,
    Kind.INTEGER: documents.integer,
    Kind.FLOAT: documents.real,
    Kind.DECIMAL: documents.decimal,
    Kind.TEXTS: _texts,
}


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is checked of one entity's records."""

    surely_fine: Callable[[Mapping[str, Any]], bool]
    "A quick look at all fields: True when none of the careful checks could object."
    checked: tuple[FieldShape, ...]
    documents: tuple[FieldShape, ...]
    templates: tuple[Template, ...]
    "The templates of the key that can refuse a value."
    indexes: tuple[IndexShape, ...]
    "The indexes whose keys can."


_LONG = (Kind.TEXT, Kind.BYTES, Kind.TEXTS, Kind.DOCUMENT)
_encode = msgspec.json.Encoder().encode
# Below this many characters no record can be near the limit, so its size need not be counted.
_SURELY_SMALL = 50_000


@cache
def _plan(shape: EntityShape) -> _Plan:
    templates = (shape.key.partition, *((shape.key.sort,) if shape.key.sort else ()))
    return _Plan(
        _surely_fine(shape),
        tuple(f for f in shape.fields.values() if f.kind in _CHECKS),
        tuple(f for f in shape.fields.values() if f.kind is Kind.DOCUMENT),
        tuple(t for t in templates if t.can_refuse),
        tuple(index for index in shape.indexes.values() if index.can_refuse),
    )


def _surely_fine(shape: EntityShape) -> Callable[[Mapping[str, Any]], bool]:
    """Generate the quick look: all texts joined and looked at once, each number against its bounds."""
    tests = []
    texts = []
    for field in shape.fields.values():
        value = f"v[{field.name!r}]"
        unless_missing = f"{value} is None or " if field.optional else ""
        if field.kind is Kind.TEXT:
            texts.append(f"({value} or '')")
        elif field.kind is Kind.INTEGER:
            tests.append(f"({unless_missing}{-INTEGER_LIMIT} <= {value} < {INTEGER_LIMIT})")
        elif field.kind is Kind.FLOAT:
            tests.append(f"({unless_missing}1e-130 <= abs({value}) < 1e126 or {value} == 0)")
        elif field.kind in (Kind.BYTES, Kind.TEXTS, Kind.DECIMAL):
            tests.append(f"{value} is None")
    if texts:
        joined = f"(t := ''.join(({', '.join(texts)},)))"
        tests.append(f"{joined}.isascii() and '\\0' not in t and len(t) < {_SURELY_SMALL}")
    look: Callable[[Mapping[str, Any]], bool] = expressed("look", "v", " and ".join(tests) or "True", about=shape.name)
    return look


def prepare(shape: EntityShape, values: dict[str, Any]) -> dict[str, Any]:
    """The values of a whole record as engines take them; InvalidValue or TooLarge for what no engine may hold."""
    if shape.computed:
        values = with_computed_values(shape, values)
    plan = _plan(shape)
    for template in plan.templates:
        template.check(values)
    for index in plan.indexes:
        if index.holds(values):
            index.key.partition.check(values)
            if index.key.sort is not None:
                index.key.sort.check(values)
    if shape.files:
        check_files(shape, values)
    fine = plan.surely_fine(values)
    if not fine:
        _check_fields(shape, plan, values)
    if plan.documents:
        values = dict(values)
        for field in plan.documents:
            value = values[field.name]
            if value is not None:
                values[field.name] = document = _plain(shape, field, value)
                # As JSON it has at least half the bytes it is counted with, and JSON is quickly made.
                fine = fine and len(_encode(document)) < _SURELY_SMALL
    if not fine:
        _check_size(shape, values)
    return values


def is_simple(text: str) -> bool:
    """A quick look: True when a text can surely stand anywhere, also in a key."""
    return type(text) is str and 0 < len(text) < 300 and text.isascii() and text.isprintable()


is_simple_name = lru_cache(maxsize=4096, typed=True)(is_simple)
"The same of names that come again and again: who acts, of which project, what is told."


def is_simple_json(document: bytes) -> bool:
    """A quick look: True when a document, as JSON, surely holds no text that cannot be stored and is not large."""
    return len(document) < _SURELY_SMALL and b"\\u0000" not in document


def _check_fields(shape: EntityShape, plan: _Plan, values: Mapping[str, Any]) -> None:
    for field in plan.checked:
        value = values[field.name]
        if value is not None:
            check_value(shape.name, field, value)


def check_value(entity: str, field: FieldShape, value: Any) -> None:
    """Refuse a value that not every engine can hold or compare with."""
    check = _CHECKS.get(field.kind)
    if check is not None:
        try:
            check(value)
        except InvalidValue as error:
            raise InvalidValue(f"{entity}.{field.name}: {error}") from None


def _plain(shape: EntityShape, field: FieldShape, value: Any) -> Any:
    assert field.dump is not None
    try:
        return field.dump(value)
    except InvalidValue as error:
        raise InvalidValue(f"{shape.name}.{field.name}: {error}") from None


def _check_size(shape: EntityShape, values: Mapping[str, Any]) -> None:
    size = record_size(shape, values)
    if size > RECORD_BYTES:
        raise TooLarge(
            f"{shape.name} has {size} bytes; at most {RECORD_BYTES} (400 KB) are allowed. "
            f"Keep large content in an object"
        )


def prepare_updates(shape: EntityShape, updates: Sequence[Update]) -> tuple[Update, ...]:
    """The updates of a patch as engines take them."""
    seen: set[str] = set()
    out: list[Update] = []
    heavy = False
    for update in updates:
        name = update.field
        field = shape.fields[name]
        kind = field.kind
        if not heavy and kind in _LONG:
            value = update.value if type(update) is Set else None
            heavy = type(value) is not str or len(value) > 1000
        if name in seen:
            raise InvalidValue(f"{shape.name}: {name} is changed twice in one patch; say it once")
        if name in shape.key.fields:
            raise InvalidValue(f"{shape.name}.{name} is part of the key, which never changes")
        seen.add(name)
        # What most updates are comes first: a match would try each of its cases in turn.
        if type(update) is Set and kind is not Kind.DOCUMENT:
            if kind is not Kind.CHOICE and (check := _CHECKS.get(kind)) is not None:
                try:
                    check(update.value)
                except InvalidValue as error:
                    raise _misfit(shape, field, error) from None
            out.append(update)
        else:
            out.append(_prepare_update(shape, field, update))
    if not out:
        raise InvalidValue(f"a patch of {shape.name} changes nothing; give at least one update")
    if heavy and sum(_weight(shape.fields[u.field], u) for u in out) > RECORD_BYTES:
        raise TooLarge(
            f"a patch of {shape.name} alone is over {RECORD_BYTES} bytes (400 KB). Keep large content in an object"
        )
    return tuple(out)


def _weight(field: FieldShape, update: Update) -> int:
    """Bytes that an update surely brings, of the kinds that can bring many."""
    match update:
        case Set(_, value) | SetIfAbsent(_, value) if field.kind in _LONG:
            return value_size(field, value)
        case Append(_, items):
            return document_size(list(items))
        case Include(_, members):
            return value_size(field, members)
    return 0


def _prepare_update(shape: EntityShape, field: FieldShape, update: Update) -> Update:
    try:
        match update:
            case Set(name, value) | SetIfAbsent(name, value):
                if field.kind is Kind.DOCUMENT:
                    return type(update)(name, _plain(shape, field, value))
                if check := _CHECKS.get(field.kind):
                    check(value)
            case Add(name, amount):
                if field.kind is Kind.DECIMAL and type(amount) is int:
                    update, amount = Add(name, Decimal(amount)), Decimal(amount)
                _CHECKS[field.kind](amount)
            case Append(name, items):
                return Append(name, tuple(documents.plain(i) for i in items))
            case Include(_, members) | Exclude(_, members):
                _texts(members)
    except InvalidValue as error:
        raise _misfit(shape, field, error) from None
    return update


def _misfit(shape: EntityShape, field: FieldShape, error: InvalidValue) -> InvalidValue:
    return InvalidValue(f"{shape.name}.{field.name}: {error}")


_WRITES = frozenset((Put, Patch, Delete, Check))


def check_commit(writes: Sequence[Write]) -> None:
    """A commit has 1 to 100 writes, and touches each record once."""
    if type(writes) not in (list, tuple) or not _WRITES.issuperset(map(type, writes)):
        raise InvalidValue("a commit takes writes, as penstock.kernel.handle.put and patch make them, in a list")
    if not writes:
        raise InvalidValue("a commit has no writes; give at least one")
    if len(writes) > COMMIT_WRITES:
        raise TooLarge(f"a commit has {len(writes)} writes; at most {COMMIT_WRITES} commit together. Split it")
    # A witness is like no other, by what it is.
    others = [w for w in writes if type(w) is not Put or not w.witness]
    if len(others) > 1:
        _check_distinct(others)


def _check_distinct(writes: Iterable[Write]) -> None:
    seen: set[tuple[EntityShape, Any]] = set()
    for write in writes:
        shape = write.shape
        identity = shape, shape.name_of(write.key)
        if identity in seen:
            raise InvalidValue(f"a commit writes one {write.shape.name} twice; a record may be touched once")
        seen.add(identity)
