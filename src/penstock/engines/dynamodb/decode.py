"""From DynamoDB's answers to a record's values: typed decoders compiled once per entity, most of the work done in C.

An item that does not fit is read again by `loose`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from penstock.engines.dynamodb.layout import KeyPart, Layout, Value
from penstock.engines.dynamodb.loose import is_own, read_loosely
from penstock.engines.dynamodb.plain import NO_RAW, plain, there
from penstock.kinds import FieldShape, Kind
from penstock.template import Part, Template

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


class Unfit(ValueError):
    """The item is not in the form Penstock writes; `loose` may still understand it."""


_UNFIT = (ValueError, msgspec.MsgspecError)


class Found(NamedTuple):
    """What one Query brought: the values of the entity's own items, and where to go on."""

    values: list[Values]
    last: msgspec.Raw | None


@cache
def _wrapper(kind: str, type_: Any) -> type[msgspec.Struct]:
    """The struct of one attribute value, such as {"N": int}."""
    return msgspec.defstruct("Value", [(kind, type_)], frozen=True, gc=False)


class ItemDecoder:
    """Reads the items of one entity."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        compiled = _Compiler(layout)
        item = compiled.struct()
        self._read, self._own_by_sort, self._own = compiled.functions()
        self._got = _decoder([("Item", item | None, None)])
        self._updated = _decoder([("Attributes", item)])
        self._queried = _decoder([("Items", list[item]), ("LastEvaluatedKey", msgspec.Raw, NO_RAW)])  # type: ignore[valid-type]
        self._one = msgspec.json.Decoder(item, strict=False)

    def got(self, body: bytes) -> Values | None:
        """The values in GetItem's answer, or None when no item stands there."""
        try:
            item = self._got.decode(body).Item
            return None if item is None else self._read(item)
        except _UNFIT:
            return read_loosely(self._layout, msgspec.json.decode(body)["Item"])

    def updated(self, body: bytes) -> Values:
        """The values in UpdateItem's answer."""
        try:
            return self._read(self._updated.decode(body).Attributes)
        except _UNFIT:
            return read_loosely(self._layout, msgspec.json.decode(body)["Attributes"])

    def queried(self, body: bytes, *, by_index: bool) -> Found:
        """The values of the entity's own items in Query's answer; others may live among them."""
        try:
            answer = self._queried.decode(body)
            own, read = self._own if by_index else self._own_by_sort, self._read
            return Found([read(i) for i in answer.Items if own is None or own(i)], there(answer.LastEvaluatedKey))
        except _UNFIT:
            answer = _RAW_PAGE.decode(body)
            return Found([self.item(raw) for raw in answer.Items if self._is_own(raw)], there(answer.LastEvaluatedKey))

    def item(self, raw: msgspec.Raw) -> Values:
        """The values of a single item."""
        try:
            return self._read(self._one.decode(raw))
        except _UNFIT:
            return read_loosely(self._layout, msgspec.json.decode(raw))

    def _is_own(self, raw: msgspec.Raw) -> bool:
        return is_own(self._layout, msgspec.json.decode(raw))


