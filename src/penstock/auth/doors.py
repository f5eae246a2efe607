"""What a door offers to whom: the creations and moves that the declaration leaves to their role, and no other.

The service and the command line ask here, so that they say the same, and give the same reasons.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.declare.entity import Entity
from penstock.declare.move import MoveOf
from penstock.declare.rights import creation_permission, field_permission, move_permission
from penstock.errors import NotPermitted
from penstock.schema.permission import Permission, allows, reason
from penstock.schema.role import Role


def moves_open_to(entity: type[Entity], role: Role | None) -> dict[str, MoveOf[Any, ...]]:
    """The moves that a caller of this role may make."""
    return {n: m for n, m in entity.__moves__.items() if allows(move_permission(entity.__shape__, m), role)}


def check_creation(entity: type[Entity], role: Role | None, *, given: Iterable[str] = ()) -> None:
    """Refuse a creation, or a field of it, that is not for this role."""
    shape = entity.__shape__
    _check(creation_permission(shape), role, f"creates {shape.label}")
    for name in given:
        _check(field_permission(shape, shape.fields[name]), role, f"writes {shape.label}.{name}")


def check_move(entity: type[Entity], move: MoveOf[Any, ...], role: Role | None) -> None:
    """Refuse a move that is not for this role."""
    shape = entity.__shape__
    _check(move_permission(shape, move), role, f"makes the move {move.name} of {shape.label}")


def _check(permission: Permission, role: Role | None, doing: str) -> None:
    if not allows(permission, role):
        raise NotPermitted(reason(permission, doing))
