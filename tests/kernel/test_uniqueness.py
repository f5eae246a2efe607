"""Unique fields: one record has a value, whoever writes it and by whichever path."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any

import pytest

from penstock import (
    Domain,
    Entity,
    EpochSeconds,
    Expires,
    FrozenClock,
    Personal,
    Store,
    Table,
    Unique,
    UniqueWithin,
    key,
    the,
)
from penstock.errors import Conflict, DeclarationError, NotFound, NotUnique, TooLarge
from penstock.kernel import upkeep
from penstock.kernel.batch import BatchRefused
from penstock.kernel.handle import patch, put
from penstock.kernel.lease import Leased, take
from penstock.kernel.own_records import KERNEL
from penstock.kernel.uniqueness import UniqueValue, holdings

TABLE = Table("penstock-test-guests", partition="PK", sort="SK", expiry="ttl")


class Guest(Leased, table=TABLE):
    guest_id: str
    email: Personal[Unique[str]]
    nickname: Unique[str] | None = None
    note: str = ""

    @key("GUEST#{guest_id}", "GUEST")
    def at(self, *, guest_id: str) -> None: ...


class Room(Entity, table=TABLE):
    project_id: str | None = None
    room_id: str
    title: Annotated[str, UniqueWithin("project_id")]
    code: Unique[str] | None = None

    @key("ROOM#{room_id}", "ROOM")
    def at(self, *, room_id: str) -> None: ...


class Badge(Entity, table=TABLE, lifetimes=(Expires(at="ttl"),)):
    badge_id: str
    number: Unique[int]
    ttl: EpochSeconds | None = None

    @key("BADGE#{badge_id}", "BADGE")
    def at(self, *, badge_id: str) -> None: ...


HOUSE = Domain("house_unique", Guest, Room, Badge)


@pytest.fixture
def furniture() -> tuple[Domain, ...]:
    return (HOUSE,)


def guest(name: str, email: str, **values: Any) -> Guest:
    return Guest(guest_id=name, email=email, **values)


def claims(store: Store, *records: Entity) -> list[bool]:
    """Is there a claim to each unique value of these records?"""
    wanted = [c for r in records for c in holdings(r.__shape__, r.__dict__, None)]
    return [r is not None for r in store.get_many([UniqueValue.at(claim=c) for c in wanted])]


WRITES: dict[str, Callable[[Store, Guest], Any]] = {
    "create": lambda s, g: s.create(g),
    "put": lambda s, g: s.put(g),
    "put if": lambda s, g: s.put(g, when=the(Guest.note).absent() | the(Guest.note).differs("never")),
    "commit": lambda s, g: s.commit([put(g)]),
    "put_many": lambda s, g: s.put_many([g]),
    "change.create": lambda s, g: _changed(s, lambda c: c.create(g)),
    "change.put": lambda s, g: _changed(s, lambda c: c.put(g)),
    "change.claim": lambda s, g: _changed(s, lambda c: c.claim(g, owner="guest_id")),
}


def _changed(store: Store, action: Callable[[Any], Any]) -> None:
    with store.change(by="ann") as change:
        action(change)


def test_a_value_that_another_has_is_refused_by_every_path(store: Store) -> None:
    store.create(guest("a", "a@x"))
    store.create(guest("b", "b@x"))
    for write in WRITES.values():
        with pytest.raises(NotUnique) as refused:
            write(store, guest("c", "a@x"))
        assert "house_unique.Guest.email must be unique" in str(refused.value)
        assert "a@x" not in str(refused.value)
        assert store.lookup(Guest.at(guest_id="c")) is None
    b = Guest.at(guest_id="b")
    patches: list[Callable[[], Any]] = [
        lambda: store.patch(b, the(Guest.email).set("a@x")),
        lambda: store.patch(b, the(Guest.email).set("a@x"), given=store.get(b)),
        lambda: _changed(store, lambda c: c.patch(b, the(Guest.email).set("a@x"))),
        lambda: _changed(store, lambda c: c.save(_set(c.get(b), email="a@x"))),
        lambda: store.put(guest("b", "a@x")),
    ]
    for patched in patches:
        with pytest.raises(NotUnique):
            patched()
    assert store.get(b) == guest("b", "b@x")
    assert claims(store, guest("a", "a@x"), guest("b", "b@x")) == [True, True]


def _one_by_one(*actions: Callable[[], Any]) -> None:
    for action in actions:
        action()


def _set(record: Any, **values: Any) -> Any:
    for name, value in values.items():
        setattr(record, name, value)
    return record


def test_a_patch_that_ends_a_record_is_done_and_says_so(store: Store, clock: FrozenClock) -> None:
    end = int(clock.now().timestamp())
    here = Badge.at(badge_id="a")
    store.create(Badge(badge_id="a", number=7))
    assert store.patch(here, the(Badge.ttl).set(end)) == Badge(badge_id="a", number=7, ttl=end)
    assert store.lookup(here) is None
    store.create(Badge(badge_id="b", number=7))
    given = store.get(Badge.at(badge_id="b"))
    changed = store.patch(given.ref, the(Badge.number).set(8), the(Badge.ttl).set(end), given=given)
    assert changed == Badge(badge_id="b", number=8, ttl=end)
    store.create(Badge(badge_id="c", number=7))


def test_a_patch_whose_record_is_removed_before_it_is_read_back_says_so(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.create(guest("a", "1"))
    here, made = Guest.at(guest_id="a"), store.commit

    def removed_at_once(writes: Any) -> None:
        made(writes)
        store.engine.load([_raw_delete(here)], now=store.clock.now())

    monkeypatch.setattr(store, "commit", removed_at_once)
    with pytest.raises(NotFound, match=r"Guest\(guest_id=a\) was patched, and has been removed since"):
        store.patch(here, the(Guest.email).set("2"))


def test_a_value_is_free_again_once_nobody_has_it(store: Store) -> None:
    a, b = Guest.at(guest_id="a"), Guest.at(guest_id="b")
    store.create(guest("a", "1"))
    store.create(guest("b", "b"))
    frees: list[Callable[[str], Any]] = [
        lambda new: store.patch(a, the(Guest.email).set(new)),
        lambda new: _changed(store, lambda c: c.save(_set(c.get(a), email=new))),
        lambda new: store.put(guest("a", new)),
        lambda new: _changed(store, lambda c: c.patch(a, the(Guest.email).set(new))),
        lambda new: _one_by_one(lambda: store.delete(a), lambda: store.create(guest("a", new))),
        lambda new: _one_by_one(lambda: store.delete_many([a]), lambda: store.put_many([guest("a", new)])),
        lambda new: _one_by_one(lambda: _changed(store, lambda c: c.delete(a)), lambda: store.create(guest("a", new))),
    ]
    for number, free in enumerate(frees, 2):
        free(str(number))
        store.patch(b, the(Guest.email).set(str(number - 1)))
        assert (store.get(a).email, store.get(b).email) == (str(number), str(number - 1))
    last = str(len(frees) + 1)
    gone = [guest("a", str(n)) for n in range(1, len(frees))]
    assert claims(store, guest("a", last), guest("b", str(len(frees))), *gone) == [True, True] + [False] * len(gone)


def test_what_has_no_value_claims_nothing(store: Store) -> None:
    store.create(guest("a", "a"))
    store.create(guest("b", "b"))
    store.patch(Guest.at(guest_id="a"), the(Guest.nickname).set("x"))
    with pytest.raises(NotUnique, match="nickname"):
        store.patch(Guest.at(guest_id="b"), the(Guest.nickname).set("x"))
    store.patch(Guest.at(guest_id="a"), the(Guest.nickname).remove())
    assert store.patch(Guest.at(guest_id="b"), the(Guest.nickname).set("x")).nickname == "x"


def test_records_change_their_values_in_one_commit(store: Store) -> None:
    store.create(guest("a", "1"))
    store.create(guest("b", "2"))
    with store.change(by="ann") as change:
        a, b = change.get(Guest.at(guest_id="a")), change.get(Guest.at(guest_id="b"))
        a.email, b.email = b.email, a.email
        change.save(a)
        change.save(b)
    assert [store.get(r.ref).email for r in (a, b)] == ["2", "1"]
    with store.change() as change:  # and give them on
        change.delete(a.ref)
        change.create(guest("c", "2"))
    with pytest.raises(NotUnique), store.change() as change:
        change.create(guest("d", "4"))
        change.create(guest("e", "4"))
    with pytest.raises(NotUnique):
        store.create(guest("f", "1"))
    assert claims(store, guest("b", "1"), guest("c", "2"), guest("d", "4")) == [True, True, False]


def test_what_does_not_touch_a_unique_field_costs_nothing_more(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.create(guest("a", "a"))
    before = store.get(
        UniqueValue.at(claim=next(iter(holdings(Guest.__shape__, {"guest_id": "a", "email": "a"}, None))))
    )
    store.patch(Guest.at(guest_id="a"), the(Guest.note).set("x"))
    assert take(store, Guest.at(guest_id="a"), owner="me", period=timedelta(seconds=9)) is not None
    assert store.get(before.ref) == before
    with monkeypatch.context() as reading_fails:
        reading_fails.setattr(store.engine, "get", None)
        store.commit([patch(Guest.at(guest_id="a"), the(Guest.note).set("y"))])
    assert store.get(Guest.at(guest_id="a")).note == "y"


def test_a_claim_whose_owner_is_gone_is_taken_over(store: Store) -> None:
    store.create(guest("a", "1"))
    store.create(guest("b", "2"))
    # By hand, past the kernel: one is removed, the other has another value.
    store.engine.load([_raw_delete(Guest.at(guest_id="a"))], now=store.clock.now())
    store.engine.load([put(guest("b", "3"))], now=store.clock.now())
    store.create(guest("c", "1"))
    store.create(guest("d", "2"))
    with pytest.raises(NotUnique):
        store.create(guest("e", "1"))
    store.create(guest("a", "5"))
    assert [store.get(Guest.at(guest_id=n)).email for n in "cda"] == ["1", "2", "5"]


def test_of_two_who_find_a_claim_whose_owner_is_gone_one_takes_it_over(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second has seen that nobody has the value, a moment before the first had it."""
    store.create(guest("a", "1"))
    store.engine.load([_raw_delete(Guest.at(guest_id="a"))], now=store.clock.now())
    looked = upkeep._Upkeep._is_held

    def slowly(*asked: Any) -> bool:
        held = looked(*asked)
        with monkeypatch.context() as patched:
            patched.setattr(upkeep._Upkeep, "_is_held", looked)
            if store.lookup(Guest.at(guest_id="quicker")) is None:
                store.create(guest("quicker", "1"))
        return held

    monkeypatch.setattr(upkeep._Upkeep, "_is_held", slowly)
    with pytest.raises(NotUnique):
        store.create(guest("b", "1"))
    assert store.lookup(Guest.at(guest_id="b")) is None


