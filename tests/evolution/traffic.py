"""Two declarations that write all the time, and a plain-Python model of what should be there."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from penstock import Store
from penstock.errors import LayoutMismatch
from penstock.operations.updates import Add, Remove, Set
from tests.kernel.layouts.films import Declared

Values = dict[str, Any]
SHELVES = ("x", "y", "z", None)


class Writer(threading.Thread):
    """Writes and asks for films of its own, through one declaration after the other, until it is told to end."""

    def __init__(self, number: int, sides: list[tuple[Store, Declared]], *, removes: bool) -> None:
        super().__init__(name=f"writer-{number}")
        self.sides, self.removes = sides, removes
        self.films: dict[str, Values] = {}
        self.chance = random.Random(number)
        self.mark = f"w{number}-"
        self.ends = threading.Event()
        self.failure: BaseException | None = None
        self.steps = self.answered = self.refused = 0

    def run(self) -> None:
        try:
            while not self.ends.is_set():
                self.step()
        except BaseException as error:
            self.failure = error

    def step(self) -> None:
        self.steps += 1
        store, declared = self.chance.choice(self.sides)
        name = self.mark + str(self.chance.randrange(12))
        self.chance.choice([self.put, self.shelve, self.count, self.remove, self.ask, self.read])(store, declared, name)

    def put(self, store: Store, declared: Declared, name: str) -> None:
        given = {"title": "t", "note": self.chance.choice(SHELVES), "stars": self.chance.randrange(9)}
        store.put(declared(film_id=name, **given))
        self.films[name] = {**self.films.get(name, {}), **given}

    def shelve(self, store: Store, declared: Declared, name: str) -> None:
        if name in self.films:
            note = self.chance.choice(SHELVES)
            if hasattr(declared, "by_shelf"):  # which must know what the key of its index is made of
                store.modify(declared.at(film_id=name), lambda film: setattr(film, "note", note))
            else:
                store.patch(declared.at(film_id=name), Remove("note") if note is None else Set("note", note))
            self.films[name]["note"] = note

    def count(self, store: Store, declared: Declared, name: str) -> None:
        if name in self.films:
            stars = self.films[name]["stars"] + 1
            if hasattr(declared, "by_shelf"):
                store.modify(declared.at(film_id=name), lambda film: setattr(film, "stars", stars))
            else:
                store.patch(declared.at(film_id=name), Add("stars", 1))
            self.films[name]["stars"] = stars

    def remove(self, store: Store, declared: Declared, name: str) -> None:
        if self.removes and self.chance.random() < 0.3:
            store.delete(declared.at(film_id=name))
            self.films.pop(name, None)

    def read(self, store: Store, declared: Declared, name: str) -> None:
        found = store.lookup(declared.at(film_id=name))
        expected = self.films.get(name)
        told = None if found is None else {n: found.__dict__[n] for n in ("title", "note", "stars")}
        assert told == expected, f"{name} is {told}, and not {expected}"

    def ask(self, store: Store, declared: Declared, name: str) -> None:
        if not hasattr(declared, "by_shelf"):
            return
        note = self.chance.choice(SHELVES[:3])
        try:
            found = list(store.find(declared.by_shelf(note=note)))
        except LayoutMismatch:  # as IndexIncomplete is
            self.refused += 1
            return
        self.answered += 1
        own = [f.film_id for f in found if f.film_id.startswith(self.mark)]
        expected = self.shelf(declared, note)
        assert own == expected, f"{note} has {own}, and not {expected}"
        assert all(f.note == note for f in found)

    def shelf(self, declared: Declared, note: str) -> list[str]:
        """What a declaration should find on a shelf, in its order."""
        index = declared.__shape__.indexes["GSI1"]
        films = [{"film_id": n, **v} for n, v in self.films.items() if v["note"] == note]
        found = [f for f in films if all(f[n] in allowed for n, allowed in index.when.items())]
        return [f["film_id"] for f in sorted(found, key=lambda f: [f[n] for n in index.key.sort.names])]


@contextmanager
def traffic(
    sides: Callable[[], list[tuple[Store, Declared]]], *, writers: int = 2, removes: bool = True
) -> Iterator[list[Writer]]:
    """Writers at work while the block runs; it fails with the first of their failures."""
    at_work = [Writer(number, sides(), removes=removes) for number in range(writers)]
    for writer in at_work:
        writer.start()
    try:
        yield at_work
    finally:
        for writer in at_work:
            writer.ends.set()
        for writer in at_work:
            writer.join(120)
    for writer in at_work:
        if writer.failure is not None:
            raise writer.failure
        assert not writer.is_alive()
