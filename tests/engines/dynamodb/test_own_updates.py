"""After a lost answer: a patch of a set was one's own if the set is as it would have left it; a count never is."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from penstock import the
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.queries import explained
from penstock.errors import Conflict
from penstock.kernel.handle import patch, put
from penstock.operations.writes import Patch
from tests.engines.dynamodb.entities import Reel, reel
from tests.engines.dynamodb.scripted import Scripted, refusal

INCLUDING = patch(reel().ref, the(Reel.tags).include("b"), when=the(Reel.tags).absent())
EXCLUDING = patch(reel().ref, the(Reel.tags).exclude("a"), when=the(Reel.tags).exists())
COUNTING = patch(reel().ref, the(Reel.price).add(Decimal(1)), when=the(Reel.price).absent())


@pytest.mark.parametrize(
    ("write", "standing", "own"),
    [
        (INCLUDING, reel(tags=frozenset({"b"})), True),
        (INCLUDING, reel(tags=frozenset({"b", "c"})), True),
        (INCLUDING, reel(tags=frozenset({"c"})), False),
        (INCLUDING, reel(), False),
        (EXCLUDING, reel(), True),
        (EXCLUDING, reel(tags=frozenset({"b"})), True),
        (EXCLUDING, reel(tags=frozenset({"a", "b"})), False),
        (replace(COUNTING, exact=False), reel(price=Decimal(1)), False),
    ],
)
def test_what_stands_tells_whose_it_was(write: Patch, standing: Reel, own: bool) -> None:
    item: dict[str, Any] = explained(ItemType(Reel.__shape__, "Reels").encode.item(put(standing).values))
    refused = refusal("ConditionalCheckFailedException", ambiguous=True, Item=item)
    engine = Scripted(refused, refused).engine()
    now, token = datetime(2037, 1, 1, tzinfo=UTC), "0123456789abcdef0123456789abcdef"
    if own:
        engine.commit([write], now=now, token=token)
        return
    with pytest.raises(Conflict):
        engine.commit([write], now=now, token=token)
