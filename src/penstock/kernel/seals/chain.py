"""The chain of checkpoints, read and verified: what it says of each trail, and whether it is the one that was kept.

What is held in memory grows with the number of trails, not with that of seals: of the seals that the checkpoints name,
one after the other, only a hash is kept, and the trail's own seals are hashed the same way to compare.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from penstock.kernel.handle import StoreHandle
from penstock.kernel.seals.checkpoint import Checkpoint, Head, Kept
from penstock.kernel.seals.verdict import Judgement
from penstock.operations.reads import Unreadable
from penstock.schema.kinds import instant_text


@dataclass(slots=True)
class Named:
    """What the checkpoints say of one trail: which seals it had."""

    checkpoint: int = 0
    "The newest that names it."
    number: int = 0
    "The newest seal that is named."
    told: str = ""
    "The hash of all seals that are named."
    skipped: list[tuple[int, int]] = field(default_factory=list)
    "First and last of the seals that no checkpoint names, as several were written between two of them."

    def name(self, head: Head, checkpoint: int) -> None:
        """The next checkpoint that names the trail."""
        if head.number > self.number + 1:
            self.skipped.append((self.number + 1, head.number - 1))
        if head.number:
            self.told = tell(self.told, head.number, head.digest)
        self.checkpoint, self.number = checkpoint, head.number


def tell(told: str, number: int, digest: str) -> str:
    """The hash of seals that were named before, and of one more."""
    return hashlib.sha256(f"{told}\n{number}\n{digest}".encode()).hexdigest()


@dataclass(slots=True)
class Chain(Judgement):
    """All checkpoints: what they name, what is wrong with them, and whether they are those that a kept digest is of."""

    count: int = 0
    newest: Kept | None = None
    proved: Kept | None = None
    "The newest digest of those that were kept elsewhere which is still that of its checkpoint."
    proved_at: datetime | None = None
    readable: bool = True
    named: dict[tuple[str, str], Named] = field(default_factory=dict)
    "By trail and project."
    unlooked: list[str] = field(default_factory=list)
    "Trails that are named, but of domains that are not installed here."

    @property
    def cannot_show(self) -> list[str]:
        """What verifying does not say of all trails, in sentences."""
        if self.newest is None:
            said = [
                "There is no checkpoint: nothing was sealed since Penstock writes them, or all were removed. A trail "
                "that was removed whole would not show. Run: penstock audit seal"
            ]
        elif self.proved_at and self.sound:
            said = [
                f"The digest you kept vouches for what was sealed until {instant_text(self.proved_at, 6)}; what came "
                f"after can have been computed anew."
            ]
        else:
            said = [
                "Somebody who can write to the store and computes all hashes, seals and checkpoints anew is found out "
                "only by a digest that was kept elsewhere."
            ]
        for trail in self.unlooked:
            said.append(f"The lines of {trail} were not looked at: its domain is not installed here.")
        return said

    def of(self, trail: str, project: str) -> Named | None:
        """What is said of one trail; None where it is never named."""
        return self.named.get((trail, project))


def read_chain(store: StoreHandle, *, expect: Collection[Kept] = ()) -> Chain:
    """Compute the digest of every checkpoint anew, and tell what does not fit.

    ``expect`` are digests that were kept elsewhere: each vouches for all that its checkpoint and those before it name.
    """
    chain, fitting = Chain(), set()
    former: Checkpoint | None = None
    unreadable: list[Unreadable] = []
    for found in store.find(Checkpoint.chain(), unreadable=unreadable):
        if unreadable and found.number != (former.number if former else 0) + 1:
            break  # of what comes behind one that cannot be read it is not known whether it continues it
        computed = found.computed()
        _verify_link(chain, former, found, computed)
        for head in found.heads:
            _take(chain, head, found.number)
        chain.count, chain.newest = chain.count + 1, found.kept
        kept = Kept(found.number, computed)
        if kept in expect:
            fitting.add(kept)
            chain.proved, chain.proved_at = kept, found.made_at
        former = found
    if unreadable:
        chain.readable = False
        why = f"One cannot be read, so later ones were not looked at: {unreadable[0]}"
        chain.found("unreadable", "the checkpoints", why)
    for missed in sorted(set(expect) - fitting, key=str):
        _miss(chain, missed)
    return chain


def _verify_link(chain: Chain, former: Checkpoint | None, found: Checkpoint, computed: str) -> None:
    number = former.number if former else 0
    where = f"checkpoint {found.number}"
    if found.number != number + 1:
        between = number + 1, found.number - 1
        gone = f"checkpoint {between[0]}" if between[0] == between[1] else f"checkpoints {between[0]} to {between[1]}"
        chain.found("checkpoint-missing", gone, "Removed; what it named is vouched for by seals and register alone.")
    elif found.previous != (former.digest if former else ""):
        chain.found("checkpoint", where, "Does not continue the one before it: one of the two was changed.")
    if computed != found.digest:
        chain.found("checkpoint", where, "Its digest does not fit what it says: it was changed.")
    if not found.heads:
        chain.found("checkpoint", where, "Names no trail, so nobody had a reason to write it: it was inserted.")


def _take(chain: Chain, head: Head, checkpoint: int) -> None:
    known = chain.named.setdefault((head.trail, head.project_id), Named())
    is_first = known.checkpoint == 0
    continues = head.former is None or (not is_first and head.former == known.number)
    if continues and (is_first or head.number > known.number):
        known.name(head, checkpoint)
        return
    before = "no checkpoint named it before" if is_first else f"checkpoint {known.checkpoint} named seal {known.number}"
    chain.found(
        "checkpoint",
        f"checkpoint {checkpoint}, {head.project_id} ({head.trail})",
        f"Names seal {head.number} after {_seal_in_words(head.former)}, but {before}: a checkpoint was removed or "
        f"changed, or the trail was begun anew.",
    )


def _seal_in_words(number: int | None) -> str:
    return "none" if number is None else f"seal {number}"


def _miss(chain: Chain, kept: Kept) -> None:
    newest = chain.newest.number if chain.newest else 0
    if kept.number > newest:
        why = f"There is no checkpoint {kept.number} any more: it was removed, or this is another store."
    else:
        why = f"Checkpoint {kept.number} is not the one whose digest you kept: it, or one before it, was written anew."
    chain.found("expected", f"digest {kept}", why)
