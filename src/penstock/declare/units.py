"""Types that carry their unit: a number or a moment whose meaning cannot be mistaken.

Seconds, Milliseconds              lengths of time, as the documents count them
EpochSeconds                       a moment as whole seconds since 1970, for TTL and number keys
UtcSeconds, UtcMillis, UtcMicros   a moment in UTC, written with a fixed number of fraction digits
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Union, get_args, get_origin

from annotated_types import Ge, Lt
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, PlainSerializer
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from penstock.errors import InvalidValue
from penstock.schema.kinds import INTEGER_LIMIT, instant_text, trim_instant


@dataclass(frozen=True, slots=True)
class Instant:
    """Marks a datetime as kept in UTC with this many fraction digits (0, 3 or 6)."""

    digits: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.trim, handler(source))

    def trim(self, value: datetime) -> datetime:
        try:
            return trim_instant(value, self.digits)
        except InvalidValue as error:
            raise ValueError(str(error)) from None


@dataclass(frozen=True, slots=True)
class Unit:
    """Names the unit of a number, for the reader and for the API's schema."""

    name: str

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        told = handler(schema)
        told.setdefault("description", f"In {self.name}.")
        return told


UtcSeconds = Annotated[
    datetime, Instant(0), PlainSerializer(lambda v: instant_text(v, 0), when_used="json-unless-none")
]
UtcMillis = Annotated[datetime, Instant(3), PlainSerializer(lambda v: instant_text(v, 3), when_used="json-unless-none")]
UtcMicros = Annotated[datetime, Instant(6), PlainSerializer(lambda v: instant_text(v, 6), when_used="json-unless-none")]
EpochSeconds = Annotated[int, Unit("seconds since 1970"), Ge(0), Lt(10**12)]
Seconds = Annotated[float, Unit("seconds"), Ge(0)]
Milliseconds = Annotated[int, Unit("milliseconds"), Ge(0), Lt(INTEGER_LIMIT)]
Count = Annotated[int, Ge(0), Lt(INTEGER_LIMIT)]


def unit_of(annotation: Any, metadata: Sequence[Any] = ()) -> str | None:
    """The unit that a field's type tells, also within ``| None``; None where it tells none."""
    marked = next((m.name for m in metadata if isinstance(m, Unit)), None)
    if marked is not None:
        return marked
    inside = get_args(annotation)
    if get_origin(annotation) is Annotated:
        return unit_of(inside[0], inside[1:])
    if get_origin(annotation) not in (Union, types.UnionType):
        return None
    return next((unit for each in inside if (unit := unit_of(each)) is not None), None)
