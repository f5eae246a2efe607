"""Entities: pydantic models that know their table, key, indexes, patterns and moves.

Everything that can be wrong with a declaration is refused while the class is being defined.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

from pydantic import BaseModel, ConfigDict, Field
from pydantic._internal._model_construction import ModelMetaclass

from penstock.declare.attr import Attr
from penstock.declare.attribute import attribute
from penstock.declare.checks import (
    check_last_modified,
    check_lifetimes,
    check_sql_indexes,
    check_version,
    check_when,
)
from penstock.declare.computed import check_computed, computed
from penstock.declare.fields import read_fields
from penstock.declare.key import IndexKey, KeyOf
from penstock.declare.lifetime import Expires, Lifetime
from penstock.declare.move import MoveOf, bind_moves
from penstock.declare.pattern import Pattern
from penstock.declare.personal import check_personal
from penstock.declare.rights import check_permissions, is_moved_by_work
from penstock.declare.stored_names import check_sql_name
from penstock.declare.table import Table
from penstock.declare.unique import check_unique
from penstock.errors import DeclarationError, InvalidValue
from penstock.operations.reads import Ref
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.permission import Permission
from penstock.schema.role import Role
from penstock.schema.shape import (
    PARTITION_BYTES,
    SORT_BYTES,
    EntityShape,
    IndexPlace,
    IndexShape,
    KeyAttribute,
    KeyShape,
    Rights,
    TablePlace,
)
from penstock.schema.template import compile_template

_COLLECTION = re.compile(r"[a-z][a-z0-9_-]*")


class _Hidden:
    """Stands for a value that is not told."""

    def __repr__(self) -> str:
        return "<personal>"


_HIDDEN = _Hidden()


@dataclass_transform(kw_only_default=True, field_specifiers=(Field, attribute, computed))
class EntityType(ModelMetaclass):
    """The class of entity classes: ``Scene.status`` on the class is the field itself, for `the`."""

    __shape__: EntityShape

    if not TYPE_CHECKING:  # a checker that saw it would take any name for a field

        def __getattr__(cls, name: str) -> Any:
            shape: EntityShape | None = cls.__dict__.get("__shape__")
            if shape is not None and name in shape.fields:
                return Attr(cls, shape.fields[name])
            if shape is None or name.startswith("_"):
                return super().__getattr__(name)
            raise AttributeError(_no_such(cls, shape, name), name=name, obj=cls)


class Entity(BaseModel, metaclass=EntityType):
    """A record. Subclass it with ``table=`` to declare what is stored, where, and how it is found."""

    model_config = ConfigDict(
        validate_assignment=True,
        extra="forbid",
        hide_input_in_errors=True,  # an error may be logged, and what did not fit may be personal
        ignored_types=(KeyOf, IndexKey, Pattern, MoveOf, Expires),
    )
    __shape__: ClassVar[EntityShape]
    __table__: ClassVar[Table]
    __domain__: ClassVar[Any] = None
    __moves__: ClassVar[Mapping[str, MoveOf[Any, ...]]] = {}
    __lifetimes__: ClassVar[tuple[Lifetime, ...]] = ()
    __key__: ClassVar[KeyOf[Any, ...]]
    __fixed__: ClassVar[frozenset[str]] = frozenset()
    __wakes__: ClassVar[bool] = False
    "Is a new one told to whoever waits for work?"
    __traced__: ClassVar[bool] = True
    "Has it a history of its own? Each change of several records costs something for each that has."
    __rights__: ClassVar[Rights] = Rights()
    "What may a store bound to a project do with its own ones?"
    __seen_by__: ClassVar[Role | None] = None
    "Who may look at its records, where the class itself does not say."
    __moved_by_work__: ClassVar[bool] = False
    "Is what the declaration does not say of who may write it the system's alone?"
    __inputs__: ClassVar[frozenset[str]] = frozenset()
    "The fields that others are computed of."
    __validated__: ClassVar[bool] = True
    "Has it validators of its own, which must see each new state?"

    def __init_subclass__(cls, *, table: Table | None = None, **options: Any) -> None:
        super().__init_subclass__()

    @classmethod
    def __pydantic_init_subclass__(
        cls,
        *,
        table: Table | None = None,
        tag: str | None = None,
        relation: str | None = None,
        collection: str | None = None,
        lifetimes: tuple[Lifetime, ...] = (),
        sql_indexes: tuple[tuple[str, ...], ...] = (),
        last_modified: str | None = None,
        version: str | None = None,
        seen_by: Role | None = None,
        known_as: str | None = None,
        created_by: Permission | None = None,
        **unknown: Any,
    ) -> None:
        if unknown:
            raise DeclarationError(f"{cls.__name__}: unknown option {', '.join(unknown)}")
        if table is None:
            _check_base(cls)
            return  # a shared base of entities, not an entity
        _declare(
            cls,
            table,
            tag=tag,
            relation=relation,
            collection=collection,
            lifetimes=lifetimes,
            sql_indexes=sql_indexes,
            last_modified=last_modified,
            version=version,
            seen_by=seen_by,
            known_as=known_as,
            created_by=created_by,
        )

    if not TYPE_CHECKING:  # a checker that saw it would let any name be assigned

        def __setattr__(self, name: str, value: Any) -> None:
            if name in self.__fixed__:
                raise InvalidValue(f"{type(self).__name__}.{name} is {_why_fixed(self.__shape__, name)}")
            super().__setattr__(name, value)
            if name in self.__inputs__:
                self.__recompute__()

    def __recompute__(self) -> None:
        """A field has changed that others are computed of."""
        for field in self.__shape__.computed:
            assert field.computation is not None
            self.__dict__[field.name] = field.computation.value(f"{type(self).__name__}.{field.name}", self.__dict__)

    def __moved__(self, name: str, to: Enum) -> None:
        """Only `MoveOf` calls this."""
        if self.__validated__:
            super().__setattr__(name, to)
        else:
            self.__dict__[name] = to
            self.__pydantic_fields_set__.add(name)
        if name in self.__inputs__:
            self.__recompute__()

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What a record says of itself in logs and errors: all but what is personal."""
        shape: EntityShape | None = getattr(type(self), "__shape__", None)
        hidden = frozenset() if shape is None else shape.hidden_from(None)
        for name, value in super().__repr_args__():
            yield name, _HIDDEN if name in hidden else value

    @property
    def ref(self) -> Ref[Any]:
        """Where this record lives."""
        return self.__key__.of(self.__dict__)


