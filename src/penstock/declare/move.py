"""Moves: the only way a state field changes.

start = Move(PENDING, FAILED, to=PROCESSING, by=SYSTEM)

@move(PROCESSING, to=COMPLETED)
def finish(self, *, video_clip: ObjectKey) -> None:
    "The clip exists."
    self.video_clip = video_clip
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import partial
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from penstock.errors import DeclarationError, IllegalMove
from penstock.schema.permission import Action, Permission, System
from penstock.schema.role import Role

E = TypeVar("E")
P = ParamSpec("P")


class MoveOf(Generic[E, P]):
    """A declared transition; called on a record, it changes the record's state and returns the record."""

    name: str
    field: str

    def __init__(
        self,
        origins: tuple[Enum, ...],
        to: Enum,
        body: Callable[Concatenate[E, P], None] | None,
        *,
        by: Permission | None = None,
    ) -> None:
        if not origins:
            raise DeclarationError(f"a move to {to!r} names no state it may start from; give at least one")
        if kinds := {type(s).__name__ for s in origins} - {type(to).__name__}:
            raise DeclarationError(f"a move to {to!r} starts from {', '.join(kinds)}; use states of one Enum")
        if by is not None and not isinstance(by, Role | Action | System):
            raise DeclarationError(f"a move to {to!r} is by {by!r}; give a Role, an Action or SYSTEM")
        self.origins, self.to, self.body, self.by = origins, to, body, by
        self.summary = " ".join((inspect.getdoc(body) or "").split()) if body else ""

    @overload
    def __get__(self, record: None, owner: type[Any]) -> MoveOf[E, P]: ...
    @overload
    def __get__(self, record: object, owner: type[Any]) -> Callable[P, E]: ...
    def __get__(self, record: Any, owner: type[Any]) -> Any:
        return self if record is None else partial(self.carry_out, record)

    def carry_out(self, record: Any, *args: Any, **kwargs: Any) -> Any:
        """Move a record, or refuse by name with the moves that are legal from where it stands."""
        present = getattr(record, self.field)
        if present not in self.origins:
            raise IllegalMove(
                f"{type(record).__name__} is {present.value}: {self.name} needs "
                f"{' or '.join(s.value for s in self.origins)}. {_legal(record, self.field, present)}"
            )
        if self.body is not None:
            self.body(record, *args, **kwargs)
        elif args or kwargs:
            raise TypeError(f"{self.name} takes no arguments")
        record.__moved__(self.field, self.to)
        return record


def Move(*origins: Enum, to: Enum, by: Permission | None = None) -> MoveOf[Any, []]:  # noqa: N802 - a declaration
    """A transition that changes nothing but the state; ``by`` says who may make it through a door."""
    return MoveOf(origins, to, None, by=by)


def move(
    *origins: Enum, to: Enum, by: Permission | None = None
) -> Callable[[Callable[Concatenate[E, P], None]], MoveOf[E, P]]:
    """A transition with a typed body that changes other fields as well; the body runs on the record itself."""

    def declare(body: Callable[Concatenate[E, P], None]) -> MoveOf[E, P]:
        return MoveOf(origins, to, body, by=by)

    return declare


def _legal(record: Any, field: str, present: Enum) -> str:
    names = [n for n, m in record.__moves__.items() if m.field == field and present in m.origins]
    return f"From {present.value} one may {', '.join(names)}" if names else f"{present.value} is a final state"


def bind_moves(entity: str, moves: Mapping[str, MoveOf[Any, ...]], states: Mapping[str, type[Enum]]) -> set[str]:
    """Find the field each move changes, by the type of its states; tell which fields are states."""
    for name, declared in moves.items():
        fields = [f for f, kind in states.items() if isinstance(declared.to, kind)]
        if len(fields) != 1:
            raise DeclarationError(
                f"{entity}.{name} moves to {declared.to!r}, but {len(fields)} fields have that type; exactly one must"
            )
        declared.name, declared.field = name, fields[0]
    return {m.field for m in moves.values()}


def diagram(moves: Iterable[MoveOf[Any, ...]], initial: Enum | None) -> str:
    """The state machine as a Mermaid diagram, drawn from the declaration."""
    lines = ["stateDiagram-v2"]
    if initial is not None:
        lines.append(f"    [*] --> {initial.value}")
    lines += [f"    {origin.value} --> {m.to.value}: {m.name}" for m in moves for origin in m.origins]
    return "\n".join(lines)
