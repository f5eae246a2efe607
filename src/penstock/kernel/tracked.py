"""Records that were met in a change: where each lives, how it was read, and what has become of it since."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from penstock.declare.entity import Entity
from penstock.operations.reads import Ref, named
from penstock.operations.updates import Remove, Set, Update
from penstock.schema.kinds import key_text


class Tracked(Struct):
    """A record, its place, and its values as they were read, if they were."""

    record: Entity
    "Kept, so that its identity stays its own."
    ref: Ref[Any]
    key: dict[str, str]
    text: str
    before: dict[str, Any] | None = None


def tracked(record: Entity) -> Tracked:
    values, shape = record.__dict__, record.__shape__
    key, texts = {}, {}
    for field in shape.key_fields:
        name = field.name
        key[name] = value = values[name]
        texts[name] = key_text(field, value)
    return Tracked(record, Ref(shape, key), texts, named(shape, texts))


def changes_of(values: Mapping[str, Any], before: Mapping[str, Any]) -> list[Update]:
    """What was changed in a record since it was read."""
    return [
        Remove(name) if value is None else Set(name, value)
        for name, value in values.items()
        if value is not (former := before[name])  # most are the same, and not asked to compare
        # In a document 0 and False are two things, which Python takes for equal.
        and (value != former or (type(value) in (dict, list) and repr(value) != repr(former)))
    ]


def moved_states(record: Entity, before: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The states a record had and has, where they differ."""
    moved = {}
    for field in record.__shape__.states:
        former, present = before.get(field.name), record.__dict__[field.name]
        if present is not former:
            # What .value gives, at a fifth of its price.
            moved[field.name] = [None if former is None else former._value_, present._value_]
    return moved


def own_kind(record: Entity, what: str, default: Any) -> Any:
    """The domain's own kind of message or audit line, where its documents describe one."""
    domain = record.__domain__
    return default if domain is None else getattr(domain, what) or default


def project_of(record: Entity) -> str | None:
    """The project that a record says it belongs to."""
    value = record.__dict__.get("project_id")
    return value if value is None or isinstance(value, str) else str(value)
