"""Knowledge: what this process knows of a store's layouts, and until when it may go by that.

Whoever reads looks every few seconds whether the edition is still the same. Whoever writes is registered besides, as a
`Knower`, on the condition that the edition is the one it goes by: so nobody can announce another one unseen. Between
two looks it costs a comparison.

A store that has no tables for it is asked every few seconds whether it has them by now, and nothing else.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Mapping
from datetime import timedelta
from weakref import WeakSet, WeakValueDictionary

from penstock.errors import Conflict, Misconfigured, OutOfScope, Unavailable
from penstock.kernel.layouts.derived_entity import DerivedEntity
from penstock.kernel.layouts.knower import FRESH, HELD, Knower
from penstock.kernel.layouts.stored_layout import EDITION, LayoutEdition, StoredLayout
from penstock.net.per_process import watch
from penstock.operations.conditions import Compare, Missing
from penstock.operations.validation import prepare
from penstock.operations.writes import Check, Delete, Put
from penstock.ports.clock import Clock
from penstock.ports.engine import Engine
from penstock.ports.ids import commit_token
from penstock.schema.derived_shape import through
from penstock.schema.fingerprint import digest_of
from penstock.schema.shape import EntityShape

_NEVER = float("-inf")
_KEPT = timedelta(days=1)
"So long the record of a process that told nothing more is kept."


HERE: WeakValueDictionary[str, Knowledge] = WeakValueDictionary()
"What is known in this process, by the names under which it is told."


def renew_here(process: str) -> None:
    """Have a store that is open in this very process, if it is one, learn at once what there is to know."""
    knowledge = HERE.get(process)
    if knowledge is not None:
        knowledge.renew()


class KnownLayouts:
    """The layouts of one edition, as far as this process has asked for them."""

    def __init__(self, knowledge: Knowledge, edition: LayoutEdition | None) -> None:
        self._knowledge = knowledge
        self.number = 0 if edition is None else edition.number
        self._marks: Mapping[str, str] = {} if edition is None else edition.marks
        self.entities: dict[EntityShape, DerivedEntity | None] = {}
        "What each shape is derived to; None where it lies as it is declared,"
        self.plain: set[EntityShape] = set()
        "as these do."
        self.running: list[None] = []
        "One for each write that goes by this and has not ended."

    def derive(self, shape: EntityShape) -> DerivedEntity | None:
        """What a shape is derived to."""
        self._knowledge.used.add(shape)
        found = self._knowledge.derived(shape) if self.is_other(shape) else None
        self.entities[shape] = found
        if found is None:
            self.plain.add(shape)
        return found

    def is_other(self, shape: EntityShape) -> bool:
        """Is a declaration something else than the layout that the store has?"""
        return self._marks.get(shape.label) not in (None, digest_of(shape))


class Knowledge:
    """What all handles of one store know in this process."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine, self._clock = engine, clock
        self.monotonic = clock.monotonic
        self.read_until = self.written_until = _NEVER
        "Until when it may be read, and written, by what is known."
        self.known = KnownLayouts(self, None)
        self.used: WeakSet[EntityShape] = WeakSet()
        "The declarations that were asked for here."
        self._former: list[KnownLayouts] = []
        self._derived: dict[tuple[EntityShape, str], DerivedEntity] = {}
        self._begin_process()
        watch(self)

    def _begin_process(self) -> None:
        self.process = os.urandom(12).hex()
        HERE[self.process] = self
        self._renewed = 0
        self._has_tables = False
        self._asked = self._told = _NEVER
        self._one_at_a_time = threading.RLock()

    def forked(self) -> None:
        self.read_until = self.written_until = _NEVER
        self.known = KnownLayouts(self, None)
        self._former = []
        self._begin_process()

    # Reading

    def refresh(self) -> None:
        """Ask which edition it is, unless another thread is just doing so and there is time left."""
        now = self.monotonic()
        if not self._one_at_a_time.acquire(blocking=now >= self._asked + HELD):
            return
        try:
            if self.monotonic() >= self.read_until:
                self._ask()
        except Unavailable:
            if now >= self._asked + HELD:
                raise
            self.read_until = now + 1
        finally:
            self._one_at_a_time.release()

    def _ask(self) -> None:
        sent = self.monotonic()
        try:
            edition: LayoutEdition | None = self._engine.get([EDITION], now=self._clock.now())[0]
            self._has_tables = True
        except (Misconfigured, OutOfScope):  # whoever needs more is told so by its own request
            edition, self._has_tables = None, False
        if self.known.number != (0 if edition is None else edition.number):
            self._former = [known for known in (*self._former, self.known) if known.running]
            self.known = KnownLayouts(self, edition)
        self._asked = sent
        self.read_until = sent + FRESH

    # Writing

    def writing(self) -> KnownLayouts:
        """What a write goes by, which is noted as running; whoever ends it takes one from ``running``."""
        if self.monotonic() >= self.written_until:
            self.register()
        while True:
            known = self.known
            known.running.append(None)
            if known is self.known:
                return known
            known.running.pop()  # it has just become a former one, and may have been told to be over

    def register(self) -> None:
        """Tell by which edition is written here, unless another thread is just doing so and there is time left."""
        now = self.monotonic()
        if not self._one_at_a_time.acquire(blocking=now >= self._told + HELD):
            return
        try:
            if self.monotonic() >= self.written_until:
                self._register()
        except Unavailable:
            if now >= self._told + HELD:
                raise
            self.written_until = now + 1
        finally:
            self._one_at_a_time.release()

    def _register(self) -> None:
        if self.monotonic() >= self.read_until:
            self._ask()
        while self._has_tables:
            sent = self.monotonic()
            try:
                self._tell()
            except Conflict:
                self._ask()
            else:
                self._asked = self._told = sent
                self.read_until = self.written_until = sent + FRESH
                return
        self.written_until = self.read_until

    def _tell(self) -> None:
        """One commit that is made only if the edition is still the one that is known."""
        number = self.known.number
        same = Compare("number", "=", number) if number else Missing()
        self._former = [known for known in self._former if known.running]
        self._renewed += 1
        knower = Knower(
            process=self.process,
            edition=min((k.number for k in self._former), default=number),
            renewed=self._renewed,
            place=f"{socket.gethostname()} {os.getpid()}",
            declares={s.label: digest_of(s) for s in tuple(self.used) if self.known.is_other(s)},
            ttl=int((self._clock.now() + _KEPT).timestamp()),
        )
        self._engine.commit(
            [
                Put(knower.__shape__, prepare(knower.__shape__, knower.__dict__)),
                Check(EDITION.shape, EDITION.key, same),
            ],
            now=self._clock.now(),
            token=commit_token(),
        )

    def leave(self) -> None:
        """Tell that nothing more is written here, as far as the store can be told."""
        with self._one_at_a_time:
            if self._told == _NEVER or self.known.running or any(k.running for k in self._former):
                return
            self._told = self.written_until = _NEVER
            gone = Delete(Knower.__shape__, {"process": self.process})
            try:
                self._engine.commit([gone], now=self._clock.now(), token=commit_token())
            except (Unavailable, Misconfigured):
                return

    def renew(self) -> None:
        """Learn at once what there is to know, and tell so if it was told before."""
        self.read_until = self.written_until = _NEVER
        if self._told != _NEVER:
            self.register()

    # Deriving

    def derived(self, shape: EntityShape) -> DerivedEntity | None:
        """What a declaration is by the layout that the store has of it now."""
        stored: StoredLayout | None = self._engine.get([StoredLayout.at(label=shape.label)], now=self._clock.now())[0]
        if stored is None or stored.mark == digest_of(shape):
            return None
        digest, is_following = digest_of(shape), stored.stage is not None
        is_former = digest in stored.former or (is_following and digest != stored.announced_for)
        known = self._derived.get((shape, stored.mark))
        if known is None:
            derived = through(
                shape,
                stored.layout,
                announced=stored.following,
                stage=stored.stage,
                key_texts=self._engine.features.key_texts,
                is_former=is_former,
            )
            known = self._derived[shape, stored.mark] = DerivedEntity(derived)
        return known
