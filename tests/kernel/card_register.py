"""What one who has read the promises expects of cards: plain dicts and lists, and nothing of the kernel."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from penstock.ports.clock import Clock
from tests.kernel.card_chances import Verb
from tests.kernel.cards import heading, phase

Values = dict[str, Any]
Holding = tuple[Any, ...]
"A unique value that a card has: the field, what it is unique within, and the value."
WITHIN: Mapping[str, tuple[str, ...]] = {"seat": ("team",), "handle": (), "badge": (), "folded": ()}
"The unique fields, and within what they are beside the world."


@dataclass(frozen=True)
class Line:
    """What the history of a card tells of one change."""

    by: str
    does: str
    moved: Mapping[str, tuple[str | None, str]] = field(default_factory=dict)
    fields: tuple[str, ...] = ()
    why: str | None = None
    messages: tuple[str, ...] = ()


class Wish(NamedTuple):
    """One write of a card: what must hold of what stands, and what it leaves of it."""

    name: str
    when: Callable[[Values | None], bool]
    leaves: Callable[[Values | None], Values | None]


class CardRegister:
    """The cards of a world, also those that have ended, and what was done to each by somebody with a name."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._cards: dict[str, Values] = {}
        self.lines: dict[str, list[Line]] = defaultdict(list)
        self.slips: set[int] = set()
        self.wanted: set[Holding] = set()
        "Every value that a card has had, or was to have."
        self.orphans: set[Holding] = set()
        "Claims of cards that were removed by hand: they may stand until somebody wants the value."

    def card(self, name: str) -> Values | None:
        """The last that was written of a card, even if it has ended."""
        return self._cards.get(name)

    def standing(self, name: str) -> Values | None:
        card = self._cards.get(name)
        ended = card is not None and card["ends"] is not None and card["ends"] <= int(self._clock.now().timestamp())
        return None if ended else card

    def live(self) -> list[Values]:
        return [card for card in map(self.standing, self._cards) if card is not None]

    def refusals(self, wishes: Sequence[Wish]) -> set[str]:
        """Why the wishes cannot all be granted; any of the reasons may be told."""
        reasons = set()
        if not all(wish.when(self.standing(wish.name)) for wish in wishes):
            reasons.add("Conflict")
        wanted = Counter(h for card in self._after(wishes).values() for h in holdings_of(card))
        self.wanted |= wanted.keys()
        if any(number > 1 for number in wanted.values()):
            reasons.add("NotUnique")
        return reasons

    def grant(self, wishes: Sequence[Wish]) -> None:
        after = self._after(wishes)
        self.wanted |= {h for card in after.values() for h in holdings_of(card)}
        for wish in wishes:
            self._cards.pop(wish.name, None)
            if wish.name in after:
                self._cards[wish.name] = after[wish.name]
                self.orphans -= holdings_of(after[wish.name])

    def lose(self, name: str) -> None:
        """Somebody has removed a card by hand, behind the kernel's back."""
        card = self._cards.pop(name, None)
        self.orphans |= holdings_of(card) if card is not None else set()

    def _after(self, wishes: Iterable[Wish]) -> dict[str, Values]:
        """The cards that stand once the wishes are granted, also one that ends with it."""
        cards = {card["name"]: card for card in self.live()}
        for wish in wishes:
            card = wish.leaves(self.standing(wish.name))
            cards.pop(wish.name, None)
            if card is not None:
                cards[wish.name] = made(card)
        return cards


def made(card: Values) -> Values:
    """A card with what is computed of it."""
    title = card["title"]
    return {**card, "folded": title.casefold(), "heading": heading(card["team"], title), "phase": phase(card["stage"])}


def holdings_of(card: Values) -> set[Holding]:
    """The values of a card that no other may have; None is nobody's, nor is what is unique within None."""
    held = {(name, *(card[n] for n in within), card[name]) for name, within in WITHIN.items()}
    return {holding for holding in held if None not in holding}


def patched(card: Values, verbs: Iterable[Verb]) -> Values:
    """A card after a patch, which counts as one write."""
    after = dict(card)
    for name, verb, value in verbs:
        old = card[name]
        if verb == "add":
            after[name] = (old or 0) + value
        elif verb == "set" or old is None:
            after[name] = value
    return {**after, "revision": card["revision"] + 1}


def replaced(card: Values, old: Values | None) -> Values:
    """A whole card, where another stood or none."""
    return {**card, "revision": 1 if old is None else old["revision"] + 1}
