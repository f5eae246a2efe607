"""Sealing: from time to time, what was written since the last time, and then a checkpoint over all trails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any

from penstock.errors import Conflict, InvalidValue, PenstockError
from penstock.kernel.audit import AuditLine, SystemAudit
from penstock.kernel.audit_register import AuditedProject, label
from penstock.kernel.handle import StoreHandle, patch, put
from penstock.kernel.seals.checkpoint import Checkpoint, Head
from penstock.kernel.seals.seal import FORGED, MARGIN, Seal, SealDigest, lines, sealed_projects
from penstock.kernel.unchanged import unchanged
from penstock.operations.conditions import Missing
from penstock.operations.updates import Set
from penstock.operations.writes import Write

_HEADS = 90
"So many trails a checkpoint names: each is marked in the same commit, and a record has room for the longest names."


def seal(
    store: StoreHandle,
    project: str,
    *,
    by: str,
    margin: timedelta = MARGIN,
    trail: type[AuditLine] = SystemAudit,
) -> Seal | None:
    """Seal what was written since the last seal and is older than the margin.

    None when there is nothing new, or when another sealer was faster.
    """
    if margin < store.clock.skew:
        least = f"give {store.clock.skew}, by which clocks may differ, or more"
        raise InvalidValue(f"a margin of {margin} would seal lines that are yet to be written; {least}")
    now = store.clock.now()
    # The register is read first: a seal written in between is then found below, and not taken for a removed one.
    known = store.lookup(AuditedProject.at(trail=label(trail), project_id=project))
    head = _head(store, project, trail, known)
    made = Seal(
        project_id=project,
        trail=label(trail),
        number=head.number + 1 if head else 1,
        since=head.until if head else None,
        until=now - margin,
        count=0,
        previous=head.digest if head else "",
        digest="",
        sealed_at=now,
        sealed_by=by,
    )
    if made.since is not None and made.until <= made.since:
        return None
    digest = SealDigest(made)
    for line in lines(store, trail, project, made.span):
        digest.add(line)
    if not digest.count:
        return None
    made.count, made.digest = digest.count, digest.end()
    return made if _written(store, made, known) else None


def seal_known(
    store: StoreHandle, *, by: str, margin: timedelta = MARGIN, trails: Sequence[type[AuditLine]] = (SystemAudit,)
) -> Iterator[Seal]:
    """Seal every project that has lines, as far as they are old enough; the seals that were written.

    At the end a checkpoint names what is new. A trail that cannot be read keeps no other from being sealed; its error
    is raised at the end.
    """
    damages: list[PenstockError] = []
    for trail in trails:
        for project in _readable_projects(store, trail, damages):
            try:
                made = seal(store, project, by=by, margin=margin, trail=trail)
            except FORGED as damage:
                damages.append(damage)
                continue
            if made is not None:
                yield made
    try:
        checkpoint(store, by=by, trails=trails)
    except FORGED as damage:
        damages.append(damage)
    if damages:
        raise damages[0]


def projects(store: StoreHandle, *, trail: type[AuditLine] = SystemAudit) -> Iterator[str]:
    """The projects that have lines: each was registered before its first one."""
    for known in store.find(AuditedProject.of_trail(trail=label(trail))):
        yield known.project_id


def checkpoint(store: StoreHandle, *, by: str, trails: Sequence[type[AuditLine]] = (SystemAudit,)) -> Checkpoint | None:
    """Name every trail that was registered or sealed since the last checkpoint; the newest one that was written.

    None, and nothing is written, when there is nothing new, or when another was faster.
    """
    # Read before the register: whoever names a trail meanwhile takes the number that is next here.
    last = store.first(Checkpoint.chain().reversed())
    newest = None
    new = (known for trail in trails for known in store.find(AuditedProject.of_trail(trail=label(trail))))
    unlisted = (known for known in new if known.unlisted)
    while part := list(islice(unlisted, _HEADS)):
        made = _checkpointed(store, last, part, by)
        if made is None:
            break
        last = newest = made
    return newest


def _checkpointed(
    store: StoreHandle, last: Checkpoint | None, part: Sequence[AuditedProject], by: str
) -> Checkpoint | None:
    """One checkpoint that names these trails, which are marked as named in the same commit."""
    made = Checkpoint(
        number=last.number + 1 if last else 1,
        previous=last.digest if last else "",
        made_at=store.clock.now(),
        made_by=by,
        heads=[
            Head(trail=k.trail, project_id=k.project_id, former=k.listed, number=k.number, digest=k.digest)
            for k in part
        ],
    )
    made.digest = made.computed()
    try:
        store.commit([put(made, when=Missing()), *(_listed(known, made) for known in part)])
    except Conflict:
        return None
    return made


def _listed(known: AuditedProject, made: Checkpoint) -> Write:
    marks = Set("listed", known.number), Set("checkpoint", made.number)
    return patch(known.ref, *marks, when=unchanged(known, ("listed",)))


def _readable_projects(store: StoreHandle, trail: type[AuditLine], damages: list[PenstockError]) -> Iterator[str]:
    """The registered projects; where the register cannot be read, those that have seals."""
    for names in (projects(store, trail=trail), sealed_projects(store, trail)):
        try:
            yield from names
        except FORGED as damage:
            damages.append(damage)
        else:
            return


def _head(
    store: StoreHandle, project: str, trail: type[AuditLine], known: AuditedProject | None
) -> Seal | AuditedProject | None:
    """The newest seal there was, even if it has been removed: its number is never used again, so the gap stays."""
    last = store.first(Seal.of_trail(project_id=project, trail=label(trail)).reversed())
    return known if known is not None and known.number > (last.number if last else 0) else last


def _written(store: StoreHandle, made: Seal, known: AuditedProject | None) -> bool:
    newest: dict[str, Any] = {"number": made.number, "digest": made.digest, "until": made.until}
    noted: Write
    if known is None:
        noted = put(AuditedProject(project_id=made.project_id, trail=made.trail, **newest), when=Missing())
    else:
        # What a checkpoint has marked meanwhile stays.
        noted = patch(known.ref, *(Set(name, value) for name, value in newest.items()))
    try:
        store.commit([put(made, when=Missing()), noted])
    except Conflict:
        return False
    return True
