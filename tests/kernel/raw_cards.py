"""Looks at what engines have stored of cards, past the kernel: rows of SQL, and DynamoDB's own items."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from penstock.kernel.uniqueness import UniqueValue, holdings
from penstock.schema.kinds import Kind
from penstock.schema.shape import EntityShape
from tests.beneath import beneath
from tests.kernel.card_register import WITHIN, Holding, Values
from tests.kernel.cards import CARDS, Card
from tests.kernel.everywhere import Everywhere
from tests.kernel.model import ModelEngine
from tests.kernel.stale_keys import stale_keys


def raw_cards(everywhere: Everywhere, engine: str, world: str) -> list[Values]:
    """Every card of a world, also those that have ended; on DynamoDB no index key of theirs is stale."""
    shape = Card.__shape__
    if engine in everywhere.raw_rows:
        return [_of_row(shape, row) for row in everywhere.raw_rows[engine](shape, "project_id", [world])]
    if engine not in everywhere.raw_tables:
        return [v for v in _of_model(everywhere, engine, shape) if v["project_id"] == world]
    from boto3.dynamodb.conditions import Key

    table = everywhere.raw_tables[engine](shape.table.name)
    answer = table.query(KeyConditionExpression=Key("PK").eq(_partition(shape, project_id=world)), ConsistentRead=True)
    for item in answer["Items"]:
        stale = stale_keys(item, CARDS.shapes)
        assert not stale, f"{engine}: {stale}"
    return [_of_item(shape, item) for item in answer["Items"] if item["kind"] == shape.tag]


def raw_claims(everywhere: Everywhere, engine: str, world: str, wanted: Iterable[Holding]) -> dict[Holding, Values]:
    """The claims to some values that stand, also those that have ended."""
    shape, names = UniqueValue.__shape__, {_claim(world, holding): holding for holding in wanted}
    if engine in everywhere.raw_rows:
        rows = everywhere.raw_rows[engine](shape, "claim", list(names))
        found = [_of_row(shape, row) for row in rows]
    elif engine not in everywhere.raw_tables:
        found = [v for v in _of_model(everywhere, engine, shape) if v["claim"] in names]
    else:
        table = everywhere.raw_tables[engine](shape.table.name)
        keys = [{"PK": _partition(shape, claim=name), "SK": "UNIQUE"} for name in names]
        found = []
        for start in range(0, len(keys), 100):
            asked = {table.name: {"Keys": keys[start : start + 100], "ConsistentRead": True}}
            answer = table.meta.client.batch_get_item(RequestItems=asked)
            assert not answer["UnprocessedKeys"]
            found += [_of_item(shape, item) for item in answer["Responses"][table.name]]
    return {names[claim["claim"]]: claim for claim in found}


def owner(world: str, name: str) -> str:
    """A card as claims name it."""
    return json.dumps([world, name], ensure_ascii=False, separators=(",", ":"))


def _claim(world: str, holding: Holding) -> str:
    field, *within, value = holding
    card = {"project_id": world, "name": "", field: value, **dict(zip(WITHIN[field], within, strict=True))}
    [claim] = holdings(Card.__shape__, card, None)
    return claim


def _of_model(everywhere: Everywhere, engine: str, shape: EntityShape) -> list[Values]:
    model = beneath(everywhere.stores[engine])
    assert isinstance(model, ModelEngine)
    return [values for kind, values in model.rows.values() if kind is shape]


def _partition(shape: EntityShape, **values: str) -> str:
    return str(shape.key.partition.encode(values))


def _of_row(shape: EntityShape, row: Mapping[str, Any]) -> Values:
    return {f.name: _value(f.kind, f.python, row[f.column]) for f in shape.fields.values()}


def _of_item(shape: EntityShape, item: Mapping[str, Any]) -> Values:
    return {f.name: _value(f.kind, f.python, item.get(f.attribute)) for f in shape.fields.values()}


def _value(kind: Kind, python: Any, raw: Any) -> Any:
    if raw is None:
        return None
    if kind is Kind.INTEGER:
        return int(raw)
    return python(raw) if kind is Kind.CHOICE else raw
