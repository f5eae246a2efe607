"""Commit recovery: what to tell the caller of a refused write, and how to recognise one's own.

An answer was lost, the write was sent again, and now it is refused: it must have been applied once, and be reported
truthfully. Either the store remembers a commit's token, or what stands there tells: these are the questions both kinds
of engine ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from penstock.errors import Conflict, OutOfBounds
from penstock.operations.additions import left_bounds, within_bounds
from penstock.operations.conditions import All, Condition, Present, both, describe, fields_of, holds, speaks_of
from penstock.operations.reads import Ref
from penstock.operations.spelling import holds_exactly
from penstock.operations.updates import REPEATABLE, Set
from penstock.operations.writes import Check, Delete, Patch, Put, Write
from penstock.schema.kinds import Kind


def required(write: Write) -> Condition | None:
    """What must hold for the write: its condition, and for a patch that there is a record at all."""
    return both(Present(), write.when) if isinstance(write, Patch) else write.when


def conflict(write: Write, found: Mapping[str, Any] | None, *, position: int) -> Conflict:
    """The refusal in words, without values of fields that are not in the key."""
    ref: Ref[Any] = Ref(write.shape, {n: write.key[n] for n in write.shape.key.fields})
    if isinstance(write, Patch) and found is not None and (words := _beyond_bounds(write, found)):
        return OutOfBounds(f"{ref!r}: {words}", position=position, found=found)
    stands = "no record there" if found is None else "a record for which that does not hold"
    return Conflict(f"{ref!r}: expected {describe(required(write))}; found {stands}", position=position, found=found)


def _beyond_bounds(patch: Patch, found: Mapping[str, Any]) -> str | None:
    """What keeps a patch from being made, if that is nothing but the bounds of a number."""
    kept = within_bounds(patch.shape, patch.updates)
    if not kept or not all(holds(part, found) for part in _parts(patch.when) if part not in kept):
        return None
    return left_bounds(patch.shape, patch.updates, found)


def is_repeatable(write: Write) -> bool:
    """May it be sent again without asking: does twice leave what once leaves, or does it not matter?"""
    return not isinstance(write, Patch) or not write.exact or all(isinstance(u, REPEATABLE) for u in write.updates)


def needs_token(writes: Sequence[Write]) -> bool:
    """Must the store itself remember that this commit was applied?"""
    for write in reversed(writes):  # the audit line comes last
        if isinstance(write, Put) and write.witness:
            return False
    if len(writes) == 1 and isinstance(writes[0], Patch) and writes[0].witness:
        return False
    return len(writes) > 1 or not is_repeatable(writes[0]) or _ends_its_condition(writes[0])


def _ends_its_condition(write: Write) -> bool:
    """Could it be refused for what it has left itself? A move could: so is one who comes second in a race."""
    if type(write) is not Patch or write.when is None:
        return False
    return speaks_of(write.when, [update.field for update in write.updates])


def witness(writes: Sequence[Write]) -> Put | None:
    """A write whose presence proves that the whole commit was applied; the last, as nobody changes an audit line."""
    return next((w for w in reversed(writes) if isinstance(w, Put) and w.witness), None)


def told_by_its_key(write: Put) -> bool:
    """Is it a message? Its id is like no other, and a relay may have marked it before anybody asks."""
    return write.witness and write.shape.wakes


def stands_as_written(write: Write, found: Mapping[str, Any] | None) -> bool:
    """Is what stands there just what the write would have left?"""
    match write:
        case Put(shape, values):
            if told_by_its_key(write):
                return found is not None
            return found is not None and all(
                _plain(write, name, found.get(name)) == values.get(name) for name in shape.fields
            )
        case Delete():
            return found is None
        case Patch() if write.witness:
            return found is not None and all(
                isinstance(u, Set) and found.get(u.field) == u.value for u in write.updates
            )
        case Patch() | Check():
            return False  # nothing of it refuses it, or its token tells


def refuses_itself(patch: Patch, found: Mapping[str, Any]) -> bool:
    """Can a patch that is refused now have been applied: do those parts of its condition hold that it does not touch?

    A lease that passed to another may end in the very second to which its former holder would have prolonged it.
    """
    written = {update.field for update in patch.updates}
    untouched = [part for part in _parts(patch.when) if written.isdisjoint(fields_of(part))]
    return all(holds_exactly(patch.shape, part, found) for part in untouched)


def _parts(condition: Condition | None) -> Iterator[Condition]:
    """The conditions that must hold all of them."""
    if isinstance(condition, All):
        for part in condition.conditions:
            yield from _parts(part)
    elif condition is not None:
        yield condition


def _plain(write: Put, name: str, value: Any) -> Any:
    field = write.shape.fields[name]
    return field.dump(value) if field.kind is Kind.DOCUMENT and field.dump and value is not None else value
