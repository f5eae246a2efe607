"""What a read takes is told of what is examined, for each way of reading."""

from __future__ import annotations

from typing import Any

from penstock import select, the, together
from penstock.runtime.composition import explain
from penstock.testing.crates import Crate, Label, Parcel
from penstock.testing.entities import Colour

ALL = Parcel.of_crate(crate="c")


def test_a_collection_is_one_request_and_one_statement_for_each_kind() -> None:
    told: Any = explain(together(Crate.at(crate="c"), ALL, Label.of_crate(crate="c")))
    request = told["dynamodb"]
    assert request["KeyConditionExpression"] == "#p = :p"
    assert request["ExpressionAttributeValues"] == {":p": {"S": "CRATE#c"}}
    assert len(told["postgresql"]) == len(told["sqlite"]) == 3
    assert "of whichever kind" in told["cost"]["examined"]
    narrow: Any = explain(together(Crate.at(crate="c"), ALL))
    assert narrow["dynamodb"]["ExpressionAttributeValues"][":a"] == {"S": "CRATE"}
    assert narrow["dynamodb"]["ExpressionAttributeValues"][":b"] == {"S": "PARCEL$"}


def test_a_filter_that_dynamodb_cannot_ask_is_asked_of_what_comes_back() -> None:
    there: Any = explain(ALL.where(the(Parcel.weight).since(1)))["dynamodb"]
    here: Any = explain(ALL.where(the(Parcel.number).since(1)))["dynamodb"]
    assert "FilterExpression" in there
    assert "FilterExpression" not in here


def test_some_fields_are_asked_for_with_what_tells_whose_they_are() -> None:
    asked: Any = explain(select(Parcel.by_colour(crate="c", colour=Colour.RED), Parcel.weight))["dynamodb"]
    names = {asked["ExpressionAttributeNames"][alias] for alias in asked["ProjectionExpression"].split(", ")}
    assert names == {"PK", "SK", "kind", "endsAt", "weight", "crate", "colour", "title"}
