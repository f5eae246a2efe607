"""Choices that are declared no longer, and records that may still have them: read as what stands instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.errors import DamagedRecord, LayoutMismatch
from penstock.schema.conversion import Conversion
from penstock.schema.fingerprint import StoredField
from penstock.schema.kinds import FieldShape, Kind, Retyping


@dataclass(frozen=True, eq=False)
class ChoiceConversion(Conversion):
    """Between the choices that a field has, and texts that may still be stored of it."""

    lost: frozenset[str]

    def load(self, stored: Any) -> Any:
        if stored is None:
            return None
        if stored not in self.lost:
            return _choice(self.field, stored)
        if stored not in self.field.instead:
            raise DamagedRecord(
                f"{self.where} has the value {stored!r}, which is declared no longer; say what stands instead, with "
                f"Instead, or correct the record"
            )
        return self.field.instead[stored]

    def dump(self, value: Any) -> Any:
        return _text(value)

    def dumped_or_none(self, value: Any) -> Any:
        return _text(value)

    def follow(self, stored: Any) -> Any:
        found = self.load(stored)
        return found if self.field.kind is Kind.CHOICE else _text(found)

    def stored_as(self, value: Any) -> list[str]:
        """All texts that may be stored of a value."""
        return [_text(value), *sorted(lost for lost in self.lost if self.field.instead.get(lost) == value)]


def lost_choices(field: FieldShape, stored: StoredField) -> frozenset[str]:
    """What a store may have of a field that its declaration has not."""
    return frozenset(stored.choices).difference(field.choices) if field.choices else frozenset()


def choice_conversion(where: str, field: FieldShape, stored: StoredField) -> ChoiceConversion | None:
    """What is between a field and its values in a store that may be of former choices; None where none is."""
    lost = lost_choices(field, stored)
    if not lost:
        return None
    kind = Kind.TEXT if field.kind is Kind.CHOICE else Kind.DOCUMENT
    former = FieldShape(field.name, field.attribute, field.column, kind, optional=True, python=str)
    return ChoiceConversion(field, Retyping(former, _text, _text, _text), where, lost)


def check_choice(where: str, refused: frozenset[str], value: Any) -> None:
    """LayoutMismatch for a choice that no record may have any more."""
    if _text(value) in refused:
        raise LayoutMismatch(
            f"{where}: {_text(value)!r} is no value of the store's records any more; go on with a newer declaration"
        )


def _choice(field: FieldShape, text: str) -> Any:
    return field.python(text) if field.kind is Kind.CHOICE else text


def _text(value: Any) -> Any:
    return getattr(value, "value", value)
