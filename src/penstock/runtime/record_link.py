"""A link to a record: which it is, and where the service has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from penstock.declare.entity import Entity
from penstock.kernel.own_records import KERNEL
from penstock.operations.reads import Ref
from penstock.schema.kinds import from_key_text
from penstock.work.working import WORKING

_OPERATORS = "ops"
"Where the service has what the system keeps for itself."


@dataclass(frozen=True, slots=True)
class RecordLink:
    """A record, named for people and programs."""

    domain: str
    collection: str
    entity: str
    "Its kind, such as films.Film."
    key: dict[str, str]
    label: str
    path: str
    "Where the service has it, if it has it at all."


def link_to(ref: Ref[Any]) -> RecordLink:
    """The link to the record that a ref names."""
    shape, texts = ref.shape, ref.texts()
    own = shape.domain in (None, KERNEL.name, WORKING.name)
    domain = _OPERATORS if own else str(shape.domain)
    parts = [domain, shape.collection, *(texts[name] for name in shape.key.fields)]
    path = "/api/" + "/".join(quote(part, safe="") for part in parts)
    return RecordLink(domain, shape.collection, shape.label, texts, repr(ref), path)


class KindsByLabel:
    """The kinds of records that a system has, by their labels: what a kept key names can be read again."""

    def __init__(self, entities: Iterable[type[Entity]]) -> None:
        self._entities = {entity.__shape__.label: entity for entity in entities}

    def ref(self, label: str, texts: Mapping[str, str]) -> Ref[Any] | None:
        """The record that a kept key names; None where its kind is not known, or has another key by now."""
        entity = self._entities.get(label)
        if entity is None:
            return None
        fields = entity.__shape__.fields
        try:
            return entity.__key__.of({name: from_key_text(fields[name], text) for name, text in texts.items()})
        except (KeyError, ValueError):
            return None
