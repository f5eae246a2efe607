"""A world of cards on every engine at once, written to by two processes, and judged by what the promises say."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from penstock import Ref, Store
from penstock.kernel.change import Change
from tests.kernel.card_chances import NAMES
from tests.kernel.card_register import CardRegister, Line, Values, Wish
from tests.kernel.cards import Card
from tests.kernel.chances import START, moment
from tests.kernel.everywhere import SECRET, Everywhere

_worlds = itertools.count()


class CardWorld:
    """What the rules of a history of cards stand on."""

    everywhere: Everywhere

    def __init__(self) -> None:
        super().__init__()
        number = next(_worlds)
        self.world = f"c{number} #%é"
        # Each world is later than those before it, so that the lines of a store have one order.
        self.clock = self.everywhere.clock
        self.clock.set(moment(START) + timedelta(days=number))
        self.register = CardRegister(self.clock)
        stores = self.everywhere.stores
        others = {n: Store(s.engine, clock=self.clock, secret=SECRET) for n, s in stores.items()}
        self.processes = (self.everywhere, Everywhere(others, self.clock))
        self.steps = self.turns = 0
        self.sound = True
        "Has everything been as expected?"

    def ref(self, name: str) -> Ref[Card]:
        return Card.at(project_id=self.world, name=name)

    def likely(self, name: str) -> str:
        """A card that stands, if one does; of the last name also one that may not."""
        there = sorted(card["name"] for card in self.register.live())
        return name if name in there or not there or name == NAMES[-1] else there[NAMES.index(name) % len(there)]

    def values(self, given: Values) -> Values:
        """Values by chance as a card of this world has them: an end lies so far from now, a badge is of this world."""
        values = dict(given)
        if values.get("ends") is not None:
            values["ends"] += int(self.clock.now().timestamp())
        if values.get("badge") is not None:
            values["badge"] = f"{self.world}/{values['badge']}"
        return values

    def card(self, name: str, given: Values) -> Values:
        """All values of a card but what is computed."""
        return {"project_id": self.world, "name": name, **self.values(given)}

    def author(self, by: str | None) -> str | None:
        """Somebody whose line is like no other; a moment later, or two processes' lines would have no order."""
        self.turns += 1
        self.clock.advance(timedelta(milliseconds=1))
        return None if by is None else f"{by} {self.turns}"

    def change(self, store: Store, by: str | None, named: bool) -> Change:
        return store.change(by=by, why="so" if named else None, project=self.world if named else None)

    def line(self, by: str | None, named: bool, does: str, **told: Any) -> list[Line]:
        """What such a change leaves in the history of one card."""
        return [] if by is None else [Line(by, does, why="so" if named else None, **told)]

    @contextmanager
    def judged(self) -> Iterator[None]:
        """Note whether something is as expected; where it was not, nothing more is."""
        self.sound = False
        yield
        self.sound = True

    def done(
        self,
        action: Callable[[Store], Any],
        *wishes: Wish,
        lines: dict[str, list[Line]] | None = None,
        refused: Iterable[str] = (),
        perhaps: Iterable[str] = (),
    ) -> bool:
        """Do something everywhere, and expect what the register expects; was it done?

        It is ``refused`` whatever stands, or is refused ``perhaps`` although the wishes could be granted.
        """
        with self.judged():
            return self._done(action, wishes, lines or {}, set(refused), set(perhaps))

    def _done(
        self,
        action: Callable[[Store], Any],
        wishes: Sequence[Wish],
        lines: dict[str, list[Line]],
        refused: set[str],
        perhaps: set[str],
    ) -> bool:
        process = self.processes[self.turns % 3 == 0]
        told, *rest = process.same(action)
        if process is not self.everywhere:
            self.everywhere.asked()
        reasons = refused or self.register.refusals(wishes)
        if told != "value":
            assert told in reasons | perhaps, f"{told} {rest}, expected {sorted(reasons) or 'no refusal'}"
            return False
        assert not reasons, f"done, and should have been refused: {sorted(reasons)}"
        self.register.grant(wishes)
        for name, some in lines.items():
            self.register.lines[name] += some
        if isinstance(rest[0], Card):
            self.same_card(rest[0], wishes)
        return True

    def same_card(self, found: Card, wishes: Sequence[Wish]) -> None:
        expected = self.register.card(wishes[0].name)
        assert found.__dict__ == expected, f"{found.__dict__} was given back, and not {expected}"
