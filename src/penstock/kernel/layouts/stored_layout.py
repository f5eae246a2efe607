"""What a store remembers of its layouts: one record for each entity, and one that numbers all of it.

Whatever else changes in Penstock, these records keep their form: by them a process learns how all others lie.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import Field

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.units import Count
from penstock.kernel.system import SYSTEM
from penstock.schema.fingerprint import Fingerprint, fingerprint_of, read_fingerprint
from penstock.schema.migration_stage import MigrationStage
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
    "Grows by one with every change of what is remembered here."
    digest: str
    fingerprint: dict[str, Any]
    declared: str
    "The digest of the last declaration that it was made for,"
    former: list[str] = Field(default_factory=list)
    "and those of all before: whoever comes with one of them has an older declaration."
    announced: dict[str, Any] | None = None
    "The layout that is to follow: every writer carries along what it has more, before anybody goes by it."
    announced_for: str | None = None
    "The digest of the declaration that it is for."
    stage: MigrationStage | None = None
    "How far records are on their way to it, where that takes more than everybody's knowing."
    is_paused: bool = False
    "Does whoever brings them there wait until somebody says to go on?"

    @key("LAYOUTS", "ENTITY#{label}")
    def at(self, *, label: str) -> None: ...

    @property
    def layout(self) -> Fingerprint:
        """The layout that holds."""
        return read_fingerprint(self.fingerprint)

    @property
    def following(self) -> Fingerprint | None:
        """The layout that is to follow, while there is one."""
        return None if self.announced is None else read_fingerprint(self.announced)

    @property
    def mark(self) -> str:
        """What tells this from anything else that could be known of the layout."""
        following = self.following
        return "+".join(
            [self.digest, *([following.digest] if following else []), *([self.stage] if self.stage else [])]
        )


class LayoutEdition(Entity, table=SYSTEM, relation="layout_editions"):
    """The number of what is known of a store's layouts: it grows whenever anything of that changes."""

    __rights__ = OPERATORS
    __seen_by__ = Role.ADMIN
    __traced__ = False
    __moved_by_work__ = True

    name: str
    number: Count
    marks: dict[str, str]
    "The mark of each entity's layout, so that whoever agrees with it need read no more."

    @key("LAYOUTS", "EDITION#{name}")
    def at(self, *, name: str) -> None: ...


EDITION = LayoutEdition.at(name="store")
_NOTHING_FOLLOWS: dict[str, Any] = {"announced": None, "announced_for": None, "stage": None, "is_paused": False}


def first_layout(shape: EntityShape) -> StoredLayout:
    """The layout of an entity that the store has not heard of: it lies as it is declared."""
    layout = fingerprint_of(shape)
    return StoredLayout(
        label=shape.label, generation=1, digest=layout.digest, fingerprint=layout.document, declared=layout.digest
    )


def announcing(before: StoredLayout, layout: Fingerprint, *, declared: str) -> StoredLayout:
    """The same layout, with one that is to follow it, for a declaration."""
    return _after(before, announced=layout.document, announced_for=declared)


def withdrawing(before: StoredLayout) -> StoredLayout:
    """The same layout, without the one that was to follow it."""
    return _after(before, **_NOTHING_FOLLOWS)


def at_stage(before: StoredLayout, stage: MigrationStage) -> StoredLayout:
    """The same, of a migration that has come to a stage."""
    return _after(before, stage=stage)


def paused(before: StoredLayout, is_paused: bool) -> StoredLayout:
    """The same, of a migration that somebody has asked to pause, or to go on."""
    return _after(before, is_paused=is_paused)


def next_layout(before: StoredLayout) -> StoredLayout:
    """The layout that was announced, which holds from now on."""
    layout, declared = before.following, before.announced_for
    assert layout is not None
    assert declared is not None
    former = dict.fromkeys([*before.former, before.declared, before.digest])
    return _after(
        before,
        digest=layout.digest,
        fingerprint=layout.document,
        declared=declared,
        former=[digest for digest in former if digest not in (layout.digest, declared)],
        **_NOTHING_FOLLOWS,
    )


def _after(before: StoredLayout, **others: Any) -> StoredLayout:
    """What is remembered after a change that makes some of it others."""
    return StoredLayout(**{**before.__dict__, "generation": before.generation + 1, **others})


def edition_with(before: LayoutEdition | None, changed: Iterable[StoredLayout]) -> LayoutEdition:
    """The edition after one, in which some layouts are others."""
    number, known = (0, {}) if before is None else (before.number, before.marks)
    return LayoutEdition(name="store", number=number + 1, marks={**known, **{c.label: c.mark for c in changed}})


def edition_without(before: LayoutEdition, label: str) -> LayoutEdition:
    """The edition after one, in which an entity is not known any more."""
    marks = {known: mark for known, mark in before.marks.items() if known != label}
    return LayoutEdition(name="store", number=before.number + 1, marks=marks)
