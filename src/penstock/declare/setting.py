"""A setting: what a deployment may choose, said where it is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Setting:
    """One line of a table of settings."""

    variable: str
    "Its name in the environment."
    default: Any
    help: str
    name: str = ""
    "Its short name, for ``penstock.toml``."
    also: Mapping[str, str] = field(default_factory=dict)
    "Other variables that are looked at in turn where this one is not set, and what their value stands for."
    secret: bool = False
    "It is never shown."
    read: Callable[[str], Any] | None = None
    "What a text means, if the default's type does not tell; raises a ValueError that says what is wrong."
