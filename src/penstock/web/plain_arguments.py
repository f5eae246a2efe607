"""The arguments of an endpoint, read as FastAPI reads them, but without its tree of dependencies and in any thread.

What does not fit is left to FastAPI, which says what is wrong with it: nothing is told in two ways.
"""

from __future__ import annotations

import types
from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin

from fastapi.dependencies.models import Dependant
from starlette.requests import Request

from penstock.errors import DeclarationError
from penstock.web.jsonbody import parsed

_JSON = "application/json"


class Misfit(Exception):
    """A request that is not as its route declares it."""


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A value of the path or of the query."""

    field: Any
    repeated: bool

    def read(self, value: Any) -> Any:
        read, wrong = self.field.validate(value)
        if wrong:
            raise Misfit
        return read


class PlainArguments:
    """What an endpoint is called with that takes a request, parts of its path and query, and at most one body.

    What may be left out of a query is None then.
    """

    def __init__(self, asked: Dependant) -> None:
        if not asked.request_param_name or len(asked.body_params) > 1 or _asks_more(asked):
            raise DeclarationError(f"{asked.path}: its endpoint takes a request, its path, its query and one body")
        self._request: str = asked.request_param_name
        self._path = [(f.alias, f.name, _Parameter(f, False)) for f in asked.path_params]
        self._query = {
            f.alias: (f.name, _Parameter(f, _is_repeated(f.field_info.annotation))) for f in asked.query_params
        }
        self._needed = frozenset(f.alias for f in asked.query_params if f.field_info.is_required())
        self._left_out = {f.name: None for f in asked.query_params}
        self._body = asked.body_params[0] if asked.body_params else None

    def read(self, request: Request, body: bytes) -> dict[str, Any]:
        """The arguments by name; Misfit if the request has not what it takes."""
        found: dict[str, Any] = {self._request: request, **self._left_out}
        for alias, name, part in self._path:
            found[name] = part.read(request.path_params[alias])
        if self._query:
            self._read_query(request, found)
        if self._body is not None:
            found[self._body.name], wrong = self._body.validate(_json_of(request, body))
            if wrong:
                raise Misfit
        return found

    def _read_query(self, request: Request, found: dict[str, Any]) -> None:
        given = request.query_params
        if not given.keys() >= self._needed:
            raise Misfit
        for alias, last in given.items():
            if alias in self._query:  # the endpoint itself refuses others, with what may have been meant
                name, parameter = self._query[alias]
                found[name] = parameter.read(given.getlist(alias) if parameter.repeated else last)


def _asks_more(asked: Dependant) -> bool:
    """Does it take anything that only FastAPI can give?"""
    named = (asked.background_tasks_param_name, asked.response_param_name, asked.security_scopes_param_name)
    defaults: Collection[Any] = [f.default for f in asked.query_params if not f.field_info.is_required()]
    others = (asked.dependencies, asked.header_params, asked.cookie_params)
    return any(named) or any(others) or any(default is not None for default in defaults)


def _is_repeated(annotation: Any) -> bool:
    """Is every value of that name taken?"""
    origin = get_origin(annotation)
    if origin is Annotated or origin is Union or origin is types.UnionType:
        return any(_is_repeated(part) for part in get_args(annotation)[: 1 if origin is Annotated else None])
    return (origin or annotation) in (list, set, tuple, frozenset)


def _json_of(request: Request, body: bytes) -> Any:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
        raise Misfit
    try:
        return parsed(body)
    except ValueError:
        raise Misfit from None
