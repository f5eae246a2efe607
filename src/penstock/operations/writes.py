"""What may be written: a whole record, some fields of one, its removal; or nothing, but on a condition.

Nothing changes them once they are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import Struct, field

from penstock.operations.conditions import Condition
from penstock.operations.updates import Update
from penstock.schema.shape import EntityShape


class Put(Struct, frozen=True, eq=False):
    """Write a whole record, replacing what stands there."""

    shape: EntityShape
    values: Mapping[str, Any]
    when: Condition | None = None
    witness: bool = False
    """True when no other commit can ever write these very values: finding them proves that the commit was applied. A
    witness may leave out fields that have no value."""

    @property
    def key(self) -> Mapping[str, Any]:
        return self.values


class Patch(Struct, frozen=True, eq=False):
    """Change some fields of a record that stands; a patch never creates one.

    ``relied`` holds values that the patch leaves as they are and that index keys are made of; its condition makes sure
    that they still stand. The kernel fills it, so that an engine which stores index keys has nothing to guess.
    """

    shape: EntityShape
    key: Mapping[str, Any]
    updates: tuple[Update, ...]
    when: Condition | None = None
    relied: Mapping[str, Any] = field(default_factory=dict)
    exact: bool = True
    """Is it applied once even when its answer is lost? Of a patch that counts or appends, exactness has a price:
    DynamoDB takes twice the units for it. False is for counters that may err a little."""
    renewed: frozenset[str] = frozenset()
    """Indexes whose keys are made anew of what was read, whatever is updated; all that they are made of is relied on.
    Only a migration asks for it, of a store that keeps the texts of keys."""
    witness: bool = False
    """True when it sets fields to values that no other write of the record ever leaves there together: finding them
    proves that it was applied, and the store need not remember it."""


class Delete(Struct, frozen=True, eq=False):
    """Remove a record; removing what is not there succeeds."""

    shape: EntityShape
    key: Mapping[str, Any]
    when: Condition | None = None


class Check(Struct, frozen=True, eq=False):
    """Write nothing, but refuse the commit unless the condition holds."""

    shape: EntityShape
    key: Mapping[str, Any]
    when: Condition


Write: TypeAlias = Put | Patch | Delete | Check
