"""What a move takes from whoever makes it, and what a door knows better: the moment, and who it is."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from datetime import datetime
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from penstock.declare.move import MoveOf

_MOMENT, _WHO = frozenset({"at", "now"}), "by"


def move_model(move: MoveOf[Any, ...], name: str) -> type[BaseModel] | None:
    """The schema of what a move takes, from its signature; None when it takes nothing from its caller."""
    taken: dict[str, Any] = {}
    hints = get_type_hints(move.body, include_extras=True) if move.body is not None else {}
    for parameter in _parameters(move).values():
        if not _is_filled_in(parameter.name):
            default = ... if parameter.default is parameter.empty else parameter.default
            taken[parameter.name] = (hints[parameter.name], default)
    if not taken:
        return None
    return create_model(name, __config__=ConfigDict(extra="forbid"), __doc__=move.summary or None, **taken)


def filled_in(move: MoveOf[Any, ...], *, now: datetime, by: str) -> Mapping[str, Any]:
    """The arguments of a move that are nobody's to give."""
    return {name: by if name == _WHO else now for name in _parameters(move) if _is_filled_in(name)}


def _is_filled_in(name: str) -> bool:
    return name in _MOMENT or name == _WHO


def _parameters(move: MoveOf[Any, ...]) -> dict[str, inspect.Parameter]:
    if move.body is None:
        return {}
    return {p.name: p for p in list(inspect.signature(move.body).parameters.values())[1:]}
