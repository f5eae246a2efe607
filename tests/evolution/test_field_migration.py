"""Fields are renamed, retyped, new with a rule, gone or no longer required while both declarations write."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any

import pytest

from penstock import Formerly, FrozenClock, Gone, Retyped, Store, attribute, begins
from penstock.errors import Conflict, DamagedRecord, IndexIncomplete, LayoutMismatch
from penstock.evolution.migration import Migration, MigrationProgress, pause_migration
from penstock.evolution.pending import pending_migrations
from penstock.operations.conditions import Compare, OneOf
from penstock.operations.updates import Add, Set
from tests.beneath import beneath
from tests.evolution.dying import Killed, dying
from tests.kernel.layouts.conftest import OpenStore, ensured
from tests.kernel.layouts.films import Declared, cinema, film

RECORDS = 60
Values = dict[str, Any]


@dataclass
class Change:
    """What becomes of a declaration, and what its fields are called and worth on either side."""

    old: Callable[[], Declared]
    new: Callable[[], Declared]
    to_new: Callable[[Values], Values] = field(default=dict)
    "What the newer declaration reads of a record whose values the older has."
    to_old: Callable[[Values], Values] = field(default=dict)
    new_values: Callable[[random.Random], Values] = field(default=lambda chance: {})
    "What else a record has that the newer one writes."
    shuts_out: bool = False


def _renamed(values: Values) -> Values:
    return {("writer" if n == "author" else n): v for n, v in values.items()}


def _renamed_back(values: Values) -> Values:
    return {("author" if n == "writer" else n): v for n, v in values.items()}


def _exact(values: Values) -> Values:
    return {**values, "stars": Decimal(values["stars"])}


def _whole(values: Values) -> Values:
    return {**values, "stars": int(values["stars"])}


def _is_good(stars: int) -> bool:
    return stars > 4


FIELDS: Values = {"author": str, "stars": int}
CHANGES = {
    "renamed": Change(
        lambda: film(FIELDS),
        lambda: film({"writer": Annotated[str, Formerly("author")], "stars": int}),
        _renamed,
        _renamed_back,
    ),
    "renamed in an index": Change(
        lambda: film(FIELDS, index=("SHELF#{author}", "{film_id}")),
        lambda: film(
            {"writer": Annotated[str, Formerly("author")], "stars": int}, index=("SHELF#{writer}", "{film_id}")
        ),
        _renamed,
        _renamed_back,
    ),
    "retyped": Change(
        lambda: film(FIELDS),
        lambda: film(
            {"author": str, "stars": Annotated[Decimal, Retyped(was=int, forward=Decimal, back=int)]},
            defaults={"stars": attribute("exact_stars", column="exact_stars")},
        ),
        _exact,
        _whole,
        shuts_out=True,
    ),
    "begins": Change(
        lambda: film(FIELDS),
        lambda: film({**FIELDS, "good": bool}, defaults={"good": begins(_is_good, of="stars")}),
        lambda values: {"good": _is_good(values["stars"]), **values},
        lambda values: {n: v for n, v in values.items() if n != "good"},
        lambda chance: {"good": chance.random() < 0.5},
        shuts_out=True,
    ),
    "gone": Change(
        lambda: film(FIELDS),
        lambda: film({"stars": int}, gone=(Gone("author", written_as=""),)),
        lambda values: {"stars": values["stars"]},
        lambda values: {"author": "", **values},
    ),
    "no longer required": Change(
        lambda: film(FIELDS),
        lambda: film({"author": str | None, "stars": int}, defaults={"author": None}),
        shuts_out=True,
    ),
}


class Writer(threading.Thread):
    """Writes and reads films of its own through either declaration, until it is told to end."""

    def __init__(self, number: int, change: Change, old: tuple[Store, Declared], new: tuple[Store, Declared]) -> None:
        super().__init__(name=f"writer-{number}")
        self.change, self.old, self.new = change, old, new
        self.films: dict[str, Values] = {}
        "What each was written with last, in the names of the older declaration, and with what the newer has more."
        self.stars: dict[str, list[int]] = {}
        "All that each has had since it was created: a rule speaks of one of them, whenever it was brought along."
        self.chance, self.mark = random.Random(number), f"w{number}-"
        self.ends = threading.Event()
        self.failure: BaseException | None = None
        self.steps = 0

    def run(self) -> None:
        try:
            while not self.ends.is_set():
                self.step()
        except BaseException as error:
            self.failure = error

    def step(self) -> None:
        self.steps += 1
        name = self.mark + str(self.chance.randrange(8))
        by_new = self.chance.random() < 0.5
        verb = self.chance.choice([self.put, self.count, self.sign, self.remove, self.read, self.read])
        try:
            verb(*(self.new if by_new else self.old), by_new, name)
        except LayoutMismatch:
            assert self.change.shuts_out
            assert not by_new

    def put(self, store: Store, declared: Declared, by_new: bool, name: str) -> None:
        given: Values = {"author": self.chance.choice("xyz"), "stars": self.chance.randrange(9)}
        if by_new:
            given = {**self.change.to_new(given), **self.change.new_values(self.chance)}
        store.put(declared(film_id=name, **given))
        kept = self.films.get(name, {})
        told = self.change.to_old(given) if by_new else given
        more = {n: v for n, v in given.items() if n == "good"}
        names = {"writer": "author"}
        known = {names.get(n, n) for n in declared.__shape__.fields}
        self.films[name] = {**told, **more, **{n: v for n, v in kept.items() if n not in known}}
        self.stars.setdefault(name, []).append(told["stars"])

    def count(self, store: Store, declared: Declared, by_new: bool, name: str) -> None:
        if name in self.films:
            store.patch(declared.at(film_id=name), Add("stars", declared.__shape__.fields["stars"].python(1)))
            self.films[name]["stars"] += 1
            self.stars[name].append(self.films[name]["stars"])

    def sign(self, store: Store, declared: Declared, by_new: bool, name: str) -> None:
        called = "writer" if "writer" in declared.__shape__.fields else "author"
        if name in self.films and called in declared.__shape__.fields:
            author = self.chance.choice("xyz")
            store.patch(declared.at(film_id=name), Set(called, author))
            self.films[name]["author"] = author

    def remove(self, store: Store, declared: Declared, by_new: bool, name: str) -> None:
        if self.chance.random() < 0.3:
            store.delete(declared.at(film_id=name))
            self.films.pop(name, None)
            self.stars.pop(name, None)

    def read(self, store: Store, declared: Declared, by_new: bool, name: str) -> None:
        found = store.lookup(declared.at(film_id=name))
        told = None if found is None else {n: v for n, v in found.__dict__.items() if n != "film_id"}
        self.check(name, told, by_new)
        if hasattr(declared, "by_shelf") and name in self.films:
            shelf = {"writer" if by_new else "author": self.films[name]["author"]}
            own = [f.film_id for f in store.find(declared.by_shelf(**shelf)) if f.film_id.startswith(self.mark)]
            assert own == sorted(n for n, v in self.films.items() if v["author"] == self.films[name]["author"])

    def check(self, name: str, told: Values | None, by_new: bool) -> None:
        expected = self.films.get(name)
        if expected is not None:
            if not by_new:
                expected = {n: v for n, v in expected.items() if n != "good"}
            elif "good" not in expected and told is not None and "good" in told:
                assert told["good"] in {_is_good(stars) for stars in self.stars[name]}
                expected = {**expected, "good": told["good"]}
            expected = self.change.to_new(expected) if by_new else expected
        assert told == expected, f"{name} is {told}, and not {expected}"


@contextmanager
def _traffic(change: Change, open_store: OpenStore, old: Declared, new: Declared) -> Iterator[list[Writer]]:
    writers = [Writer(n, change, (open_store(), old), (open_store(), new)) for n in range(2)]
    for writer in writers:
        writer.start()
    try:
        yield writers
    finally:
        for writer in writers:
            writer.ends.set()
        for writer in writers:
            writer.join(120)
    for writer in writers:
        if writer.failure is not None:
            raise writer.failure
        assert not writer.is_alive()


def _migration(store: Store, declared: Declared, **options: Any) -> Migration:
    return Migration(store, declared.__shape__, **{"segments": 2, "page": 7, "shut_out": True, **options})


def _stand(store: Store, declared: Declared, number: int = RECORDS) -> dict[str, Values]:
    films = {f"old-{n:04d}": {"author": "xyz"[n % 3], "stars": n % 7} for n in range(number)}
    store.put_many([declared(film_id=name, **values) for name, values in films.items()])
    return films


@pytest.mark.long  # in threads, as it happens; `proof` shows the same always, one step after the other
@pytest.mark.parametrize("kind", CHANGES)
def test_both_write_all_the_while_and_everything_is_read_as_it_was_written(
    store: Store, another: OpenStore, kind: str, engine_name: str
) -> None:
    change = CHANGES[kind]
    old, new = change.old(), change.new()
    films = _stand(ensured(another, old), old)
    after = ensured(another, new)
    with _traffic(change, another, old, new) as writers:
        if pending_migrations(after, [cinema(new)]):  # else there was nothing more to do
            # A store that copies by itself makes six writes, and more only if others have made many records meanwhile.
            dies_at = random.Random(kind + engine_name).randint(3, 6)
            with pytest.raises(Killed):
                _migration(dying(another(), dies_at), new).run()
        done = _migration(after, new).run()
        steps = sum(w.steps for w in writers)
        while sum(w.steps for w in writers) < steps + 20 and all(w.is_alive() for w in writers):
            writers[0].join(0.01)
    assert done.stage == "complete"
    with pytest.raises(LayoutMismatch) if change.shuts_out else nullcontext():
        writers[0].put(*writers[0].old, False, writers[0].mark)
    for name, values in films.items():
        assert _read(after, new, name) == change.to_new(values)
    for writer in writers:
        for name in writer.films:
            writer.check(name, _read(after, new, name), by_new=True)
    assert [s.kind for s in after.ensure(cinema(new), dry_run=True)] == (["leftover"] if kind == "gone" else [])


def _read(store: Store, declared: Declared, name: str) -> Values:
    return {n: v for n, v in store.get(declared.at(film_id=name)).__dict__.items() if n != "film_id"}


def test_what_a_former_type_cannot_hold_is_written_when_it_is_gone(store: Store, another: OpenStore) -> None:
    """On PostgreSQL 1.5 became 2, and nobody was told."""
    change = CHANGES["retyped"]
    old, new = change.old(), change.new()
    before = ensured(another, old)
    _stand(before, old, 3)
    after = ensured(another, new)
    record = new(film_id="old-0000", author="x", stars=Decimal("1.5"))
    with pytest.raises(LayoutMismatch, match="penstock migrate"):
        after.put(record)
    with pytest.raises(LayoutMismatch, match="penstock migrate"):
        after.patch(new.at(film_id="old-0000"), Set("stars", Decimal("1.5")))
    after.patch(new.at(film_id="old-0001"), Add("stars", Decimal(3)), when=Compare("stars", "=", Decimal(1)))
    assert before.get(old.at(film_id="old-0001")).stars == 4
    _migration(after, new).run()
    after.put(record)
    assert after.get(record.ref).stars == Decimal("1.5")
    with pytest.raises(LayoutMismatch, match=r"cinema\.Film\.stars"):
        before.get(old.at(film_id="old-0001"))


def test_conditions_on_what_is_on_its_way_are_exact_or_refused(store: Store, another: OpenStore) -> None:
    change = CHANGES["retyped"]
    old, new = change.old(), change.new()
    _stand(ensured(another, old), old, 3)
    after = another()
    ref = new.at(film_id="old-0001")
    with pytest.raises(Conflict):
        after.patch(ref, Set("author", "q"), when=Compare("stars", "=", Decimal("1.5")))
    after.patch(ref, Set("author", "q"), when=Compare("stars", "<>", Decimal("1.5")))
    with pytest.raises(Conflict):
        after.patch(ref, Set("author", "r"), when=OneOf("stars", (Decimal("1.5"), Decimal(2))))
    after.patch(ref, Set("author", "r"), when=OneOf("stars", (Decimal("1.5"), Decimal(1))))
    with pytest.raises(LayoutMismatch, match="order"):
        after.patch(ref, Set("author", "s"), when=Compare("stars", ">", Decimal(0)))
    assert after.get(ref).author == "r"


def test_nobody_asks_by_a_field_that_some_records_do_not_have_yet(store: Store, another: OpenStore) -> None:
    shelf = ("SHELF#{author}", "{film_id}")
    old = film(FIELDS, index=shelf)
    new = film({**FIELDS, "good": bool}, defaults={"good": begins(_is_good, of="stars")}, index=shelf)
    _stand(ensured(another, old), old, 9)
    after = ensured(another, new)
    good = new.by_shelf(author="x").where(Compare("good", "=", True))
    with pytest.raises(IndexIncomplete, match="penstock migrate"):
        list(after.find(good))
    _migration(after, new).run()
    assert [found.film_id for found in after.find(good)] == ["old-0006"]


def test_a_write_is_judged_by_what_a_record_reads_as(store: Store, another: OpenStore) -> None:
    """Also where it has no value of its own yet; and by what stands, when another was quicker."""
    change = CHANGES["begins"]
    old, new = change.old(), change.new()
    before, after = ensured(another, old), ensured(another, new)
    _stand(before, old, 9)
    ref = new.at(film_id="old-0006")
    assert after.get(ref).good is True
    after.patch(ref, Set("author", "q"), when=Compare("good", "=", True))
    engine = beneath(after)
    commit, turn = engine.patch, [0]

    def overtaken(*args: Any, **options: Any) -> Any:
        turn[0] += 1
        if turn[0] == 1:
            before.patch(old.at(film_id="old-0006"), Set("stars", 1))
        return commit(*args, **options)

    engine.patch = overtaken
    with pytest.raises(Conflict):
        after.patch(ref, Set("author", "r"), when=Compare("good", "=", True))
    assert turn == [1]
    after.patch(ref, Set("author", "s"), when=Compare("good", "=", False))
    assert before.get(old.at(film_id="old-0006")).author == "s"


def test_a_value_of_which_the_function_makes_none_stops_the_migration_and_is_told(
    store: Store, another: OpenStore
) -> None:
    old = film({"author": str})
    new = film(
        {"author": Annotated[int, Retyped(was=str, forward=int, back=str)]},
        defaults={"author": attribute("number", column="number")},
    )
    before = ensured(another, old)
    before.put_many([old(film_id=name, author=name) for name in ("1", "2", "x")])
    after = ensured(another, new)
    assert after.get(new.at(film_id="2")).author == 2
    with pytest.raises(DamagedRecord):
        after.get(new.at(film_id="x"))
    with pytest.raises(LayoutMismatch, match=r"film_id=x"):
        _migration(after, new).run()
    after.put(new(film_id="x", author=3))
    assert _migration(after, new).run().stage == "complete"
    assert [after.get(new.at(film_id=n)).author for n in "12x"] == [1, 2, 3]


def test_older_declarations_are_waited_for_unless_they_are_shut_out(
    store: Store, another: OpenStore, clock: FrozenClock
) -> None:
    change = CHANGES["no longer required"]
    old, new = change.old(), change.new()
    before = ensured(another, old)
    _stand(before, old, 3)
    after = ensured(another, new)
    told: list[MigrationProgress] = []
    before.put(old(film_id="a", author="x", stars=1))
    done = _migration(after, new, shut_out=False, tell=told.append).run()
    assert done.stage == "complete"
    assert any(t.stage == "waiting" and "--shut-out" in t.detail for t in told)
    after.put(new(film_id="a", author=None, stars=1))
    assert after.get(new.at(film_id="a")).author is None


def test_a_migration_that_is_paused_stops_and_is_gone_on_with(store: Store, another: OpenStore) -> None:
    change = CHANGES["renamed"]
    old, new = change.old(), change.new()
    _stand(ensured(another, old), old)
    after = ensured(another, new)
    other = another()
    paused = _migration(after, new, page=3, tell=lambda told: pause_migration(other, "cinema.Film") and None).run()
    assert paused.stage == "paused"
    assert paused.looked_at < RECORDS
    done = _migration(after, new).run()
    assert (done.stage, done.looked_at, done.written) == ("complete", RECORDS, RECORDS)


def test_no_more_records_a_second_are_looked_at_than_is_asked_for(
    store: Store, another: OpenStore, clock: FrozenClock
) -> None:
    change = CHANGES["renamed"]
    old, new = change.old(), change.new()
    _stand(ensured(another, old), old)
    after = ensured(another, new)
    began = clock.monotonic()
    _migration(after, new, rate=1).run()
    assert clock.monotonic() - began >= 2 * RECORDS  # all are looked at twice


@pytest.mark.parametrize("kind", [kind for kind in CHANGES if kind != "gone"])
@pytest.mark.parametrize("commits", [pytest.param(n, marks=pytest.mark.long if n != 4 else ()) for n in (3, 4)])
def test_killed_again_and_again_it_is_gone_on_with_and_comes_to_its_end(
    store: Store, another: OpenStore, kind: str, commits: int
) -> None:
    """So few commits are made by each process that between them they end at every one there is."""
    change = CHANGES[kind]
    old, new = change.old(), change.new()
    before, after = ensured(another, old), ensured(another, new)
    films = _stand(before, old, 9)
    for deaths in range(60):
        try:
            _migration(dying(another(), commits), new, segments=1).run()
            break
        except Killed:
            name = f"old-{deaths % 9:04d}"
            assert _read(after, new, name) == change.to_new(films[name])
    else:
        raise AssertionError("it does not come to its end")
    assert deaths > 1
    for name, values in films.items():
        assert _read(after, new, name) == change.to_new(values)
    assert after.ensure(cinema(new), dry_run=True) == []


def test_what_was_read_is_brought_along_only_while_that_stands(store: Store, another: OpenStore) -> None:
    """Between reading a record and writing its second place, the older declaration changes it, each time anew."""
    change = CHANGES["renamed"]
    old, new = change.old(), change.new()
    before, after = ensured(another, old), ensured(another, new)
    _stand(before, old, 9)
    engine, turn = beneath(after), [0]

    def change_all() -> None:
        turn[0] += 1
        for number in range(9):
            before.patch(old.at(film_id=f"old-{number:04d}"), Set("author", f"turn {turn[0]}"))

    read, copy = engine.scan, getattr(engine, "copy_fields", None)

    def overtaken(*args: Any, **options: Any) -> Any:
        page = read(*args, **options)
        change_all()
        return page

    def foreseen(*args: Any, **options: Any) -> Any:
        change_all()
        assert copy is not None
        return copy(*args, **options)

    engine.scan = overtaken
    if copy is not None:  # which reads nothing; so what it is to write is changed before it does
        engine.copy_fields = foreseen
    done = _migration(after, new, segments=1, page=100).run()
    assert (done.stage, done.looked_at, done.written) == ("complete", 9, 0)
    assert {_read(after, new, f"old-{n:04d}")["writer"] for n in range(9)} == {f"turn {turn[0]}"}


@pytest.mark.parametrize("kind", ["renamed", "renamed in an index"])
def test_whoever_has_not_heard_of_the_end_reads_what_others_write_after_it(
    store: Store, another: OpenStore, kind: str
) -> None:
    change = CHANGES[kind]
    old, new = change.old(), change.new()
    before, after, early = ensured(another, old), ensured(another, new), another()
    _stand(before, old, 9)
    early.put(new(film_id="a", writer="x", stars=1))

    def look(told: MigrationProgress) -> None:
        assert before.get(old.at(film_id="a")).author == early.get(new.at(film_id="a")).writer == "x"

    _migration(after, new, tell=look).run()
    after.put(new(film_id="a", writer="y", stars=1))
    after.patch(new.at(film_id="old-0001"), Set("writer", "y"))
    for name in ("a", "old-0001"):
        assert before.get(old.at(film_id=name)).author == "y"
        assert early.get(new.at(film_id=name)).writer == "y"
    before.patch(old.at(film_id="a"), Set("author", "z"))
    assert after.get(new.at(film_id="a")).writer == "z"


def test_tables_are_left_as_they_are_while_records_are_on_their_way(store: Store, another: OpenStore) -> None:
    """Whoever starts meanwhile, with either declaration, would have the index of its own layout."""
    change = CHANGES["renamed in an index"]
    old, new = change.old(), change.new()
    before, after = ensured(another, old), ensured(another, new)
    _stand(before, old, 9)
    steps: list[str] = []

    def start(told: MigrationProgress) -> None:
        for opened, declared in ((before, old), (after, new)):
            steps.extend(s.kind for s in opened.ensure(cinema(declared)))

    _migration(after, new, tell=start).run()
    assert {kind for kind in steps if kind.endswith("index")} == set()
    assert after.ensure(cinema(new), dry_run=True) == []