def _declare(
    cls: type[Entity],
    table: Table,
    *,
    tag: str | None,
    relation: str | None,
    collection: str | None,
    lifetimes: tuple[Lifetime, ...],
    sql_indexes: tuple[tuple[str, ...], ...],
    last_modified: str | None,
    version: str | None,
    seen_by: Role | None,
    known_as: str | None,
    created_by: Permission | None,
) -> None:
    """Compile a class into its shape, and admit it to its table.

    ``known_as`` is the name that audit lines and messages have of it already, where the class has got another.
    """
    name = known_as or cls.__name__
    if not cls.__pydantic_complete__:
        raise DeclarationError(f"{name}: an annotation cannot be resolved; declare entities at the top of a module")
    validators = cls.__pydantic_decorators__
    cls.__validated__ = bool(validators.field_validators or validators.model_validators or validators.validators)
    members: dict[str, Any] = {k: v for base in reversed(cls.__mro__) for k, v in vars(base).items()}
    keys = [v for v in vars(cls).values() if isinstance(v, KeyOf)]
    if len(keys) != 1:
        raise DeclarationError(f"{name} declares {len(keys)} keys; declare one with @key(...)")
    moves = {k: v for k, v in members.items() if isinstance(v, MoveOf)}
    fields = read_fields(cls, table.naming)
    choices = {n: f.python for n, f in fields.items() if f.kind is Kind.CHOICE}
    states = bind_moves(name, moves, choices)
    fields = {n: replace(f, state=True) if n in states else f for n, f in fields.items()}
    if version in fields:
        fields[version] = replace(fields[version], counts_writes=True)
    key = _key_shape(name, fields, table.place.partition, table.place.sort, keys[0].partition, keys[0].sort)
    indexes, index_of = _indexes(name, fields, table, members)
    check_sql_indexes(name, fields, sql_indexes)
    check_sql_name(f"{name}: relation=", relation or _snake(name))
    check_last_modified(name, fields, last_modified)
    shape = EntityShape(
        name=name,
        table=table.place,
        relation=relation or _snake(name),
        collection=_collection(name, collection or relation or plural(_snake(name))),
        fields=fields,
        key=key,
        indexes=indexes,
        tag=_tag(name, table.place, tag),
        expiry=_expiry(name, fields, table.place, lifetimes),
        build=_builder(cls),
        check=_checker(cls, fields),
        wakes=cls.__wakes__,
        traced=cls.__traced__,
        rights=cls.__rights__,
        uniques=sql_indexes,
        last_modified=last_modified,
        version=version,
        seen_by=seen_by or cls.__seen_by__,
        created_by=created_by,
        moved_by_work=cls.__moved_by_work__ or is_moved_by_work(fields, created_by, moves),
    )
    _check_key_fields(shape)
    check_personal(shape)
    check_computed(shape)
    check_unique(shape)
    check_version(shape)
    check_permissions(shape, [n for n, info in cls.model_fields.items() if info.is_required()])
    keys[0].bind(shape)
    for pattern_name, declared in members.items():
        if isinstance(declared, Pattern):
            _check_own(f"{name}.{pattern_name}", declared, keys[0], index_of)
            declared.bind(pattern_name, shape, index_of.get(id(declared.over)))
    table.admit(shape)
    cls.__shape__, cls.__table__, cls.__key__ = shape, table, keys[0]
    cls.__moves__, cls.__lifetimes__ = moves, lifetimes
    cls.__fixed__ = frozenset(states) | frozenset(key.fields) | frozenset({version} if version else ())
    if shape.computed:
        cls.__fixed__ |= {f.name for f in shape.computed}
        cls.__inputs__ = frozenset(n for f in shape.computed if f.computation for n in f.computation.of)


