"""Layouts that a store had once: by them it is known what of its tables was theirs, and is nobody's any more."""

from __future__ import annotations

from typing import Any

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.pattern import pattern
from penstock.kernel.layouts.stored_layout import StoredLayout
from penstock.kernel.system import SYSTEM
from penstock.schema.fingerprint import Fingerprint, read_fingerprint
from penstock.schema.role import Role
from penstock.schema.shape import OPERATORS


class FormerLayout(Entity, table=SYSTEM, relation="former_layouts"):
    """How the records of one entity lay in this store; kept until its leftovers are dropped."""

    __rights__ = OPERATORS
    __seen_by__ = Role.ADMIN
    __traced__ = False
    __moved_by_work__ = True

    label: str
    digest: str
    fingerprint: dict[str, Any]

    @key("FORMER#{label}", "{digest}")
    def at(self, *, label: str, digest: str) -> None: ...

    @pattern(at)
    def of_entity(self, *, label: str) -> None:
        """All that one entity had."""

    @property
    def layout(self) -> Fingerprint:
        return read_fingerprint(self.fingerprint)


def former_layout(before: StoredLayout) -> FormerLayout:
    """A layout that another one follows."""
    return FormerLayout(label=before.label, digest=before.digest, fingerprint=before.fingerprint)
