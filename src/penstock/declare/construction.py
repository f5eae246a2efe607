"""How records are made of values: of such as the store has checked already, and of any others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

from penstock.schema.kinds import FieldShape


def builder_of(cls: type[BaseModel]) -> Callable[[dict[str, Any]], Any]:
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


def checker_of(cls: type[BaseModel], fields: Mapping[str, FieldShape]) -> Callable[[dict[str, Any]], Any]:
    """A constructor for values that need validation; what is computed is made anew."""
    made = [f.name for f in fields.values() if f.computation is not None]
    if not made:
        return cls.model_validate
    return lambda values: cls.model_validate({n: v for n, v in values.items() if n not in made})
