"""A declaration: what a class says of its records, and the shape that it is compiled to.

Everything that can be wrong with it is refused here, while the class is being defined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from pydantic import BaseModel

from penstock.declare.begins import check_begins
from penstock.declare.checks import check_last_modified, check_lifetimes, check_sql_indexes, check_version
from penstock.declare.computed import check_computed
from penstock.declare.construction import builder_of, checker_of
from penstock.declare.entity_names import collection_name, plural, snake_case, tag_of
from penstock.declare.fields import read_fields
from penstock.declare.formerly import Gone, check_past
from penstock.declare.key import KeyOf
from penstock.declare.key_shapes import check_key_fields, index_shapes, key_shape
from penstock.declare.lifetime import Expires, Lifetime
from penstock.declare.move import MoveOf, bind_moves
from penstock.declare.pattern import Pattern
from penstock.declare.personal import check_personal
from penstock.declare.rights import check_permissions, is_moved_by_work
from penstock.declare.stored_names import check_sql_name
from penstock.declare.table import Table
from penstock.declare.unique import check_unique
from penstock.errors import DeclarationError
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.permission import Permission
from penstock.schema.role import Role
from penstock.schema.shape import EntityShape, IndexShape, Rights, TablePlace


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """A class of records, and what it says of them besides its fields."""

    model: type[BaseModel]
    table: Table
    tag: str | None
    relation: str | None
    collection: str | None
    lifetimes: tuple[Lifetime, ...]
    sql_indexes: tuple[tuple[str, ...], ...]
    last_modified: str | None
    version: str | None
    seen_by: Role | None
    known_as: str | None
    "The name that audit lines and messages have of it already, where the class has got another."
    created_by: Permission | None
    wakes: bool
    told: tuple[str, ...]
    traced: bool
    rights: Rights
    moved_by_work: bool
    gone: tuple[Gone, ...]

    @property
    def name(self) -> str:
        return self.known_as or self.model.__name__

    @cached_property
    def members(self) -> dict[str, Any]:
        """What the class has by name, of its own or from its bases."""
        return {k: v for base in reversed(self.model.__mro__) for k, v in vars(base).items()}

    @cached_property
    def moves(self) -> dict[str, MoveOf[Any, ...]]:
        return {k: v for k, v in self.members.items() if isinstance(v, MoveOf)}


class CompiledEntity(NamedTuple):
    """A shape, and what a class of records needs besides to be used."""

    shape: EntityShape
    key: KeyOf[Any, ...]
    fixed: frozenset[str]
    "The fields that nobody assigns: states, parts of the key, the version and what is computed."
    inputs: frozenset[str]
    "The fields that others are computed of."


def compile_entity(said: Declaration) -> CompiledEntity:
    """Compile a class into its shape, and admit it to its table."""
    if not said.model.__pydantic_complete__:
        raise DeclarationError(
            f"{said.name}: an annotation cannot be resolved; declare entities at the top of a module"
        )
    key = _own_key(said)
    fields = _fields(said)
    shape, index_of = _shape(said, fields, key)
    _check(shape, said.model)
    key.bind(shape)
    for name, declared in said.members.items():
        if isinstance(declared, Pattern):
            _check_own(f"{said.name}.{name}", declared, key, index_of)
            declared.bind(name, shape, index_of.get(id(declared.over)))
    said.table.admit(shape)
    fixed = [f.name for f in shape.fields.values() if f.state or f.counts_writes or f.computation is not None]
    inputs = [n for f in shape.computed if f.computation is not None for n in f.computation.of]
    return CompiledEntity(shape, key, fixed=frozenset((*fixed, *shape.key.fields)), inputs=frozenset(inputs))


def _own_key(said: Declaration) -> KeyOf[Any, ...]:
    keys = [v for v in vars(said.model).values() if isinstance(v, KeyOf)]
    if len(keys) != 1:
        raise DeclarationError(f"{said.name} declares {len(keys)} keys; declare one with @key(...)")
    return keys[0]


def _fields(said: Declaration) -> dict[str, FieldShape]:
    """Every field, which knows whether it is a state, and whether it counts the writes."""
    fields = read_fields(said.model, said.table.naming)
    choices = {n: f.python for n, f in fields.items() if f.kind is Kind.CHOICE}
    for name in bind_moves(said.name, said.moves, choices):
        fields[name] = replace(fields[name], state=True)
    if said.version in fields:
        fields[said.version] = replace(fields[said.version], counts_writes=True)
    return fields


def _shape(
    said: Declaration, fields: dict[str, FieldShape], key: KeyOf[Any, ...]
) -> tuple[EntityShape, Mapping[int, IndexShape]]:
    """The shape, and its indexes by the identity of their declaration."""
    name, place = said.name, said.table.place
    own = key_shape(name, fields, place, key)
    indexes, index_of = index_shapes(name, fields, said.table, said.members)
    relation = said.relation or snake_case(name)
    check_sql_indexes(name, fields, said.sql_indexes)
    check_sql_name(f"{name}: relation=", relation)
    check_last_modified(name, fields, said.last_modified)
    shape = EntityShape(
        name=name,
        table=place,
        relation=relation,
        collection=collection_name(name, said.collection or said.relation or plural(relation)),
        fields=fields,
        key=own,
        indexes=indexes,
        tag=tag_of(name, place, said.tag),
        expiry=_expiry(name, fields, place, said.lifetimes),
        build=builder_of(said.model),
        check=checker_of(said.model, fields),
        wakes=said.wakes,
        told=said.told,
        traced=said.traced,
        rights=said.rights,
        sql_indexes=said.sql_indexes,
        lifetimes=tuple(str(rule) for rule in said.lifetimes),
        last_modified=said.last_modified,
        version=said.version,
        seen_by=said.seen_by,
        created_by=said.created_by,
        moved_by_work=said.moved_by_work or is_moved_by_work(fields, said.created_by, said.moves),
        gone={gone.name: gone.written_as for gone in said.gone},
    )
    return shape, index_of


def _expiry(
    entity: str, fields: Mapping[str, FieldShape], place: TablePlace, lifetimes: tuple[Lifetime, ...]
) -> str | None:
    """The field that tells when a record ends, where one does."""
    check_lifetimes(entity, fields, place, lifetimes)
    ends = [x.at for x in lifetimes if isinstance(x, Expires)]
    if not ends:
        return None
    field = fields.get(ends[0])
    if field is None or field.kind is not Kind.INTEGER:
        raise DeclarationError(f"{entity}: Expires(at={ends[0]!r}) needs a field of type EpochSeconds")
    if field.attribute != place.expiry:
        raise DeclarationError(
            f"{entity}: records end by {field.attribute!r}, but its table's expiry attribute is {place.expiry!r}; "
            f"make them the same"
        )
    return field.name


def _check(shape: EntityShape, model: type[BaseModel]) -> None:
    check_key_fields(shape)
    check_personal(shape)
    check_computed(shape)
    check_begins(shape)
    check_past(shape)
    check_unique(shape)
    check_version(shape)
    check_permissions(shape, [n for n, info in model.model_fields.items() if info.is_required()])


def _check_own(where: str, declared: Pattern[Any, ...], own: KeyOf[Any, ...], index_of: Mapping[int, Any]) -> None:
    """A pattern walks a key of its own entity, and belongs to no other."""
    if declared.over is not own and id(declared.over) not in index_of:
        raise DeclarationError(f"{where} walks a key of another entity; declare it over a key of this one")
    if hasattr(declared, "shape"):
        raise DeclarationError(
            f"{where} belongs to {declared.shape.entity.name} already; declare a pattern in each entity that has it"
        )
