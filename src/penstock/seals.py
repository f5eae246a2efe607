"""Seals: what was written in an audit trail stays written, or it shows.

Each line of a trail carries its own hash. From time to time a seal covers all lines since the one before, in order, and
chains to it. Nobody waits for anybody: a change only adds its line, and of two sealers one wins.

A seal leaves out the newest lines, those younger than a margin. A line is dated by the clock of whoever wrote it and
becomes visible a little later, so the margin must be longer than clocks differ and than a commit takes; a line that
arrives later still, dated before a seal, looks like one that was inserted.

What seals cannot show: anything about lines that no seal covers yet, and a forgery by somebody who may write to the
store and computes the lines' hashes and all later seals anew. Against that, keep the digest of a seal elsewhere (it is
printed by `penstock audit verify`) and hand it to `verify` as ``expect``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge

from penstock.audit import AuditLine, SystemAudit
from penstock.clock import SKEW
from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.pattern import pattern
from penstock.declare.units import Count, UtcMicros
from penstock.errors import Conflict, DamagedRecord, InvalidValue
from penstock.kinds import instant_text
from penstock.ops import Range
from penstock.shape import KEPT, Rights
from penstock.system import SYSTEM

if TYPE_CHECKING:
    from penstock.store import Store

MARGIN = 2 * SKEW


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

    # A domain may keep its own kind of audit line, so one project may have several trails, each with its own chain.
    @key("PROJECT#{project_id}", "SEAL#{trail}#{number:010d}")
    def at(self, *, project_id: str, trail: str, number: int) -> None: ...

    @pattern(at)
    def of_trail(self, *, project_id: str, trail: str) -> None:
        """The seals of a project's trail, in order."""


class AuditedProject(Entity, table=SYSTEM, relation="audited_projects"):
    """The newest seal of a project's trail, zero before the first.

    It is how `verify` knows the projects, and it shows when the newest seal is removed. A process registers a project
    before the first line it writes there, and never again, so it costs the other changes nothing.
    """

    __rights__ = KEPT

    project_id: str
    trail: str
    number: Count = 0
    digest: str = ""
    until: UtcMicros | None = None

    @key("AUDITED#{trail}", "PROJECT#{project_id}")
    def at(self, *, trail: str, project_id: str) -> None: ...

    @pattern(at)
    def of_trail(self, *, trail: str) -> None:
        """The projects whose trail is sealed."""


# Sealing


