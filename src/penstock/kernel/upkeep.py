"""Upkeep: what the kernel keeps true of records whoever writes them, by whichever path: versions and unique values.

A write that needs to know what stood before, to count a version on or to free a value, reads it. It is made on the
condition that what was read still stands, and made anew when another was quicker. Entities that declare neither pay
nothing for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from penstock.errors import Conflict, DamagedRecord
from penstock.kernel.uniqueness import ClaimMoves, holdings, not_unique, owner_of
from penstock.kernel.version import replaced, with_version
from penstock.operations.commit_recovery import conflict, required
from penstock.operations.conditions import All, Compare, Condition, Missing, Present, both, holds
from penstock.operations.reads import Ref
from penstock.operations.updates import apply
from penstock.operations.validation import check_commit
from penstock.operations.writes import Delete, Patch, Put, Write
from penstock.ports.clock import Clock
from penstock.ports.engine import Engine
from penstock.ports.ids import commit_token
from penstock.schema.shape import EntityShape

_TRIES = 20
"So often a commit is made anew; then others are quicker than it will ever be."
_UNSEEN = 3
"So often a claim may be in the way that cannot be seen: it has been freed meanwhile, or is another project's."

_Values = Mapping[str, Any]


def commit_with_upkeep(engine: Engine, clock: Clock, writes: Sequence[Write], *, project: str | None) -> None:
    """All of the writes or none, with the versions that grow and the values that are claimed and freed by them."""
    upkeep = _Upkeep(engine, clock, writes, project)
    while not upkeep.commit():
        pass


class _Upkeep:
    """One commit, tried until it is made or refused."""

    def __init__(self, engine: Engine, clock: Clock, writes: Sequence[Write], project: str | None) -> None:
        self._engine, self._clock, self._project = engine, clock, project
        self._writes = [_versioned(w) for w in writes]
        self._tries = _TRIES
        self._unseen = _UNSEEN
        self._stale: dict[str, str] = {}
        "The turns of claims that are nobody's any more."
        self._left: set[str] = set()
        "Claims that others have taken before they were freed here."

    def commit(self) -> bool:
        """Try once; False when it is to be tried again."""
        self._tries -= 1
        moves = ClaimMoves()
        settled = self._settled(moves)
        claims = moves.writes(self._stale, self._left)
        sent = [*settled, *(write for write, _ in claims)]
        check_commit(sent)
        try:
            self._engine.commit(sent, now=self._clock.now(), token=commit_token())
        except Conflict as refused:
            at = refused.position
            if at < len(settled):
                self._other_was_quicker(at, settled[at], refused)
            else:
                self._claim_is_taken(*claims[at - len(settled)], moves, refused)
            return False
        return True

    def _settled(self, moves: ClaimMoves) -> list[Write]:
        """The writes as they are sent, what becomes of their claims noted among the moves."""
        wanted = [p for p, w in enumerate(self._writes) if _depends_on_old(w)]
        refs: list[Ref[Any]] = [_ref(self._writes[p]) for p in wanted]
        found = self._engine.get(refs, now=self._clock.now()) if refs else []
        old = {p: None if record is None else record.__dict__ for p, record in zip(wanted, found, strict=True)}
        return [self._settle(p, write, old, moves) for p, write in enumerate(self._writes)]

    def _settle(self, position: int, write: Write, old: Mapping[int, _Values | None], moves: ClaimMoves) -> Write:
        shape = write.shape
        before = old.get(position)
        if isinstance(write, Put) and shape.needs_upkeep:
            write = replace(write, values=replaced(shape, write.values, before))
            self._move(moves, position, write, before, write.values)
        elif isinstance(write, Patch) and _touches_unique(write):
            before = before if position in old else {**write.key, **write.relied}
            if before is not None:  # else it is refused
                self._move(moves, position, write, before, apply(write.updates, dict(before)))
        elif isinstance(write, Delete) and before is not None:
            self._move(moves, position, write, before, None)
        if position in old and not (before is None and isinstance(write, Patch | Delete)):
            return replace(write, when=both(write.when, _as_read(shape, before)))
        return write

    def _move(
        self, moves: ClaimMoves, position: int, write: Write, before: _Values | None, after: _Values | None
    ) -> None:
        shape, project = write.shape, self._project
        if shape.unique:
            held, wanted = holdings(shape, before, project), holdings(shape, after, project)
            # A whole record claims all of its values, also those that it had before they were to be unique.
            moves.move(shape, position, before=held, after=wanted, anew=isinstance(write, Put))

    # Refusals

    def _other_was_quicker(self, at: int, sent: Write, refused: Conflict) -> None:
        """Raise the refusal, unless only what was read for the upkeep does not stand any more."""
        write = self._writes[at]
        if sent.when is write.when or not holds(required(write), refused.found) or not self._tries:
            raise conflict(write, refused.found, position=at) from None

    def _claim_is_taken(self, claim: Write, position: int, moves: ClaimMoves, refused: Conflict) -> None:
        """Raise that the value is not unique, unless the claim to it is nobody's or need not be freed."""
        name = claim.key["claim"]
        if isinstance(claim, Delete):
            self._left.add(name)
            return
        holding, shape = moves.taken_for(name)
        if refused.found is None:
            self._unseen -= 1
        elif not self._is_held(shape, name, refused.found):
            self._stale[name] = refused.found["turn"]
            self._unseen = _UNSEEN
        else:
            self._unseen = 0
        if not self._unseen or not self._tries:
            raise not_unique(shape, holding, position) from None

    def _is_held(self, shape: EntityShape, claim: str, found: _Values) -> bool:
        """Has the record that a claim names the value?"""
        try:
            owner = self._engine.get([owner_of(shape, found)], now=self._clock.now())[0]
        except ValueError:
            return False  # no record of this entity can have such a key
        except DamagedRecord:
            return True  # who can tell
        return owner is not None and claim in holdings(shape, owner.__dict__, self._project)


def _versioned(write: Write) -> Write:
    if isinstance(write, Patch) and write.shape.version is not None:
        return replace(write, updates=with_version(write.shape, write.updates))
    return write


def _depends_on_old(write: Write) -> bool:
    """Must it be known what stands before it?"""
    match write:
        case Put(shape, _, when):
            return shape.needs_upkeep and when != Missing()
        case Patch(shape):
            return _touches_unique(write) and not _others(shape) <= set(write.relied)
        case Delete(shape):
            return bool(shape.unique)
    return False


def _touches_unique(patch: Patch) -> bool:
    return not patch.shape.claimed_by.isdisjoint([u.field for u in patch.updates])


def _others(shape: EntityShape) -> frozenset[str]:
    """The fields beside those of the key that a record's claims are made of."""
    return shape.claimed_by - set(shape.key.fields)


def _as_read(shape: EntityShape, values: _Values | None) -> Condition:
    """That what a record's upkeep rests on still stands as it was read."""
    if values is None:
        return Missing()
    names: Iterable[str] = sorted(_others(shape) | ({shape.version} if shape.version else set()))
    parts = [Missing(n) if values[n] is None else Compare(n, "=", values[n]) for n in names]
    return All((Present(), *parts))


def _ref(write: Write) -> Ref[Any]:
    return Ref(write.shape, {n: write.key[n] for n in write.shape.key.fields})
