"""Moments as people tell them to the catalogue: whole seconds since 1970."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import AfterValidator, Field

_END = 10**10
"Whoever says more means milliseconds: in seconds it is the year 2286."


def _in_seconds(moment: int) -> int:
    if moment >= _END:
        raise ValueError("say it in seconds since 1970, not in milliseconds; this would be after the year 2286")
    return moment


Moment = Annotated[int, Ge(0), AfterValidator(_in_seconds), Field(json_schema_extra={"exclusiveMaximum": _END})]
"The second since 1970."
