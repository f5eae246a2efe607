"""What one project may try on another, made of the declarations and of the application's routes.

Every entity has a record of each project, and every route a request for what is the other's. So a new entity or route
is attacked by being there; where no record or request can be made of it, whoever attacks fails and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid5

from fastapi import FastAPI

from penstock.declare.entity import Entity
from penstock.declare.pattern import ask
from penstock.declare.record_address import segment_of
from penstock.operations.reads import Query
from penstock.schema.kinds import FieldShape, Kind, key_text
from penstock.schema.shape import EntityShape
from penstock.web.pattern_question import PATTERN
from tests.web.routes import Door, doors

_NAMES = UUID(int=11)


@dataclass(frozen=True)
class Tenant:
    """A project as it is known to those who attack it: its records, and the ids by which routes ask."""

    project: str
    records: list[Entity]
    ids: dict[str, Any]
    """By the names that parameters and bodies of routes have; also what else a body must say. Where a name means
    something else, it comes behind its path: ``/api/work/jobs:job_id``."""

    @property
    def secret(self) -> str:
        """What only its own records say, and no request."""
        return secret_of(self.project)


def secret_of(project: str) -> str:
    return f"kept to themselves by {project}"


# Records


def record_of(entity: type[Entity], project: str, now: datetime) -> Entity:
    """A record that takes part in indexes. Records of a project that name something call it the same."""
    schema, shape = entity.model_json_schema(by_alias=False), entity.__shape__
    asked = {*shape.key.fields, *(name for pattern in shape.patterns.values() for name in pattern.parameters)}
    values: dict[str, Any] = {}
    for name, field in shape.fields.items():
        if field.computation is not None or field.counts_writes:
            continue
        if field is shape.project:
            values[name] = project
        elif name == shape.expiry:
            values[name] = int((now + timedelta(days=1)).timestamp())
        elif field.kind is Kind.CHOICE:
            values[name] = _chosen(shape, field)
        else:
            text = _key(shape, project) if field.keys is not None else secret_of(project)
            sample = _Sample(schema.get("$defs", {}), f"{project}-{name}" if name in asked else text, now)
            values[name] = sample.of(schema["properties"][name])
    return entity.model_validate(values)


def _chosen(shape: EntityShape, field: FieldShape) -> Any:
    """A choice with which the record is in as many indexes as can be."""
    allowed = [index.when[field.name] for index in shape.indexes.values() if field.name in index.when]
    return max(field.python, key=lambda each: sum(each in some for some in allowed))


def _key(shape: EntityShape, project: str) -> str:
    """Some place where the entity's files may lie; anywhere, if its domain does not say."""
    if not shape.files:
        return f"kept/{project}"
    own = next(p for p in shape.files if shape.project is not None and p.fields == (shape.project.name,))
    return own.key("kept", **{own.fields[0]: project})


@dataclass(frozen=True)
class _Sample:
    """Some value of a JSON schema."""

    defs: Mapping[str, Any]
    text: str
    now: datetime

    def of(self, schema: Any) -> Any:
        if not isinstance(schema, dict) or not schema.keys() - {"title", "description", "default"}:
            return self.text  # anything
        for of_several in ("anyOf", "oneOf", "allOf"):
            if of_several in schema:
                return self.of(next(each for each in schema[of_several] if each.get("type") != "null"))
        if "$ref" in schema:
            return self.of(self.defs[schema["$ref"].rpartition("/")[2]])
        if "enum" in schema:
            return schema["enum"][0]
        return self._of_type(schema)

    def _of_type(self, schema: dict[str, Any]) -> Any:
        match schema["type"]:
            case "string" if schema.get("format") == "date-time":
                return self.now
            case "string" if schema.get("format", "").startswith("uuid"):
                return uuid5(_NAMES, self.text)
            case "string" if schema.get("pattern") == "^[0-9a-f]{64}$":
                return sha256(self.text.encode()).hexdigest()
            case "string":
                return self.text
            case "integer" | "number":
                return max(1, schema.get("minimum", 1))
            case "boolean":
                return True
            case "array":
                return [self.of(schema.get("items"))]
            case "object":
                named = {n: self.of(schema["properties"][n]) for n in schema.get("required", ())}
                return named or {"said": self.of(schema.get("additionalProperties"))}
        raise AssertionError(f"nobody knows a value of {schema}; say here how one is made")


