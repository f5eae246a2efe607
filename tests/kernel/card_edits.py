"""What becomes of cards that are read, changed and saved, while others write to them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from penstock import Ref, Store, the
from tests.kernel.card_chances import MOVES, edits, names, projects, writers
from tests.kernel.card_register import Values, Wish, made, patched, replaced
from tests.kernel.card_world import CardWorld
from tests.kernel.card_writes import patching, removing
from tests.kernel.cards import Card, Stage
from tests.kernel.chances import maybe, seldom

MEANWHILE = ("nothing", "nothing", "nothing", "note", "visits", "put", "move", "delete", "delete and create")
EXCHANGED = ("title", "handle", "badge", "seat", "team")
_TO = {"start": Stage.OPEN, "finish": Stage.DONE, "reopen": Stage.OPEN}


def next_move(stage: Stage) -> str:
    """One that is legal."""
    return "reopen" if stage is Stage.DONE else "finish"


class CardEdits(CardWorld):
    """The rules that read, change and save."""

    @rule(
        name=names,
        given=edits,
        moved=seldom(st.sampled_from(sorted(MOVES))),
        meanwhile=st.sampled_from(MEANWHILE),
        loosely=st.booleans(),
        told=st.booleans(),
        by=writers,
        named=projects,
    )
    def edit(
        self,
        name: str,
        given: Values,
        moved: str | None,
        meanwhile: str,
        loosely: bool,
        told: bool,
        by: str | None,
        named: bool,
    ) -> None:
        """One reads a card and saves it, and meanwhile another may write to it, move it or remove it."""
        name = self.likely(name)
        author, ref, values = self.author(by), self.ref(name), self.values(given)

        def act(store: Store) -> Card | None:
            with self.change(store, author, named) as change:
                card = change.get(ref)
                self._interfere(store, ref, meanwhile)
                for field, value in values.items():
                    setattr(card, field, value)
                if moved is not None:
                    getattr(card, moved)()
                (change.overwrite if loosely else change.save)(card)
                if told:
                    change.emit("edited", card)
            return card if meanwhile == "nothing" and not loosely else None  # which may not know what stands there

        read = self.register.standing(name)
        if read is None:
            self.done(act, refused={"NotFound"})
            return
        self._interfered(read, meanwhile)
        if moved is not None and read["stage"] not in MOVES[moved]:
            self.done(act, refused={"IllegalMove"})
            return
        after = made({**read, **values, "stage": _TO[moved] if moved is not None else read["stage"]})
        changed = {n: v for n, v in after.items() if v != read[n]}
        does = "save" if changed else "tell"
        states = {"stage": (read["stage"].value, after["stage"].value)} if "stage" in changed else {}
        messages = ("edited",) if told else ()
        line = self.line(author, named, does, moved=states, messages=messages) if changed or told else []
        guard = "stage" if loosely else "revision"
        wish = Wish(
            name,
            lambda old: old is not None and old[guard] == read[guard],
            lambda old: old and ({**old, **changed, "revision": old["revision"] + 1} if changed else old),
        )
        self.done(act, wish, lines={name: line}, perhaps=self._perhaps(read))

    def _interfere(self, store: Store, ref: Ref[Card], meanwhile: str) -> None:
        """What another does to a card that stands."""
        if meanwhile == "note":
            store.patch(ref, the(Card.note).set("y"))
        elif meanwhile == "visits":
            store.patch(ref, the(Card.visits).add(1))
        elif meanwhile == "put":
            store.put(store.get(ref))
        elif meanwhile == "move":
            with store.change() as change:
                card = change.get(ref)
                change.save(getattr(card, next_move(card.stage))())
        elif meanwhile.startswith("delete"):
            card = store.get(ref)
            store.delete(ref)
            if meanwhile == "delete and create":
                store.create(Card(project_id=self.world, name=card.name, title=card.title))

    def _interfered(self, read: Values, meanwhile: str) -> None:
        """The same in the register."""
        name = read["name"]
        if meanwhile == "note":
            self.register.grant([patching(name, [("note", "set", "y")])])
        elif meanwhile == "visits":
            self.register.grant([patching(name, [("visits", "add", 1)])])
        elif meanwhile == "put":
            self.register.grant([Wish(name, bool, lambda _: replaced(read, read))])
        elif meanwhile == "move":
            to = {"stage": _TO[next_move(read["stage"])]}
            self.register.grant([Wish(name, bool, lambda _: {**patched(read, []), **to})])
        elif meanwhile.startswith("delete"):
            self.register.grant([removing(name)])
        if meanwhile == "delete and create":
            plain = Card(project_id=self.world, name=name, title=read["title"]).__dict__
            self.register.grant([Wish(name, bool, lambda _: dict(plain))])

    def _perhaps(self, read: Values) -> set[str]:
        """A save may also be refused where what keys and claims are made of does not stand as it was read."""
        now = self.register.standing(read["name"])
        free = ("note", "visits", "revision")
        return {"Conflict"} if now is not None and any(now[n] != v for n, v in read.items() if n not in free) else set()

    @rule(
        one=names,
        other=names,
        fields=st.sets(st.sampled_from(EXCHANGED), min_size=1, max_size=3),
        gone=maybe(names),
        by=writers,
        named=projects,
    )
    def exchange(self, one: str, other: str, fields: set[str], gone: str | None, by: str | None, named: bool) -> None:
        """Two cards exchange some of their values in one change, and perhaps another goes."""
        one, other = self.likely(one), self.likely(other)
        if one == other:
            return
        author, removed = self.author(by), gone if gone not in (one, other) else None

        def act(store: Store) -> None:
            with self.change(store, author, named) as change:
                first, second = change.get(self.ref(one)), change.get(self.ref(other))
                for name in sorted(fields):
                    mine, theirs = getattr(first, name), getattr(second, name)
                    setattr(first, name, theirs)
                    setattr(second, name, mine)
                change.save(first)
                change.save(second)
                if removed is not None:
                    change.delete(self.ref(removed))

        first, second = self.register.standing(one), self.register.standing(other)
        if first is None or second is None:
            self.done(act, refused={"NotFound"})
            return
        wishes, lines = [], {}
        for card, source in ((first, second), (second, first)):
            if any(card[n] != source[n] for n in fields):
                after = {**patched(card, []), **{n: source[n] for n in fields}}
                wishes.append(Wish(card["name"], bool, _leaving(after)))
                lines[card["name"]] = self.line(author, named, "save")
        if removed is not None:
            wishes.append(removing(removed))
            lines[removed] = self.line(author, named, "delete")
        self.done(act, *wishes, lines=lines)

    @rule(name=names, by=writers)
    def modify(self, name: str, by: str | None) -> None:
        author, name = self.author(by), self.likely(name)

        def change(card: Card) -> None:
            card.visits += 1

        wish = Wish(name, bool, lambda old: old and patched(old, [("visits", "add", 1)]))
        missing = self.register.standing(name) is None
        lines = {name: self.line(author, False, "save")}
        refused = {"NotFound"} if missing else set()
        self.done(lambda s: s.modify(self.ref(name), change, by=author), wish, lines=lines, refused=refused)


def _leaving(values: dict[str, Any]) -> Any:
    return lambda _: values
