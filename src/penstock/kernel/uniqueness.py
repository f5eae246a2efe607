"""Unique values: each is claimed by one record in the commit that gives it the value, freed in the one that ends it.

A claim is a record of the kernel, whose key is a hash of the entity, the field, the value and what it is unique within:
the same on every engine, of bounded length, and without the value itself. It names its owner, and has a turn that
tells it from every other claim of the same value. A claim whose owner is gone, or has another value now, is nobody's:
whoever meets it takes it over, on the condition that its turn still is what it was before the owner was looked at.

A store bound to a project sees the claims of its own records only. That another project has a value is all there is to
learn, and whether its claim is still anybody's is for the store itself to find out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.lifetime import Expires
from penstock.declare.units import EpochSeconds
from penstock.errors import NotUnique
from penstock.kernel.system import SYSTEM
from penstock.operations.conditions import Any_, Compare, Condition, Missing, OneOf
from penstock.operations.reads import Ref
from penstock.operations.validation import prepare
from penstock.operations.writes import Delete, Put, Write
from penstock.ports.ids import commit_token
from penstock.schema.kinds import from_key_text, key_text
from penstock.schema.role import Role
from penstock.schema.shape import EntityShape


class UniqueValue(Entity, table=SYSTEM, relation="unique_values", seen_by=Role.ADMIN, lifetimes=(Expires(at="ttl"),)):
    """The claim of one record to a value that no other may have."""

    claim: str
    "The hash of what is claimed."
    entity: str
    field: str
    owner: str
    "The key of the record that has the value: the texts of its parts, as JSON."
    turn: str
    "Tells the claim from every other of the same value, also from an earlier one of its owner."
    project_id: str | None = None
    ttl: EpochSeconds | None = None
    "The end of the record that has the value, where it has one."

    @key("UNIQUE#{claim}", "UNIQUE")
    def at(self, *, claim: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Holding:
    """A value that a record has, or is to have."""

    claim: str
    field: str
    owner: str
    project: str | None
    ends: int | None


def holdings(shape: EntityShape, values: Mapping[str, Any] | None, project: str | None) -> dict[str, Holding]:
    """The unique values of a record, by their claims; ``project`` is whose it is where it does not say."""
    if values is None:
        return {}
    owner = owner_text(shape, values)
    own = values.get("project_id") if shape.project is not None else None
    named = project if own is None or shape.project is None else key_text(shape.project, own)
    ends = values.get(shape.expiry) if shape.expiry else None
    found: dict[str, Holding] = {}
    for field in shape.unique:
        texts = [_text(shape, n, values, project) for n in (field.name, *(field.unique_within or ()))]
        if None not in texts:
            parts = [shape.label, field.name, *(field.unique_within or ()), *texts]
            claim = hashlib.sha256(msgspec.json.encode(parts)).hexdigest()
            found[claim] = Holding(claim, field.name, owner, named, ends)
    return found


def _text(shape: EntityShape, name: str, values: Mapping[str, Any], project: str | None) -> str | None:
    value, field = values.get(name), shape.fields[name]
    if value is None:
        # A store bound to a project gives it to whatever leaves its project open.
        return project if field is shape.project else None
    return key_text(field, value)


def owner_text(shape: EntityShape, values: Mapping[str, Any]) -> str:
    """The key of a record as a claim has it."""
    return msgspec.json.encode([key_text(shape.fields[n], values[n]) for n in shape.key.fields]).decode()


def owner_of(shape: EntityShape, claim: Mapping[str, Any]) -> Ref[Any]:
    """The record that a claim says has the value."""
    texts = msgspec.json.decode(claim["owner"], type=list[str])
    fields = [shape.fields[n] for n in shape.key.fields]
    return Ref(shape, {f.name: from_key_text(f, text) for f, text in zip(fields, texts, strict=True)})


class ClaimMoves:
    """What becomes of claims in one commit: each is taken by one record, freed by one, or both."""

    def __init__(self) -> None:
        self._taken: dict[str, tuple[Holding, int, EntityShape]] = {}
        self._freed: dict[str, tuple[Holding, int]] = {}

    def move(
        self,
        shape: EntityShape,
        position: int,
        *,
        before: Mapping[str, Holding],
        after: Mapping[str, Holding],
        anew: bool,
    ) -> None:
        """A write of the commit leaves a record with other values; ``anew`` those are claimed too that it had."""
        for claim, holding in before.items():
            if claim not in after:
                self._freed[claim] = (holding, position)
        for claim, holding in after.items():
            if claim in self._taken:
                raise not_unique(shape, holding, self._taken[claim][1])
            if anew or before.get(claim) != holding:
                self._taken[claim] = (holding, position, shape)

    def writes(self, stale: Mapping[str, str], left: Iterable[str]) -> list[tuple[Write, int]]:
        """The writes of the claims, each with the position of the write it is for.

        ``stale`` are the turns of claims that turned out to be nobody's, ``left`` those that are not to be freed, as
        others have them.
        """
        out: list[tuple[Write, int]] = []
        for claim, (holding, position, shape) in self._taken.items():
            freed = self._freed.get(claim)
            owners = {holding.owner} if freed is None else {holding.owner, freed[0].owner}
            conditions: list[Condition] = [Missing(), OneOf("owner", tuple(sorted(owners)))]
            if claim in stale:
                conditions.append(Compare("turn", "=", stale[claim]))
            out.append((_taking(shape, holding, Any_(tuple(conditions))), position))
        for claim, (holding, position) in self._freed.items():
            if claim not in self._taken and claim not in left:
                mine = Missing() | Compare("owner", "=", holding.owner)
                out.append((Delete(UniqueValue.__shape__, {"claim": claim}, mine), position))
        return out

    def taken_for(self, claim: str) -> tuple[Holding, EntityShape]:
        """What a claim is taken for."""
        holding, _, shape = self._taken[claim]
        return holding, shape


def _taking(shape: EntityShape, holding: Holding, when: Condition) -> Put:
    record = UniqueValue(
        claim=holding.claim,
        entity=shape.label,
        field=holding.field,
        owner=holding.owner,
        turn=commit_token(),
        project_id=holding.project,
        ttl=holding.ends,
    )
    return Put(UniqueValue.__shape__, prepare(UniqueValue.__shape__, record.__dict__), when)


def not_unique(shape: EntityShape, holding: Holding, position: int) -> NotUnique:
    """The refusal, which names the field and never its value."""
    within = shape.fields[holding.field].unique_within
    among = f" with the same {' and '.join(within)}" if within else ""
    return NotUnique(
        f"{shape.label}.{holding.field} must be unique, and another record{among} has this value; nothing was written",
        position=position,
    )
