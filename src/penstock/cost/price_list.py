"""Prices are data, with their date and source: those of `prices.toml`, and those that a user says instead."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from penstock.errors import Misconfigured


@dataclass(frozen=True, slots=True)
class Prices:
    """What one service asks, in US dollars; a price that it does not have is zero."""

    region: str
    as_of: date
    source: str
    million_reads: Decimal
    million_writes: Decimal
    storage: Decimal
    "A GB for a month."
    million_replicated: Decimal = Decimal(0)
    "A million writes that arrive in a further region."
    point_in_time: Decimal = Decimal(0)
    "A GB for a month, where every moment can be restored."
    backup: Decimal = Decimal(0)
    "A GB for a month, of backups made on demand."
    egress: Decimal = Decimal(0)
    "A GB that leaves for the internet."


@dataclass(frozen=True, slots=True)
class HourlyPrices:
    """What a planned unit costs for an hour, whether it is used or not."""

    region: str
    as_of: date
    source: str
    read_unit: Decimal
    write_unit: Decimal


@dataclass(frozen=True, slots=True)
class PriceList:
    """All prices that an estimate needs."""

    dynamodb: Prices
    provisioned: HourlyPrices
    s3: Prices


_KINDS: dict[str, Any] = {"dynamodb": Prices, "provisioned": HourlyPrices, "s3": Prices}


@cache
def price_list() -> PriceList:
    """The prices that Penstock brings."""
    return _made(_built_in())


def read_price_list(path: Path) -> PriceList:
    """The prices that a file says, and Penstock's where it says none; Misconfigured tells what is wrong with it.

    A section that says a price says of when it is and where it was read.
    """
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Misconfigured(f"the prices in {path} cannot be read: {error}") from None
    sections = _built_in()
    for name, section in said.items():
        _check(path, name, section)
        sections[name] = {**sections[name], **section}
    return _made(sections)


def _built_in() -> dict[str, Any]:
    text = files("penstock.cost").joinpath("prices.toml").read_text(encoding="utf-8")
    return tomllib.loads(text, parse_float=Decimal)


def _made(sections: Mapping[str, Any]) -> PriceList:
    return PriceList(**{name: kind(**sections[name]) for name, kind in _KINDS.items()})


def _check(path: Path, name: str, section: Any) -> None:
    if name not in _KINDS or not isinstance(section, dict):
        raise Misconfigured(f"{path}: there is no section [{name}] of prices; there are {', '.join(_KINDS)}")
    known = {f.name: f.type for f in fields(_KINDS[name])}
    for key, value in section.items():
        if key not in known:
            meant = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {meant[0]}?" if meant else f"there are {', '.join(known)}"
            raise Misconfigured(f"{path}: [{name}] has no {key}; {hint}")
        if not _fits(str(known[key]), value):
            raise Misconfigured(f"{path}: {key} of [{name}] is {value!r}; write {_WANTED[str(known[key])]}")
    if missing := [word for word in ("as_of", "source") if word not in section]:
        raise Misconfigured(
            f"{path}: [{name}] does not say {' and '.join(missing)}: when its prices were read, and where"
        )


_WANTED = {"str": "a text", "date": "a day, such as 2026-01-31", "Decimal": "a number that is not negative"}


def _fits(kind: str, value: Any) -> bool:
    if kind == "str":
        return isinstance(value, str) and bool(value.strip())
    if kind == "date":
        return type(value) is date
    return (
        isinstance(value, int | Decimal) and not isinstance(value, bool) and Decimal(value).is_finite() and value >= 0
    )
