"""A random history of films whose declaration changes: an index is added, a field renamed, another retyped.

The last two declarations are used all the while, before, during and after what a change takes; every engine answers as
a plain-Python model does.
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from penstock import Domain, Entity, Formerly, IndexKey, Retyped, Store, Table, attribute, key, pattern
from penstock.errors import LayoutMismatch
from penstock.evolution.migration import Migration
from penstock.kernel.layouts.knower import FRESH
from penstock.operations.updates import Set
from penstock.ports.engine import Engine
from tests.beneath import beneath
from tests.evolution.dying import Killed, dying

Values = dict[str, Any]
_counter = itertools.count()
names, authors, stars = st.sampled_from([f"f{n}" for n in range(12)]), st.sampled_from("xyz"), st.integers(0, 9)


@dataclass(frozen=True)
class Edition:
    """A declaration as it was at one time."""

    fields: Values
    defaults: Values
    author: str = "author"
    exact: bool = False
    is_shelved: bool = True

    def seen(self, values: Values) -> Values:
        """What it has of a film."""
        number = Decimal(values["stars"]) if self.exact else values["stars"]
        return {self.author: values["author"], "stars": number}


WRITER = Annotated[str, Formerly("author")]
EXACT = Annotated[Decimal, Retyped(was=int, forward=Decimal, back=int)]
EDITIONS = (
    Edition({"author": str, "stars": int}, {}, is_shelved=False),
    Edition({"author": str, "stars": int}, {}),
    Edition({"writer": WRITER, "stars": int}, {}, author="writer"),
    Edition(
        {"writer": WRITER, "stars": EXACT},
        {"stars": attribute("exact_stars", column="exact_stars")},
        author="writer",
        exact=True,
    ),
)


def declared(edition: Edition, number: int) -> Any:
    """The class of films of one history, at one time."""
    place = Table(f"penstock-films-{number}", partition="PK", sort="SK")
    shelf = place.index("GSI1", partition="GSI1PK", sort="GSI1SK")
    scope: Values = {}
    exec(
        f"def at(self, *, film_id: str) -> None: ...\ndef by_shelf(self, *, {edition.author}: str) -> None: ...", scope
    )
    members: Values = {"__module__": __name__, **edition.defaults, "at": key("FILM#{film_id}", "META")(scope["at"])}
    members["__annotations__"] = {"film_id": str, **edition.fields}
    if edition.is_shelved:
        members["shelved"] = walked = IndexKey(shelf, f"SHELF#{{{edition.author}}}", "{film_id}")
        members["by_shelf"] = pattern(walked)(scope["by_shelf"])
    options = {"table": place, "relation": f"films_{number}"}
    made = types.new_class("Film", (Entity,), options, lambda space: space.update(members))
    Domain(f"cinema{number}", made)
    return made


@dataclass
class Deployed:
    """A declaration that is in use, with a store of its own on every engine."""

    edition: Edition
    film: Any
    stores: list[Store]
    is_shut_out: bool = False


class FilmHistory(RuleBasedStateMachine):
    """What may happen to the films of one cinema, on every engine at once."""

    open_stores: Callable[[], Sequence[Store]]
    migrations = 0

    @initialize(many=st.lists(st.tuples(names, authors, stars), min_size=5, max_size=12))
    def begin(self, many: list[tuple[str, str, int]]) -> None:
        self.number, self.films, self.in_use = next(_counter), dict[str, Values](), list[Deployed]()
        self.editions, self.opened = iter(EDITIONS), list[Store]()
        self.is_pending, self.steps = False, 0
        self._deploy()
        for place, name in enumerate(_ALL):
            self.put(name, "xyz"[place % 3], place % 10, which=0)
        for name, author, number in many:
            self.put(name, author, number, which=0)

    def _deploy(self) -> None:
        edition = next(self.editions, None)
        if edition is None:
            return
        film = declared(edition, self.number)
        stores = list(type(self).open_stores())
        self.opened += stores
        for store in stores:
            store.ensure(film.__domain__)
        self.in_use = [*self.in_use[-1:], Deployed(edition, film, stores)]
        self.is_pending = len(self.in_use) > 1

    # What people do

    @rule(dies_at=st.none() | st.integers(1, 20))
    def evolve(self, dies_at: int | None) -> None:
        """The next declaration comes; or all is done that the last one takes, unless whoever does it dies."""
        if self.is_pending:
            self._migrate(dies_at)
        else:
            self._deploy()

    def _migrate(self, dies_at: int | None) -> None:
        newer = self.in_use[-1]
        self.in_use[0].is_shut_out = newer.edition.exact  # from some moment on, which is another on every engine
        for store in type(self).open_stores():
            self.opened.append(store)
            runner = store if dies_at is None else dying(store, dies_at)
            try:
                Migration(runner, newer.film.__shape__, segments=2, page=3, shut_out=True).run()
            except Killed:
                continue
        if dies_at is None:
            self.is_pending = False
            type(self).migrations += 1
            self.wait(FRESH)  # whoever was not waited for hears of it now

    @rule(seconds=st.integers(1, 10))
    def wait(self, seconds: float) -> None:
        self.in_use[0].stores[0].clock.advance(timedelta(seconds=seconds))  # type: ignore[attr-defined]

    @rule(name=names, author=authors, number=stars, which=st.integers(0, 1))
    def put(self, name: str, author: str, number: int, which: int) -> None:
        values = {"author": author, "stars": number}
        there = self._one(which)
        if self._everywhere(there, lambda s: s.put(there.film(film_id=name, **there.edition.seen(values)))):
            self.films[name] = values

    @rule(name=names, author=authors, which=st.integers(0, 1))
    def sign(self, name: str, author: str, which: int) -> None:
        if name not in self.films:
            return
        there = self._one(which)
        called, ref = there.edition.author, there.film.at(film_id=name)

        def sign(store: Store) -> None:
            if there.edition.is_shelved:
                store.modify(ref, lambda film: setattr(film, called, author))
            else:
                store.patch(ref, Set(called, author))

        if self._everywhere(there, sign):
            self.films[name]["author"] = author

    @rule(name=names, which=st.integers(0, 1))
    def remove(self, name: str, which: int) -> None:
        there = self._one(which)
        if self._everywhere(there, lambda s: s.delete(there.film.at(film_id=name))):
            self.films.pop(name, None)

    # What always holds

    @invariant()
    def it_goes_on(self) -> None:
        """Every few steps, as a history has but some of the rules."""
        self.steps += 1
        if self.steps % 3 == 0:
            self.evolve(self.steps % 4 * 3 or None)

    @invariant()
    def every_declaration_reads_what_was_written(self) -> None:
        for there in self.in_use:
            refs = [there.film.at(film_id=f"f{n}") for n in range(12)]
            expected = [there.edition.seen(self.films[n]) if n in self.films else None for n in _ALL]
            self._everywhere(there, lambda s, refs=refs, expected=expected: _check_read(s, refs, expected))  # type: ignore[misc]

    @invariant()
    def every_answer_has_all_and_nothing_else(self) -> None:
        for there in self.in_use:
            if there.edition.is_shelved and not there.is_shut_out:
                for author in "xyz":
                    expected = sorted(n for n, v in self.films.items() if v["author"] == author)
                    self._ask(there, author, expected)

    def _ask(self, there: Deployed, author: str, expected: list[str]) -> None:
        for store in there.stores:
            try:
                found = list(store.find(there.film.by_shelf(**{there.edition.author: author})))
            except LayoutMismatch:  # as IndexIncomplete is
                assert self.is_pending
                continue
            assert [film.film_id for film in found] == expected, f"{_name(store)}: {author}"

    def _one(self, which: int) -> Deployed:
        return self.in_use[min(which, len(self.in_use) - 1)]

    def _everywhere(self, there: Deployed, action: Callable[[Store], Any]) -> bool:
        """Do the same on every engine; False where a declaration is shut out."""
        if there.is_shut_out:
            return False
        for store in there.stores:
            action(store)
        return True

    def teardown(self) -> None:
        for store in self.opened:
            beneath(store).close()  # some have died, and tell nobody


_ALL = [f"f{n}" for n in range(12)]


def _check_read(store: Store, refs: Sequence[Any], expected: list[Values | None]) -> None:
    found = [
        None if f is None else {n: v for n, v in f.__dict__.items() if n != "film_id"} for f in store.get_many(refs)
    ]
    assert found == expected, _name(store)


def _name(store: Store) -> str:
    engine: Engine = store.engine
    return type(getattr(engine, "beneath", engine)).__name__
