"""Conversions: one field's values from how a store has them to how a declaration does, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from penstock.errors import DamagedRecord, InvalidValue, LayoutMismatch
from penstock.schema.fingerprint import StoredField, form_of
from penstock.schema.kinds import FieldShape, Kind, Retyping


@dataclass(frozen=True, eq=False)
class Conversion:
    """Between the type that a field has, and the one that it had and is still stored as."""

    field: FieldShape
    retyping: Retyping
    where: str

    def load(self, stored: Any) -> Any:
        """The field's value of one as the engine read it; None of None."""
        if stored is None:
            return None
        try:
            return self.retyping.forward(stored)
        except Exception as error:
            raise DamagedRecord(
                f"{self.where}: a value is stored of which its function makes none ({type(error).__name__}); correct "
                f"the function, or the record"
            ) from error

    def dump(self, value: Any) -> Any:
        """The former value of one that is to be written, in the form that engines take.

        LayoutMismatch where the former type cannot hold it.
        """
        if value is None:
            return None
        value = _loaded(self.field, value)
        former = self._back(value)
        if former is None or self.load(former) != value:
            raise LayoutMismatch(
                f"{self.where} is still stored as {self.retyping.former.kind.noun}, which cannot hold this value; "
                f"write it when `penstock migrate` is done"
            )
        return _dumped(self.retyping.former, former)

    def dumped_or_none(self, value: Any) -> Any:
        """The same; None where the former type has no such value."""
        try:
            return self.dump(value)
        except LayoutMismatch:
            return None

    def follow(self, stored: Any) -> Any:
        """What is stored of a value when it has its type, of one that is stored as it was."""
        try:
            return _dumped(self.field, self.retyping.forward(_loaded(self.retyping.former, stored)))
        except Exception as error:
            raise InvalidValue(
                f"{self.where} cannot be made of what older declarations have ({type(error).__name__})"
            ) from error

    def _back(self, value: Any) -> Any:
        if self.retyping.back is None:
            return None
        try:
            return self.retyping.back(value)
        except (ValueError, TypeError, ArithmeticError):
            return None


def conversion_of(where: str, field: FieldShape, stored: StoredField) -> Conversion | None:
    """What is between a declared field and its values in a store; None where they are the same."""
    if form_of(field) == stored.form:
        return None
    if field.retyping is not None and form_of(field.retyping.former) == stored.form:
        return Conversion(field, field.retyping, where)
    raise LayoutMismatch(
        f"{where} is stored as {Kind(stored.kind).noun}, and declared as {field.kind.noun}; this declaration and the "
        f"store's records do not fit"
    )


def placed(field: FieldShape, stored: StoredField, conversion: Conversion | None, default: Any) -> FieldShape:
    """A declared field where, and as what, a store has it."""
    if conversion is not None:
        former = conversion.retyping.former
        field = replace(
            field,
            kind=former.kind,
            digits=former.digits,
            python=former.python,
            dump=former.dump,
            load=former.load,
            default=default,
            bounds=None,
            keys=None,
            folders=None,
            computation=None,
        )
    return replace(field, attribute=stored.attribute, column=stored.column, stored=not stored.in_key_only)


Follow = Callable[[Any], Any]


def _loaded(field: FieldShape, value: Any) -> Any:
    return field.load(value) if field.load is not None else value


def _dumped(field: FieldShape, value: Any) -> Any:
    return field.dump(value) if field.dump is not None else value
