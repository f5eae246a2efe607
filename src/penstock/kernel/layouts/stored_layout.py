"""What a store remembers of its layouts: one record for each entity, and one that numbers all of it.

Whatever else changes in Penstock, these records keep their form: by them a process learns how all others lie.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.units import Count
from penstock.kernel.system import SYSTEM
from penstock.schema.fingerprint import Fingerprint, fingerprint_of, read_fingerprint
from penstock.schema.role import Role
from penstock.schema.shape import OPERATORS, EntityShape


class StoredLayout(Entity, table=SYSTEM, relation="layouts"):
    """How the records of one entity lie in this store."""

    __rights__ = OPERATORS
    __seen_by__ = Role.ADMIN
    __traced__ = False
    __moved_by_work__ = True

    label: str
    generation: Count
    "Grows whenever the layout becomes another."
    digest: str
    fingerprint: dict[str, Any]
    declared: str
    "The digest of the last declaration that it was made for,"
    former: list[str] = Field(default_factory=list)
    "and those of all before: whoever comes with one of them has an older declaration."

    @key("LAYOUTS", "ENTITY#{label}")
    def at(self, *, label: str) -> None: ...

    @property
    def layout(self) -> Fingerprint:
        """The layout that holds."""
        return read_fingerprint(self.fingerprint)


class LayoutEdition(Entity, table=SYSTEM, relation="layout_editions"):
    """The number of what is known of a store's layouts: it grows whenever anything of that changes."""

    __rights__ = OPERATORS
    __seen_by__ = Role.ADMIN
    __traced__ = False
    __moved_by_work__ = True

    name: str
    number: Count
    digests: dict[str, str]
    "The digest of each entity's layout, so that who agrees with all of them need read no more."

    @key("LAYOUTS", "EDITION#{name}")
    def at(self, *, name: str) -> None: ...


EDITION = LayoutEdition.at(name="store")


def first_layout(shape: EntityShape) -> StoredLayout:
    """The layout of an entity that the store has not heard of: it lies as it is declared."""
    layout = fingerprint_of(shape)
    return StoredLayout(
        label=shape.label, generation=1, digest=layout.digest, fingerprint=layout.document, declared=layout.digest
    )


def next_layout(before: StoredLayout, layout: Fingerprint, *, declared: str) -> StoredLayout:
    """The layout that follows one, made for a declaration."""
    former = dict.fromkeys([*before.former, before.declared, before.digest])
    return StoredLayout(
        label=before.label,
        generation=before.generation + 1,
        digest=layout.digest,
        fingerprint=layout.document,
        declared=declared,
        former=[digest for digest in former if digest not in (layout.digest, declared)],
    )


def edition_with(before: LayoutEdition | None, changed: Mapping[str, str]) -> LayoutEdition:
    """The edition after one, in which some layouts have other digests."""
    number, known = (0, {}) if before is None else (before.number, before.digests)
    return LayoutEdition(name="store", number=number + 1, digests={**known, **changed})
