"""The register of audit trails: whoever seals or verifies all of them finds each by it."""

from __future__ import annotations

from contextlib import suppress

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.pattern import pattern
from penstock.declare.units import Count, UtcMicros
from penstock.errors import Conflict
from penstock.kernel.audit import AuditLine, SystemAudit
from penstock.kernel.handle import StoreHandle
from penstock.kernel.system import SYSTEM
from penstock.operations.reads import ANYTHING, Range
from penstock.schema.shape import KEPT

_KNOWN = 10_000
"So many trails a process remembers to have registered."


class AuditedProject(Entity, table=SYSTEM, relation="audited_projects"):
    """The newest seal of a project's trail, zero before the first.

    It is how sealers know the projects, and it shows when the newest seal is removed. A process registers a project
    before the first line it writes there, and never again, so it costs the other changes nothing.
    """

    __rights__ = KEPT

    project_id: str
    trail: str
    number: Count = 0
    digest: str = ""
    until: UtcMicros | None = None
    checkpoint: Count | None = None
    "The newest checkpoint that names it, and the seal it had then; None before."
    listed: Count | None = None
    archived: Count | None = None
    "The newest seal whose lines were moved to an archive; those of all before it were, too."

    @key("AUDITED#{trail}", "PROJECT#{project_id}")
    def at(self, *, trail: str, project_id: str) -> None: ...

    @pattern(at)
    def of_trail(self, *, trail: str, project_id: Range[str] = ANYTHING) -> None:
        """The projects whose trail is sealed, by their ids."""

    @property
    def unlisted(self) -> bool:
        """Has it been registered or sealed since a checkpoint named it?"""
        return self.listed is None or self.number > self.listed


def label(trail: type[AuditLine]) -> str:
    """The name of a trail in seals, register and checkpoints."""
    return trail.__shape__.label


def register(store: StoreHandle, project: str, *, trail: type[AuditLine] = SystemAudit) -> None:
    """Let a project be sealed and verified with the others from now on; its first change does so by itself."""
    known = AuditedProject(project_id=project, trail=label(trail))
    if store.lookup(known.ref) is None:
        with suppress(Conflict):
            store.create(known)


def enlist(store: StoreHandle, project: str, *, trail: type[AuditLine] = SystemAudit) -> None:
    """Register a trail before it has its first line, unless this process knows that it is."""
    known = store.context.trails
    if (trail, project) not in known:
        register(store, project, trail=trail)
        if len(known) >= _KNOWN:
            known.clear()  # asking for some again is cheaper than remembering all
        known.add((trail, project))
