"""A domain: entities that belong together, under one name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from penstock.declare.entity import Entity
from penstock.declare.files import place_files
from penstock.declare.rights import leave_to_system
from penstock.declare.stored_names import check_schema_name, check_sql_name
from penstock.declare.table import Table
from penstock.errors import DeclarationError
from penstock.schema.file_pattern import FilePattern
from penstock.schema.shape import EntityShape, PatternShape, ViewShape

_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class View:
    """A SQL view over a domain's tables; ``{Entity}`` stands for an entity's table. Other engines have none."""

    name: str
    select: str


class Domain:
    """One system's entities and views. Its name is the schema of its tables in SQL.

    ``outbox`` and ``audit`` are its own kinds of message and audit line, where its documents describe them. ``files``
    are the patterns of the object keys its records may hold (see `penstock.schema.file_pattern`); an entity uses those
    whose fields it has. Without any, keys are checked for their form alone. With ``moved_by_work``, what its entities
    do not say of who may write them is the system's alone.
    """

    def __init__(
        self,
        name: str,
        *entities: type[Entity],
        views: Iterable[View] = (),
        outbox: type[Entity] | None = None,
        audit: type[Entity] | None = None,
        files: Iterable[str | FilePattern] = (),
        moved_by_work: bool = False,
    ) -> None:
        if not _NAME.fullmatch(name):
            raise DeclarationError(
                f"{name!r} cannot name a domain: it stands in paths and in SQL; use small letters, such as films"
            )
        check_schema_name(name)
        for entity in entities:
            if not hasattr(entity, "__shape__"):
                raise DeclarationError(
                    f"{getattr(entity, '__name__', entity)} of the domain {name} has no table; write class "
                    f"{getattr(entity, '__name__', 'Film')}(Entity, table=TABLE)"
                )
        self.name = name
        self.files = tuple(FilePattern(each) if isinstance(each, str) else each for each in files)
        self.outbox, self.audit = outbox, audit
        self.entities = entities
        self.views = tuple(views)
        for view in self.views:
            check_sql_name(f"the domain {name}: View", view.name)
        relations: dict[str, str] = {}
        collections: dict[str, str] = {}
        for entity in entities:
            shape = entity.__shape__
            relation = shape.relation.lower()  # SQLite takes capitals for small letters
            if relation in relations:
                raise DeclarationError(
                    f"{relations[relation]} and {shape.name} have the same SQL table {shape.relation!r} "
                    f"in the domain {name!r}; give one another relation="
                )
            relations[relation] = shape.name
            if shape.collection in collections:
                raise DeclarationError(
                    f"{collections[shape.collection]} and {shape.name} have the same path {shape.collection!r} "
                    f"in the domain {name!r}; give one another collection="
                )
            collections[shape.collection] = shape.name
            if moved_by_work:
                leave_to_system(shape)
            if shape.domain not in (None, name):
                raise DeclarationError(
                    f"{shape.name} belongs to the domain {shape.domain!r} already, not also {name!r}"
                )
            shape.domain = name
            entity.__domain__ = self
        place_files(name, self.files, self.shapes)

    @property
    def shapes(self) -> list[EntityShape]:
        return [e.__shape__ for e in self.entities]

    @property
    def view_shapes(self) -> list[ViewShape]:
        return [ViewShape(v.name, self.name, v.select) for v in self.views]

    @property
    def tables(self) -> list[Table]:
        return list(dict.fromkeys(e.__table__ for e in self.entities))

    @property
    def patterns(self) -> list[PatternShape]:
        return [p for shape in self.shapes for p in shape.patterns.values()]
