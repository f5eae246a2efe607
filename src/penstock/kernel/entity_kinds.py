"""The kinds of audit line, of message, or of any record that there are: the kernel's, and those of domains."""

from __future__ import annotations

from typing import TypeVar

from penstock.declare.entity import Entity

E = TypeVar("E", bound=Entity)


def kinds_of(base: type[E]) -> dict[str, type[E]]:
    """Every entity of this process that is made from a base, by its label."""
    kinds: dict[str, type[E]] = {}
    for kind in base.__subclasses__():
        if "__shape__" in vars(kind):
            kinds[kind.__shape__.label] = kind
        kinds |= kinds_of(kind)
    return kinds
