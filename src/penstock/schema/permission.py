"""Who may do something with records through a door: a role, a named action of the domain, or the system alone.

    class Job(Entity, table=JOBS, created_by=Action("ask", "POST /jobs/ask")):
        start = Move(Status.PENDING, to=Status.RUNNING, by=SYSTEM)
        note: Annotated[str | None, WrittenBy(Role.ADMIN)] = None

Doors are the service, the command line and the console. Code that has the store needs no permission: an action of the
domain is such code, and keeps the domain's rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from penstock.schema.role import Role


class System(Enum):
    """The system itself: its tasks, pipelines, relays and schedules."""

    SYSTEM = "system"

    def __repr__(self) -> str:
        return self.name


SYSTEM: Final = System.SYSTEM


@dataclass(frozen=True, slots=True, init=False)
class Action:
    """Something of the domain that people ask for by name, because it does more than change one record."""

    name: str
    routes: tuple[str, ...]
    "Each way to it, as a method and a path, such as ``POST /jobs/{job_id}/review``; none when no route leads there."

    def __init__(self, name: str, *routes: str) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "routes", routes)


Permission: TypeAlias = Role | Action | System


def allows(permission: Permission, role: Role | None) -> bool:
    """May a caller of this role do it by the door itself? None is anybody."""
    return isinstance(permission, Role) and role is not None and role.includes(permission)


def reason(permission: Permission, doing: str) -> str:
    """Why a door leaves something to somebody else; ``doing`` is a clause such as ``creates speech.SpeechJob``."""
    match permission:
        case Action(name, ()):
            return f"only the action {name} of the domain {doing}"
        case Action(name, routes):
            return f"only the action {name} of the domain {doing}; ask by {' or '.join(routes)}"
        case System():
            return f"only the system {doing}"
        case role:
            return f"only the role {role.value} {doing}"