def _check_base(cls: type[Entity]) -> None:
    """A record of a subclass would be stored as its parent's, without what the subclass adds."""
    for base in cls.__mro__[1:]:
        if "__shape__" in vars(base):
            raise DeclarationError(
                f"{cls.__name__} extends the entity {base.__name__} but has no table=; "
                f"share fields through a base class that is no entity"
            )


def _check_own(where: str, declared: Pattern[Any, ...], own: KeyOf[Any, ...], index_of: Mapping[int, Any]) -> None:
    """A pattern walks a key of its own entity, and belongs to no other."""
    if declared.over is not own and id(declared.over) not in index_of:
        raise DeclarationError(f"{where} walks a key of another entity; declare it over a key of this one")
    if hasattr(declared, "shape"):
        raise DeclarationError(
            f"{where} belongs to {declared.shape.entity.name} already; declare a pattern in each entity that has it"
        )


def _key_shape(
    entity: str,
    fields: Mapping[str, FieldShape],
    partition_attribute: KeyAttribute,
    sort_attribute: KeyAttribute | None,
    partition: str,
    sort: str | None,
) -> KeyShape:
    if (sort is None) != (sort_attribute is None):
        need = "needs a sort key template" if sort is None else "has no sort key; remove the second template"
        raise DeclarationError(f"{entity}: its table or index {need}")
    first = compile_template(partition, fields, entity=entity, ordered=False, limit=PARTITION_BYTES)
    second = None
    if sort is not None:
        second = compile_template(sort, fields, entity=entity, ordered=True, limit=SORT_BYTES)
    shape = KeyShape(partition_attribute, first, sort_attribute, second)
    for attr, template in ((partition_attribute, first), (sort_attribute, second)):
        if attr is None or template is None:
            continue
        whole = template.bare
        is_number = whole is not None and whole.kind is Kind.INTEGER and template.parts[0].width is None
        if attr.number != is_number:
            right = "a number: use one integer field alone" if attr.number else "a string: zero-pad the integer"
            raise DeclarationError(f"{entity}: the key attribute {attr.name} is {right}, not {template.text!r}")
        owner = next((f for f in fields.values() if f.attribute == attr.name and f.stored), None)
        if owner is not None and (owner is not whole or attr.number != (owner.kind is Kind.INTEGER)):
            raise DeclarationError(
                f"{entity}: {owner.name} is stored as {attr.name}, which is also the key attribute made by "
                f"{template.text!r}; rename the field's attribute"
            )
    return shape


def _indexes(
    entity: str, fields: Mapping[str, FieldShape], table: Table, members: Mapping[str, Any]
) -> tuple[dict[str, IndexShape], dict[int, IndexShape]]:
    """The entity's index keys by index name, and by the identity of their declaration."""
    indexes: dict[str, IndexShape] = {}
    by_declaration: dict[int, IndexShape] = {}
    for declared in members.values():
        if not isinstance(declared, IndexKey):
            continue
        place = declared.index.place
        if declared.index.table is not table:
            raise DeclarationError(f"{entity}: the index {place.name} belongs to another table")
        if place.name in indexes:
            raise DeclarationError(f"{entity} has two keys in the index {place.name}; one is allowed")
        check_when(entity, place.name, fields, declared.when)
        index = IndexShape(place, _index_key(entity, fields, place, declared), declared.when)
        indexes[place.name] = by_declaration[id(declared)] = index
    return indexes, by_declaration


