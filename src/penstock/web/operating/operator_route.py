"""A route for people who work with a system or operate it: its parameters are checked, its ids may hold anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from annotated_types import Ge, Le, MaxLen
from fastapi import FastAPI, Path, Query, Request

from penstock.auth.access import Access
from penstock.auth.caller import Caller, caller_of
from penstock.errors import OutOfScope
from penstock.runtime.inbox import Person
from penstock.schema.role import Role
from penstock.web.route import SegmentRoute, StrictRoute

Limit = Annotated[int, Ge(1), Le(200), Query(description="At most so many.")]
Cursor = Annotated[str | None, MaxLen(16_384), Query(description="`next` of the page before.")]
Name = Annotated[str | None, MaxLen(200), Query()]
Id = Annotated[str, MaxLen(2000), Path()]


class OperatorRoute(StrictRoute, SegmentRoute):
    """Refuses parameters that it does not declare; each part of its path is one segment, which may hold anything."""


def add_route(
    app: FastAPI,
    method: str,
    path: str,
    function: Callable[..., Any],
    *,
    role: Role,
    model: Any,
    name: str,
    tag: str,
    status: int = 200,
    gives: tuple[int, ...] = (),
    **more: Any,
) -> None:
    """Add a route for a role and those above it; ``gives`` are further answers that it may have."""
    function.__access__, function.__gives__ = Access(role), gives  # type: ignore[attr-defined]
    app.router.add_api_route(
        path,
        function,
        methods=[method],
        route_class_override=OperatorRoute,
        response_model=model,
        status_code=status,
        tags=[tag],
        operation_id=name,
        **more,
    )


def person_of(request: Request) -> Person:
    """Whoever makes a request, as people know them."""
    caller = caller_of(request)
    return Person(caller.store, name_of_person(caller), caller.role, caller.project)


def name_of_person(caller: Caller) -> str:
    """The name without the id of the key: by it somebody is assigned something, whichever key they use."""
    return caller.name.rpartition("#")[0] or caller.name


def check_unbound(caller: Caller, what: str) -> None:
    """Refuse whoever is bound to a project what belongs to none."""
    if caller.project is not None:
        raise OutOfScope(f"{what} belong to no project; use a key that is not bound to {caller.project}")


def sees_all(caller: Caller) -> bool:
    """Is a caller shown what errors say and logs hold, and not only that there are some?"""
    return caller.role is not None and caller.role.includes(Role.EDITOR)
