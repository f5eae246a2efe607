"""What a relay knows of things about which a message is dead: whatever else is to be told of them waits.

Somebody decides: the dead message is sent again or dismissed, here or by any other process. A relay hears of it when
one about the same thing is pending again, and looks now and then by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from penstock.kernel.batch import BatchRefused
from penstock.kernel.held_message import HeldMessage
from penstock.kernel.idempotency import once_key
from penstock.kernel.outbox import Message, MessageStatus
from penstock.kernel.store import Store
from penstock.operations.reads import Ref

_LOOK = 10.0
"Seconds between looks at what somebody may have decided."
_LOOKED_AT = 100
_AT_ONCE = 40
"Messages of one commit, each of which takes two writes."


class HeldBack:
    """The things of one outbox about which nothing is told just now."""

    def __init__(self, store: Store, outbox: type[Message]) -> None:
        self._store, self._outbox = store, outbox
        self._dead: dict[str, dict[str, Ref[Any]]] = {}
        "Dead messages, by what they are about, and by their ids."
        self._epoch: int | None = None
        self._looked = store.clock.monotonic()

    def begin(self, epoch: int) -> None:
        """Learn what is dead, once for each time on duty: nobody else buries meanwhile."""
        if self._epoch == epoch:
            return
        self._dead = {}
        for message in self._store.find(self._outbox.by_status(status=MessageStatus.DEAD)):  # type: ignore[attr-defined]
            self.note(message)
        # One who died may have decided, and let nobody go on.
        for thing in held_things(self._store, self._outbox):
            if thing not in self._dead:
                let_go_on(self._store, self._outbox, thing)
        self._epoch = epoch

    def note(self, message: Message) -> None:
        """A message is dead."""
        self._dead.setdefault(message.aggregate, {})[message.event_id] = message.ref

    def decided(self) -> None:
        """Let go on what somebody has decided about since the last look."""
        if self._store.clock.monotonic() - self._looked < _LOOK:
            return
        self._looked = self._store.clock.monotonic()
        for thing in list(islice(self._dead, _LOOKED_AT)):
            if self.holds(thing):
                self._dead[thing] = self._dead.pop(thing)  # others have their turn at the next look

    def holds(self, thing: str) -> bool:
        """Is a message about it dead? What was held back goes on as soon as none is."""
        dead = self._dead.get(thing)
        if dead is None:
            return False
        found = self._store.get_many(dead.values())
        if any(message is not None and message.status is MessageStatus.DEAD for message in found):
            return True
        del self._dead[thing]
        let_go_on(self._store, self._outbox, thing)
        return False

    def hold_back(self, messages: Iterable[Message]) -> None:
        """Take pending messages out of the others' way; one that somebody else has marked meanwhile stays as it is."""
        waiting = list(messages)
        for first in range(0, len(waiting), _AT_ONCE):
            try:
                with self._store.batch() as batch:
                    for message in waiting[first : first + _AT_ONCE]:
                        with batch.change() as change:
                            change.save(change.track(message).hold_back())
                            change.put(_note_of(message))
            except BatchRefused:
                continue


def let_go_on(store: Store, outbox: type[Message], aggregate: str) -> None:
    """Have the messages about a thing told after all, oldest first."""
    held = list(store.find(HeldMessage.of_thing(outbox=outbox.__shape__.label, thing=once_key(aggregate))))
    for first in range(0, len(held), _AT_ONCE):
        some = held[first : first + _AT_ONCE]
        found = store.get_many([_message_at(outbox, note) for note in some])
        try:
            with store.batch() as batch:
                for note, message in zip(some, found, strict=True):
                    with batch.change() as change:
                        if message is not None and message.status is MessageStatus.HELD:
                            change.save(change.track(message).go_on())
                        change.delete(note.ref)
        except BatchRefused:
            continue


def held_things(store: Store, outbox: type[Message]) -> list[str]:
    """What there is about which messages are held back, each once."""
    notes = store.find(HeldMessage.of_outbox(outbox=outbox.__shape__.label))
    return list(dict.fromkeys(note.aggregate for note in notes))


def _note_of(message: Message) -> HeldMessage:
    return HeldMessage(
        outbox=message.__shape__.label,
        thing=once_key(message.aggregate),
        ts=message.ts,
        event_id=message.event_id,
        aggregate=message.aggregate,
        project_id=message.project_id,
    )


def _message_at(outbox: type[Message], note: HeldMessage) -> Ref[Message]:
    return outbox.at(event_id=note.event_id)  # type: ignore[attr-defined,no-any-return]