def seal(
    store: Store,
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
    head = _head(store, project, trail)
    made = Seal(
        project_id=project,
        trail=_name(trail),
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
    digest = _Digest(made)
    for line in _lines(store, trail, project, _span(made)):
        digest.add(line)
    if not digest.count:
        return None
    made.count, made.digest = digest.count, digest.end()
    return made if _written(store, made) else None


def register(store: Store, project: str, *, trail: type[AuditLine] = SystemAudit) -> None:
    """Let a project be sealed and verified with the others from now on; its first change does so by itself."""
    known = AuditedProject(project_id=project, trail=_name(trail))
    if store.lookup(known.ref) is None:
        with suppress(Conflict):
            store.create(known)


def seal_known(
    store: Store, *, by: str, margin: timedelta = MARGIN, trails: Sequence[type[AuditLine]] = (SystemAudit,)
) -> Iterator[Seal]:
    """Seal every project that has lines, as far as they are old enough; the seals that were written.

    A trail that cannot be read keeps no other from being sealed; its error is raised at the end.
    """
    damages: list[DamagedRecord] = []
    for trail in trails:
        for project in projects(store, trail=trail):
            try:
                made = seal(store, project, by=by, margin=margin, trail=trail)
            except DamagedRecord as damage:
                damages.append(damage)
                continue
            if made is not None:
                yield made
    if damages:
        raise damages[0]


def projects(store: Store, *, trail: type[AuditLine] = SystemAudit) -> Iterator[str]:
    """The projects that have lines: each was registered before its first one."""
    for known in store.find(AuditedProject.of_trail(trail=_name(trail))):
        yield known.project_id


def _head(store: Store, project: str, trail: type[AuditLine]) -> Seal | AuditedProject | None:
    """The newest seal there was, even if it has been removed: its number is never used again, so the gap stays."""
    # The register is read first: a seal written in between is then found below, and not taken for a removed one.
    known = store.lookup(AuditedProject.at(trail=_name(trail), project_id=project))
    last = store.first(Seal.of_trail(project_id=project, trail=_name(trail)).reversed())
    return known if known is not None and known.number > (last.number if last else 0) else last


def _written(store: Store, made: Seal) -> bool:
    register = AuditedProject(
        project_id=made.project_id, trail=made.trail, number=made.number, digest=made.digest, until=made.until
    )
    try:
        with store.change() as change:
            change.create(made)
            change.put(register)
    except Conflict:
        return False
    return True


class _Digest:
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


# Verifying


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it was written."""

    kind: str
    """One word for programs. Of a line: altered, unhashed, unreadable. Of a seal's lines: missing, added, changed. Of
    the seals: seal-missing, chain, register, expected."""
    where: str
    explanation: str


@dataclass(slots=True)
class Verdict:
    """What was found in a project's trail, and what could not be looked at."""

    project: str
    trail: str
    seals: int = 0
    sealed: int = 0
    "Lines that a seal covers."
    unsealed: int = 0
    "The newest lines, which no seal covers yet."
    until: datetime | None = None
    "Up to where the newest seal vouches."
    digest: str = ""
    "Of the newest seal; keep it elsewhere, and a forgery of everything shows as well."
    expected: bool | None = None
    "Whether a seal has the digest that was kept elsewhere; None when none was given."
    findings: list[Finding] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        return not self.findings

    @property
    def cannot_show(self) -> list[str]:
        """What this verdict does not say, in sentences."""
        which = f"after {instant_text(self.until, 6)}" if self.until else "of this trail"
        return [
            f"No seal covers the {_lines_in_words(self.unsealed)} {which} yet: one removed or added among them, or "
            f"newer, would not show.",
            "Somebody who can write to the store and computes all hashes and later seals anew is found out only by a "
            "digest that was kept elsewhere.",
        ]

    def found(self, kind: str, where: str, explanation: str) -> None:
        self.findings.append(Finding(kind, where, explanation))


def verify(store: Store, project: str, *, trail: type[AuditLine] = SystemAudit, expect: str | None = None) -> Verdict:
    """Compute every hash and every seal of a project's trail anew, and tell what does not fit.

    ``expect`` is the digest of one of its seals, kept elsewhere since an earlier verification.
    """
    verdict = Verdict(project, _name(trail))
    # Read before the seals, so that one written meanwhile is not missed.
    known = store.lookup(AuditedProject.at(trail=verdict.trail, project_id=project))
    former: Seal | None = None
    verdict.expected = None if expect is None else False
    try:
        for found in store.find(Seal.of_trail(project_id=project, trail=verdict.trail)):
            _verify_chain(verdict, former, found)
            _verify_span(store, trail, verdict, found)
            if found.digest == expect:
                verdict.expected = True
            former = found
    except DamagedRecord as damage:
        verdict.found("unreadable", "the seals", f"A seal cannot be read, so later ones were not looked at: {damage}")
    _verify_register(store, verdict, former, known)
    if verdict.expected is False:
        verdict.found("expected", f"digest {expect}", "No seal has the digest you kept: the seals were written anew.")
    _verify_tail(store, trail, verdict, former)
    return verdict


def _verify_chain(verdict: Verdict, former: Seal | None, found: Seal) -> None:
    number = former.number if former else 0
    verdict.seals += 1
    if found.number != number + 1:
        gone = f"seal {number + 1}" if found.number == number + 2 else f"seals {number + 1} to {found.number - 1}"
        before = former.until if former else None
        verdict.found(
            "seal-missing",
            gone,
            f"Removed; nothing vouches for the lines {_in_words(before, found.since)}.",
        )
        return
    if found.previous != (former.digest if former else "") or found.since != (former.until if former else None):
        verdict.found("chain", _where(found), "Does not continue the seal before it: one of the two was changed.")


def _verify_span(store: Store, trail: type[AuditLine], verdict: Verdict, found: Seal) -> None:
    digest = _Digest(found)
    try:
        for line in _lines(store, trail, found.project_id, _span(found)):
            _verify_line(verdict, line)
            digest.add(line)
    except DamagedRecord as damage:
        verdict.found("unreadable", _where(found), f"A line cannot be read, so the seal was not computed: {damage}")
        return
    verdict.sealed += digest.count
    if digest.count < found.count:
        missing = _lines_in_words(found.count - digest.count)
        verdict.found("missing", _where(found), f"{missing} of {found.count} removed since it was sealed.")
    elif digest.count > found.count:
        added = _lines_in_words(digest.count - found.count)
        verdict.found(
            "added",
            _where(found),
            f"{added} beyond the {found.count} that were sealed: inserted later, or written with a clock that "
            f"was further behind than the margin of the seal.",
        )
    elif digest.end() != found.digest:
        verdict.found(
            "changed", _where(found), "As many lines as were sealed, but not the same, or the seal was changed."
        )


def _verify_line(verdict: Verdict, line: AuditLine) -> None:
    where = f"line of {line.actor} at {instant_text(line.ts, 6)}"
    if line.hash is None:
        verdict.found("unhashed", where, "Carries no hash: written by something else, or the hash was removed.")
    elif line.hash != line.sealed():
        verdict.found("altered", where, f"Says {line.action!r}, which is not what was written: its hash does not fit.")


def _verify_register(store: Store, verdict: Verdict, last: Seal | None, known: AuditedProject | None) -> None:
    """The register knows the newest seal, so that it cannot be removed unnoticed."""
    number = last.number if last else 0
    if last is not None and (known is None or known.number < number):
        # A seal may have been written after the register was read; it wrote the register as well.
        known = store.lookup(AuditedProject.at(trail=verdict.trail, project_id=verdict.project))
        if known is None or known.number < number:
            verdict.found("register", "the register of audited projects", "Does not know the newest seal: changed.")
    elif known is not None and number < known.number:
        gone = f"seal {known.number}" if known.number == number + 1 else f"seals {number + 1} to {known.number}"
        verdict.found("seal-missing", gone, "The newest, removed; nothing vouches for its lines.")
    elif last is not None and known is not None and last.digest != known.digest:
        verdict.found("register", _where(last), "The register knows another digest: one of the two was changed.")


def _verify_tail(store: Store, trail: type[AuditLine], verdict: Verdict, last: Seal | None) -> None:
    if last is not None:
        verdict.until, verdict.digest = last.until, last.digest
    tail: Range[datetime] = Range(low=verdict.until, open_low=True) if verdict.until else Range()
    try:
        for line in _lines(store, trail, verdict.project, tail):
            _verify_line(verdict, line)
            verdict.unsealed += 1
    except DamagedRecord as damage:
        verdict.found("unreadable", "the lines after the newest seal", f"Counted only up to one that is not: {damage}")


# Lines


def _name(trail: type[AuditLine]) -> str:
    return trail.__shape__.label


def _span(seal: Seal) -> Range[datetime]:
    return Range(low=seal.since, high=seal.until, open_low=seal.since is not None)


def _lines(store: Store, trail: Any, project: str, span: Range[datetime]) -> Iterator[AuditLine]:
    """The lines of a project in order, page by page."""
    yield from store.find(trail.of_project(project_id=project, ts=span))


def _where(seal: Seal) -> str:
    return f"seal {seal.number}, lines {_in_words(seal.since, seal.until)}"


def _in_words(since: datetime | None, until: datetime | None) -> str:
    after = f"after {instant_text(since, 6)}" if since else ""
    up_to = f"until {instant_text(until, 6)}" if until else ""
    return " ".join(w for w in (after, up_to) if w) or "of any time"


def _lines_in_words(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"
