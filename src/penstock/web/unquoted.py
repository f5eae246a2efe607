"""Refusals that quote no personal field to whom it is hidden from.

What the kernel refuses, it refuses without values. A domain's own words may hold some: "… was said by 203.0.113.9".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.declare.entity import Entity
from penstock.errors import PenstockError
from penstock.web.errors import InvalidRequest

_SHORTEST = 3
"Characters; fewer are in any sentence."
_INSTEAD = "it is refused, for a reason that quotes a personal field; ask somebody who may see it"


@contextmanager
def unquoted(record: Entity, hidden: frozenset[str]) -> Iterator[None]:
    """While something is done with a record: a refusal that repeats a hidden field is told without its words."""
    held = [t for name in hidden for t in _texts(record.__dict__[name])]
    try:
        yield
    except PenstockError as error:
        said = f"{error} {error.fields if isinstance(error, InvalidRequest) else ''}"
        held += [t for name in hidden for t in _texts(record.__dict__[name])]
        if any(t in said for t in held):
            error.args = (_INSTEAD,)
            if isinstance(error, InvalidRequest):
                error.fields = tuple({**f, "message": _INSTEAD} for f in error.fields)
        raise


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value that is long enough to be known again."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple | frozenset):
        for member in value:
            yield from _texts(member)
    elif value is not None and len(text := str(value)) >= _SHORTEST:
        yield text
