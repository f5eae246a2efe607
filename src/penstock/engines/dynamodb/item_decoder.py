"""From DynamoDB's answers to a record's values: typed decoders compiled once per entity, most of the work done in C.

An item that does not fit is read again by `lenient_decode`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Literal, NamedTuple
from uuid import UUID

import msgspec

from penstock.engines.dynamodb.attribute_values import NO_RAW, there
from penstock.engines.dynamodb.document_types import document_type, is_texts, wrapper
from penstock.engines.dynamodb.layout import KeyPart, Layout, Value
from penstock.engines.dynamodb.lenient_decode import is_own, read_leniently, read_partly
from penstock.errors import DamagedRecord
from penstock.operations.reads import Unreadable
from penstock.schema.documents import canonical
from penstock.schema.generated import defined
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.template import Template, TemplatePart

Values = dict[str, Any]

_TYPES: dict[Kind, tuple[str, Any]] = {
    Kind.TEXT: ("S", str),
    Kind.IDENTIFIER: ("S", UUID),
    Kind.INTEGER: ("N", int),
    Kind.FLOAT: ("N", float),
    Kind.DECIMAL: ("N", Decimal),
    Kind.FLAG: ("BOOL", bool),
    Kind.BYTES: ("B", bytes),
    Kind.INSTANT: ("S", datetime),
    Kind.DAY: ("S", date),
    Kind.TEXTS: ("SS", frozenset[str]),
}
_TOO_FINE = {0: "{0}.microsecond", 3: "{0}.microsecond % 1000", 6: "False"}
"What is true of a moment with more fraction digits than its field has."


class Undecodable(ValueError):
    """The item is not in the form Penstock writes; `lenient_decode` may still understand it."""


_UNFIT = (ValueError, msgspec.MsgspecError)


class DamagedItem(NamedTuple):
    """An item of the entity that does not fit its declaration."""

    stored: dict[str, Value]
    values: Values
    "What can be read of it."
    told: Unreadable


class DecodedItem(NamedTuple):
    """What one Query brought: the values of the entity's own items, and where to go on."""

    values: list[Values]
    "With a `DamagedItem` in the place of each that cannot be read,"
    last: msgspec.Raw | None
    damaged: bool = False
    "if there are such."


class ItemDecoder:
    """Reads the items of one entity."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        compiler = _Compiler(layout)
        item = compiler.struct()
        self._read = compiler.reader()
        self._got = _decoder([("Item", item | None, None)])
        self._updated = _decoder([("Attributes", item)])
        self._one = msgspec.json.Decoder(item, strict=False)
        self._by_key = _PageDecoder(compiler, layout.key[1:])
        self._by_index = _PageDecoder(compiler, layout.key)

    def got(self, body: bytes) -> Values | None:
        """The values in GetItem's answer, or None when no item stands there."""
        try:
            item = self._got.decode(body).Item
            return None if item is None else self._read(item)
        except _UNFIT:
            return read_leniently(self._layout, msgspec.json.decode(body)["Item"])

    def updated(self, body: bytes) -> Values:
        """The values in UpdateItem's answer."""
        try:
            return self._read(self._updated.decode(body).Attributes)
        except _UNFIT:
            return read_leniently(self._layout, msgspec.json.decode(body)["Attributes"])

    def queried(self, body: bytes, *, by_index: bool) -> DecodedItem:
        """The values of the entity's own items in Query's answer; others may live among them."""
        try:
            return (self._by_index if by_index else self._by_key).read(body)
        except _UNFIT:
            answer = _RAW_PAGE.decode(body)
            own = [raw for raw in answer.Items if is_own(self._layout, msgspec.json.decode(raw))]
            found = [self.any_item(raw) for raw in own]
            damaged = any(isinstance(f, DamagedItem) for f in found)
            return DecodedItem(found, there(answer.LastEvaluatedKey), damaged)  # type: ignore[arg-type]

    def any_item(self, raw: msgspec.Raw) -> Values | DamagedItem:
        """The values of a single item, or what can be told of one that cannot be read."""
        try:
            return self.item(raw)
        except DamagedRecord as error:
            stored = msgspec.json.decode(raw)
            return DamagedItem(stored, read_partly(self._layout, stored), error.unreadable[0])

    def some(self, names: frozenset[str]) -> SomeFields:
        """Reads answers that have these fields, and the key, alone."""
        return SomeFields(self._layout, names)

    def item(self, raw: msgspec.Raw) -> Values:
        """The values of a single item."""
        try:
            return self._read(self._one.decode(raw))
        except _UNFIT:
            return read_leniently(self._layout, msgspec.json.decode(raw))


