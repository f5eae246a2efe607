"""How a record looks from outside: as JSON, as a schema, and by its ETag."""

from __future__ import annotations

import hmac
import inspect
import types
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator
from pydantic.fields import FieldInfo

from penstock.declare.computed import ComputedOf
from penstock.declare.entity import Entity
from penstock.declare.rights import field_permission
from penstock.schema.permission import reason
from penstock.schema.role import Role

_SORTED = msgspec.json.Encoder(order="sorted").encode


def json_of(value: Any) -> bytes:
    return msgspec.json.encode(value)


def etag_of(values: Any, *, secret: bytes) -> str:
    """What tells this state of a record from every other; the order of names within documents does not count.

    It is of the values that are shown, so that nobody learns of others by it, and with a key, so that nobody who has
    seen one can try what it was made of.
    """
    return f'"{hmac.digest(_etag_key(secret), _SORTED(values), "sha256").hex()[:32]}"'


@lru_cache(maxsize=8)
def _etag_key(secret: bytes) -> bytes:
    return hmac.digest(secret, b"etags", "sha256")


def names(etags: str, etag: str, *, weakly: bool = False) -> bool:
    """Does a list of ETags, as If-Match and If-None-Match have it, name this one?"""
    given = [text.strip() for text in etags.split(",")]
    if weakly:
        given = [text.removeprefix("W/") for text in given]
    return "*" in given or etag in given


# Schemas


@cache
def record_model(entity: type[Entity], name: str) -> type[BaseModel]:
    """The schema of a record as it is shown, under a name that no other domain's has."""
    return _model(entity, name, entity.model_fields)


@cache
def some_fields_model(entity: type[Entity], name: str) -> type[BaseModel]:
    """The schema of some fields of a record: each may be left out, but those of its key."""
    taken: dict[str, Any] = {}
    for field, info in entity.model_fields.items():
        kind: Any = Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation
        always = field in entity.__shape__.key.fields
        told = without_default if entity.__shape__.fields[field].computation is None else _read_only
        taken[field] = (kind, Field() if always else Field(None, json_schema_extra=told))
    about = f"Some fields of a {entity.__name__}: those that were asked for, and its key."
    return create_model(name, __doc__=about, **taken)


@cache
def new_record_model(entity: type[Entity], name: str) -> type[BaseModel]:
    """The schema of a record to be created: without its states, which begin as declared and change by moves only, and
    without what is not for people to write."""
    shape = entity.__shape__
    permissions = {n: field_permission(shape, f) for n, f in shape.fields.items()}
    closed = {n: p for n, p in permissions.items() if not isinstance(p, Role)}

    def refuse(given: Any) -> Any:
        for field in given if isinstance(given, dict) else ():
            if field in closed and shape.fields[field].state:
                raise ValueError(f"{field} is a state, which begins as declared and changes by moves only")
            if field in closed and (made := shape.fields[field].computation) is not None:
                raise ValueError(f"{field} is computed of {' and '.join(made.of)}, and not given")
            if field in closed:
                raise ValueError(reason(closed[field], f"writes {field}"))
        return given

    validators = {"refuse": model_validator(mode="before")(refuse)}
    people = [n for n in entity.model_fields if n not in closed]
    return _model(entity, name, people, strict=True, validators=validators)


def parameter_type(entity: type[Entity], field: str) -> Any:
    """The type of a parameter that stands for a field: as the field's, but never missing."""
    info = entity.model_fields[field]
    return _annotated(_present(info.annotation), info)


def _annotated(kind: Any, info: FieldInfo) -> Any:
    """A field's type with its constraints; how it is computed is the entity's to know."""
    metadata = [m for m in info.metadata if not isinstance(m, ComputedOf)]
    return Annotated[(kind, *metadata)] if metadata else kind


def _present(annotation: Any) -> Any:
    if get_origin(annotation) in (Union, types.UnionType):
        rest = tuple(a for a in get_args(annotation) if a is not type(None))
        return rest[0] if len(rest) == 1 else Union[rest]  # noqa: UP007 - made while running
    return annotation


def without_default(schema: dict[str, Any]) -> None:
    """A field that is left out has no value; it is not null by default."""
    schema.pop("default", None)


def _read_only(schema: dict[str, Any]) -> None:
    schema.pop("default", None)
    schema["readOnly"] = True


def _model(
    entity: type[Entity],
    name: str,
    fields: Iterable[str],
    *,
    strict: bool = False,
    validators: dict[str, Any] | None = None,
) -> type[BaseModel]:
    taken: dict[str, Any] = {}
    for field in fields:
        info = entity.model_fields[field]
        kind: Any = _annotated(info.annotation, info)
        seen_by = entity.__shape__.fields[field].personal
        if seen_by is not None and not strict:
            note = f"{info.description or ''} Personal: left out below the role {seen_by.value}.".strip()
            taken[field] = (kind, Field(None, description=note, json_schema_extra=without_default))
        elif entity.__shape__.fields[field].computation is not None:
            taken[field] = (kind, Field(None, description=info.description, json_schema_extra=_read_only))
        elif info.is_required():
            taken[field] = (kind, Field(description=_about(entity, field, strict=strict)))
        elif info.default_factory is not None:
            made: Any = info.default_factory
            taken[field] = (kind, Field(default_factory=made, description=_about(entity, field, strict=strict)))
        else:
            taken[field] = (kind, Field(info.default, description=_about(entity, field, strict=strict)))
    config = ConfigDict(extra="forbid" if strict else "ignore")
    about = inspect.getdoc(entity)
    return create_model(name, __config__=config, __doc__=about, __validators__=validators, **taken)


def _about(entity: type[Entity], field: str, *, strict: bool) -> str | None:
    """What a field is, and which role may write it where not everybody who may create the record does."""
    about, written_by = entity.model_fields[field].description, entity.__shape__.fields[field].written_by
    if not strict or not isinstance(written_by, Role):
        return about
    return f"{about or ''} Takes the role {written_by.value}.".strip()
