"""Rows of one dialect in the form that another has them in, without making records of them.

A record has one row in each dialect. Whoever compares two stores compares those, which takes a third of the time.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.engines.sql.dialect import Dialect
from penstock.engines.sql.rows import DAMAGES, Row
from penstock.schema.documents import has_only_texts
from penstock.schema.generated import expressed
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape

Retell = Callable[[Row], Row]


def compile_retelling(shape: EntityShape, own: Dialect, other: Dialect) -> Retell:
    """Generate what makes another dialect's row of one's own; one that cannot be read becomes like no other."""
    parts = [_part(field, own, other, f"r[{n}]") for n, field in enumerate(shape.fields.values())]
    names = {**own.names, **other.names}
    told: Retell = expressed("retell", "r", f"({', '.join(parts)},)", about=f"a row of {shape.name}", names=names)

    def retell(row: Row) -> Row:
        try:
            return told(row)
        except DAMAGES:
            return (object(),)

    return retell


def _part(field: FieldShape, own: Dialect, other: Dialect, source: str) -> str:
    if field.kind is Kind.CHOICE:  # of which both have the value
        return source
    value = own.load.get(field.kind, "{x}")
    if field.kind is Kind.DOCUMENT and not has_only_texts(field.python):
        value = own.numbers.replace("{x}", value)
    bind = other.bind.get(field.kind, "{x}").replace("{digits}", str(field.digits))
    told = bind.replace("{x}", value).replace("{x}", source)
    return source if told == source else f"(None if {source} is None else {told})"
