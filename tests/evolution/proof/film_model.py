"""A plain-Python model of films that two declarations write, and the traffic of both, a step at a time."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock import Store
from penstock.errors import IndexIncomplete, LayoutMismatch
from penstock.operations.scan_page import ScannedRecord
from penstock.operations.updates import Add, Set
from penstock.ports.scanning import scanned
from tests.evolution.proof.kinds import Kind, Side, Values, is_good
from tests.kernel.layouts.films import Declared


@dataclass
class Party:
    """One declaration, and the process that goes by it."""

    store: Store
    side: Side
    declared: Declared
    is_new: bool


class FilmModel:
    """What should be there, and the steps of those who write it."""

    def __init__(self, kind: Kind, parties: list[Party], *, records: int, seed: str, removes: bool) -> None:
        self.kind, self.parties, self._removes = kind, parties, removes
        self.readers: list[Party] = []
        "Those who only read, and hear of changes as late as they may."
        self._chance = random.Random(seed)
        self._authors = max(records // 5, 3)  # a question has a handful of answers, however many records stand
        self._records = records
        self.films: dict[str, Values] = {}
        self._of_author: defaultdict[str, set[str]] = defaultdict(set)
        "The names of each author's films, so that an answer is checked in no more time than it took."
        self._had: dict[str, list[int]] = {}
        "All stars that each has had: a rule speaks of one of them, whenever the record was brought along."
        self._written: str | None = None
        self.steps = self.answered = self.refused = 0
        for number in range(records):
            self._note(f"old-{number:06d}", {"author": f"n{number % self._authors}", "stars": number % 7})

    def stand(self) -> None:
        """Write what stands before anything changes."""
        (old,) = [party for party in self.parties if not party.is_new][:1]
        old.store.put_many([old.declared(film_id=name, **values) for name, values in self.films.items()])

    # Traffic

    def step(self) -> None:
        """Somebody writes something or asks for it."""
        self.steps += 1
        party = self._chance.choice([*self.parties, *self.parties, *self.readers])
        name = self._name()
        verbs = [self._read, self._ask, self._ask]
        if party in self.readers:
            name = self._written or name  # which is where they would see that it is another place by now
        else:
            verbs += [self._put, self._count, self._sign, self._remove]
        verb = self._chance.choice(verbs)
        try:
            verb(party, name)
        except LayoutMismatch:
            self.refused += 1
            may_end = self.kind.shuts_out or (verb == self._ask and self.kind.ends_questions)
            assert may_end, "an older declaration goes on"
            assert not party.is_new

    def _name(self) -> str:
        if self._chance.random() < 0.5:
            return f"new-{self._chance.randrange(20)}"
        return f"old-{self._chance.randrange(self._records):06d}"

    def _note(self, name: str, values: Values) -> None:
        self._written = name
        self._forget(name)
        self.films[name] = values
        self._of_author[values["author"]].add(name)
        self._had.setdefault(name, []).append(values["stars"])

    def _forget(self, name: str) -> None:
        if name in self.films:
            self._of_author[self.films.pop(name)["author"]].remove(name)

    def _put(self, party: Party, name: str) -> None:
        given: Values = {"author": f"n{self._chance.randrange(self._authors)}", "stars": self._chance.randrange(7)}
        more: Values = {}
        if party.is_new:
            given = self.kind.to_new(given)
            more = {"good": self._chance.random() < 0.5} if "good" in party.side.fields else {}
        party.store.put(party.declared(film_id=name, **given, **more))
        names = self.kind.to_old(dict.fromkeys(party.side.fields, 0)) if party.is_new else party.side.fields
        known = names.keys() - (self.kind.kept if party.is_new else ())
        told = self.kind.to_old(given) if party.is_new else given
        kept = {n: v for n, v in self.films.get(name, {}).items() if n not in known}
        self._note(name, {**told, **kept, **more})

    def _count(self, party: Party, name: str) -> None:
        if name not in self.films:
            return
        one = party.declared.__shape__.fields["stars"].python(1)
        if party.side.index is None:
            party.store.patch(party.declared.at(film_id=name), Add("stars", one))
        else:
            party.store.modify(party.declared.at(film_id=name), lambda f: setattr(f, "stars", f.stars + one))
        self._note(name, {**self.films[name], "stars": self.films[name]["stars"] + 1})

    def _sign(self, party: Party, name: str) -> None:
        called = "writer" if "writer" in party.side.fields else "author"
        if name not in self.films or called not in party.side.fields:
            return
        author = f"n{self._chance.randrange(self._authors)}"
        if party.side.index is None:
            party.store.patch(party.declared.at(film_id=name), Set(called, author))
        else:
            party.store.modify(party.declared.at(film_id=name), lambda f: setattr(f, called, author))
        self._note(name, {**self.films[name], "author": author})

    def _remove(self, party: Party, name: str) -> None:
        if self._removes and self._chance.random() < 0.3:
            party.store.delete(party.declared.at(film_id=name))
            self._forget(name)
            self._had.pop(name, None)

    # Looking

    def _read(self, party: Party, name: str) -> None:
        found = party.store.lookup(party.declared.at(film_id=name))
        assert (found is None) == (name not in self.films), name
        if found is not None:
            self._check(party, found)

    def _check(self, party: Party, found: Any) -> None:
        told = {n: v for n, v in found.__dict__.items() if n != "film_id"}
        expected = self._seen(party, found.film_id)
        if "good" in told and "good" not in self.films[found.film_id]:
            by_rule = {is_good(stars) for stars in self._had[found.film_id]}
            assert told["good"] in ({None} if party.side.defaults["good"] is None else by_rule)
            expected["good"] = told["good"]
        assert told == expected, f"{found.film_id} is {told}, and not {expected}"

    def _seen(self, party: Party, name: str) -> Values:
        values = self.films[name]
        if party.is_new:
            return self.kind.to_new(dict(values))
        return {n: v for n, v in values.items() if n in party.side.fields}

    def _ask(self, party: Party, name: str) -> None:
        if party.side.index is None or name not in self.films:
            return
        values = self._seen(party, name)
        led = {n: values[n] for n in party.side.fields if f"{{{n}" in party.side.index[0]}
        try:
            found = list(party.store.find(party.declared.by_shelf(**led)))
        except IndexIncomplete:
            self.refused += 1
            return
        self.answered += 1
        shelf = party.side.index[0].format(**{**values, "film_id": name})
        told, expected = [f.film_id for f in found], self._on_shelf(party, shelf, self.films[name]["author"])
        assert told == expected, f"{shelf} has {told}, and not {expected}"
        for each in found:
            self._check(party, each)

    def _on_shelf(self, party: Party, shelf: str, author: str) -> list[str]:
        """Which films an index has in a partition that is one author's, in order."""
        found = []
        for name in self._of_author[author]:
            values = {**self._seen(party, name), "film_id": name}
            if party.side.shelf(values) == shelf:
                found.append((party.side.order(values), name))
        return [name for _, name in sorted(found)]

    def check_all(self, party: Party, *, is_complete: bool = False) -> None:
        """Every record is there, once, as it was written, and no other; in the end each index has it as well."""
        names = []
        for found in _walked(party):
            names.append(found.record.film_id)
            self._check(party, found.record)
            assert not (is_complete and found.stale), found
        assert sorted(names) == sorted(self.films)

    def check_index(self, party: Party, number: int = 20) -> None:
        """Questions are answered, and rightly."""
        if party.side.index is not None:
            before = self.answered
            for name in self._chance.choices(sorted(self.films), k=number):
                self._ask(party, name)
            assert self.answered == before + number


def _walked(party: Party) -> Iterator[ScannedRecord]:
    for page in scanned(party.store.engine, party.declared.__shape__):
        assert not page.unreadable
        yield from page.found
