"""Making tables, indexes, expiry and streams as declared. Nothing is dropped unless somebody asks for that alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from penstock.engines.dynamodb.calls import BUSY, NO_TABLE, Calls
from penstock.engines.dynamodb.dynamo_requests import Request, encode
from penstock.engines.dynamodb.wire import WireError
from penstock.errors import InvalidValue, Misconfigured, Unavailable
from penstock.operations.plan import PlanStep
from penstock.ports.engine import TableSize
from penstock.schema.shape import EntityShape, IndexPlace, KeyAttribute, TablePlace

_STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
_ENCRYPTED = {"Enabled": True}
"With AES-256, under a key that the account can look at. Without a word DynamoDB does so under one of its own."
_ONE_AT_A_TIME = "LimitExceededException"
_WAIT = 0.5
_LONGEST_WAIT = 1200
"How often a table is asked whether it is ready; an index over much data takes long."


def distinct_tables(shapes: Iterable[EntityShape]) -> list[TablePlace]:
    return list(dict.fromkeys(shape.table for shape in shapes))


def create_table(name: str, place: TablePlace) -> Request:
    """CreateTable with every index; expiry cannot be asked for here."""
    request: Request = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": _definitions([place, *place.indexes.values()]),
        "KeySchema": key_schema(place),
        "SSESpecification": _ENCRYPTED,
    }
    if place.indexes:
        request["GlobalSecondaryIndexes"] = [_index(i) for i in place.indexes.values()]
    if place.feed:
        request["StreamSpecification"] = _STREAM
    return request


def add_index(name: str, place: TablePlace, index: IndexPlace) -> Request:
    """UpdateTable that adds one index; DynamoDB takes one at a time."""
    return {
        "TableName": name,
        "AttributeDefinitions": _definitions([place, index]),
        "GlobalSecondaryIndexUpdates": [{"Create": _index(index)}],
    }


def key_schema(place: TablePlace | IndexPlace) -> list[Request]:
    schema = [{"AttributeName": place.partition.name, "KeyType": "HASH"}]
    if place.sort is not None:
        schema.append({"AttributeName": place.sort.name, "KeyType": "RANGE"})
    return schema


def _index(index: IndexPlace) -> Request:
    return {"IndexName": index.name, "KeySchema": key_schema(index), "Projection": {"ProjectionType": "ALL"}}


def _definitions(places: Iterable[TablePlace | IndexPlace]) -> list[Request]:
    found: dict[str, KeyAttribute] = {}
    for place in places:
        for attribute in (place.partition, place.sort):
            if attribute is not None:
                found[attribute.name] = attribute
    return [{"AttributeName": a.name, "AttributeType": "N" if a.number else "S"} for a in found.values()]


class Tables:
    """Compares what is declared with what there is, and adds what is missing."""

    def __init__(self, calls: Calls, name_of: Callable[[TablePlace], str], sleep: Callable[[float], None]) -> None:
        self._calls = calls
        self._name_of = name_of
        self._sleep = sleep

    def ensure(self, shapes: Iterable[EntityShape], *, dry_run: bool) -> list[PlanStep]:
        """Create what is missing, and tell it; on a dry run, only tell."""
        steps: list[PlanStep] = []
        for place in distinct_tables(shapes):
            steps += self._ensure_table(place, dry_run=dry_run)
        return steps

    def sizes(self, shapes: Sequence[EntityShape]) -> list[TableSize]:
        """How many items each table has, as DynamoDB counted them within the last six hours."""
        sizes = []
        for place in distinct_tables(shapes):
            name = self._name_of(place)
            table = self.describe(name)
            if table is None:
                raise Misconfigured(f"table {name} does not exist; run `penstock tables apply`")
            held = tuple(shape.label for shape in shapes if shape.table == place)
            sizes.append(TableSize(name, held, int(table.get("ItemCount", 0)), exact=False))
        return sizes

    def describe(self, name: str) -> dict[str, Any] | None:
        """DynamoDB's description of a table, or None when there is none."""
        try:
            answer = self._calls.call("DescribeTable", encode({"TableName": name}))
        except Misconfigured as error:
            if isinstance(error.__cause__, WireError) and error.__cause__.code == NO_TABLE:
                return None
            raise
        table: dict[str, Any] = msgspec.json.decode(answer.body)["Table"]
        return table

    def drop_index(self, name: str, index: str) -> None:
        """Drop an index, unless it is gone, and wait until it is."""
        self._ask_until_taken(
            name, {"TableName": name, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": index}}]}
        )

    def drop_table(self, name: str) -> None:
        """Drop a table with all that stands in it, unless it is gone, and wait until it is."""
        for _ in range(_LONGEST_WAIT):
            table = self.describe(name)
            if table is None:
                return
            if table["TableStatus"] != "DELETING":
                self._ask("DeleteTable", {"TableName": name})
            self._sleep(_WAIT)
        raise Unavailable(f"table {name} is still there; look at it in the AWS console, then run this again")

    def _ensure_table(self, place: TablePlace, *, dry_run: bool) -> list[PlanStep]:
        name = self._name_of(place)
        table = self.describe(name)
        if table is None:
            steps = [PlanStep("create table", name, _key_text(key_schema(place)))]
            steps += [
                PlanStep("create index", f"{name}.{i.name}", _key_text(key_schema(i))) for i in place.indexes.values()
            ]
            if place.feed:
                steps.append(PlanStep("enable stream", name))
            if not dry_run:
                self._ask("CreateTable", create_table(name, place))
                self._wait(name)
        else:
            _compare_keys(name, table, place)
            steps = self._add_indexes(name, table, place, dry_run=dry_run)
            steps += self._enable_stream(name, table, place, dry_run=dry_run)
        return steps + self._enable_expiry(name, place, exists=table is not None, dry_run=dry_run)

    def _add_indexes(self, name: str, table: dict[str, Any], place: TablePlace, *, dry_run: bool) -> list[PlanStep]:
        there = {i["IndexName"]: i for i in table.get("GlobalSecondaryIndexes", ())}
        steps = []
        for index in place.indexes.values():
            if index.name in there:
                _compare(f"{name}.{index.name}", there[index.name]["KeySchema"], key_schema(index))
                continue
            steps.append(PlanStep("create index", f"{name}.{index.name}", _key_text(key_schema(index))))
            if not dry_run:
                self._ask_until_taken(name, add_index(name, place, index))
        return steps

    def _enable_stream(self, name: str, table: dict[str, Any], place: TablePlace, *, dry_run: bool) -> list[PlanStep]:
        if not place.feed or table.get("StreamSpecification", {}).get("StreamEnabled"):
            return []
        if not dry_run:
            self._ask_until_taken(name, {"TableName": name, "StreamSpecification": _STREAM})
        return [PlanStep("enable stream", name)]

    def _enable_expiry(self, name: str, place: TablePlace, *, exists: bool, dry_run: bool) -> list[PlanStep]:
        if place.expiry is None or ((exists or not dry_run) and self._expires_by(name, place.expiry)):
            return []
        if not dry_run:
            wanted = {"Enabled": True, "AttributeName": place.expiry}
            try:
                self._ask("UpdateTimeToLive", {"TableName": name, "TimeToLiveSpecification": wanted})
            except InvalidValue:
                if not self._expires_by(name, place.expiry):  # another process may have been faster
                    raise
        return [PlanStep("enable expiry", name, place.expiry)]

    def _expires_by(self, name: str, attribute: str) -> bool:
        """Is expiry on already? By another attribute is an error: DynamoDB has only one."""
        answer = self._calls.call("DescribeTimeToLive", encode({"TableName": name}))
        found = msgspec.json.decode(answer.body).get("TimeToLiveDescription", {})
        if found.get("TimeToLiveStatus") not in ("ENABLED", "ENABLING"):
            return False
        if found.get("AttributeName") != attribute:
            raise Misconfigured(
                f"table {name} expires its items by {found.get('AttributeName')!r}, but {attribute!r} is declared; "
                f"change one of them"
            )
        return True

    def _ask(self, operation: str, request: Request) -> bool:
        """Ask for a change; False when another process is at the same thing."""
        try:
            self._calls.call(operation, encode(request))
        except (WireError, Unavailable) as error:
            refusal = error if isinstance(error, WireError) else error.__cause__
            expected = (BUSY, _ONE_AT_A_TIME) if operation == "UpdateTable" else (BUSY,)
            if not isinstance(refusal, WireError) or refusal.code not in expected:
                raise
            return False
        return True

    def _ask_until_taken(self, name: str, request: Request) -> None:
        """Ask when the table is ready; somebody else may have done it by then."""
        while True:
            self._wait(name)
            if _is_done(self.describe(name) or {}, request):
                return
            if self._ask("UpdateTable", request):
                self._wait(name)
                return
            self._sleep(_WAIT)

    def _wait(self, name: str) -> None:
        """Return when the table and all of its indexes are ready."""
        for _ in range(_LONGEST_WAIT):
            table = self.describe(name)
            if table is not None:
                states = [table["TableStatus"], *(i["IndexStatus"] for i in table.get("GlobalSecondaryIndexes", ()))]
                if all(state == "ACTIVE" for state in states):
                    return
            self._sleep(_WAIT)
        raise Unavailable(f"table {name} did not become ready; look at it in the AWS console, then run this again")


def _is_done(table: dict[str, Any], request: Request) -> bool:
    if "StreamSpecification" in request:
        return bool(table.get("StreamSpecification", {}).get("StreamEnabled"))
    (change,) = request["GlobalSecondaryIndexUpdates"]
    standing = {i["IndexName"] for i in table.get("GlobalSecondaryIndexes", ())}
    if "Delete" in change:
        return change["Delete"]["IndexName"] not in standing
    return change["Create"]["IndexName"] in standing


def _compare_keys(name: str, table: dict[str, Any], place: TablePlace) -> None:
    """Refuse a table whose key is another than the declared one: keys cannot be changed."""
    _compare(name, table["KeySchema"], key_schema(place))
    there = {d["AttributeName"]: d["AttributeType"] for d in table["AttributeDefinitions"]}
    for wanted in _definitions([place, *place.indexes.values()]):
        found = there.get(wanted["AttributeName"])
        if found not in (None, wanted["AttributeType"]):
            raise Misconfigured(
                f"table {name}: the key attribute {wanted['AttributeName']} has type {found}, "
                f"but {wanted['AttributeType']} is declared; use another table"
            )


def _compare(name: str, there: list[Request], wanted: list[Request]) -> None:
    if sorted(there, key=_by_type) != wanted:
        raise Misconfigured(
            f"{name} has the key ({_key_text(there)}), but ({_key_text(wanted)}) is declared; use another name"
        )


def _by_type(part: Request) -> str:
    return str(part["KeyType"])  # HASH before RANGE


def _key_text(schema: list[Request]) -> str:
    return ", ".join(part["AttributeName"] for part in sorted(schema, key=_by_type))