def _index_key(entity: str, fields: Mapping[str, FieldShape], place: IndexPlace, declared: IndexKey) -> KeyShape:
    return _key_shape(entity, fields, place.partition, place.sort, declared.partition, declared.sort)


def _check_key_fields(shape: EntityShape) -> None:
    for name in shape.key.fields:
        if shape.fields[name].optional:
            raise DeclarationError(f"{shape.name}.{name} is part of the key and cannot be optional")
        if shape.fields[name].state:
            raise DeclarationError(f"{shape.name}.{name} is a state and part of the key; a key never changes")
    for field in shape.fields.values():
        if not field.stored and field.name not in shape.key.fields:
            raise DeclarationError(f"{shape.name}.{field.name} is declared in_key_only, but no key template has it")
    reserved = {shape.table.tag, *_index_attributes(shape)} - {None}
    for field in shape.fields.values():
        if field.stored and field.attribute in reserved and not _is_native(shape, field):
            raise DeclarationError(
                f"{shape.name}.{field.name} is stored as {field.attribute}, which the table uses itself; rename it"
            )


def _index_attributes(shape: EntityShape) -> set[str]:
    names = set()
    for index in shape.table.indexes.values():
        names.add(index.partition.name)
        if index.sort is not None:
            names.add(index.sort.name)
    return names


def _is_native(shape: EntityShape, field: FieldShape) -> bool:
    """Is the field itself a key attribute of an index (as VideoMetadata's userId is)?"""
    for index in shape.indexes.values():
        pairs = ((index.place.partition, index.key.partition), (index.place.sort, index.key.sort))
        if any(a and t and a.name == field.attribute and t.bare is field for a, t in pairs):
            return True
    return False


def _tag(entity: str, place: TablePlace, tag: str | None) -> str | None:
    if tag is not None and place.tag is None:
        raise DeclarationError(f"{entity} has a tag, but its table names no tag attribute; add Table(tag=...)")
    return tag if place.tag is None or tag is not None else _snake(entity)


def _expiry(
    entity: str, fields: Mapping[str, FieldShape], place: TablePlace, lifetimes: tuple[Lifetime, ...]
) -> str | None:
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


def _builder(cls: type[Entity]) -> Callable[[dict[str, Any]], Any]:
    """A constructor for values the store has checked: no second validation."""
    new, names = cls.__new__, set(cls.model_fields)
    # The slots' own setters, found once: the same as object.__setattr__, at two thirds of the time.
    slots = vars(BaseModel)
    set_values, set_names = slots["__dict__"].__set__, slots["__pydantic_fields_set__"].__set__
    set_extra, set_private = slots["__pydantic_extra__"].__set__, slots["__pydantic_private__"].__set__

    def build(values: dict[str, Any]) -> Any:
        record = new(cls)
        set_values(record, values)
        set_names(record, names)
        set_extra(record, None)
        set_private(record, None)
        return record

    return build


def _checker(cls: type[Entity], fields: Mapping[str, FieldShape]) -> Callable[[dict[str, Any]], Any]:
    """A constructor for values that need validation; what is computed is made anew."""
    made = [f.name for f in fields.values() if f.computation is not None]
    if not made:
        return cls.model_validate
    return lambda values: cls.model_validate({n: v for n, v in values.items() if n not in made})


def _no_such(cls: type, shape: EntityShape, name: str) -> str:
    """What to tell somebody who asks an entity for something it does not declare."""
    declared = [n for n in (*shape.fields, *dir(cls)) if not n.startswith(("_", "model_"))]
    close = difflib.get_close_matches(name, declared, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"{shape.name} declares no field, key, pattern or move {name!r}{hint}"


def _why_fixed(shape: EntityShape, name: str) -> str:
    computation = shape.fields[name].computation
    if computation is not None:
        return f"computed of {' and '.join(computation.of)}; change those"
    if name == shape.version:
        return "the version, which counts the writes by itself"
    return "a state; only a declared Move changes it" if shape.fields[name].state else "part of the key"


def _collection(entity: str, name: str) -> str:
    """A name that stands in a path as it is."""
    if not _COLLECTION.fullmatch(name):
        raise DeclarationError(
            f"{entity}: {name!r} cannot name its records in a path; give collection= in small letters, such as films"
        )
    return name


def plural(word: str) -> str:
    """The plural that most English nouns have; others are declared."""
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
