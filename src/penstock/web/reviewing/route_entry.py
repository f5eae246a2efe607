"""One route of reviews, as it is added to the service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class RouteEntry:
    """A method of a path, what answers it, and with what."""

    method: str
    path: str
    endpoint: Callable[..., Any]
    model: type[BaseModel] | None
    status: int = 200
    gives: tuple[int, ...] = ()
    is_page: bool = False
    "For people, and not for programs."
