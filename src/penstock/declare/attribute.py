"""How a field is written down: its name in the documents, its column, and whether it lives in the key alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import Field
from pydantic.fields import FieldInfo


@dataclass(frozen=True, slots=True)
class StoredAs:
    """What `attribute` says about a field, kept among the field's metadata."""

    name: str | None = None
    column: str | None = None
    in_key_only: bool = False


def attribute(
    name: str | None = None,
    *,
    column: str | None = None,
    in_key_only: bool = False,
    default: Any = ...,
    **constraints: Any,
) -> Any:
    """A field that the documents or SQL call by another name, or that only the key holds on DynamoDB.

    ``constraints`` are pydantic's: ``ge``, ``le``, ``min_length``, ``pattern``, ``default_factory``, …
    """
    info: FieldInfo = Field(default=default, **constraints)
    info.metadata.append(StoredAs(name, column, in_key_only))
    return info
