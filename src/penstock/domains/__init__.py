"""The systems that ship with Penstock: each is a package here, and found as anybody's is, by its entry point.

`INSTALLED` and `DOMAINS` are all of them together. Nothing is imported before one asks: a deployment may leave out one.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from penstock.declare.domain import Domain
from penstock.plugin import DomainPlugin

INSTALLED: tuple[DomainPlugin, ...]
DOMAINS: tuple[Domain, ...]


@cache
def _shipped() -> tuple[DomainPlugin, ...]:
    return tuple(import_module(f"{__name__}.{module.name}").PLUGIN for module in iter_modules(__path__))


def __getattr__(name: str) -> Any:
    if name == "INSTALLED":
        return _shipped()
    if name == "DOMAINS":
        return tuple(plugin.domain for plugin in _shipped())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