def test_whoever_gives_a_value_up_leaves_it_to_another_who_has_it(store: Store) -> None:
    """By hand, past the kernel, two have it; the claim is of one of them."""
    store.create(guest("a", "1"))
    store.engine.load([put(guest("a", "3"))], now=store.clock.now())
    store.create(guest("b", "1"))
    store.engine.load([put(guest("a", "1"))], now=store.clock.now())
    store.delete(Guest.at(guest_id="a"))
    assert store.lookup(Guest.at(guest_id="a")) is None
    with pytest.raises(NotUnique):
        store.create(guest("c", "1"))


def _raw_delete(ref: Any) -> Any:
    from penstock.operations.writes import Delete

    return Delete(ref.shape, ref.key)


def test_a_value_ends_with_the_record_that_ends(store: Store, clock: FrozenClock) -> None:
    end = int(clock.now().timestamp()) + 60
    store.create(Badge(badge_id="a", number=-7, ttl=end))
    with pytest.raises(NotUnique):
        store.create(Badge(badge_id="b", number=-7))
    store.patch(Badge.at(badge_id="a"), the(Badge.ttl).set(end + 60))
    clock.advance(timedelta(seconds=90))
    with pytest.raises(NotUnique):
        store.create(Badge(badge_id="b", number=-7))
    clock.advance(timedelta(seconds=60))
    store.create(Badge(badge_id="b", number=-7))
    badge = store.get(Badge.at(badge_id="b"))
    assert badge.number == -7
    store.patch(badge.ref, the(Badge.ttl).set(end + 999))
    (claim,) = holdings(badge.__shape__, badge.__dict__, None)
    assert store.get(UniqueValue.at(claim=claim)).ttl == end + 999, "it goes where all that has ended goes"


