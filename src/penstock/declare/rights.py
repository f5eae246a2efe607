"""Who may create, write and move records through a door, as the declaration says it.

What is not said follows from the rest: people write records, from editors upwards, unless work moves them. Work moves a
record that can be leased, one of which the declaration leaves anything to the system or to an action, and those the
kernel keeps. Of these, what is not said is the system's alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.declare.move import MoveOf
from penstock.errors import DeclarationError
from penstock.schema.kinds import FieldShape
from penstock.schema.permission import SYSTEM, Action, Permission, System, allows
from penstock.schema.role import Role
from penstock.schema.shape import EntityShape

_LEASE = frozenset({"lease_owner", "lease_expires_at", "lease_epoch"})


@dataclass(frozen=True, slots=True)
class WrittenBy:
    """Marks a field that not everybody who creates a record may give a value."""

    permission: Permission


def written_by(metadata: Sequence[Any]) -> Permission | None:
    """Who gives a field its value; None when whoever creates the record does. The mark nearest the field counts."""
    return next((m.permission for m in reversed(metadata) if isinstance(m, WrittenBy)), None)


def is_moved_by_work(
    fields: Iterable[str], created_by: Permission | None, moves: Mapping[str, MoveOf[Any, ...]]
) -> bool:
    """Does the declaration itself show that work moves the records?"""
    said = [created_by, *(m.by for m in moves.values())]
    return set(fields) >= _LEASE or any(isinstance(p, Action | System) for p in said)


def creation_permission(shape: EntityShape) -> Permission:
    """Who creates records."""
    return shape.created_by or _unsaid(shape)


def move_permission(shape: EntityShape, move: MoveOf[Any, ...]) -> Permission:
    """Who makes a move of records of an entity."""
    return move.by or _unsaid(shape)


def field_permission(shape: EntityShape, field: FieldShape) -> Permission:
    """Who gives a field its value when a record is created; a state, a version and what is computed, nobody."""
    if field.state or field.counts_writes or field.computation is not None:
        return SYSTEM
    return field.written_by or creation_permission(shape)


def leave_to_system(shape: EntityShape) -> None:
    """Say of an entity that work moves its records, as whoever gives it to a pipeline or a task knows."""
    shape.moved_by_work = True


def permissions(shape: EntityShape, moves: Mapping[str, MoveOf[Any, ...]]) -> list[Permission]:
    """Every permission that a declaration has something to say of."""
    fields = [f.written_by for f in shape.fields.values() if f.written_by is not None]
    return [creation_permission(shape), *fields, *(move_permission(shape, m) for m in moves.values())]


def check_permissions(shape: EntityShape, needed: Iterable[str]) -> None:
    """Refuse marks that nobody could live with; ``needed`` are the fields that have no default."""
    if shape.created_by is not None:
        check_permission(f"{shape.name}: created_by=", shape.created_by)
    for field in shape.fields.values():
        if field.written_by is None:
            continue
        where = f"{shape.name}.{field.name}"
        check_permission(f"{where}: WrittenBy", field.written_by)
        if field.state:
            raise DeclarationError(f"{where} is a state, which moves alone change; say by= of its moves")
        creator = creation_permission(shape)
        if field.name in needed and isinstance(creator, Role) and not allows(field.written_by, creator):
            raise DeclarationError(
                f"{where} has no default and is not for the role {creator.value}, which creates the records; "
                f"give it a default, or change created_by="
            )


def check_permission(where: str, given: object) -> None:
    """Refuse what is none."""
    if not isinstance(given, Role | Action | System):
        raise DeclarationError(f"{where} {given!r} is no permission; give a Role, an Action or SYSTEM")


def _unsaid(shape: EntityShape) -> Permission:
    return SYSTEM if shape.moved_by_work else Role.EDITOR
