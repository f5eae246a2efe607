"""Values that declarations and questions are made of: whoever shares one finds it as it was."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, is_dataclass
from importlib import import_module
from typing import Annotated, Any

import msgspec
import pytest

import penstock.declare
import penstock.operations
import penstock.ports
import penstock.schema
from penstock import Role, WrittenBy
from penstock.schema.shape import EntityShape, TablePlace

ROOMS = (penstock.declare, penstock.schema, penstock.operations, penstock.ports)
CHANGING = {EntityShape, TablePlace}
"A domain gives an entity its place, and configuration a table its name."


def values() -> Iterator[type]:
    for room in ROOMS:
        for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            for found in vars(import_module(module.name)).values():
                is_own = isinstance(found, type) and found.__module__ == module.name
                if is_own and (is_dataclass(found) or issubclass(found, msgspec.Struct)):
                    yield found


def is_frozen(value: Any) -> bool:
    told = "__struct_config__" if issubclass(value, msgspec.Struct) else "__dataclass_params__"
    return bool(getattr(value, told).frozen)


def test_what_is_declared_once_and_shared_is_not_changed_afterwards() -> None:
    """A mark stands at several fields, and a question is asked by several threads."""
    found = set(values())
    assert len(found) > 60
    assert {value for value in found if not is_frozen(value)} == CHANGING


def test_a_mark_that_stands_at_many_fields_says_the_same_of_each() -> None:
    mark = WrittenBy(Role.ADMIN)
    with pytest.raises(FrozenInstanceError):
        mark.permission = Role.VIEWER  # type: ignore[misc]
    assert {Annotated[str, mark], Annotated[str, WrittenBy(Role.ADMIN)]} == {Annotated[str, mark]}