class SomeFields:
    """Reads some fields of the items of one entity."""

    def __init__(self, layout: Layout, names: frozenset[str]) -> None:
        compiler = _Compiler(layout, names)
        self._by_key = _PageDecoder(compiler, layout.key[1:])
        self._by_index = _PageDecoder(compiler, layout.key)

    def queried(self, body: bytes, *, by_index: bool) -> DecodedItem | None:
        """The values of the entity's own items in Query's answer; None where one does not fit."""
        try:
            return (self._by_index if by_index else self._by_key).read(body)
        except _UNFIT:
            return None


class _PageDecoder:
    """Reads Query's answers when these parts of the key are not settled by the question itself."""

    def __init__(self, compiler: _Compiler, unsettled: tuple[KeyPart, ...]) -> None:
        item = compiler.struct(unsettled)
        self._answer = _decoder([("Items", list[item]), _LAST])  # type: ignore[valid-type]
        self._read = compiler.pager(unsettled)

    def read(self, body: bytes) -> DecodedItem:
        answer = self._answer.decode(body)
        return DecodedItem(self._read(answer.Items), there(answer.LastEvaluatedKey))


_LAST = ("LastEvaluatedKey", msgspec.Raw, NO_RAW)


def _decoder(fields: list[Any]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(msgspec.defstruct("Answer", fields, gc=False), strict=False)


_RAW_PAGE = _decoder([("Items", list[msgspec.Raw]), _LAST])


class _Compiler:
    """Writes the structs an entity's items are decoded into, and the functions that read them."""

    def __init__(self, layout: Layout, only: frozenset[str] | None = None) -> None:
        self._layout = layout
        self._fields = tuple(f for f in layout.fields if only is None or f.name in only)
        self._names: dict[str, Any] = {"UTC": UTC, "Undecodable": Undecodable, "copied": copy.deepcopy}
        self._before: list[str] = []
        unstored = [f for f in layout.shape.fields.values() if not f.stored and (only is None or f.name in only)]
        self._parsed = tuple(p for p in layout.own_key if any(f.name in p.template.names for f in unstored))
        entries = [f"{f.name!r}: {self._expression(f, p)}" for p, f in enumerate(self._fields)]
        entries += [f"{f.name!r}: {self._from_key(f)}" for f in unstored]
        self._values = f"{{{', '.join(entries)}}}"

    def struct(self, checked: tuple[KeyPart, ...] | None = None) -> type[msgspec.Struct]:
        """The struct of an item: its fields, and the key texts that are needed; other attributes are passed over."""
        members = [_member(f"f{p}", f) for p, f in enumerate(self._fields)]
        rename = {f"f{p}": f.attribute for p, f in enumerate(self._fields)}
        for part in dict.fromkeys((*self._parsed, *(p for p in checked or () if self._needs_check(p)))):
            name = self._key_name(part)
            members.append((name, wrapper(part.kind, str)))
            rename[name] = part.name
        if checked is not None and (tag := self._layout.shape.table.tag):
            # Another entity's tag does not fit this type, so the page is read again, item by item.
            own = wrapper("S", Literal[self._layout.shape.tag])
            members.append(("tag", own, own(self._layout.shape.tag)))
            rename["tag"] = tag
        # Members with defaults come last, as in any signature.
        members.sort(key=len)
        return msgspec.defstruct("Item", members, rename=rename, gc=False)

    def reader(self) -> Callable[[Any], Values]:
        """A function that gives the values of one item."""
        body = "".join(f"    {line}\n" for line in self._before)
        read: Callable[[Any], Values] = self._define("read", f"def read(i):\n{body}    return {self._values}\n")
        return read

    def pager(self, checked: tuple[KeyPart, ...]) -> Callable[[list[Any]], list[Values]]:
        """A function that gives the values of the items that are the entity's own, by these parts of their keys."""
        tests = [f"if not {self._matches(part)}: continue" for part in checked if self._needs_check(part)]
        body = "".join(f"        {line}\n" for line in (*tests, *self._before))
        source = f"def page(items):\n    found = []\n    for i in items:\n{body}        found.append({self._values})\n"
        page: Callable[[list[Any]], list[Values]] = self._define("page", f"{source}    return found\n")
        return page

    def _define(self, name: str, source: str) -> Any:
        return defined(name, source, about=f"items of {self._layout.shape.name}", names=self._names)

    def _expression(self, field: FieldShape, position: int) -> str:
        place = f"i.f{position}"
        if field.kind is Kind.DOCUMENT:
            return self._document(field, place, position)
        value = f"{place}.{_TYPES[field.kind][0] if field.kind is not Kind.CHOICE else 'S'}"
        if field.kind is Kind.INSTANT:
            local = f"v{position}"
            self._before.append(f"{local} = {value}")
            wrong = f"{local}.tzinfo is not UTC or {_TOO_FINE[field.digits].format(local)}"
            self._before.append(f"if {local} is not None and ({wrong}): raise Undecodable")
            return local
        if field.kind is Kind.DECIMAL:
            self._names["canonical"] = canonical
            return f"canonical({value})" if not field.optional else f"(None if {value} is None else canonical({value}))"
        return value

    def _document(self, field: FieldShape, place: str, position: int) -> str:
        self._names[f"read{position}"] = document_type(field)[1]
        value = f"[x.S for x in {place}.L]" if is_texts(field) else f"read{position}({place})"
        if field.load is not None:
            self._names[f"load{position}"] = field.load
            value = f"load{position}({value})"
        missing = "None"
        if field.default is not None and not field.optional:
            self._names[f"default{position}"] = field.default
            missing = f"copied(default{position})"
        return f"{missing} if {place} is None else {value}"

    def _from_key(self, field: FieldShape) -> str:
        """A field that lives in the key alone: parse the key's text, once for all its fields."""
        part = next(p for p in self._layout.own_key if field.name in p.template.names)
        name = self._key_name(part)
        if f"parse_{name}" not in self._names:
            self._names[f"parse_{name}"] = part.template.parse
            self._before.append(f"{name} = parse_{name}(i.{name}.{part.kind})")
            self._before.append(f"if {name} is None: raise Undecodable")
        return f"{name}[{field.name!r}]"

    def _needs_check(self, part: KeyPart) -> bool:
        """Can the text tell another entity's item? A key attribute that is a field is told by its type."""
        return part in self._layout.own_key and not part.attribute.number and part.template.bare is None

    def _matches(self, part: KeyPart) -> str:
        name = self._key_name(part)
        if not part.template.parts:
            return f"i.{name}.S == {part.template.tail!r}"
        self._names[f"match_{name}"] = _exact(part.template).fullmatch
        return f"match_{name}(i.{name}.S)"

    def _key_name(self, part: KeyPart) -> str:
        return f"k{self._layout.key.index(part)}"


def _member(name: str, field: FieldShape) -> tuple[Any, ...]:
    """A struct member for a field: required unless the field may be missing."""
    if field.kind is Kind.DOCUMENT:
        type_ = document_type(field)[0]
        may_miss = field.optional or field.default is not None
        return (name, type_ | None, None) if may_miss else (name, type_)
    kind, python = ("S", field.python) if field.kind is Kind.CHOICE else _TYPES[field.kind]
    value = wrapper(kind, python)
    if field.optional:
        return (name, value, value(None))
    return (name, value) if field.default is None else (name, value, value(field.default))


_FORMS = {
    Kind.IDENTIFIER: "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    Kind.DAY: r"\d{4}-\d\d-\d\d",
}


def _exact(template: Template) -> re.Pattern[str]:
    """A pattern that only texts of this template match, without making values of them."""
    body = "".join(re.escape(p.literal) + _form(p) for p in template.parts) + re.escape(template.tail)
    return re.compile(body, re.DOTALL | re.ASCII)


def _form(part: TemplatePart) -> str:
    field = part.field
    if field.kind is Kind.INSTANT:
        fraction = rf"\.\d{{{field.digits}}}" if field.digits else ""
        return rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d{fraction}Z"
    if field.kind is Kind.CHOICE and part.last:
        return "(?:" + "|".join(re.escape(member.value) for member in field.python) + ")"
    return _FORMS.get(field.kind) or part.regex


__all__ = ["DamagedItem", "DecodedItem", "ItemDecoder", "Value", "Values"]