def test_a_value_is_unique_within_what_is_declared(store: Store) -> None:
    for project in ("p", "q"):
        store.create(Room(project_id=project, room_id=f"{project}1", title="hall"))
    with pytest.raises(NotUnique, match="another record with the same project_id has this value"):
        store.create(Room(project_id="p", room_id="p2", title="hall"))
    store.create(Room(room_id="nobody's", title="hall"))
    store.create(Room(room_id="nobody's too", title="hall"))
    with pytest.raises(NotUnique):
        store.patch(Room.at(room_id="p1"), the(Room.project_id).set("q"))
    store.patch(Room.at(room_id="p1"), the(Room.project_id).set("r"))
    store.create(Room(project_id="p", room_id="p2", title="hall"))


def test_a_store_bound_to_a_project_learns_no_more_than_that_a_value_is_taken(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = store.scoped("p"), store.scoped("q")
    mine.create(Room(room_id="p1", title="hall", code="7"))
    other.create(Room(room_id="q1", title="hall"))
    commits, commit = [], other.engine.commit

    def counted(writes: Any, **more: Any) -> None:
        commits.append(writes)
        commit(writes, **more)

    with monkeypatch.context() as counting:
        counting.setattr(other.engine, "commit", counted)
        with pytest.raises(NotUnique) as refused:
            other.create(Room(room_id="q2", title="attic", code="7"))
    assert refused.value.found is None
    assert len(commits) == 3, "it may have been freed meanwhile, and is not tried for ever"
    with pytest.raises(NotUnique):
        mine.create(Room(room_id="p2", title="hall"))
    mine.patch(Room.at(room_id="p1"), the(Room.code).set("8"))
    other.create(Room(room_id="q2", title="attic", code="7"))
    other.delete(Room.at(room_id="q2"))
    mine.put(Room(room_id="p2", title="attic", code="7"))
    assert [store.get(Room.at(room_id=n)).project_id for n in ("p1", "q1", "p2")] == ["p", "q", "p"]


def test_of_many_who_want_a_value_one_gets_it(store: Store) -> None:
    for n in range(8):
        store.create(guest(f"old{n}", f"old{n}"))
    outcomes: list[type[Exception] | None] = []
    start = threading.Barrier(16)

    def run(n: int) -> None:
        start.wait()
        try:
            if n % 2:
                store.create(guest(f"new{n}", "wanted"))
            else:
                store.patch(Guest.at(guest_id=f"old{n // 2}"), the(Guest.email).set("wanted"))
            outcomes.append(None)
        except Conflict as error:
            outcomes.append(type(error))

    threads = [threading.Thread(target=run, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(str(o) for o in outcomes) == sorted(["None"] + [str(NotUnique)] * 15)


def test_a_record_that_many_change_holds_one_value_and_frees_the_others(store: Store) -> None:
    store.create(guest("a", "start"))
    there = Guest.at(guest_id="a")

    def run(n: int) -> None:
        for turn in range(3):
            store.patch(there, the(Guest.email).set(f"{n}-{turn}"))

    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last = store.get(there)
    others = [guest("a", f"{n}-{t}") for n in range(4) for t in range(3) if f"{n}-{t}" != last.email]
    assert claims(store, last, *others, guest("a", "start")) == [True] + [False] * 12


def test_in_a_batch_and_under_a_lease_the_refusal_is_the_true_one(store: Store) -> None:
    store.create(guest("a", "1"))
    store.create(guest("b", "2"))
    lease = take(store, Guest.at(guest_id="b"), owner="me", period=timedelta(seconds=60))
    with pytest.raises(NotUnique), store.change(under=lease) as change:
        change.save(_set(change.get(Guest.at(guest_id="b")), email="1"))
    with pytest.raises(BatchRefused) as refused, store.batch() as batch:
        for name, email in (("c", "3"), ("d", "1"), ("e", "3")):
            with batch.change(by="ann") as change:
                change.create(guest(name, email))
    assert [type(refused.value.refused[n]) for n in (1, 2)] == [NotUnique, NotUnique]
    assert store.get(Guest.at(guest_id="c")).email == "3"


def test_claims_count_among_the_writes_of_a_commit(store: Store) -> None:
    with pytest.raises(TooLarge, match="102 writes"):
        store.commit([put(guest(f"g{n}", f"e{n}")) for n in range(51)])


def test_very_long_values_are_unique_too(store: Store) -> None:
    store.create(guest("a", "x" * 5000))
    with pytest.raises(NotUnique):
        store.create(guest("b", "x" * 5000))
    store.create(guest("b", "x" * 4999))


def test_declarations_that_cannot_be_kept_are_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Tag\.labels is a document; a unique field may be"):

        class Tag(Entity, table=Table("penstock-test-tags", partition="PK")):
            name: str
            labels: Unique[list[str]]

            @key("{name}")
            def at(self, *, name: str) -> None: ...

    with pytest.raises(
        DeclarationError, match=r"Label\.text: UniqueWithin names 'nothing', which is not another field"
    ):

        class Label(Entity, table=Table("penstock-test-labels", partition="PK")):
            name: str
            text: Annotated[str, UniqueWithin("nothing")]

            @key("{name}")
            def at(self, *, name: str) -> None: ...


def test_a_claim_tells_nothing_of_the_value() -> None:
    assert UniqueValue in KERNEL.entities
    for holding in holdings(Guest.__shape__, guest("a", "secret@x").__dict__, None).values():
        assert "secret" not in repr(holding)
