"""The OpenAPI document: what FastAPI derives from the routes, and what it cannot know of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from penstock.auth.access import bytes_taken
from penstock.web.idempotency import HEADER, LONGEST_KEY, REPLAYED
from penstock.web.narrowing import ABOUT_PROJECT, LONGEST_PROJECT, PROJECT_HEADER
from penstock.web.problems import PROBLEM, FieldProblem, Problem
from penstock.web.record_route import RecordRoute
from penstock.web.route import READING, AdmittedRoute
from penstock.web.wider_lists import BEHIND, BEHIND_OK

_DESCRIPTION = """
Records of every domain, derived from their declarations: lists by access pattern, single records by key, and each
declared move that is a person's to make as a verb.

- A record's path has one percent-encoded segment for each part of its key, in their order.
- A list answers `{"items": […], "next": …}`; pass `next` back as `cursor` until it is null.
- A range is bounded by `name.since`, `name.after`, `name.until` and `name.before`; texts also by `name.starting_with`.
- A list takes `where=views>=100` (repeated: all must hold), `fields=a,b` and `count=1000`. What `where` leaves out is
  examined all the same, up to 10,000 records for a page, which may then be short, or empty, and have a `next`.
- A list with `behind_ok=true` may come from a read replica; then it has `behind`, and the header `Penstock-Behind`.
- A record that cannot be read keeps nobody from the others: the list names it under `unreadable`.
- Every error is `application/problem+json` with a `type`, and a `hint` that says what to do.
- A POST with an `Idempotency-Key` is carried out once; a repetition gets the first answer.
- A record has an `ETag`; a move with `If-Match` is made only of the record that was seen.
- A list has at most `limit` records and about a million bytes; `next` is null only on the last page.
- Personal fields are left out for those whose role does not show them; their schemas say so.
- Whoever may see every project sees one of them with the header `X-Project`; a key of one project is refused others.
- Arguments named `at`, `now` and `by` of a move are filled in by the service.
"""
_SAID = {
    304: "It is as you know it.",
    400: "The request cannot be read, or its cursor is not of this list.",
    401: "No key, or none that works.",
    403: "The key's role or project does not allow it, or the declaration leaves it to somebody else.",
    404: "There is no such record.",
    408: "The request did not come in time.",
    409: "Somebody was faster, or the state does not allow it.",
    410: "What follows this place of the feed is kept no longer.",
    412: "The record has changed since it was read.",
    413: "Too many bytes.",
    422: "Something does not fit.",
    429: "Too many requests.",
    431: "Too many headers, or too long a path and query.",
    500: "A mistake of the service.",
    503: "The store cannot be reached, or there is too much to do at once.",
}
_REF = {"$ref": "#/components/schemas/Problem"}
_PROJECT = "Project"
"The header that narrows a request, which is described once."


def describe(app: FastAPI) -> None:
    """Have an application describe itself completely; the document is made once."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(title=app.title, version=app.version, routes=app.routes, description=_DESCRIPTION)
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for model in (Problem, FieldProblem):
        schemas[model.__name__] = model.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas[model.__name__].pop("$defs", None)
    for ours_now in ("HTTPValidationError", "ValidationError"):
        schemas.pop(ours_now, None)
    components["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    }
    narrowed = {"type": "string", "minLength": 1, "maxLength": LONGEST_PROJECT, "pattern": "^[!-~]+$"}
    components["parameters"] = {_PROJECT: _header(PROJECT_HEADER, ABOUT_PROJECT, narrowed)}
    for route in app.routes:
        if isinstance(route, AdmittedRoute) and route.include_in_schema:
            for method in route.methods or ():
                _complete(document["paths"][route.path_format][method.lower()], route, method)
    _link(document, [r for r in app.routes if isinstance(r, RecordRoute) and r.include_in_schema])
    return document


def _complete(operation: dict[str, Any], route: AdmittedRoute, method: str) -> None:
    access = route.access
    operation["security"] = [{"bearer": []}, {"key": []}] if access.role is not None else []
    if access.role is not None:
        operation["description"] = f"{operation.get('description', '')}\n\nTakes the role {access.role.value}.".strip()
    if most := bytes_taken(route.endpoint, 0):
        size = f"{most // 1_000_000} MB" if most >= 1_000_000 else f"{most // 1_000} kB"
        operation["description"] = f"{operation.get('description', '')}\n\nTakes {size}.".strip()
    parameters = operation.setdefault("parameters", [])
    gives: tuple[int, ...] = getattr(route.endpoint, "__gives__", ())
    if method == "POST":
        key = {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[ -~]+$"}
        parameters.append(_header(HEADER, "Carry it out once, however often it is sent.", key))
    if access.role is not None:
        parameters.append({"$ref": f"#/components/parameters/{_PROJECT}"})
    if 412 in gives:
        parameters.append(_header("If-Match", "Only if the record still has this ETag."))
    if 304 in gives:
        parameters.append(_header("If-None-Match", "Only if the record no longer has this ETag."))
    if any(parameter.get("name") == BEHIND_OK for parameter in parameters):
        about = {"description": "`true` where the list comes from a read replica.", "schema": {"type": "string"}}
        operation["responses"]["200"].setdefault("headers", {})[BEHIND] = about
    _answers(operation["responses"], access.role is not None, access.per_minute is not None, method, gives)


def _answers(responses: dict[str, Any], guarded: bool, limited: bool, method: str, gives: tuple[int, ...]) -> None:
    told = {400, 403, 422, 431, 500, 503, *gives}  # a page of another site is refused everywhere
    told |= {401} if guarded else set()
    told |= {429} if limited else set()
    told |= {408, 409, 413} if method not in READING else set()
    for status in sorted(told):
        if status == 304:
            responses["304"] = {"description": _SAID[304]}
        elif str(status) not in responses or "HTTPValidationError" in str(responses[str(status)]):
            responses[str(status)] = {"description": _SAID[status], "content": {PROBLEM: {"schema": _REF}}}
    if method == "POST":
        for code, response in responses.items():
            if code.startswith("2"):
                replayed = {"description": "The answer of the first time.", "schema": {"type": "string"}}
                response.setdefault("headers", {})[REPLAYED] = replayed


def _header(name: str, about: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    schema = schema or {"type": "string", "pattern": '^("[a-f0-9]{32}"|\\*)$'}
    return {"name": name, "in": "header", "required": False, "description": about, "schema": schema}


def _link(document: dict[str, Any], routes: Iterable[RecordRoute]) -> None:
    """Say how one answer leads to the next request: a record that was created or listed can be got, and then moved."""
    paths = document["paths"]
    for path in (r.path_format for r in routes if "GET" in (r.methods or ()) and r.path_format.endswith("}")):
        get, collection = paths[path]["get"], paths.get(path.partition("/{")[0], {})
        moves = [o["post"] for p, o in paths.items() if p.startswith(f"{path}/moves/")]
        _lead(get, "200", "$response.body#", moves)
        if "post" in collection:
            _lead(collection["post"], "201", "$response.body#", [get, *moves])
        if "get" in collection:
            _lead(collection["get"], "200", "$response.body#/items/0", [get, *moves])


def _lead(source: dict[str, Any], status: str, where: str, targets: list[dict[str, Any]]) -> None:
    links = {
        target["operationId"]: {
            "operationId": target["operationId"],
            "parameters": {f"path.{name}": f"{where}/{name}" for name in _keys(target)},
        }
        for target in targets
    }
    if links:
        source["responses"][status]["links"] = links


def _keys(operation: dict[str, Any]) -> list[str]:
    return [p["name"] for p in operation.get("parameters", ()) if p.get("in") == "path"]
