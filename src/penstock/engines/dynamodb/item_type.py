"""An entity as DynamoDB sees it: a type of item, with its layout and its codec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.engines.dynamodb.item_decoder import ItemDecoder, Values
from penstock.engines.dynamodb.item_encoder import Encode, ItemEncoder, encoder
from penstock.engines.dynamodb.layout import Layout
from penstock.operations.defaults import stored_defaults
from penstock.schema.kinds import Kind
from penstock.schema.shape import EntityShape


class ItemType:
    """Everything compiled once for an entity."""

    def __init__(self, shape: EntityShape, table: str) -> None:
        self.shape = shape
        self.table = table
        self.layout = Layout(shape, table)
        self.encode = ItemEncoder(self.layout)
        self.decode = ItemDecoder(self.layout)
        self.encoders: Mapping[str, Encode] = {f.name: encoder(f) for f in shape.fields.values()}
        self.defaults = stored_defaults(shape)
        "What a missing attribute counts as, of the fields for which it counts at all."
        self.whole_sets = frozenset(n for n in self.defaults if shape.fields[n].kind is Kind.TEXTS)
        self.build: Callable[[Values], Any] = shape.build

    def is_live(self, values: Values | None, now: int) -> bool:
        """Does a record stand here at this second? An expired one does not, even before it is reaped."""
        if values is None:
            return False
        if self.shape.expiry is None:
            return True
        end = values[self.shape.expiry]
        return end is None or end > now
