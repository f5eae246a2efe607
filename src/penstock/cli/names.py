"""Domains, entities, patterns and values, by the names people write them with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from penstock.cli import installed
from penstock.cli.terminal import hint
from penstock.declare.command_words import RANGE, read_word
from penstock.declare.condition_text import read_condition, read_field_names
from penstock.declare.domain import Domain
from penstock.declare.entity import Entity
from penstock.declare.pattern import ask
from penstock.errors import InvalidKey, InvalidValue, Misconfigured
from penstock.operations.conditions import fields_of
from penstock.operations.reads import Query, Range, Ref
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.kinds import FieldShape, Kind, from_key_text
from penstock.schema.shape import PatternShape
from penstock.work.working import WORKING


def every() -> tuple[Domain, ...]:
    """Every domain there is: those that are served, of work, and the kernel's own."""
    return (*installed.domains(), WORKING, SYSTEM_RECORDS)


def domains(name: str | None) -> list[Domain]:
    """One domain, or all."""
    if name is None:
        return list(every())
    found = [d for d in every() if d.name == name]
    if not found:
        raise Misconfigured(f'No domain "{name}". {hint(name, [d.name for d in every()])}')
    return found


def entity(label: str) -> type[Entity]:
    """Such as films.Film; the domain may be left out where that leaves no doubt."""
    known = {e.__shape__.label: e for d in every() for e in d.entities}
    short = [e for e in known.values() if e.__shape__.name.lower() == label.lower()]
    if label in known:
        return known[label]
    if len(short) == 1:
        return short[0]
    if short:
        raise Misconfigured(f"There are several {label}: {', '.join(e.__shape__.label for e in short)}. Say which")
    raise Misconfigured(f'No entity "{label}". {hint(label, known)}')


def pattern(label: str) -> PatternShape:
    """Such as films.Film.by_status."""
    known = {p.label: p for d in every() for p in d.patterns}
    if label not in known:
        raise Misconfigured(f'No pattern "{label}". {_choices(label, list(known))}')
    return known[label]


def _choices(label: str, known: Sequence[str]) -> str:
    """What was perhaps meant, and which patterns there are of the entity or domain that a label begins with."""
    within = next((found for head in (label, label.rpartition(".")[0]) if (found := _of(head, known))), [])
    if not within:
        return hint(label, known)
    meant = hint(label, within) if label.count(".") > 1 else ""
    listed = f"There are {', '.join(within)}."
    if not meant.startswith("Did"):
        return listed
    return meant if len(within) == 1 else f"{meant} {listed}"


def _of(head: str, known: Sequence[str]) -> list[str]:
    return [each for each in known if head and each.lower().startswith(f"{head.lower()}.")]


def query(asked: PatternShape, given: Sequence[str]) -> Query[Any]:
    """Bind the parameters of a pattern from words such as ``status=pending``; a range is ``a..b``."""
    values: dict[str, Any] = {}
    for word in given:
        name, text = read_word(word) or ("", "")
        if name not in asked.parameters:
            raise InvalidKey(f"{asked.label} takes {', '.join(asked.parameters)} as name=value, not {word!r}")
        field = asked.entity.fields[name]
        values[name] = _range(field, text) if name == asked.ranged and RANGE in text else value(field, text)
    try:
        return ask(asked, values)
    except InvalidKey as error:
        fields = [asked.entity.fields[name] for name in asked.parameters if name not in values]
        told = [f"{f.name} is one of {_listed(f)}" for f in fields if f.kind is Kind.CHOICE]
        raise InvalidKey("; ".join([str(error), *told])) from None


def wider(asked: Query[Any], where: Sequence[str], fields: str | None, *, personal: bool) -> Query[Any]:
    """The query with a filter and a choice of fields, from words such as ``views>=100`` and ``title,views``."""
    kind = entity(asked.pattern.entity.label)
    hidden = frozenset() if personal else kind.__shape__.hidden_from(None)
    for text in where:
        asked = asked.where(read_condition(kind, text))
    chosen = None if fields is None else read_field_names(kind, fields)
    if kept := sorted((fields_of(asked.filter) | frozenset(chosen or ())) & hidden):
        raise InvalidValue(f"{', '.join(kept)} is personal, and an answer would tell it; say --personal")
    return asked if chosen is None else replace(asked, fields=chosen)


def ref(kind: type[Entity], given: Sequence[str]) -> Ref[Any]:
    """A record from the words of its key: ``project_id=… sequence=1``."""
    shape = kind.__shape__
    parts: dict[str, Any] = {}
    for word in given:
        name, text = read_word(word) or ("", "")
        if name not in shape.key.fields:
            raise InvalidKey(f"{shape.label} is found by {', '.join(shape.key.fields)} as name=value, not {word!r}")
        parts[name] = value(shape.fields[name], text)
    return kind.__key__(**parts)


def _range(field: FieldShape, text: str) -> Range[Any]:
    low, _, high = text.partition(RANGE)
    return Range(value(field, low) if low else None, value(field, high) if high else None)


def value(field: FieldShape, text: str) -> Any:
    """What a text stands for."""
    try:
        return from_key_text(field, text)
    except ValueError:
        if field.kind is Kind.CHOICE:
            raise InvalidKey(f"{field.name}={text!r} is none of {_listed(field)}") from None
        raise InvalidKey(f"{field.name}={text!r} is not {field.kind.noun}; check its form") from None


def _listed(field: FieldShape) -> str:
    """What a choice can be."""
    return ", ".join(choice.value for choice in field.python)