def _decoder(fields: list[Any]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(msgspec.defstruct("Answer", fields, gc=False), strict=False)


_RAW_PAGE = _decoder([("Items", list[msgspec.Raw]), ("LastEvaluatedKey", msgspec.Raw, NO_RAW)])


class _Compiler:
    """Writes the struct an entity's items are decoded into, and the functions that read it."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._names = {"UTC": UTC, "Unfit": Unfit, "plain": plain, "copied": copy.deepcopy}
        self._before: list[str] = []

    def struct(self) -> type[msgspec.Struct]:
        """One attribute each for the fields, the key texts and the tag; unknown attributes are passed over."""
        members: list[Any] = []
        rename: dict[str, str] = {}
        for position, field in enumerate(self._layout.fields):
            members.append(_member(f"f{position}", field))
            rename[f"f{position}"] = field.attribute
        for part in self._layout.own_key:
            name = self._key_name(part)
            members.append((name, _wrapper(part.kind, str)))
            rename[name] = part.name
        if tag := self._layout.shape.table.tag:
            text = _wrapper("S", str)
            members.append(("tag", text, text(None)))
            rename["tag"] = tag
        # Members with defaults come last, as in any signature.
        members.sort(key=len)
        return msgspec.defstruct("Item", members, rename=rename, gc=False)

    def functions(self) -> tuple[Callable[[Any], Values], Callable[[Any], bool] | None, Callable[[Any], bool] | None]:
        """``read`` gives an item's values; the other two tell own items from others, by sort key or by whole key."""
        entries = [f"{f.name!r}: {self._expression(f, p)}" for p, f in enumerate(self._layout.fields)]
        entries += [f"{f.name!r}: {self._from_key(f)}" for f in self._layout.shape.fields.values() if not f.stored]
        body = "".join(f"    {line}\n" for line in self._before)
        source = f"def read(i):\n{body}    return {{{', '.join(entries)}}}\n"
        sort, whole = self._owned(self._layout.key[1:]), self._owned(self._layout.key)
        source += f"def by_sort(i):\n    return {sort or True}\ndef by_key(i):\n    return {whole or True}\n"
        exec(source, self._names)
        read: Any = self._names["read"]
        by_sort: Any = self._names["by_sort"] if sort else None
        by_key: Any = self._names["by_key"] if whole else None
        return read, by_sort, by_key

    def _expression(self, field: FieldShape, position: int) -> str:
        place = f"i.f{position}"
        if field.kind is Kind.DOCUMENT:
            return self._document(field, place, position)
        value = f"{place}.{_TYPES[field.kind][0] if field.kind is not Kind.CHOICE else 'S'}"
        if field.kind is Kind.INSTANT:
            local = f"v{position}"
            self._before.append(f"{local} = {value}")
            wrong = f"{local}.tzinfo is not UTC or {_TOO_FINE[field.digits].format(local)}"
            self._before.append(f"if {local} is not None and ({wrong}): raise Unfit")
            return local
        return value

    def _document(self, field: FieldShape, place: str, position: int) -> str:
        value = f"[x.S for x in {place}.L]" if _is_texts(field) else f"plain({place})"
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
            self._before.append(f"if {name} is None: raise Unfit")
        return f"{name}[{field.name!r}]"

    def _owned(self, parts: tuple[KeyPart, ...]) -> str:
        """The test that an item is of this entity; a key attribute that is a field is told by its type."""
        tests = []
        for part in parts:
            if part in self._layout.own_key and not part.attribute.number and part.template.bare is None:
                tests.append(self._matches(part))
        if self._layout.shape.table.tag:
            tests.append(f"i.tag.S in (None, {self._layout.shape.tag!r})")
        return " and ".join(tests)

    def _matches(self, part: KeyPart) -> str:
        name = self._key_name(part)
        if not part.template.parts:
            return f"i.{name}.S == {part.template.tail!r}"
        self._names[f"match_{name}"] = _exact(part.template).fullmatch
        return f"match_{name}(i.{name}.S) is not None"

    def _key_name(self, part: KeyPart) -> str:
        return f"k{self._layout.key.index(part)}"


def _member(name: str, field: FieldShape) -> tuple[Any, ...]:
    """A struct member for a field: required unless the field may be missing."""
    if field.kind is Kind.DOCUMENT:
        type_ = _wrapper("L", list[_wrapper("S", str)]) if _is_texts(field) else dict[str, Any]  # type: ignore[misc]
        may_miss = field.optional or field.default is not None
        return (name, type_ | None, None) if may_miss else (name, type_)
    kind, python = ("S", field.python) if field.kind is Kind.CHOICE else _TYPES[field.kind]
    wrapper = _wrapper(kind, python)
    if field.optional:
        return (name, wrapper, wrapper(None))
    return (name, wrapper) if field.default is None else (name, wrapper, wrapper(field.default))


def _is_texts(field: FieldShape) -> bool:
    return bool(field.python == list[str])


_DIGITS = r"\d"
_FORMS = {
    Kind.IDENTIFIER: "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    Kind.DAY: r"\d{4}-\d\d-\d\d",
}


def _exact(template: Template) -> re.Pattern[str]:
    """A pattern that only texts of this template match, without making values of them."""
    body = "".join(re.escape(p.literal) + _form(p) for p in template.parts) + re.escape(template.tail)
    return re.compile(body, re.DOTALL)


def _form(part: Part) -> str:
    field = part.field
    if field.kind is Kind.INSTANT:
        fraction = rf"\.\d{{{field.digits}}}" if field.digits else ""
        return rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d{fraction}Z"
    if field.kind is Kind.CHOICE and part.last:
        return "(?:" + "|".join(re.escape(member.value) for member in field.python) + ")"
    return _FORMS.get(field.kind) or part.regex


__all__ = ["Found", "ItemDecoder", "Value", "Values"]
