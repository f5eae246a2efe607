"""What records are called where people read of them: as their domain says it, or else by their key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from penstock.declare.entity import Entity
from penstock.plugin import DomainPlugin
from penstock.review.short_title import short_title

_NAMES = ("title", "name", "label")
_LONGEST = 120
Title = Callable[[Any], str | None]


class RecordTitles:
    """The titles of records of some domains; nothing personal is in one."""

    def __init__(self, installed: Iterable[DomainPlugin]) -> None:
        self._titles: dict[type[Entity], Title] = {}
        for plugin in installed:
            entities = {entity.__shape__.name: entity for entity in plugin.domain.entities}
            names = {} if plugin.console is None else plugin.console.names
            self._titles |= {entities[name]: _at(path) for name, path in names.items()}
            self._titles |= {each.entity: each.title for each in plugin.reviews if each.title is not None}

    def title(self, record: Entity) -> str | None:
        """What a record is called; None where nobody has said it, and it has no name of its own."""
        said = self._titles.get(type(record), _named)(record)
        return short_title(said, _LONGEST) if said else None

    def called(self, record: Entity) -> str:
        """The same; a record without a title goes by its key."""
        return self.title(record) or repr(record.ref)


def _at(path: str) -> Title:
    """Reads a field, or what stands in one: ``request.prompt.concept``."""

    def read(record: Any) -> str | None:
        found: Any = record.__dict__
        for name in path.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
        return found if isinstance(found, str) else None

    return read


def _named(record: Entity) -> str | None:
    personal = {field.name for field in record.__shape__.personal}
    said = (record.__dict__.get(name) for name in _NAMES if name not in personal)
    return next((each for each in said if isinstance(each, str)), None)
