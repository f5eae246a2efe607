"""A random history of cards: what is unique, counted, computed and told of them is the same on every engine."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from penstock import Query, Store
from penstock.kernel.history import HistoryEntry
from penstock.kernel.history_trace import write_traces
from penstock.kernel.own_records import KERNEL
from penstock.kernel.uniqueness import UniqueValue
from penstock.operations.writes import Delete
from penstock.ports.ids import commit_token
from penstock.testing.promises.paging import by_pages
from tests.kernel.card_chances import NAMES, cards, names, questions
from tests.kernel.card_edits import CardEdits
from tests.kernel.card_register import Line, Values, holdings_of
from tests.kernel.card_writes import CardWrites
from tests.kernel.cards import CARDS, Card, Slip
from tests.kernel.model import matches, order_of
from tests.kernel.raw_cards import owner, raw_cards, raw_claims

SHAPES = [*KERNEL.shapes, *CARDS.shapes]
_PAGES = 500


class CardHistory(CardWrites, CardEdits, RuleBasedStateMachine):
    """What may happen to the cards of one world, on every engine at once."""

    @initialize(many=st.dictionaries(names, cards, min_size=4))
    def begin(self, many: dict[str, Values]) -> None:
        for name, values in many.items():
            self.write(name, {**values, "ends": None}, "put", None, "ann", False)

    # Time

    @rule(seconds=st.sampled_from([1, 4, 30, 700]))
    def wait(self, seconds: int) -> None:
        self.clock.advance(timedelta(seconds=seconds))

    @rule()
    def reap(self) -> None:
        for store in self.everywhere.stores.values():
            store.engine.expire(SHAPES, now=self.clock.now())

    @rule()
    def follow(self) -> None:
        for store in self.everywhere.stores.values():
            write_traces(store)

    @rule(name=st.sampled_from(NAMES[:2]))
    def lose(self, name: str) -> None:
        """Somebody removes a card by hand; whoever wants its values takes over what claims there are."""
        ref = self.ref(name)
        for store in self.everywhere.stores.values():
            store.engine.commit([Delete(ref.shape, ref.key)], now=self.clock.now(), token=commit_token())
        self.register.lose(name)

    # Reading

    @rule(wanted=st.lists(names, max_size=6))
    def get_many(self, wanted: list[str]) -> None:
        expected = [self.register.standing(name) for name in wanted]
        self.everywhere.asked()
        for engine, store in self.everywhere.stores.items():
            found = store.get_many([self.ref(name) for name in wanted])
            assert [None if card is None else card.__dict__ for card in found] == expected, engine

    @rule(asked=questions, size=st.integers(1, 4), backwards=st.booleans())
    def find(self, asked: tuple[str, dict[str, Any]], size: int, backwards: bool) -> None:
        name, given = asked
        query: Query[Card] = getattr(Card, name)(project_id=self.world, **given)
        self._find(query.reversed() if backwards else query, size)

    @rule(name=names, size=st.sampled_from([1, 2, 7, 50]), oldest_first=st.booleans())
    def history(self, name: str, size: int, oldest_first: bool) -> None:
        expected = self.register.lines[name] if oldest_first else self.register.lines[name][::-1]
        self.everywhere.asked()
        with self.judged():
            for engine, store in self.processes[self.turns % 2].stores.items():
                assert self._history(store, name, size, oldest_first) == expected, f"{engine}: the history of {name}"

    def _history(self, store: Store, name: str, size: int, oldest_first: bool) -> list[Line]:
        found: list[Line] = []
        cursor = None
        for _ in range(_PAGES):
            page = store.history(self.ref(name), limit=size, cursor=cursor, oldest_first=oldest_first)
            found += [_line(entry) for entry in page.entries]
            cursor = page.cursor
            if cursor is None:
                return found
        raise AssertionError("the pages never end")

    def _find(self, query: Query[Card], size: int) -> None:
        """What the register has of it, on every engine, whatever the size of its pages."""
        expected = [card for card in self.register.live() if matches(query, card)]
        expected.sort(key=lambda card: order_of(query, card), reverse=query.backwards)
        self.everywhere.asked(2)
        for engine, store in self.everywhere.stores.items():
            whole = list(store.find(query))
            assert [card.__dict__ for card in whole] == expected, f"{engine} answers {query!r} otherwise"
            assert by_pages(store, query, size) == whole, f"{engine}: pages of {size} differ from {query!r}"

    # What always holds

    @invariant()
    def after_every_step(self) -> None:
        self.steps += 1
        with self.judged():
            self._find(self._partitions()[self.steps % 4], self.steps % 3 + 1)
            if self.steps % 5 == 0:
                self.what_is_stored_is_what_should_be()

    def _partitions(self) -> Sequence[Query[Card]]:
        return (
            Card.by_title(project_id=self.world),
            Card.by_heading(project_id=self.world),
            Card.by_phase(project_id=self.world, phase="alive"),
            Card.by_phase(project_id=self.world, phase="over"),
        )

    def what_is_stored_is_what_should_be(self) -> None:
        """Past the kernel: each card as it should be, each of its values claimed by it, and no other claim."""
        cards = {card["name"]: card for card in self.register.live()}
        held = {h: card for card in cards.values() for h in holdings_of(card)}
        for engine in self.everywhere.stores:
            found = {c["name"]: c for c in raw_cards(self.everywhere, engine, self.world) if self._lasts(c["ends"])}
            assert found == cards, f"{engine} has stored {found}, and not {cards}"
            claims = raw_claims(self.everywhere, engine, self.world, self.register.wanted)
            claims = {h: claim for h, claim in claims.items() if self._lasts(claim["ttl"])}
            for holding, card in held.items():
                claim = claims.get(holding)
                assert claim is not None, f"{engine}: {card['name']} has {holding}, which nobody claims"
                told = claim["owner"], claim["ttl"]
                assert told == (owner(self.world, card["name"]), card["ends"]), f"{engine}: {holding} is told as {told}"
            nobodys = claims.keys() - held.keys() - self.register.orphans
            assert not nobodys, f"{engine}: {nobodys} are claimed, and nobody has them"

    def _lasts(self, end: int | None) -> bool:
        return end is None or end > int(self.clock.now().timestamp())

    def teardown(self) -> None:
        """At the end every history is read, and every card removed: nothing is left of any of them but its history."""
        if not self.sound:
            return
        self.what_is_stored_is_what_should_be()
        for name in NAMES:
            self.history(name, 50, oldest_first=True)
        for name in NAMES:
            self.remove(name, "delete", None, None, False)
        self.what_is_stored_is_what_should_be()
        self._tidy()

    def _tidy(self) -> None:
        """Remove what nobody removes otherwise, so that the stores stay small."""
        slips = [Slip.at(project_id=self.world, number=number) for number in sorted(self.register.slips)]
        for engine, store in self.everywhere.stores.items():
            claims = raw_claims(self.everywhere, engine, self.world, self.register.wanted)
            store.delete_many([UniqueValue.at(claim=c["claim"]) for c in claims.values()])
            store.delete_many(slips)
        self.everywhere.forget()


def _line(entry: HistoryEntry) -> Line:
    """An entry, with what does not depend on moments and ids."""
    told = tuple(part.action for part in entry.parts)
    moved = {name: (before, after or "") for name, (before, after) in entry.moved.items()}
    return Line(entry.by or "", entry.does or "", moved, entry.fields, entry.why, told)
