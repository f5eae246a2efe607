"""IAM policies as AWS evaluates them, as far as ours go: a call is allowed if a statement allows it and none denies it.

What a call carries beside its action and resource is the context that conditions are about; `calls_of` tells it as the
service authorization reference of DynamoDB and S3 does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

REGION, ACCOUNT = "us-east-1", "123456789012"
Statement = Mapping[str, Any]


@dataclass(frozen=True)
class Call:
    """One action on one resource, with what conditions may ask of it."""

    action: str
    resource: str
    context: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def is_met_by(self, statement: Statement) -> bool:
        """Does the statement speak of this call?"""
        return (
            any(_like(self.action.lower(), wanted.lower()) for wanted in _listed(statement["Action"]))
            and any(_like(self.resource, wanted) for wanted in _listed(statement["Resource"]))
            and all(
                self._holds(operator, key, _listed(values))
                for operator, asked in statement.get("Condition", {}).items()
                for key, values in asked.items()
            )
        )

    def _holds(self, operator: str, key: str, wanted: Sequence[str]) -> bool:
        found = self.context.get(key)
        many, _, compare = operator.rpartition(":")
        matches = _COMPARED[compare]
        met = [any(matches(value, each) for each in wanted) for value in found or ()]
        if many == "ForAllValues":
            return all(met)
        return any(met) if many == "ForAnyValue" else bool(met) and all(met)


def allowed(call: Call, statements: Iterable[Statement]) -> bool:
    """Is a call allowed? What nobody allows is refused, and what anybody denies."""
    effects = {statement["Effect"] for statement in statements if call.is_met_by(statement)}
    return effects == {"Allow"}


def _same(text: str, wanted: str) -> bool:
    return text == wanted


def _like(text: str, wanted: str) -> bool:
    return fnmatchcase(text, wanted.replace("[", "[[]"))


_COMPARED: dict[str, Callable[[str, str], bool]] = {"StringEquals": _same, "StringLike": _like, "Bool": _same}


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


# A template's policies, with what stands for other resources filled in


def policies(template: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The statements of each role, by the role's name in the template."""
    return {
        name: [
            _filled(statement, template)
            for policy in resource["Properties"]["Policies"]
            for statement in policy["PolicyDocument"]["Statement"]
        ]
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::IAM::Role"
    }


