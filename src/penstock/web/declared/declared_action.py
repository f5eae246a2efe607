"""What people do in a domain besides creating and moving records: its actions, and the routes that lead to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, Field

from penstock.declare.entity import Entity
from penstock.declare.rights import creation_permission, move_permission, permissions
from penstock.plugin import DomainPlugin
from penstock.schema.permission import Action
from penstock.schema.role import Role
from penstock.web.declared.viewpoint import Viewpoint
from penstock.web.route import AdmittedRoute, OwnRoute

_REFERENCE = "#/components/schemas/"


class RouteParameter(BaseModel):
    """A part of a route's path, or of its query."""

    name: str
    place: str = Field(description="path or query.")
    required: bool
    summary: str | None = None
    json_schema: dict[str, Any]


class DeclaredRoute(BaseModel):
    """A route that a domain brings itself."""

    method: str
    path: str
    operation_id: str | None
    summary: str | None
    role: Role | None = Field(description="Who may use it; null: anybody.")
    may: bool = Field(description="May this caller?")
    parameters: list[RouteParameter]
    content_type: str | None = Field(description="What its body is written in; null where it takes none.")
    body: dict[str, Any] | None = Field(description="The body, as JSON Schema.")


class DeclaredAction(BaseModel):
    """Something of the domain that people ask for by name."""

    name: str
    summary: str
    routes: list[str] = Field(description="Each way to it, such as `POST /jobs/{job_id}/review`; see `routes`.")
    may: bool = Field(description="Is there a way that this caller may go?")
    creates: list[str] = Field(description="The collections whose records it creates.")
    moves: list[str] = Field(description="The moves it makes, such as `jobs.approve`.")


class RouteBook:
    """The routes of an application by their method and path, described as its OpenAPI document does."""

    def __init__(self, app: FastAPI) -> None:
        self._routes = {
            f"{m} {r.path}": r for r in app.routes if isinstance(r, AdmittedRoute) for m in sorted(r.methods or ())
        }

    def access(self, name: str) -> Role | None:
        """The role that a route takes; None where anybody may, also where there is no such route."""
        return self._routes[name].access.role if name in self._routes else None

    def own(self, domain: str, viewpoint: Viewpoint) -> list[DeclaredRoute]:
        """Those that a domain brings itself, in its own order."""
        own = {
            name: route
            for name, route in self._routes.items()
            if isinstance(route, OwnRoute) and route.include_in_schema and route.tags[:1] == [domain]
        }
        # Of these alone: to describe all that a service has takes seconds.
        document = get_openapi(title=domain, version="1", routes=list(own.values()))
        return [self._described(name, document, viewpoint) for name in own]

    def _described(self, name: str, document: Mapping[str, Any], viewpoint: Viewpoint) -> DeclaredRoute:
        """One route, with all that a form for it needs."""
        method, _, path = name.partition(" ")
        route = self._routes[name]
        operation = document["paths"][route.path_format][method.lower()]
        schemas = document.get("components", {}).get("schemas", {})
        content: Mapping[str, Any] = operation.get("requestBody", {}).get("content", {})
        kind = next(iter(content), None)
        return DeclaredRoute(
            method=method,
            path=path,
            operation_id=operation.get("operationId"),
            summary=(operation.get("description") or operation.get("summary") or "").split("\n\n")[0] or None,
            role=route.access.role,
            may=viewpoint.includes(route.access.role),
            parameters=[_parameter(p, schemas) for p in operation.get("parameters", ()) if p.get("in") in _PLACES],
            content_type=kind,
            body=None if kind is None else _closed(content[kind]["schema"], schemas),
        )


_PLACES = ("path", "query")


def _parameter(told: Mapping[str, Any], schemas: Mapping[str, Any]) -> RouteParameter:
    return RouteParameter(
        name=told["name"],
        place=told["in"],
        required=bool(told.get("required")),
        summary=told.get("description"),
        json_schema=_closed(told["schema"], schemas),
    )


def _closed(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    """A schema by itself, with all that it refers to beside it."""
    found: dict[str, Any] = {}

    def close(part: Any) -> Any:
        if isinstance(part, Mapping):
            reference = part.get("$ref")
            if isinstance(reference, str) and reference.startswith(_REFERENCE):
                name = reference.removeprefix(_REFERENCE)
                if name not in found:
                    found[name] = {}  # it may refer to itself
                    found[name] = close(schemas[name])
                return {**part, "$ref": f"#/$defs/{name}"}
            return {key: close(value) for key, value in part.items()}
        return [close(each) for each in part] if isinstance(part, list) else part

    closed: dict[str, Any] = close(schema)
    return {**closed, "$defs": found} if found else closed


def declared_actions(
    plugin: DomainPlugin, entities: Sequence[type[Entity]], book: RouteBook, viewpoint: Viewpoint
) -> list[DeclaredAction]:
    """The actions that the declarations leave something to, and those that the domain names besides."""
    named = {a.name: a for e in entities for a in permissions(e.__shape__, e.__moves__) if isinstance(a, Action)}
    said = [_action(a, plugin.actions.get(a.name, ""), entities, book, viewpoint) for a in named.values()]
    others = [(name, about) for name, about in plugin.actions.items() if name not in named]
    return said + [
        DeclaredAction(name=name, summary=about, routes=[], may=False, creates=[], moves=[]) for name, about in others
    ]


def _action(
    action: Action, summary: str, entities: Iterable[type[Entity]], book: RouteBook, viewpoint: Viewpoint
) -> DeclaredAction:
    creates, moves = [], []
    for entity in entities:
        shape = entity.__shape__
        creates += [shape.collection] if creation_permission(shape) == action else []
        made = [m.name for m in entity.__moves__.values() if move_permission(shape, m) == action]
        moves += [f"{shape.collection}.{name}" for name in made]
    return DeclaredAction(
        name=action.name,
        summary=summary,
        routes=list(action.routes),
        may=any(viewpoint.includes(book.access(route)) for route in action.routes),
        creates=creates,
        moves=moves,
    )
