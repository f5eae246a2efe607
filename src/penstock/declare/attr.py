"""``the(Video.view_count)``: a field, ready to be compared in a condition or changed in a patch.

To a type checker ``Video.view_count`` is an int, so ``the`` knows which values fit; at run time the class hands out the
field itself.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cached_property
from typing import Any, Generic, TypeVar, cast, overload

from pydantic import BaseModel, TypeAdapter, ValidationError

from penstock.errors import InvalidValue
from penstock.operations.conditions import Between, Compare, Condition, Missing, OneOf, Present
from penstock.operations.updates import Add, Append, Exclude, Include, Remove, Set, SetIfAbsent, Update
from penstock.operations.validation import check_value
from penstock.schema.kinds import ORDERED_KINDS, FieldShape, Kind, said
from penstock.schema.shape import EntityShape

T = TypeVar("T")
U = TypeVar("U")


def the(field: T) -> Attr[T]:
    """The field named by ``Entity.field``, for conditions and updates."""
    if not isinstance(field, Attr):
        raise InvalidValue(f"{field!r} is not a field; write the(Entity.field) with the class, not a record")
    return cast("Attr[T]", field)


class Attr(Generic[T]):
    """One field of one entity, as something to ask about and to change."""

    def __init__(self, entity: type[BaseModel], shape: FieldShape) -> None:
        self._entity, self._shape = entity, shape

    def __repr__(self) -> str:
        return f"{self._entity.__name__}.{self._shape.name}"

    def name_in(self, shape: EntityShape) -> str | None:
        """What the field is called, if it is one of this entity's."""
        return self._shape.name if shape.fields.get(self._shape.name) is self._shape else None

    # Conditions

    def equals(self, value: T) -> Condition:
        return self._compare("=", value)

    def differs(self, value: T) -> Condition:
        """True also when the field has no value."""
        return self._compare("<>", value)

    def before(self, value: T) -> Condition:
        return self._compare("<", value)

    def until(self, value: T) -> Condition:
        return self._compare("<=", value)

    def after(self, value: T) -> Condition:
        return self._compare(">", value)

    def since(self, value: T) -> Condition:
        return self._compare(">=", value)

    def between(self, low: T, high: T) -> Condition:
        """Both ends included."""
        self._must_order()
        self._must_be_given(low, high)
        return Between(self._shape.name, self._valid(low), self._valid(high))

    def one_of(self, *values: T) -> Condition:
        if not 1 <= len(values) <= 100:
            raise InvalidValue(f"{self!r}: one_of takes 1 to 100 values, not {len(values)}")
        self._must_compare()
        self._must_be_given(*values)
        return OneOf(self._shape.name, tuple(self._valid(v) for v in values))

    def exists(self) -> Condition:
        return Present(self._shape.name)

    def absent(self) -> Condition:
        return Missing(self._shape.name)

    # Updates

    def set(self, value: T) -> Update:
        """The field has this value from now on; None removes it."""
        self._must_be_free()
        return self.remove() if value is None else Set(self._shape.name, self._valid(value))

    def remove(self) -> Update:
        self._must_be_free()
        if not self._shape.optional:
            raise InvalidValue(f"{self!r} is required and cannot be removed; set another value")
        return Remove(self._shape.name)

    def set_if_absent(self, value: T) -> Update:
        """The field has this value from now on, unless it has one."""
        self._must_be_free()
        if value is None:
            raise InvalidValue(f"{self!r}: give the value that it is to have if it has none; None is none")
        return SetIfAbsent(self._shape.name, self._valid(value))

    @overload
    def add(self: Attr[int], amount: int) -> Update: ...
    @overload
    def add(self: Attr[int | None], amount: int) -> Update: ...
    @overload
    def add(self: Attr[Decimal], amount: Decimal | int) -> Update: ...
    @overload
    def add(self: Attr[Decimal | None], amount: Decimal | int) -> Update: ...
    def add(self: Attr[Any], amount: Decimal | int) -> Update:
        """The number grows by the amount; a missing one counts from zero."""
        self._must_be_free()
        if self._shape.kind not in (Kind.INTEGER, Kind.DECIMAL):
            raise InvalidValue(f"{self!r} is {self._shape.kind.noun}; add needs an int or a Decimal")
        whole = isinstance(amount, int) and not isinstance(amount, bool)
        if not whole and not (self._shape.kind is Kind.DECIMAL and isinstance(amount, Decimal)):
            raise InvalidValue(f"{self!r}: cannot add {said(amount)}; give an int, or a Decimal to a Decimal")
        return Add(self._shape.name, amount if self._shape.kind is Kind.INTEGER else Decimal(amount))

    @overload
    def append(self: Attr[list[U]], *items: U) -> Update: ...
    @overload
    def append(self: Attr[list[U] | None], *items: U) -> Update: ...
    def append(self: Attr[Any], *items: Any) -> Update:
        """The list grows at its end."""
        self._must_be_free()
        valid = self._valid(list(items))
        return Append(self._shape.name, tuple(self._shape.dump(valid) if self._shape.dump else valid))

    def include(self: Attr[frozenset[str]] | Attr[frozenset[str] | None], *members: str) -> Update:
        """The set gains these members."""
        return Include(self._shape.name, self._members(members))

    def exclude(self: Attr[frozenset[str]] | Attr[frozenset[str] | None], *members: str) -> Update:
        """The set loses these members; one that becomes empty is removed."""
        if not self._shape.optional:
            raise InvalidValue(f"{self!r} is required, so its set may not become empty; declare it optional")
        return Exclude(self._shape.name, self._members(members))

    # What may be asked of which field

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        info = self._entity.model_fields[self._shape.name]
        return TypeAdapter(info.rebuild_annotation())

    def _valid(self, value: Any) -> Any:
        try:
            valid = self._adapter.validate_python(value)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]["msg"]
            raise InvalidValue(f"{self!r}: {problem} (given a {type(value).__name__})") from None
        check_value(self._entity.__name__, self._shape, valid)
        return valid

    def _compare(self, operator: str, value: Any) -> Condition:
        self._must_be_given(value)
        self._must_compare()
        if operator not in ("=", "<>"):
            self._must_order()
        return Compare(self._shape.name, operator, self._valid(value))

    def _must_be_given(self, *values: Any) -> None:
        if None in values:
            raise InvalidValue(f"{self!r}: compare with a value; for none there are exists() and absent()")

    def _must_compare(self) -> None:
        if self._shape.kind in (Kind.DOCUMENT, Kind.TEXTS):
            raise InvalidValue(f"{self!r} is {self._shape.kind.noun}; compare a version or a counter instead")

    def _must_order(self) -> None:
        if self._shape.kind not in ORDERED_KINDS:
            raise InvalidValue(f"{self!r} is {self._shape.kind.noun}, which has no order")

    def _must_be_free(self) -> None:
        if self._shape.state:
            raise InvalidValue(f"{self!r} is a state; only a declared Move changes it")
        if self._shape.computation is not None:
            of = " and ".join(self._shape.computation.of)
            raise InvalidValue(f"{self!r} is computed of {of}; no patch changes it")
        if self._shape.counts_writes:
            raise InvalidValue(f"{self!r} is the version, which counts the writes by itself; no patch changes it")
        if self._entity.model_fields[self._shape.name].frozen:
            raise InvalidValue(f"{self!r} is declared frozen; no patch changes it")

    def _members(self, members: tuple[str, ...]) -> frozenset[str]:
        self._must_be_free()
        if self._shape.kind is not Kind.TEXTS or not members or not all(isinstance(m, str) for m in members):
            raise InvalidValue(f"{self!r}: name at least one member of a set of texts")
        return frozenset(self._valid(frozenset(members)))