def bucket_statements(template: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The statements of the bucket's own policy."""
    said = template["Resources"]["FilesPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    return [_filled(statement, template) for statement in said]


def _filled(value: Any, template: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_filled(each, template) for each in value]
    if not isinstance(value, dict):
        return value
    if "Fn::GetAtt" in value:
        return _arn(value["Fn::GetAtt"][0], template)
    if "Fn::Sub" in value:
        return re.sub(r"\$\{([^}]+)\}", lambda found: _named(found[1], template), value["Fn::Sub"])
    return {name: _filled(each, template) for name, each in value.items()}


def _named(name: str, template: Mapping[str, Any]) -> str:
    known = {"AWS::Partition": "aws", "AWS::Region": REGION, "AWS::AccountId": ACCOUNT}
    return known[name] if name in known else _arn(name.removesuffix(".Arn"), template)


def _arn(name: str, template: Mapping[str, Any]) -> str:
    resource = template["Resources"][name]
    if resource["Type"].startswith("AWS::DynamoDB::"):
        return table_arn(resource["Properties"]["TableName"])
    assert resource["Type"] == "AWS::S3::Bucket"
    return f"arn:aws:s3:::{resource['Properties']['BucketName']}"


def table_arn(name: str, rest: str = "", *, region: str = REGION) -> str:
    return f"arn:aws:dynamodb:{region}:{ACCOUNT}:table/{name}{rest}"


# Requests of DynamoDB as calls

_MEMBERS = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}


def calls_of(operation: str, request: Mapping[str, Any], keys: Mapping[str, str]) -> Iterator[Call]:
    """What a request of DynamoDB is allowed or refused by; ``keys`` names the partition attribute of each table, and of
    each index as ``table/index``."""
    if operation == "TransactWriteItems":
        for member in request["TransactItems"]:
            for name, part in member.items():
                yield from calls_of(_MEMBERS[name], part, keys)
    elif operation in ("BatchGetItem", "BatchWriteItem"):
        for table, asked in request["RequestItems"].items():
            yield _batch(operation, table, asked, keys)
    elif operation in ("DescribeStream", "GetShardIterator"):
        stream = str(request["StreamArn"]).partition(":table/")[2]
        yield Call(f"dynamodb:{operation}", table_arn(stream))
    else:
        yield _single(operation, request, keys)


def _single(operation: str, request: Mapping[str, Any], keys: Mapping[str, str]) -> Call:
    table, index = request["TableName"], request.get("IndexName")
    place = table if index is None else f"{table}/{index}"
    arn = table_arn(table, "" if index is None else f"/index/{index}")
    names = request.get("ExpressionAttributeNames", {})
    context: dict[str, tuple[str, ...]] = {}
    if operation.startswith("Describe"):
        return Call(f"dynamodb:{operation}", arn)
    held = request.get("Item") or request.get("Key") or {}
    context["dynamodb:Attributes"] = tuple({*held, *names.values()})
    context["dynamodb:LeadingKeys"] = (_leading(operation, request, keys[place]),)
    if operation in ("Query", "GetItem"):
        whole = "ALL_ATTRIBUTES" if index is None else "ALL_PROJECTED_ATTRIBUTES"
        some = "SPECIFIC_ATTRIBUTES" if "ProjectionExpression" in request else whole
        context["dynamodb:Select"] = (request.get("Select", some),)
    return Call(f"dynamodb:{operation}", arn, context)


def _leading(operation: str, request: Mapping[str, Any], partition: str) -> str:
    if operation != "Query":
        return _text((request.get("Item") or request["Key"])[partition])
    names, values = request["ExpressionAttributeNames"], request["ExpressionAttributeValues"]
    alias = next(alias for alias, name in names.items() if name == partition)
    (value,) = re.findall(rf"{alias} = (:\w+)", request["KeyConditionExpression"])
    return _text(values[value])


def _batch(operation: str, table: str, asked: Any, keys: Mapping[str, str]) -> Call:
    if operation == "BatchGetItem":
        items, names = asked["Keys"], asked.get("ExpressionAttributeNames", {}).values()
    else:
        items = [(m.get("PutRequest") or {}).get("Item") or m["DeleteRequest"]["Key"] for m in asked]
        names = []
    attributes = {*names, *(name for item in items for name in item)}
    leading = tuple({_text(item[keys[table]]) for item in items})
    context = {"dynamodb:Attributes": tuple(attributes), "dynamodb:LeadingKeys": leading}
    return Call(f"dynamodb:{operation}", table_arn(table), context)


def _text(value: Mapping[str, str]) -> str:
    return next(iter(value.values()))


# Requests of S3 as calls

_OF_OBJECTS = {
    "GetObject": "GetObject",
    "HeadObject": "GetObject",
    "PutObject": "PutObject",
    "CreateMultipartUpload": "PutObject",
    "UploadPart": "PutObject",
    "CompleteMultipartUpload": "PutObject",
    "CopyObject": "PutObject",
    "UploadPartCopy": "PutObject",
    "DeleteObject": "DeleteObject",
    "AbortMultipartUpload": "AbortMultipartUpload",
    "ListParts": "ListMultipartUploadParts",
}
_OF_BUCKETS = {
    "ListObjectsV2": "ListBucket",
    "HeadBucket": "ListBucket",
    "ListMultipartUploads": "ListBucketMultipartUploads",
}


def file_calls(operation: str, request: Mapping[str, Any]) -> Iterator[Call]:
    """What a request of S3 is allowed or refused by."""
    bucket = f"arn:aws:s3:::{request['Bucket']}"
    if operation in _OF_BUCKETS:
        yield Call(f"s3:{_OF_BUCKETS[operation]}", bucket)
    elif operation == "DeleteObjects":
        for each in request["Delete"]["Objects"]:
            yield Call("s3:DeleteObject", f"{bucket}/{each['Key']}")
    else:
        yield Call(f"s3:{_OF_OBJECTS[operation]}", f"{bucket}/{request['Key']}")
    if operation in ("GetObject", "HeadObject"):
        yield Call("s3:ListBucket", bucket)  # or one is not told that the file is not there
    if (source := request.get("CopySource")) is not None:
        named = source if isinstance(source, str) else f"{source['Bucket']}/{source['Key']}"
        yield Call("s3:GetObject", f"arn:aws:s3:::{named.lstrip('/')}")
