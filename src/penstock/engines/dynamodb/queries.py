"""Key conditions: which part of a partition a query walks, worked out on the texts of the sort key.

Bounds are exact: a part in the middle of a key is followed by a separator that sorts below anything a longer part
could have there, so "up to and including this part" ends right before the separator's successor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from penstock.engines.dynamodb.dynamo_requests import Request
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.layout import Value, parts_of
from penstock.errors import InvalidCursor
from penstock.operations.conditions import COMPARISONS
from penstock.operations.reads import ANYTHING, Place, Query, Range, RawPlace
from penstock.schema.kinds import Kind, key_text
from penstock.schema.template import Template, TemplatePart, escape


@dataclass(frozen=True, slots=True)
class Span:
    """The sort keys a query walks: one operator of DynamoDB with its operands."""

    operator: str = ""
    "``=``, ``<``, ``<=``, ``>``, ``>=``, ``begins_with``, ``BETWEEN``; empty: the whole partition."
    operands: tuple[str, ...] = ()
    dropped: tuple[Any, ...] = ()
    "Values of the ranged field that the operator includes and the question does not."

    def has(self, text: str, *, number: bool = False) -> bool:
        """Is this one of the sort keys?"""
        ordered: Callable[[str], Any] = int if number else str
        found, bounds = ordered(text), [ordered(o) for o in self.operands]
        if self.operator == "begins_with":
            return text.startswith(self.operands[0])
        if self.operator == "BETWEEN":
            return bool(bounds[0] <= found <= bounds[1])
        return not self.operator or COMPARISONS[self.operator](found, bounds[0])


NOTHING: None = None
"In place of a span: no key can match, so nothing need be asked."


def span_of(query: Query[Any]) -> Span | None:
    """The sort keys of a query, or NOTHING."""
    sort = query.pattern.key.sort
    if sort is None:
        return Span()
    bound = query.pattern.key.bound_sort_parts(query.values)
    head = sort.head(query.values, bound)
    if bound == len(sort.parts):
        return Span("=", (head,))
    if query.range == ANYTHING:
        return _beginning(head)
    return _ranged(sort, bound, head, query.range)


def joined_span(spans: Sequence[Span], *, number: bool) -> Span:
    """One span that has all of these, and perhaps what lies between them."""
    if len(spans) == 1:
        return spans[0]
    ends = [_text_ends(s) for s in spans]
    low = None if number or any(e[0] is None for e in ends) else min(e[0] or "" for e in ends)
    high = None if number or any(e[1] is None for e in ends) else max(e[1] or "" for e in ends)
    if low is None:
        return Span() if high is None else Span("<=", (high,))
    return Span(">=", (low,)) if high is None else Span("BETWEEN", (low, high))


def _text_ends(span: Span) -> tuple[str | None, str | None]:
    """The first and the last text that a span may have; None where it is open."""
    match span:
        case Span("=", (text,)):
            return text, text
        case Span("begins_with", (text,)):
            return text, successor(text)
        case Span("BETWEEN", (low, high)):
            return low, high
        case Span("<" | "<=", (high,)):
            return None, high
        case Span(">" | ">=", (low,)):
            return low, None
    return None, None


def _beginning(head: str) -> Span:
    return Span("begins_with", (head,)) if head else Span()


def _ranged(sort: Template, bound: int, head: str, wanted: Range[Any]) -> Span | None:
    part = sort.parts[bound]
    if wanted.prefix is not None:
        return _beginning(head + (wanted.prefix if part.last else escape(wanted.prefix)))
    if part.field.kind is Kind.INTEGER:
        return _whole_numbers(part, head, _follower(sort, bound), wanted)
    return _texts(part, head, _follower(sort, bound), wanted)


def _follower(sort: Template, position: int) -> str:
    """The literal behind a part."""
    return sort.parts[position + 1].literal if position + 1 < len(sort.parts) else sort.tail


def _whole_numbers(part: TemplatePart, head: str, follower: str, wanted: Range[Any]) -> Span | None:
    """Open ends become closed ones, and bounds that no key can hold are drawn in."""
    low = part.smallest if wanted.low is None else max(part.smallest, wanted.low + wanted.open_low)
    high = None if wanted.high is None else wanted.high - wanted.open_high
    if part.largest is not None:
        high = part.largest if high is None else min(high, part.largest)
    if high is not None and low > high:
        return NOTHING
    if part.width is not None:
        return _texts(part, head, follower, Range(low, high))
    if high is None:
        return Span(">=", (str(low),))
    return Span("<=", (str(high),)) if wanted.low is None else Span("BETWEEN", (str(low), str(high)))


def _texts(part: TemplatePart, head: str, follower: str, wanted: Range[Any]) -> Span | None:
    low = None if wanted.low is None else head + _text(part, wanted.low)
    high = None if wanted.high is None else head + _text(part, wanted.high)
    if part.last:
        return _between(
            head,
            low,
            high,
            open_low=wanted.open_low,
            open_high=wanted.open_high,
            dropped=tuple(v for v, is_open in _ends(wanted) if is_open),
        )
    if low is not None and wanted.open_low:
        low = _behind(part, low, follower)
    if high is not None and not wanted.open_high:
        high = _behind(part, high, follower)
    # No whole key equals these texts, as something always follows the part: included or not is the same.
    return _between(head, low, high, open_low=False, open_high=True, dropped=())


def _ends(wanted: Range[Any]) -> tuple[tuple[Any, bool], tuple[Any, bool]]:
    return (wanted.low, wanted.open_low), (wanted.high, wanted.open_high)


def _text(part: TemplatePart, value: Any) -> str:
    """A bound's text. It need not be a text that a key could have: it only has to sort at the right place."""
    if part.largest is not None:
        return part.encode(value, "")  # within what fits, by now
    text = key_text(part.field, value)
    if part.width is not None:
        return text
    return text if part.last else escape(text)


