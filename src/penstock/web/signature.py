"""Gives a general function the parameters that FastAPI is to read, check and document for it."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection, Iterable
from typing import Annotated, Any

from fastapi import Path, Query, Request
from fastapi.params import Query as QueryParameter

from penstock.web.errors import InvalidRequest

Endpoint = Callable[..., Any]
_TOLD, _NEAREST, _LONGEST = 3, 3, 40
"So many unknown parameters are told, with so many that are like each, and so many characters of a name."


def query(name: str, kind: Any, *, needed: bool, about: str) -> inspect.Parameter:
    """A parameter of the query string; what the endpoint calls it is `argument`."""
    return inspect.Parameter(
        argument(name),
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if needed else None,
        annotation=Annotated[kind if needed else kind | None, Query(alias=name, description=about)],
    )


def segment(name: str, kind: Any, *, about: str) -> inspect.Parameter:
    """A parameter that is a segment of the path."""
    return inspect.Parameter(
        argument(name), inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[kind, Path(alias=name, description=about)]
    )


def argument(name: str) -> str:
    """What an endpoint calls a parameter: fields may have any name, also one that the endpoint uses itself."""
    return f"given_{name.replace('.', '__')}"


def body(kind: Any) -> inspect.Parameter:
    """The body of the request."""
    return inspect.Parameter("body", inspect.Parameter.KEYWORD_ONLY, annotation=kind)


def endpoint(
    function: Endpoint,
    parameters: Iterable[inspect.Parameter],
    *,
    name: str,
    about: str,
    repeated: frozenset[str] = frozenset(),
) -> Endpoint:
    """A function of the request and of these parameters, by name; one that nobody declared is refused.

    So is one that comes more than once, unless it is one of the ``repeated``.
    """
    declared = list(parameters)
    asked = [p.annotation.__metadata__[-1] for p in declared if p.name != "body"]
    known = {str(a.alias) for a in asked if isinstance(a, QueryParameter)}

    def call(request: Request, **given: Any) -> Any:
        refuse_unknown(request, known, repeated)
        return function(request, **given)

    request = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
    call.__signature__ = inspect.Signature([request, *declared])  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in (request, *declared)}
    call.__name__, call.__doc__ = name, about
    return call


def refuse_unknown(request: Request, known: set[str], repeated: Collection[str]) -> None:
    """A parameter that is misspelt would otherwise widen the question without anybody noticing."""
    given = request.query_params
    if unknown := [name for name in given if name not in known]:
        wrong = [(_shown(name), _instead(name, known)) for name in unknown[:_TOLD]]
        more = f"; and {len(unknown) - _TOLD} more" if len(unknown) > _TOLD else ""
        raise InvalidRequest(
            "; ".join(f"unknown parameter {name}: {hint}" for name, hint in wrong) + more,
            [{"where": f"query.{name}", "message": f"unknown; {hint}"} for name, hint in wrong],
        )
    for name in given:
        if len(given.getlist(name)) > 1 and name not in repeated:
            raise InvalidRequest(f"{name} is given more than once", [{"where": f"query.{name}", "message": "repeated"}])


def _instead(name: str, known: set[str]) -> str:
    """What may have been meant, or else what there is."""
    close = difflib.get_close_matches(name[:_LONGEST], sorted(known), n=_NEAREST)
    if close:
        others = f" There are also {', '.join(close[1:])}." if close[1:] else ""
        return f"did you mean {close[0]}?{others}"
    return f"there are {', '.join(sorted(known))}" if known else "there are none"


def _shown(name: str) -> str:
    """A name that anybody may have written, as one short word of a sentence."""
    plain = "".join(c if c.isprintable() else "?" for c in name[:_LONGEST])
    return (plain if len(name) <= _LONGEST else f"{plain}…") or "without a name"
