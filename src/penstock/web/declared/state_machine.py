"""The states of a record, the moves between them, and how records begin."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from penstock.declare.command_words import move_words
from penstock.declare.entity import Entity
from penstock.declare.move import MoveOf
from penstock.declare.move_arguments import move_model
from penstock.declare.rights import creation_permission, field_permission, move_permission
from penstock.schema.kinds import FieldShape
from penstock.schema.permission import Permission
from penstock.schema.role import Role
from penstock.web.declared.viewpoint import DeclaredPermission, Viewpoint
from penstock.web.forms import new_record_model

JsonSchema = dict[str, Any]


class DeclaredMove(BaseModel):
    """A move from some states to another."""

    name: str
    summary: str
    origins: list[str]
    to: str
    permission: DeclaredPermission
    may: bool = Field(description="May this caller make it?")
    path: str | None = Field(description="POST there to make it; null where it is not made through a door.")
    arguments: JsonSchema | None = Field(description="The body that it takes, as JSON Schema; null: none.")
    cli: list[str] | None = Field(description="The words of the command that makes it.")


class StateMachine(BaseModel):
    """One field that only moves change."""

    field: str
    states: list[str]
    initial: str | None
    moves: list[DeclaredMove]


class DeclaredCreation(BaseModel):
    """How a record is created."""

    permission: DeclaredPermission
    may: bool = Field(description="May this caller?")
    body: JsonSchema | None = Field(description="What they POST to the collection, as JSON Schema.")


def state_machines(entity: type[Entity], record_path: str, viewpoint: Viewpoint) -> list[StateMachine]:
    """Each state of an entity, with its moves."""
    return [_machine(entity, field, record_path, viewpoint) for field in entity.__shape__.states]


def _machine(entity: type[Entity], field: FieldShape, record_path: str, viewpoint: Viewpoint) -> StateMachine:
    initial = entity.model_fields[field.name].default
    moves = [m for m in entity.__moves__.values() if m.field == field.name]
    return StateMachine(
        field=field.name,
        states=[member.value for member in field.python],
        initial=initial.value if isinstance(initial, field.python) else None,
        moves=[_move(entity, m, record_path, viewpoint) for m in moves],
    )


def _move(entity: type[Entity], move: MoveOf[Any, ...], record_path: str, viewpoint: Viewpoint) -> DeclaredMove:
    permission = move_permission(entity.__shape__, move)
    by_role = isinstance(permission, Role)
    model = move_model(move, f"{entity.__name__}{move.name.title().replace('_', '')}") if by_role else None
    return DeclaredMove(
        name=move.name,
        summary=move.summary,
        origins=[state.value for state in move.origins],
        to=move.to.value,
        permission=DeclaredPermission.of(permission),
        may=viewpoint.may_change(entity.__shape__, permission),
        path=f"{record_path}/moves/{move.name}" if by_role else None,
        arguments=None if model is None else model.model_json_schema(),
        cli=move_words(entity.__shape__, move.name, () if model is None else model.model_fields) if by_role else None,
    )


def declared_creation(entity: type[Entity], viewpoint: Viewpoint) -> DeclaredCreation:
    """Who creates records of an entity, and of what this caller would make one."""
    permission = creation_permission(entity.__shape__)
    may = viewpoint.may_add(entity.__shape__, permission)
    body = _body(entity, permission, viewpoint) if may else None
    return DeclaredCreation(permission=DeclaredPermission.of(permission), may=may, body=body)


def _body(entity: type[Entity], permission: Permission, viewpoint: Viewpoint) -> JsonSchema:
    """The schema of a new record, without what this caller would be refused to write."""
    schema = new_record_model(entity, f"New{entity.__name__}").model_json_schema()
    for field in entity.__shape__.fields.values():
        writer = field_permission(entity.__shape__, field)
        if isinstance(writer, Role) and not viewpoint.includes(writer):
            schema.get("properties", {}).pop(field.name, None)
    return schema
