"""Verifying: every hash, seal and checkpoint is computed anew, and what does not fit is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from penstock.errors import DamagedRecord, InvalidValue
from penstock.kernel.audit import AuditLine, SystemAudit
from penstock.kernel.audit_register import AuditedProject, label
from penstock.kernel.handle import StoreHandle
from penstock.kernel.seals.archived_lines import ArchivedLines, sealed_lines
from penstock.kernel.seals.chain import Chain, Named, tell
from penstock.kernel.seals.checkpoint import Checkpoint
from penstock.kernel.seals.seal import FORGED, Seal, SealDigest, lines, sealed_projects
from penstock.kernel.seals.sealing import projects
from penstock.kernel.seals.verdict import Verdict, lines_in_words
from penstock.operations.reads import Range, Unreadable
from penstock.schema.kinds import instant_text


def verify_all(
    store: StoreHandle, chain: Chain, *, trails: Sequence[type[AuditLine]], archive: ArchivedLines | None = None
) -> Iterator[Verdict]:
    """Verify every trail that the register, a seal or a checkpoint knows; read the ``chain`` of checkpoints first.

    What cannot be read of register and seals is told as a finding of the chain. Lines that were moved to the
    ``archive`` are read from there.
    """
    labels = {label(trail) for trail in trails}
    chain.unlooked = sorted({trail for trail, _ in chain.named} - labels)
    for trail in trails:
        names = {project for of, project in chain.named if of == label(trail)}
        names |= set(_told(chain, "the register", projects(store, trail=trail)))
        names |= set(_told(chain, "the seals", sealed_projects(store, trail)))
        for name in sorted(names):
            yield _verify_any(store, name, trail, chain, archive)


def verify(
    store: StoreHandle,
    project: str,
    *,
    trail: type[AuditLine] = SystemAudit,
    expect: str | None = None,
    chain: Chain | None = None,
    archive: ArchivedLines | None = None,
) -> Verdict:
    """Compute every hash and every seal of a project's trail anew, and tell what does not fit.

    ``expect`` is the digest of one of its seals, kept elsewhere since an earlier verification. With the ``chain`` of
    checkpoints the trail must also be the one that they name. Lines that were moved to the ``archive`` are read from
    there; Unavailable if there are some, and it cannot be reached.
    """
    verdict = Verdict(project, label(trail))
    # Read before the seals, so that one written meanwhile is not missed.
    register = _Register(store, verdict)
    named = chain.of(verdict.trail, project) if chain is not None else None
    retold = _Retold(verdict, named or Named())
    former: Seal | None = None
    verdict.expected = None if expect is None else False
    unreadable: list[Unreadable] = []
    for found in store.find(Seal.of_trail(project_id=project, trail=verdict.trail), unreadable=unreadable):
        if unreadable and found.number != (former.number if former else 0) + 1:
            break  # of what comes behind one that cannot be read it is not known whether it continues it
        _verify_chain(verdict, former, found)
        _verify_span(store, trail, verdict, found, archive)
        retold.add(found)
        if found.digest == expect:
            verdict.expected = True
        former = found
    if unreadable:
        why = f"A seal cannot be read, so later ones were not looked at: {unreadable[0]}"
        verdict.found("unreadable", "the seals", why)
    register.verify(former)
    if chain is not None:
        verdict.checkpoint = named.checkpoint if named else 0
        _verify_named(store, verdict, chain, named, register, former)
    if verdict.expected is False:
        verdict.found("expected", f"digest {expect}", "No seal has the digest you kept: the seals were written anew.")
    _verify_tail(store, trail, verdict, former)
    return verdict


def _verify_any(
    store: StoreHandle, name: str, trail: type[AuditLine], chain: Chain, archive: ArchivedLines | None
) -> Verdict:
    try:
        return verify(store, name, trail=trail, chain=chain, archive=archive)
    except FORGED as refused:
        verdict = Verdict(name, label(trail), checkpoint=0)
        verdict.found("unreadable", "the name of the project", f"No project can have it, so it was forged: {refused}")
        return verdict


def _told(chain: Chain, what: str, names: Iterator[str]) -> Iterator[str]:
    try:
        yield from names
    except FORGED as damage:
        chain.found("unreadable", what, f"A record cannot be read, so others may not have been looked at: {damage}")


# Seals


def _verify_chain(verdict: Verdict, former: Seal | None, found: Seal) -> None:
    number = former.number if former else 0
    verdict.seals += 1
    if found.number != number + 1:
        before = former.until if former else None
        verdict.found(
            "seal-missing",
            _seals_in_words(number + 1, found.number - 1),
            f"Removed; nothing vouches for the lines {_in_words(before, found.since)}.",
        )
        return
    if found.previous != (former.digest if former else "") or found.since != (former.until if former else None):
        verdict.found("chain", _where(found), "Does not continue the seal before it: one of the two was changed.")


def _verify_span(
    store: StoreHandle, trail: type[AuditLine], verdict: Verdict, found: Seal, archive: ArchivedLines | None
) -> None:
    digest = SealDigest(found)

    def tell_added(line: AuditLine) -> None:
        why = "Stands in the store, where the lines of its time were moved to the archive: inserted, or changed."
        verdict.found("added", _line_in_words(line), why)

    try:
        for line in sealed_lines(store, trail, found, archive, tell_added):
            _verify_line(verdict, line)
            digest.add(line)
    except DamagedRecord as damage:
        kind = "unreadable" if found.archived is None else "archive"
        verdict.found(kind, _where(found), f"A line cannot be read, so the seal was not computed: {damage}")
        return
    verdict.sealed += digest.count
    verdict.archived += 0 if found.archived is None else digest.count
    if digest.count < found.count:
        missing = lines_in_words(found.count - digest.count)
        verdict.found("missing", _where(found), f"{missing} of {found.count} removed since it was sealed.")
    elif digest.count > found.count:
        added = lines_in_words(digest.count - found.count)
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
    where = _line_in_words(line)
    if line.hash is None:
        verdict.found("unhashed", where, "Carries no hash: written by something else, or the hash was removed.")
    elif not fits(line):
        verdict.found("altered", where, f"Says {line.action!r}, which is not what was written: its hash does not fit.")


def fits(line: AuditLine) -> bool:
    """Does a line say what its hash is of?"""
    try:
        return line.hash == line.sealed()
    except (InvalidValue, RecursionError):  # a forger is not bound to what a line can hold
        return False


def _verify_tail(store: StoreHandle, trail: type[AuditLine], verdict: Verdict, last: Seal | None) -> None:
    if last is not None:
        verdict.until, verdict.digest = last.until, last.digest
    tail: Range[datetime] = Range(low=verdict.until, open_low=True) if verdict.until else Range()
    try:
        for line in lines(store, trail, verdict.project, tail):
            _verify_line(verdict, line)
            verdict.unsealed += 1
    except DamagedRecord as damage:
        verdict.found(
            "unreadable", "the lines after the newest seal", f"Only those are counted that can be read: {damage}"
        )


# The register


class _Register:
    """What the register says of a trail. It knows the newest seal, so that this cannot be removed unnoticed."""

    def __init__(self, store: StoreHandle, verdict: Verdict) -> None:
        self._store, self._verdict = store, verdict
        self.readable = True
        self.known = self._look()

    def _look(self) -> AuditedProject | None:
        verdict = self._verdict
        try:
            return self._store.lookup(AuditedProject.at(trail=verdict.trail, project_id=verdict.project))
        except DamagedRecord as damage:
            self.readable = False
            verdict.found("unreadable", "the register of audited projects", f"Its row cannot be read: {damage}")
            return None

    def verify(self, last: Seal | None) -> None:
        verdict, known, number = self._verdict, self.known, last.number if last else 0
        if not self.readable:
            return
        if last is not None and (known is None or known.number < number):
            # A seal may have been written after the register was read; it wrote the register as well.
            self.known = known = self._look()
            if self.readable and (known is None or known.number < number):
                self.differs("Does not know the newest seal: changed.")
        elif known is not None and number < known.number:
            gone = _seals_in_words(number + 1, known.number)
            verdict.found("seal-missing", gone, "The newest, removed; nothing vouches for its lines.")
        elif known is not None and (known.digest, known.until) != ((last.digest, last.until) if last else ("", None)):
            self.differs("Knows another digest or another end of the newest seal: one of the two was changed.")

    def differs(self, why: str) -> None:
        self._verdict.found("register", "the register of audited projects", why)


# Checkpoints


class _Retold:
    """Compares the seals of a trail, as they come, with those that checkpoints name."""

    def __init__(self, verdict: Verdict, named: Named) -> None:
        self._verdict, self._named = verdict, named
        self._skipped = iter(named.skipped)
        self._gap = next(self._skipped, None)
        self._told = ""

    def add(self, seal: Seal) -> None:
        named, number = self._named, seal.number
        while self._gap is not None and self._gap[1] < number:
            self._gap = next(self._skipped, None)
        if number > named.number or (self._gap is not None and self._gap[0] <= number):
            return
        self._told = tell(self._told, number, seal.digest)
        if number == named.number and self._told != named.told:
            why = f"Not the seals that the checkpoints name: the trail, or one of them up to {named.checkpoint}, was "
            self._verdict.found("checkpoint", f"seals up to {number}", f"{why}written anew.")


def _verify_named(
    store: StoreHandle,
    verdict: Verdict,
    chain: Chain,
    named: Named | None,
    register: _Register,
    last: Seal | None,
) -> None:
    """The register must say what the checkpoints say of it, and every seal that they name must be there."""
    known, number = register.known, last.number if last else 0
    if named is not None and known is None and last is None and register.readable:
        register.differs(f"The project was removed from it; checkpoint {named.checkpoint} names it.")
    if named is not None and number < named.number and (known is None or known.number < named.number):
        gone = _seals_in_words(number + 1, named.number)
        verdict.found("seal-missing", gone, f"Removed; checkpoint {named.checkpoint} names the newest of them.")
    if known is None or not chain.readable:
        return
    marked = (known.checkpoint, known.listed)
    if marked == ((named.checkpoint, named.number) if named else (None, None)) or _is_newer(store, chain, known):
        return
    if (known.checkpoint or 0) > (chain.newest.number if chain.newest else 0):
        why = "The register was last named by it; it was removed, or the register was changed."
        verdict.found("checkpoint-missing", f"checkpoint {known.checkpoint}", why)
        return
    said = f"checkpoint {named.checkpoint} named seal {named.number} of it" if named else "no checkpoint names it"
    why = "changed, or removed and put back, or written by a Penstock that knows no checkpoints (then seal once more)."
    register.differs(f"Is not marked as it should be, as {said}: {why}")


def _is_newer(store: StoreHandle, chain: Chain, known: AuditedProject) -> bool:
    """Was the row marked by a checkpoint that was written after the chain had been read?"""
    newest = chain.newest.number if chain.newest else 0
    if known.checkpoint is None or known.checkpoint <= newest:
        return False
    try:
        found = store.lookup(Checkpoint.at(number=known.checkpoint))
    except DamagedRecord:
        return False
    return found is not None and any(
        (h.trail, h.project_id, h.number) == (known.trail, known.project_id, known.listed) for h in found.heads
    )


# Words


def _line_in_words(line: AuditLine) -> str:
    return f"line of {line.actor} at {instant_text(line.ts, 6)}"


def _where(seal: Seal) -> str:
    return f"seal {seal.number}, lines {_in_words(seal.since, seal.until)}"


def _seals_in_words(first: int, last: int) -> str:
    return f"seal {first}" if first == last else f"seals {first} to {last}"


def _in_words(since: datetime | None, until: datetime | None) -> str:
    after = f"after {instant_text(since, 6)}" if since else ""
    up_to = f"until {instant_text(until, 6)}" if until else ""
    return " ".join(w for w in (after, up_to) if w) or "of any time"
