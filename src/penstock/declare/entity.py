"""Entities: pydantic models that know their table, key, indexes, patterns and moves."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

from pydantic import BaseModel, ConfigDict, Field
from pydantic._internal._model_construction import ModelMetaclass

from penstock.declare.attr import Attr
from penstock.declare.attribute import attribute
from penstock.declare.begins import begins
from penstock.declare.computed import computed
from penstock.declare.declaration import Declaration, compile_entity
from penstock.declare.formerly import Gone
from penstock.declare.key import IndexKey, KeyOf
from penstock.declare.lifetime import Expires, Lifetime
from penstock.declare.move import MoveOf
from penstock.declare.pattern import Pattern
from penstock.declare.table import Table
from penstock.errors import DeclarationError, InvalidValue
from penstock.operations.reads import Ref
from penstock.schema.permission import Permission
from penstock.schema.role import Role
from penstock.schema.shape import EntityShape, Rights


class _Hidden:
    """Stands for a value that is not told."""

    def __repr__(self) -> str:
        return "<personal>"


_HIDDEN = _Hidden()


@dataclass_transform(kw_only_default=True, field_specifiers=(Field, attribute, begins, computed))
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
    __told__: ClassVar[tuple[str, ...]] = ()
    "The fields of it that are told along with that: such as a key may be made of, and that always have a value."
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
        gone: tuple[Gone, ...] = (),
        **unknown: Any,
    ) -> None:
        if unknown:
            raise DeclarationError(f"{cls.__name__}: unknown option {', '.join(unknown)}")
        if table is None:
            _check_base(cls)
            return  # a shared base of entities, not an entity
        validators = cls.__pydantic_decorators__
        cls.__validated__ = bool(validators.field_validators or validators.model_validators or validators.validators)
        declared = Declaration(
            model=cls,
            table=table,
            tag=tag,
            relation=relation,
            collection=collection,
            lifetimes=lifetimes,
            sql_indexes=sql_indexes,
            last_modified=last_modified,
            version=version,
            seen_by=seen_by or cls.__seen_by__,
            known_as=known_as,
            created_by=created_by,
            wakes=cls.__wakes__,
            told=cls.__told__,
            traced=cls.__traced__,
            rights=cls.__rights__,
            moved_by_work=cls.__moved_by_work__,
            gone=gone,
        )
        cls.__shape__, cls.__key__, cls.__fixed__, cls.__inputs__ = compile_entity(declared)
        cls.__table__, cls.__moves__, cls.__lifetimes__ = table, declared.moves, lifetimes

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


def _check_base(cls: type[Entity]) -> None:
    """A record of a subclass would be stored as its parent's, without what the subclass adds."""
    for base in cls.__mro__[1:]:
        if "__shape__" in vars(base):
            raise DeclarationError(
                f"{cls.__name__} extends the entity {base.__name__} but has no table=; "
                f"share fields through a base class that is no entity"
            )


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