def questions_for(record: Entity) -> Iterator[Query[Any]]:
    """Every pattern by which a record is found, as it is found by it."""
    for pattern in record.__shape__.patterns.values():
        names = [n for n in pattern.parameters if n != pattern.ranged]
        yield ask(pattern, {n: getattr(record, n) for n in names})


# Requests


@dataclass(frozen=True)
class Attack:
    """A request for something of a tenant's."""

    door: Door
    request: dict[str, Any]
    names_it: bool
    "Does its path name a record of theirs, so that there is nothing to answer?"

    def __str__(self) -> str:
        return f"{self.door}: {self.request}"


def attacks(app: FastAPI, theirs: Tenant, collections: Mapping[str, type[Entity]]) -> Iterator[Attack]:
    """For every route that takes a key and answers at once, requests for what is theirs.

    ``collections`` are those with derived routes, by path.
    """
    for door in doors(app):
        if door.access.role is None or door.is_stream:  # to which one listens
            continue
        if door.path.startswith(("/api/declared", "/api/session")):  # no tenant's, and the caller's own
            continue
        collection = next((c for c in collections if door.path == c or door.path.startswith(f"{c}/")), None)
        if collection is None or not _is_derived(door, collections[collection]):
            yield Attack(door, _own_request(door, theirs), "{" in door.path)
            continue
        records = [r for r in theirs.records if type(r) is collections[collection]]
        assert records, f"{theirs.project} has no {collections[collection].__name__}, so that {door} is not attacked"
        for record in records:
            yield Attack(door, _derived_request(door, record), "{" in door.path)


def _is_derived(door: Door, entity: type[Entity]) -> bool:
    parts = [part[1:-1] for part in door.path.split("/") if part.startswith("{")]
    return bool(door.question) or parts == list(entity.__shape__.key.fields)


def _derived_request(door: Door, record: Entity) -> dict[str, Any]:
    shape = record.__shape__

    def told(names: Iterable[str]) -> dict[str, str]:
        return {name: key_text(shape.fields[name], getattr(record, name)) for name in names}

    path = door.path.format_map({name: segment_of(text) for name, text in told(shape.key.fields).items()})
    if not door.question:
        return {"method": door.method, "url": path}
    pattern = shape.patterns[door.question.rpartition("=")[2]]
    asked = told(n for n in pattern.parameters if n != pattern.ranged)
    return {"method": door.method, "url": path, "params": {PATTERN: pattern.name, **asked}}


def _own_request(door: Door, theirs: Tenant) -> dict[str, Any]:
    parameters = [p for p in door.operation.get("parameters", ()) if "$ref" not in p]
    for_path = {p["name"]: segment_of(str(_known(door, theirs, p["name"]))) for p in parameters if p["in"] == "path"}
    asked = [p for p in parameters if p["in"] == "query" and (p.get("required") or _has(door, theirs, p["name"]))]
    made: dict[str, Any] = {
        "method": door.method,
        "url": door.path.format_map(for_path),
        "params": {p["name"]: _known(door, theirs, p["name"]) for p in asked},
    }
    content = door.operation.get("requestBody", {}).get("content", {})
    if "multipart/form-data" in content:
        made["files"] = {"file": ("picture.png", theirs.ids["file"], "image/png")}
    elif "application/json" in content:
        made["json"] = _body(door, theirs, content["application/json"]["schema"])
    return made


def _known(door: Door, theirs: Tenant, name: str) -> Any:
    assert _has(door, theirs, name), f"{door} takes {name}; say in the tenant's ids which one is theirs"
    return theirs.ids.get(_there(door, name), theirs.ids.get(name))


def _has(door: Door, theirs: Tenant, name: str) -> bool:
    return name in theirs.ids or _there(door, name) in theirs.ids


def _there(door: Door, name: str) -> str:
    """A name as it is meant at a path."""
    return f"{door.path.partition('/{')[0]}:{name}"


def _body(door: Door, theirs: Tenant, schema: dict[str, Any]) -> dict[str, Any]:
    """A body with all that is needed, and with every id that is theirs."""
    while "properties" not in schema:
        schema = schema["anyOf"][0] if "anyOf" in schema else door.schemas[schema["$ref"].rpartition("/")[2]]
    body = {}
    for name, member in schema["properties"].items():
        if _has(door, theirs, name):
            body[name] = _known(door, theirs, name)
        elif name in schema.get("required", ()):
            body[name] = door._sample(name, member, theirs.project)
    return body