def _behind(part: TemplatePart, text: str, follower: str) -> str:
    """The first text behind every key that has this part."""
    return text + successor(follower[0]) if part.width is None else successor(text)


def successor(text: str) -> str:
    """The smallest text that sorts behind every text beginning with this one."""
    code = ord(text[-1]) + 1
    if code > 0x10FFFF:
        return successor(text[:-1])
    return text[:-1] + chr(0xE000 if 0xD800 <= code <= 0xDFFF else code)


def _between(
    head: str, low: str | None, high: str | None, *, open_low: bool, open_high: bool, dropped: tuple[Any, ...]
) -> Span | None:
    """The span from low to high within the keys that begin with ``head``."""
    if not head and not low and high:
        return Span("<" if open_high else "<=", (high,))
    if not head and high is None:
        return Span(">" if open_low else ">=", (low,)) if low else Span()
    first, last = low or head, successor(head) if high is None else high
    if first > last or (first == last and (open_low or open_high)) or not last:
        return NOTHING
    return Span("BETWEEN", (first, last), dropped)


_OPERATORS = {
    "": "#p = :p",
    "begins_with": "#p = :p AND begins_with(#s, :a)",
    "BETWEEN": "#p = :p AND #s BETWEEN :a AND :b",
}


def query_request(item: ItemType, query: Query[Any], span: Span) -> Request:
    """Query, without its place and its limit. Indexes cannot be read consistently."""
    request: Request = {"TableName": item.table}
    if query.pattern.index is not None:
        request["IndexName"] = query.pattern.index.place.name
    else:
        request["ConsistentRead"] = True
    parts = parts_of(query.pattern.key)
    request["KeyConditionExpression"] = _OPERATORS.get(span.operator) or f"#p = :p AND #s {span.operator} :a"
    request["ExpressionAttributeNames"] = names = {"#p": parts[0].name}
    request["ExpressionAttributeValues"] = values = {":p": parts[0].value(query.values)}
    if span.operator:
        names["#s"] = parts[1].name
        values |= {alias: {parts[1].kind: text} for alias, text in zip((":a", ":b"), span.operands, strict=False)}
    if query.backwards:
        request["ScanIndexForward"] = False
    return request


def start_key(item: ItemType, query: Query[Any], after: Place) -> dict[str, Value]:
    """The place of a record in the walked order."""
    if isinstance(after, RawPlace):
        return _raw_start(query, after)
    walked = {p.name: p.value(after) for p in parts_of(query.pattern.key)}
    return walked | item.layout.key_of(after)


def _raw_start(query: Query[Any], after: RawPlace) -> dict[str, Value]:
    """The place of an item that was not shown, as DynamoDB named it."""
    try:
        (text,) = after.values
        start = msgspec.json.decode(text, type=dict[str, dict[str, str]])
    except (ValueError, TypeError, msgspec.MsgspecError):
        raise InvalidCursor(
            f"the cursor is one of another store; leave it out to start {query.pattern.label} again"
        ) from None
    return start


def explained(request: Request) -> Request:
    """A request as JSON values."""
    shown: Request = msgspec.to_builtins(request)
    return shown
