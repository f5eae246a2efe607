"""The route table, and for each route a request that it can read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any
from uuid import UUID

from fastapi import FastAPI

from penstock.auth.access import Access
from penstock.declare.record_address import segment_of
from penstock.web.pattern_question import needed
from penstock.web.record_route import ClosedRoute
from penstock.web.records import questions_of
from penstock.web.route import AdmittedRoute

_SOMEBODY = str(UUID(int=7, version=4))


@dataclass(frozen=True)
class Door:
    """One method of one route."""

    method: str
    path: str
    access: Access
    operation: dict[str, Any] = field(repr=False)
    schemas: dict[str, Any] = field(repr=False)
    question: str = ""
    "Of a list: ``?pattern=…``."
    asked: tuple[str, ...] = ()
    "Of a list: what its pattern needs besides."

    def __str__(self) -> str:
        return f"{self.method} {self.path}{self.question}"

    @property
    def is_list(self) -> bool:
        return bool(self.question) or (self.method == "GET" and self.path in ("/api/ops/keys", "/api/ops/schedules"))

    @property
    def is_stream(self) -> bool:
        return self.path.endswith("/events")

    def request(self, project: str) -> dict[str, Any]:
        """Parameters and a body that fit, of a project."""
        parameters = self.operation.get("parameters", ())
        needed = [p for p in parameters if "$ref" not in p and (p.get("required") or p["name"] in self.asked)]
        sent = {p["name"]: self._sample(p["name"], p["schema"], project) for p in needed}
        query = {p["name"]: sent[p["name"]] for p in needed if p["in"] == "query"}
        query |= dict([self.question[1:].split("=")]) if self.question else {}
        parts = dict.fromkeys(re.findall(r"{(\w+)}", self.path), "x")  # also of those that no document names
        parts |= {p["name"]: segment_of(str(sent[p["name"]])) for p in needed if p["in"] == "path"}
        path = self.path.format_map(parts)
        made: dict[str, Any] = {"method": self.method, "url": path, "params": query}
        body = self.operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body:
            made["json"] = self._sample("body", body["schema"], project)
        return made

    def _sample(self, name: str, schema: dict[str, Any], project: str) -> Any:
        if "anyOf" in schema:
            schema = schema["anyOf"][0]
        if "$ref" in schema:
            schema = self.schemas[schema["$ref"].rsplit("/", 1)[1]]
        if "enum" in schema:
            return schema["enum"][0]
        if schema.get("type") == "object":
            members = schema.get("properties", {})
            return {n: self._sample(n, members[n], project) for n in schema.get("required", ())}
        by_form = {"date-time": "2037-01-01T00:00:00Z", "date": "2037-01-01"}
        if schema.get("format", "").startswith("uuid"):
            return project if name == "project_id" and "-" in project else _SOMEBODY
        if schema.get("format") in by_form:
            return by_form[schema["format"]]
        if name == "project_id":
            return project
        return {"integer": schema.get("minimum", 1), "number": 1.0, "boolean": True, "array": []}.get(
            schema.get("type", ""), "x"
        )


_DOCUMENTS: dict[tuple[tuple[str, ...], ...], dict[str, Any]] = {}
"Of applications by their routes: to write one takes seconds."


def described(app: FastAPI) -> dict[str, Any]:
    """The document of an application, which is the same of all that have the same routes."""
    routes = tuple((r.path, *sorted(r.methods or ())) for r in app.routes if isinstance(r, AdmittedRoute))
    if routes not in _DOCUMENTS:
        _DOCUMENTS[routes] = app.openapi()
    return _DOCUMENTS[routes]


def doors(app: FastAPI) -> Iterator[Door]:
    """Every method of every route that goes through the guard."""
    document = described(app)
    for route in app.routes:
        if isinstance(route, AdmittedRoute) and not isinstance(route, ClosedRoute):
            needs = {f"?pattern={p.name}": needed(p) for p in getattr(route.endpoint, "__patterns__", ())}
            for method, (question, access) in product(sorted(route.methods or ()), questions_of(route)):
                operation = document["paths"].get(route.path_format, {}).get(method.lower(), {})
                schemas, asked = document["components"]["schemas"], tuple(needs.get(question, ()))
                yield Door(method, route.path_format, access, operation, schemas, question, asked)
