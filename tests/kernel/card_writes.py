"""What may be done to cards, each by one path of many; and what should come of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from penstock import Store, the
from penstock.kernel.batch import BatchRefused
from penstock.kernel.handle import patch, put
from penstock.operations.conditions import Condition, Missing, holds
from penstock.operations.updates import Update
from penstock.operations.writes import Delete, Write
from tests.kernel.card_chances import (
    Verb,
    cards,
    conditions,
    free_patches,
    names,
    patches,
    projects,
    writers,
)
from tests.kernel.card_register import Line, Values, Wish, patched, replaced
from tests.kernel.card_world import CardWorld
from tests.kernel.cards import Card, Slip
from tests.kernel.chances import maybe, seldom

WHOLE = ("put", "put", "put_many", "commit", "create", "change.put", "change.create", "change.claim")
REMOVALS = ("delete", "delete_many", "commit", "change.delete")
PATCHES = ("patch", "patch", "patch given", "patch given", "patch given late", "commit", "change.patch")
_CONDITIONAL = ("put", "commit", "change.put", "delete", "change.delete")


def anything(_: Values | None) -> bool:
    return True


def absent(old: Values | None) -> bool:
    return old is None


def present(old: Values | None) -> bool:
    return old is not None


def that(condition: Condition | None) -> Callable[[Values | None], bool]:
    return lambda old: holds(condition, old)


def putting(name: str, values: Values, when: Callable[[Values | None], bool] = anything) -> Wish:
    return Wish(name, when, lambda old: replaced(values, old))


def patching(name: str, verbs: list[Verb], when: Callable[[Values | None], bool] = anything) -> Wish:
    return Wish(name, lambda old: old is not None and when(old), lambda old: old and patched(old, verbs))


def removing(name: str, when: Callable[[Values | None], bool] = anything) -> Wish:
    return Wish(name, when, lambda _: None)


def updates(verbs: list[Verb]) -> list[Update]:
    return [getattr(the(getattr(Card, name)), verb)(value) for name, verb, value in verbs]


def refusals_of(verbs: list[Verb], *, informed: bool) -> set[str]:
    """Why a patch is refused before it is sent: it would leave behind what is made of more than it says."""
    done = {name: verb for name, verb, _ in verbs}
    half = ("team" in done) != ("title" in done)
    refused = {"StaleComputed"} if done.get("team") == "set_if_absent" or (half and not informed) else set()
    return refused | ({"StaleIndex"} if done.get("score") == "add" or ("score" in done and not informed) else set())


class CardWrites(CardWorld):
    """The rules that write."""

    @rule(
        name=names,
        values=cards,
        path=st.sampled_from(WHOLE),
        condition=seldom(conditions),
        by=writers,
        named=projects,
    )
    def write(
        self, name: str, values: Values, path: str, condition: Condition | None, by: str | None, named: bool
    ) -> None:
        """A whole card."""
        author, card = self.author(by), self.card(name, values)
        condition = condition if path in _CONDITIONAL else None

        def act(store: Store) -> None:
            record = Card(**card)
            if path == "put":
                store.put(record, when=condition)
            elif path == "put_many":
                store.put_many([record])
            elif path == "commit":
                store.commit([put(record, when=condition)])
            elif path == "create":
                store.create(record)
            else:
                with self.change(store, author, named) as change:
                    if path == "change.claim":
                        change.claim(record, owner="note")
                    elif path == "change.create":
                        change.create(record)
                    else:
                        change.put(record, when=condition)

        when = that(condition)
        if path.endswith("create"):
            when = absent
        elif path == "change.claim":
            when = lambda old: old is None or old["note"] == card["note"]  # noqa: E731
        does, moved = path.removeprefix("change."), {"stage": (None, card["stage"].value)}
        told = self.line(author, named, does, moved=moved) if path.startswith("change.") else []
        self.done(act, putting(name, card, when), lines={name: told})

    @rule(name=names, path=st.sampled_from(REMOVALS), condition=seldom(conditions), by=writers, named=projects)
    def remove(self, name: str, path: str, condition: Condition | None, by: str | None, named: bool) -> None:
        author, ref = self.author(by), self.ref(name)
        condition = condition if path in _CONDITIONAL else None

        def act(store: Store) -> None:
            if path == "delete":
                store.delete(ref, when=condition)
            elif path == "delete_many":
                store.delete_many([ref])
            elif path == "commit":
                store.commit([Delete(ref.shape, ref.key, condition)])
            else:
                with self.change(store, author, named) as change:
                    change.delete(ref, when=condition)

        told = self.line(author, named, "delete") if path == "change.delete" else []
        self.done(act, removing(name, that(condition)), lines={name: told})

    @rule(
        name=names,
        given=patches,
        path=st.sampled_from(PATCHES),
        condition=seldom(conditions),
        by=writers,
        named=projects,
    )
    def patch(
        self, name: str, given: list[Verb], path: str, condition: Condition | None, by: str | None, named: bool
    ) -> None:
        """Some fields, of a card that was read or not, and perhaps written to since."""
        name = self.likely(name)
        author, ref = self.author(by), self.ref(name)
        verbs = [(n, verb, self.values({n: value})[n]) for n, verb, value in given]
        read, wishes, perhaps = self.register.standing(name), [patching(name, verbs, that(condition))], set()
        late = path == "patch given late" and read is not None

        def act(store: Store) -> Any:
            if path == "change.patch":
                with self.change(store, author, named) as change:
                    return change.patch(ref, *updates(verbs), when=condition)
            if path == "commit":
                return store.commit([patch(ref, *updates(verbs), when=condition)])
            known = store.lookup(ref) if "given" in path else None
            if late:
                store.patch(ref, the(Card.handle).remove(), the(Card.visits).add(1))
            return store.patch(ref, *updates(verbs), when=condition, given=known)

        if late and read is not None:
            # What the other writes takes effect, and where it matters the one who comes late is refused.
            self.register.grant([patching(name, [("handle", "set", None), ("visits", "add", 1)])])
            perhaps = {"Conflict"} if read["handle"] is not None else set()
        informed = "given" in path and read is not None
        refused = refusals_of(verbs, informed=informed)
        fields = tuple(sorted({"revision", *(n for n, _, _ in verbs)}))
        counts = all(verb == "add" for _, verb, _ in verbs)
        told = [] if counts or path != "change.patch" else self.line(author, named, "patch", fields=fields)
        self.done(act, *wishes, lines={name: told}, refused=refused, perhaps=perhaps)

    @rule(name=names, path=st.sampled_from(PATCHES), by=writers)
    def end(self, name: str, path: str, by: str | None) -> None:
        """A patch after which a card is gone."""
        self.patch(name, [("ends", "set", 0)], path, None, by, False)

    @rule(
        puts=st.dictionaries(names, cards, max_size=2),
        changes=st.dictionaries(names, free_patches, max_size=2),
        gone=st.sets(names, max_size=2),
        number=maybe(st.integers(0, 2)),
    )
    def commit(
        self, puts: dict[str, Values], changes: dict[str, list[Verb]], gone: set[str], number: int | None
    ) -> None:
        """Several cards at once, and a slip where none stands: all or nothing."""
        wholes = {n: self.card(n, v) for n, v in puts.items()}
        some = {
            n: [(f, verb, self.values({f: value})[f]) for f, verb, value in verbs]
            for n, verbs in ((self.likely(n), verbs) for n, verbs in changes.items())
            if n not in wholes
        }
        removed = sorted(gone - wholes.keys() - some.keys())

        def act(store: Store) -> None:
            writes: list[Write] = [put(Card(**card)) for card in wholes.values()]
            writes += [patch(self.ref(n), *updates(verbs)) for n, verbs in some.items()]
            writes += [Delete(Card.__shape__, self.ref(n).key) for n in removed]
            if number is not None:
                writes.append(put(Slip(project_id=self.world, number=number), when=Missing()))
            if writes:
                store.commit(writes)

        wishes = [putting(n, card) for n, card in wholes.items()]
        wishes += [patching(n, verbs) for n, verbs in some.items()]
        wishes += [removing(n) for n in removed]
        if number in self.register.slips:
            wishes.append(Wish("", lambda _: False, lambda _: None))
        if self.done(act, *wishes) and number is not None:
            self.register.slips.add(number)

    @rule(puts=st.dictionaries(names, cards, min_size=2, max_size=3), by=writers, named=projects)
    def batch(self, puts: dict[str, Values], by: str | None, named: bool) -> None:
        """Several changes sent together: where one keeps the others from it, each by itself."""
        author = self.author(by)
        wholes = {n: self.card(n, v) for n, v in puts.items()}

        def act(store: Store) -> tuple[int, ...]:
            try:
                with store.batch() as batch:
                    for card in wholes.values():
                        with batch.change(by=author, project=self.world if named else None) as change:
                            change.put(Card(**card))
            except BatchRefused as refused:
                return tuple(refused.refused)
            return ()

        told, found = self.everywhere.same(act)
        wishes = [putting(n, card) for n, card in wholes.items()]
        alone = bool(self.register.refusals(wishes))
        refused = []
        for position, wish in enumerate(wishes):
            if alone and self.register.refusals([wish]):
                refused.append(position)
                continue
            if alone:
                self.register.grant([wish])
            moved = {"stage": (None, wholes[wish.name]["stage"].value)}
            self.register.lines[wish.name] += [] if author is None else [Line(author, "put", moved)]
        if not alone:
            self.register.grant(wishes)
        assert (told, found) == ("value", tuple(refused))
