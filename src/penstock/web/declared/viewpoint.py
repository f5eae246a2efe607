"""From where a declaration is looked at: by which role, and whether the caller is bound to a project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from penstock.schema.permission import Action, Permission, System, allows
from penstock.schema.role import Role
from penstock.schema.shape import EntityShape


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """All that what a caller is shown of a declaration depends on."""

    role: Role | None
    bound: bool
    "Do they see one project only? Then what belongs to none is not theirs."

    def includes(self, role: Role | None) -> bool:
        """Is this role enough for what asks for another? None asks for nothing."""
        return role is None or (self.role is not None and self.role.includes(role))

    def sees(self, shape: EntityShape) -> bool:
        """May they look at the records at all?"""
        return shape.is_shown_to(self.role) and (not self.bound or (shape.project is not None and shape.rights.read))

    def may_add(self, shape: EntityShape, permission: Permission) -> bool:
        return allows(permission, self.role) and self.sees(shape) and (not self.bound or shape.rights.add)

    def may_change(self, shape: EntityShape, permission: Permission) -> bool:
        return allows(permission, self.role) and self.sees(shape) and (not self.bound or shape.rights.change)


class DeclaredPermission(BaseModel):
    """Whom something is left to: a role, an action of the domain, or the system alone."""

    by: Literal["role", "action", "system"]
    role: Role | None = None
    action: str | None = Field(default=None, description="One of the domain's `actions`.")

    @classmethod
    def of(cls, permission: Permission) -> DeclaredPermission:
        match permission:
            case Action(name):
                return cls(by="action", action=name)
            case System():
                return cls(by="system")
            case role:
                return cls(by="role", role=role)
