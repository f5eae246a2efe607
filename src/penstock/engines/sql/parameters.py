"""Parameters as PostgreSQL reads them in a text: quicker to make than the forms that tell their types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from msgspec import to_builtins

from penstock.errors import InvalidValue


def written(parameters: Sequence[Any]) -> list[bytes | None]:
    """Each parameter as text, None for NULL."""
    # What most of them are comes first: every write comes by here.
    return [p.encode() if type(p) is str and "\x00" not in p else _written(p) for p in parameters]


def _written(parameter: Any) -> bytes | None:
    return None if parameter is None else (_DUMP.get(type(parameter)) or _dump_of(parameter))(parameter)


def numbered(text: str) -> str:
    """The text with its marks as PostgreSQL itself writes them: $1, $2, …"""
    pieces = text.split("%s")
    return "".join(f"{piece}${n}" for n, piece in enumerate(pieces[:-1], 1)) + pieces[-1]


def _text(value: str) -> bytes:
    if "\x00" in value:  # where libpq would take the text to end
        raise InvalidValue("a text has a NUL character, which PostgreSQL cannot store; remove it")
    return value.encode()


def _dump_of(value: Any) -> Callable[[Any], bytes]:
    """How a value is written that is of a kind of its own, a StrEnum's member for example."""
    for kind in type(value).__mro__:
        if kind in _DUMP:
            return _DUMP[kind]
    raise InvalidValue(f"PostgreSQL cannot be given a {type(value).__name__}")


_DUMP: dict[type, Callable[[Any], bytes]] = {
    str: _text,
    int: lambda v: b"%d" % v,
    bool: lambda v: b"t" if v else b"f",
    float: lambda v: repr(v).encode(),
    Decimal: lambda v: str(v).encode(),
    UUID: lambda v: to_builtins(v).encode(),
    datetime: lambda v: to_builtins(v).encode(),
    date: lambda v: v.isoformat().encode(),
    bytes: lambda v: b"\\x" + v.hex().encode(),
}
