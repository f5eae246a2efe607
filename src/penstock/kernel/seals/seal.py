"""What seals are: records that vouch for lines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

from annotated_types import Ge

from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.pattern import pattern
from penstock.declare.units import Count, UtcMicros
from penstock.errors import DamagedRecord, InvalidKey, TooLarge
from penstock.kernel.audit import AuditLine
from penstock.kernel.audit_register import label
from penstock.kernel.handle import StoreHandle
from penstock.kernel.system import BY_STATUS, SYSTEM
from penstock.operations.reads import ANYTHING, Range
from penstock.ports.clock import SKEW
from penstock.schema.kinds import instant_text
from penstock.schema.shape import Rights

MARGIN = 2 * SKEW
FORGED = (DamagedRecord, InvalidKey, TooLarge)
"What is raised by a record, or by the name of a project, that Penstock would never have written."


class Seal(Entity, table=SYSTEM, relation="seals"):
    """Vouches for all lines of a project's trail after ``since`` and up to ``until``."""

    __rights__ = Rights(add=False, change=False, remove=False)

    project_id: str
    trail: str
    number: Annotated[int, Ge(1)]
    since: UtcMicros | None = None
    "None for the first, which covers everything before."
    until: UtcMicros
    count: Count
    previous: str
    "The digest of the seal before; empty for the first."
    digest: str
    sealed_at: UtcMicros
    sealed_by: str
    archived: list[str] | None = None
    "The files of an archive that its lines were moved to, in order; what it says of the lines stays as it was."

    # A domain may keep its own kind of audit line, so one project may have several trails, each with its own chain.
    @key("PROJECT#{project_id}", "SEAL#{trail}#{number:010d}")
    def at(self, *, project_id: str, trail: str, number: int) -> None: ...

    @pattern(at)
    def of_trail(self, *, project_id: str, trail: str, number: Range[int] = ANYTHING) -> None:
        """The seals of a project's trail, in order."""

    # Whoever verifies finds a seal without being told of its project.
    of_all = IndexKey(BY_STATUS, "SEALS#{trail}", "{project_id}#{number:010d}")

    @pattern(of_all)
    def by_trail(self, *, trail: str, project_id: Range[str] = ANYTHING) -> None:
        """The seals of all projects, one project after the other."""

    @property
    def span(self) -> Range[datetime]:
        """When the lines were written that it vouches for."""
        return Range(low=self.since, high=self.until, open_low=self.since is not None)


class SealDigest:
    """The digest of a seal: of the one before, of what the seal says, and of the hash of each line in order."""

    def __init__(self, seal: Seal) -> None:
        since = "" if seal.since is None else instant_text(seal.since, 6)
        moments = [since, instant_text(seal.until, 6), instant_text(seal.sealed_at, 6)]
        said = [seal.previous, seal.project_id, seal.trail, seal.number, *moments, seal.sealed_by]
        self._digest = hashlib.sha256(json.dumps(said).encode())
        self.count = 0

    def add(self, line: AuditLine) -> None:
        # The stored hash, not one computed anew: a line whose text was changed then shows alone, as a changed line.
        self._digest.update(f"\n{line.hash or '-'}".encode())
        self.count += 1

    def end(self) -> str:
        self._digest.update(f"\n{self.count}".encode())
        return self._digest.hexdigest()


def lines(store: StoreHandle, trail: Any, project: str, span: Range[datetime]) -> Iterator[AuditLine]:
    """The lines of a project in order, page by page."""
    yield from store.find(trail.of_project(project_id=project, ts=span))


def sealed_projects(store: StoreHandle, trail: type[AuditLine]) -> Iterator[str]:
    """The projects that have seals, one read for each, whatever the register says."""
    after: Range[str] = ANYTHING
    while (found := store.first(Seal.by_trail(trail=label(trail), project_id=after))) is not None:
        yield found.project_id
        after = Range(low=found.project_id, open_low=True)
