"""Checkpoints: each names the trails that were registered or sealed since the one before, and chains to it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge
from pydantic import BaseModel

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.pattern import pattern
from penstock.declare.units import Count, UtcMicros
from penstock.errors import InvalidValue
from penstock.kernel.system import SYSTEM
from penstock.operations.reads import ANYTHING, Range
from penstock.schema.kinds import instant_text

_FORM = re.compile(r"audit-(\d{1,10})-([0-9a-f]{64})")


class Head(BaseModel):
    """The newest seal of a trail, as a checkpoint names it: number 0, without a digest, before the first."""

    trail: str
    project_id: str
    former: Count | None
    "The seal that the checkpoint before had named; None when none had named the trail."
    number: Count
    digest: str


class Checkpoint(Entity, table=SYSTEM, relation="audit_checkpoints"):
    """Vouches for every trail that it or one before it names."""

    number: Annotated[int, Ge(1)]
    previous: str
    "The digest of the checkpoint before; empty for the first."
    made_at: UtcMicros
    made_by: str
    heads: list[Head]
    digest: str = ""

    @key("AUDIT_CHECKPOINTS", "{number:010d}")
    def at(self, *, number: int) -> None: ...

    @pattern(at)
    def chain(self, *, number: Range[int] = ANYTHING) -> None:
        """All checkpoints, in order."""

    def computed(self) -> str:
        """The digest of everything it says."""
        heads = [[h.trail, h.project_id, h.former, h.number, h.digest] for h in self.heads]
        said = [self.previous, self.number, instant_text(self.made_at, 6), self.made_by, heads]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()

    @property
    def kept(self) -> Kept:
        """What one keeps elsewhere."""
        return Kept(self.number, self.digest)


@dataclass(frozen=True, slots=True)
class Kept:
    """The digest of a checkpoint as one keeps it elsewhere: a short text that vouches for all trails."""

    number: int
    digest: str

    def __str__(self) -> str:
        return f"audit-{self.number}-{self.digest}"


def kept_digests(text: str) -> list[Kept]:
    """The digests in a text that was kept elsewhere; InvalidValue for one that is not whole, or when there is none."""
    words = [w.strip(".,;:\"'") for w in text.split()]
    found = []
    for word in words:
        if not word.lower().startswith("audit-"):
            continue
        match = _FORM.fullmatch(word.lower())
        if match is None:
            raise InvalidValue(f"{word[:100]!r} is no whole digest; it is as `penstock audit digest` printed it")
        found.append(Kept(int(match[1]), match[2]))
    if not found:
        raise InvalidValue(f"{text[:100]!r} holds no digest; give one that `penstock audit digest` printed")
    return found
