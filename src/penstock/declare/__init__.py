"""The language of declarations: pure, no I/O, no clock."""

from penstock.declare.attr import Attr, the
from penstock.declare.attribute import attribute
from penstock.declare.begins import begins
from penstock.declare.computed import computed
from penstock.declare.domain import Domain, View
from penstock.declare.entity import Entity
from penstock.declare.formerly import Formerly, Gone, Instead, Retyped
from penstock.declare.key import IndexKey, key
from penstock.declare.lifetime import Expires, KeepLatest, RetainFor
from penstock.declare.move import Move, diagram, move
from penstock.declare.pattern import after, before, between, pattern, since, starting_with, until
from penstock.declare.personal import OpenedBy, Personal, SeenBy
from penstock.declare.rights import WrittenBy
from penstock.declare.selection import select
from penstock.declare.table import Table, camel_case, number
from penstock.declare.unique import Unique, UniqueWithin
from penstock.declare.units import (
    Count,
    EpochSeconds,
    Milliseconds,
    Seconds,
    UtcMicros,
    UtcMillis,
    UtcSeconds,
)
from penstock.operations.item_collection import ItemCollection, together
from penstock.operations.reads import ANYTHING, Range
from penstock.schema.permission import SYSTEM, Action
from penstock.schema.role import Role

__all__ = [
    "ANYTHING",
    "SYSTEM",
    "Action",
    "Attr",
    "Count",
    "Domain",
    "Entity",
    "EpochSeconds",
    "Expires",
    "Formerly",
    "Gone",
    "IndexKey",
    "Instead",
    "ItemCollection",
    "KeepLatest",
    "Milliseconds",
    "Move",
    "OpenedBy",
    "Personal",
    "Range",
    "RetainFor",
    "Retyped",
    "Role",
    "Seconds",
    "SeenBy",
    "Table",
    "Unique",
    "UniqueWithin",
    "UtcMicros",
    "UtcMillis",
    "UtcSeconds",
    "View",
    "WrittenBy",
    "after",
    "attribute",
    "before",
    "begins",
    "between",
    "camel_case",
    "computed",
    "diagram",
    "key",
    "move",
    "number",
    "pattern",
    "select",
    "since",
    "starting_with",
    "the",
    "together",
    "until",
]
