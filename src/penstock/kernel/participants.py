"""Participants: what takes part in a commit beside the records that it is about.

A lease's fence, the end of a claim, messages, an audit line, what is taken of quotas: each adds its writes, and each
knows what it means when one of them is refused. A commit is made anew as long as one of them asks for that, and fails
with the error that one of them raises, or else with the refusal itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from penstock.errors import Conflict, NotUnique
from penstock.kernel.handle import StoreHandle
from penstock.operations.writes import Write

_TRIES = 20
"So often a commit is made anew; then others are quicker than it will ever be."


class Participant(Protocol):
    """Something that takes part in a commit."""

    def join(self, store: StoreHandle, writes: list[Write]) -> list[Write]:
        """The writes of the commit, with what it adds to them; asked anew each time the commit is tried."""
        ...

    def was_refused(self, write: Write, refused: Conflict) -> bool:
        """Is the commit to be tried again, because the write that was refused is its own? Else it raises its own
        error for such a write, and lets those of others pass."""
        ...


def joined(store: StoreHandle, writes: list[Write], participants: Sequence[Participant]) -> list[Write]:
    """All that is to be committed."""
    for participant in participants:
        writes = participant.join(store, writes)
    return writes


def commit(store: StoreHandle, writes: list[Write], participants: Sequence[Participant]) -> None:
    """Make the writes true, together with what the participants add."""
    for tries_left in range(_TRIES, 0, -1):
        sent = writes
        for participant in participants:  # as `joined` does; every change comes by here
            sent = participant.join(store, sent)
        if not sent:
            return
        try:
            return store.commit(sent)
        except NotUnique:
            raise  # whatever they add is made for the same value again
        except Conflict as refused:
            met = sent[refused.position]
            if not any(p.was_refused(met, refused) for p in participants) or tries_left == 1:
                raise
