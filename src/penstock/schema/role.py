"""Who somebody is to a system."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What a key allows; each role may do all that the ones before it may."""

    VIEWER = "viewer"
    EDITOR = "editor"
    ADMIN = "admin"

    def includes(self, other: Role) -> bool:
        return _RANKS[self] >= _RANKS[other]


_RANKS = {role: rank for rank, role in enumerate(Role)}
