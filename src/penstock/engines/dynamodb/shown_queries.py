"""The request that a query is sent as, shown without sending it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.engines.dynamodb.dynamo_requests import Request
from penstock.engines.dynamodb.item_collections import collection_request, members_of
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.queries import explained, span_of
from penstock.engines.dynamodb.selections import Asked
from penstock.operations.item_collection import ItemCollection
from penstock.operations.reads import Query
from penstock.schema.shape import EntityShape


def _as_declared(shape: EntityShape) -> ItemType:
    return ItemType(shape, shape.table.name)


def explain_query(
    query: Query[Any] | ItemCollection[Any], type_of: Callable[[EntityShape], ItemType] = _as_declared
) -> Request:
    """The request a query is sent as; empty when no record can match, so that none is sent."""
    if isinstance(query, ItemCollection):
        members = list(members_of(query, type_of, 0))
        return explained(collection_request(members)) if members else {}
    span = span_of(query)
    return {} if span is None else explained(Asked(type_of(query.pattern.entity), query, span, 0).request())
