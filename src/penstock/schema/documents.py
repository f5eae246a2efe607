"""Documents: lists and maps as plain JSON values, the same on every engine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from penstock.errors import InvalidValue
from penstock.schema.kinds import INTEGER_LIMIT, FieldShape

_DEPTH = 32


def plain(value: Any, depth: int = 0) -> Any:
    """The value as JSON, whole floats as integers (as DynamoDB keeps them); refuses what cannot come back equal."""
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return integer(value)
    if isinstance(value, float):
        checked = real(value)
        return int(checked) if checked.is_integer() and abs(checked) < INTEGER_LIMIT else checked
    if depth >= _DEPTH:
        raise InvalidValue(f"a document is nested deeper than {_DEPTH} levels; flatten it")
    if isinstance(value, list | tuple):
        return [text(v) if type(v) is str else plain(v, depth + 1) for v in value]
    if isinstance(value, dict):
        return {_name(k): plain(v, depth + 1) for k, v in value.items()}
    raise InvalidValue(f"a document cannot hold a {type(value).__name__}; use text, numbers, lists and maps")


def as_stored(field: FieldShape, value: Any) -> Any:
    """A document that was read from a store, as it is stored there."""
    value = large_as_floats(value)
    return field.dump(value) if field.dump else value


def large_as_floats(value: Any) -> Any:
    """A document whose numbers beyond 64 bits are floats: none was ever stored there but as a float."""
    kind = type(value)
    if kind is int:
        return value if -INTEGER_LIMIT <= value < INTEGER_LIMIT else _float(value)
    if kind is dict:
        return {k: v if type(v) is str else large_as_floats(v) for k, v in value.items()}
    return [v if type(v) is str else large_as_floats(v) for v in value] if kind is list else value


def _float(value: int) -> float | int:
    try:
        return float(value)
    except OverflowError:  # which nobody stored but by hand
        return value


def has_only_texts(annotation: Any) -> bool:
    """Is a document declared so that no number can be in it?"""
    origin = get_origin(annotation)
    if origin is None:
        return isinstance(annotation, type) and issubclass(annotation, str | bool | NoneType)
    if origin is Annotated:
        return has_only_texts(get_args(annotation)[0])
    within = (part for part in get_args(annotation) if part is not ...)
    return origin in (list, tuple, dict, Union, UnionType) and all(map(has_only_texts, within))


def is_flat(document: Mapping[str, Any]) -> bool:
    """A quick look: True when a map holds nothing but texts, and all is ASCII. Most are so, and have come plain."""
    for name, value in document.items():
        if type(value) is not str or not value.isascii() or not name.isascii():
            return False
    return "" not in document


def _name(key: Any) -> str:
    if not isinstance(key, str) or not key:
        raise InvalidValue(f"a document's names are non-empty strings, not {key!r}")
    return text(key)


def text(value: str) -> str:
    """A string every engine can hold: no NUL, no lone surrogate."""
    if "\x00" in value:
        raise InvalidValue("a text has a NUL character, which PostgreSQL cannot store; remove it")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidValue("a text has a lone surrogate, which is not valid Unicode; remove it") from None
    return value


def kept(value: str, longest: int) -> str:
    """As much of a text of whatever origin, an error's for example, as every engine can hold."""
    return value[:longest].replace("\x00", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()


def integer(value: int) -> int:
    """A whole number of at most 64 bits."""
    if not -INTEGER_LIMIT <= value < INTEGER_LIMIT:
        raise InvalidValue(
            f"a whole number has {len(str(abs(value)))} digits and does not fit 64 bits; use a Decimal (38 digits)"
        )
    return value


def real(value: float) -> float:
    """A float that is a number within DynamoDB's range."""
    if not math.isfinite(value):
        raise InvalidValue(f"{value} is not a number that can be stored")
    if value and not 1e-130 <= abs(value) < 1e126:
        raise InvalidValue(f"{value} is outside the range 1E-130 to 1E+126 that can be stored")
    return value


def decimal(value: Decimal) -> Decimal:
    """An exact number of at most 38 digits."""
    if not value.is_finite():
        raise InvalidValue(f"{value} is not a number that can be stored")
    digits = significant_digits(value)
    if digits > 38:
        raise InvalidValue(f"a number has {digits} digits; at most 38 are exact on every engine")
    if value and not -130 <= value.adjusted() < 126:
        raise InvalidValue(f"{value} is outside the range 1E-130 to 1E+126 that can be stored")
    return value


def canonical(value: Decimal) -> Decimal:
    """The one form of a number, whichever engine kept it: no zeros behind the last digit, no exponent below 38 digits.

    DynamoDB keeps 1.10 as 1.1; so every engine gives it back.
    """
    sign, digits, power = value.as_tuple()
    if not isinstance(power, int):
        return value
    text = "".join(map(str, digits)).lstrip("0")
    kept = text.rstrip("0")
    power += len(text) - len(kept)
    if not kept:
        return _ZERO
    if power > 0 and len(kept) + power <= 38:
        kept, power = kept + "0" * power, 0
    return Decimal((sign, tuple(map(int, kept)), power))


_ZERO = Decimal(0)


def significant_digits(value: Decimal) -> int:
    """Digits without the zeros that lead or trail; `Decimal.normalize` would round to the context's 28."""
    return len("".join(map(str, value.as_tuple().digits)).strip("0")) or 1
