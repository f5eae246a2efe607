"""How a record looks from outside: as JSON, as a schema, and by its ETag."""

from __future__ import annotations

import base64
import hashlib
import hmac
import inspect
import types
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from pydantic import BaseModel, ConfigDict, Field, create_model

from penstock.declare.entity import Entity
from penstock.declare.move import MoveOf
from penstock.schema.kinds import Kind
from penstock.schema.shape import PatternShape

_SORTED = msgspec.json.Encoder(order="sorted").encode
FILLED_IN = ("at", "now", "by")
"Arguments of a move that the service knows better than its caller: the moment, and who it is."


def plain(record: Entity, *, hidden: frozenset[str] = frozenset()) -> dict[str, Any]:
    """A record as JSON has it, without the fields that are hidden from whom it is for."""
    shape = record.__shape__
    raw = {f.name for f in shape.fields.values() if f.kind is Kind.BYTES}
    values = record.model_dump(mode="json", exclude=raw | hidden)
    for name in raw - hidden:
        value = getattr(record, name)
        values[name] = None if value is None else base64.b64encode(value).decode()
    for field in shape.fields.values():
        if field.kind is Kind.TEXTS and values.get(field.name) is not None:
            values[field.name] = sorted(values[field.name])  # a set has an order of its own in each process
    return values


def json_of(value: Any) -> bytes:
    return msgspec.json.encode(value)


def etag_of(values: Any, *, secret: bytes) -> str:
    """What tells this state of a record from every other; the order of names within documents does not count.

    It is of the values that are shown, so that nobody learns of others by it, and with a key, so that nobody who has
    seen one can try what it was made of.
    """
    return f'"{hmac.new(_etag_key(secret), _SORTED(values), hashlib.sha256).hexdigest()[:32]}"'


@lru_cache(maxsize=8)
def _etag_key(secret: bytes) -> bytes:
    return hmac.new(secret, b"etags", hashlib.sha256).digest()


def names(etags: str, etag: str, *, weakly: bool = False) -> bool:
    """Does a list of ETags, as If-Match and If-None-Match have it, name this one?"""
    given = [text.strip() for text in etags.split(",")]
    if weakly:
        given = [text.removeprefix("W/") for text in given]
    return "*" in given or etag in given


def path_of(pattern: PatternShape) -> str:
    """A pattern in a path: ``by/status`` for by_status, ``by/of_project`` for of_project."""
    return pattern.name.removeprefix("by_")


# Schemas


@cache
def record_model(entity: type[Entity], name: str) -> type[BaseModel]:
    """The schema of a record as it is shown, under a name that no other domain's has."""
    return _model(entity, name, entity.model_fields)


@cache
def new_record_model(entity: type[Entity], name: str) -> type[BaseModel]:
    """The schema of a record to be created: without its states, which begin as declared and change by moves only."""
    states = {f.name for f in entity.__shape__.states}
    return _model(entity, name, [n for n in entity.model_fields if n not in states], strict=True)


def move_model(entity: type[Entity], move: MoveOf[Any, ...], name: str) -> type[BaseModel] | None:
    """The schema of what a move takes, from its signature; None when it takes nothing from its caller."""
    if move.body is None:
        return None
    hints = get_type_hints(move.body, include_extras=True)
    taken: dict[str, Any] = {}
    for parameter in list(inspect.signature(move.body).parameters.values())[1:]:
        if parameter.name not in FILLED_IN:
            default = ... if parameter.default is parameter.empty else parameter.default
            taken[parameter.name] = (hints[parameter.name], default)
    if not taken:
        return None
    return create_model(name, __config__=ConfigDict(extra="forbid"), __doc__=move.summary or None, **taken)


def parameter_type(entity: type[Entity], field: str) -> Any:
    """The type of a parameter that stands for a field: as the field's, but never missing."""
    info = entity.model_fields[field]
    return Annotated[(_present(info.annotation), *info.metadata)] if info.metadata else _present(info.annotation)


def _present(annotation: Any) -> Any:
    if get_origin(annotation) in (Union, types.UnionType):
        rest = tuple(a for a in get_args(annotation) if a is not type(None))
        return rest[0] if len(rest) == 1 else Union[rest]  # noqa: UP007 - made while running
    return annotation


def _without_default(schema: dict[str, Any]) -> None:
    """A field that is left out has no value; it is not null by default."""
    schema.pop("default", None)


def _model(entity: type[Entity], name: str, fields: Iterable[str], *, strict: bool = False) -> type[BaseModel]:
    taken: dict[str, Any] = {}
    for field in fields:
        info = entity.model_fields[field]
        kind: Any = Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation
        seen_by = entity.__shape__.fields[field].personal
        if seen_by is not None and not strict:
            about = f"{info.description or ''} Personal: left out below the role {seen_by.value}.".strip()
            taken[field] = (kind, Field(None, description=about, json_schema_extra=_without_default))
        elif info.is_required():
            taken[field] = (kind, Field(description=info.description))
        elif info.default_factory is not None:
            taken[field] = (kind, Field(default_factory=info.default_factory, description=info.description))
        else:
            taken[field] = (kind, Field(info.default, description=info.description))
    config = ConfigDict(extra="forbid" if strict else "ignore")
    return create_model(name, __config__=config, __doc__=inspect.getdoc(entity), **taken)
