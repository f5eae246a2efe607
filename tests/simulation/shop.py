"""A small shop: accounts with a feed, seats that are unique, quotas, claims; each a scene of its own."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from enum import StrEnum
from functools import partial
from typing import Annotated

from pydantic import Field

from penstock import Count, Domain, Entity, IndexKey, Store, Table, Unique, key, move, pattern, the
from penstock.errors import Conflict
from penstock.events.feed import Feed
from penstock.kernel.idempotency import Claim, InProgress, Replay, SystemOnce, begin, once_key
from penstock.kernel.lease import Duty
from penstock.kernel.quota import Quota, QuotaHold, QuotaUse, Share
from penstock.operations.feed_entry import FeedEntry
from penstock.testing.simulation import (
    Actor,
    Process,
    Scene,
    World,
    at_rest,
    doing,
    follower,
    invariant,
    relay,
    scene_of,
)
from penstock.testing.simulation.change_log import LoggedRow
from penstock.testing.simulation.invariants import every_message_is_told, messages_are_told_in_order

TABLE = Table("penstock_test_shop", partition="PK", sort="SK", feed=True)
KINDS = TABLE.index("kinds", partition="GSI1PK", sort="GSI1SK")
QUIET = Table("penstock_test_shop_quiet", partition="PK", sort="SK")


class Light(StrEnum):
    OFF = "off"
    ON = "on"
    BROKEN = "broken"


class Account(Entity, table=TABLE):
    """Something that is changed, followed and told of."""

    name: str
    number: Count = 0
    seen: Count = 0
    kind: str = "a"
    place: str = "b"
    light: Light = Light.OFF

    @key("ACCOUNT#{name}", "ACCOUNT")
    def at(self, *, name: str) -> None: ...

    shown = IndexKey(KINDS, "SHOWN", "{kind}#{place}")

    @pattern(shown)
    def all_there_are(self) -> None: ...

    @move(Light.OFF, to=Light.ON)
    def switch_on(self) -> None: ...

    @move(Light.OFF, to=Light.BROKEN)
    def smash(self) -> None: ...


class Tally(Entity, table=QUIET):
    """What has come of it."""

    name: str
    count: Annotated[int, Field(ge=0, le=100)] = 0
    events: list[str] = Field(default_factory=list)
    epoch: Count = 0

    @key("TALLY#{name}", "TALLY")
    def at(self, *, name: str) -> None: ...


class Seat(Entity, table=QUIET):
    """Of which no two have the same label."""

    seat_id: str
    label: Unique[str]

    @key("SEAT#{seat_id}", "SEAT")
    def at(self, *, seat_id: str) -> None: ...


SHOP = Domain("shop", Account, Tally, Seat)


def opened(store: Store) -> None:
    store.put_many([Account(name="a"), Tally(name="t", count=1)])


# Messages, in order


def _count_up(process: Process, *, to: int) -> None:
    with process.store.change(by="clerk") as change:
        account = change.get(Account.at(name="a"))
        if account.number != to - 1:
            raise Conflict("it was counted before, or is not its turn yet")
        account.number = to
        change.save(account)
        change.emit("account.counted", account, number=to)


LETTERS = (messages_are_told_in_order, every_message_is_told)


def letters() -> Scene:
    """Two change a record and tell of it, and two relays pass that on."""
    clerks = [doing(f"clerk {n}", *(partial(_count_up, to=to) for to in (1, 2, 3))) for n in (1, 2)]
    relays = [relay(name=f"relay {n}") for n in (1, 2)]
    return scene_of(
        opened,
        actors=[*clerks, *relays],
        domains=[SHOP],
        invariants=LETTERS,
    )


# A feed that is followed


def _feed(process: Process) -> Feed:
    feed = Feed(process.store, "tally", owner=process.name)

    @feed.on(Account, "insert", "update")
    def tally(entry: FeedEntry, claim: Claim) -> None:
        with process.store.change(once=claim) as change:
            change.patch(Tally.at(name="t"), the(Tally.events).append(entry.id))
            if entry.kind == "update" and entry.new.seen == 0:
                change.patch(Account.at(name="a"), the(Account.seen).set(1))

    return feed


def _see(process: Process) -> None:
    """Another does just what the handler does, and undoes it before."""
    process.store.patch(Account.at(name="a"), the(Account.seen).set(0), when=the(Account.seen).equals(1))
    process.store.patch(Account.at(name="a"), the(Account.seen).set(1), when=the(Account.seen).equals(0))


@invariant
def no_event_is_handled_twice(world: World) -> None:
    """A handler's change is made once for each event."""
    for tally in world.records(Tally):
        assert len(set(tally.events)) == len(tally.events), f"of {tally.events} one was handled twice"


@at_rest
def every_event_is_handled_in_order(world: World) -> None:
    """Every change of a record is handled, in order, but for one like each that the handler wrote itself."""
    own = "follower"
    handled = [e for tally in world.records(Tally) for e in tally.events]
    rows = {f"{r.place[0]}.{r.place[1]}": r for r in world.engine.log.rows if r.relation[1] == "account"}
    writers = world.notes.get("writers", {})
    assert handled == [e for e in rows if e in handled], f"{list(rows)} were told, and {handled} were handled"
    written = [e for e, row in rows.items() if writers.get(row.place[0], "").startswith(own)]
    left = [e for e in rows if e not in handled]
    told = f"of {list(rows)} {written} were the handler's own, and {left} were not handled"
    assert Counter(_change(rows[e]) for e in left) == Counter(_change(rows[e]) for e in written), told


def _change(row: LoggedRow) -> str:
    """What changed, from what to what: no handler could tell two such changes of one record apart."""
    old, new = (each.values if each is not None else {} for each in (row.old, row.new))
    changed = {column: (old.get(column), value) for column, value in new.items() if old.get(column) != value}
    return f"{row.kind} {new.get('name')} {sorted(changed.items())}"


@invariant
def _note_writers(world: World) -> None:
    """Who wrote what is remembered."""
    writers = world.notes.setdefault("writers", {})
    for touched in world.touched:
        writers[touched.number] = world.acting or ""


FOLLOWED = (_note_writers, no_event_is_handled_twice, every_event_is_handled_in_order)


def followed() -> Scene:
    """Two change records, and two follow."""
    clerks = [
        doing("clerk 1", *(partial(_count_up, to=to) for to in (1, 2)), _see),
        doing("clerk 2", lambda p: p.store.create(Account(name="b")), lambda p: p.store.create(Account(name="c"))),
    ]
    actors = [*clerks, *(follower(_feed, name=f"follower {n}") for n in (1, 2))]
    return scene_of(opened, actors=actors, domains=[SHOP], invariants=FOLLOWED)


# One on duty


def _on_duty(process: Process) -> object:
    duty = Duty(process.store, "watch", owner=process.name, period=timedelta(seconds=30))
    left = [1, 2, 3]

    def turn() -> bool:
        lease = duty.hold()
        if lease is None or not left:
            return False
        left.pop()
        try:
            with process.store.change(under=lease) as change:
                change.patch(Tally.at(name="t"), the(Tally.epoch).set(lease.epoch))
        except Conflict:
            return False
        return True

    return turn


@invariant
def a_fenced_writer_writes_nothing(world: World) -> None:
    """Whoever has lost a lease writes nothing under it."""
    for touched in world.touched:
        if touched.shape is Tally.__shape__ and touched.old is not None and touched.new is not None:
            before, after = touched.old.values["epoch"], touched.new.values["epoch"]
            assert after >= before, f"{world.acting} wrote under epoch {after}, when {before} had written"


def watch() -> Scene:
    """Three are on duty in turn, and write under their lease."""
    actors = [Actor(f"guard {n}", _on_duty) for n in (1, 2, 3)]  # type: ignore[arg-type]
    return scene_of(opened, actors=actors, domains=[SHOP], invariants=[a_fenced_writer_writes_nothing])


# Once


def _pay(process: Process) -> None:
    now = process.clock.now()
    mark = SystemOnce(idempotency_key=once_key("pay", 1), created_at=now, ttl=int(now.timestamp()) + 10**7)
    try:
        claim = begin(process.store, mark, owner=process.name, period=timedelta(seconds=60))
    except InProgress:
        return None
    if isinstance(claim, Replay):
        return None
    with process.store.change(once=claim) as change:
        change.patch(Tally.at(name="t"), the(Tally.count).add(1))


@invariant
def it_is_paid_once(world: World) -> None:
    """What has an idempotency key happens once."""
    assert all(tally.count <= 2 for tally in world.records(Tally)), "it was paid twice"


@at_rest
def it_is_paid(world: World) -> None:
    """It is paid in the end."""
    assert [tally.count for tally in world.records(Tally)] == [2]


def paid() -> Scene:
    """Three ask for the same thing, each until it is done."""

    def start(process: Process) -> object:
        def turn() -> bool:
            before = process.store.get(Tally.at(name="t")).count
            if before == 1:
                try:
                    _pay(process)
                except Conflict:
                    return False
            return False

        return turn

    actors = [Actor(f"payer {n}", start) for n in (1, 2, 3)]  # type: ignore[arg-type]
    return scene_of(opened, actors=actors, domains=[SHOP], invariants=[it_is_paid_once, it_is_paid])


# What must add up

SEATS = Quota("seats", "seats")


def _book(process: Process, *, seat: str, label: str) -> None:
    with process.store.change(by="clerk") as change:
        end = process.clock.now() + timedelta(hours=1)
        change.quotas.reserve(f"hold-{seat}", Share(SEATS, "all", 1, limit=2), until=end)
        change.create(Seat(seat_id=seat, label=label))


def _take(process: Process) -> None:
    process.store.patch(Tally.at(name="t"), the(Tally.count).add(-1))


def _rename(process: Process, *, field: str) -> None:
    with process.store.change(by="clerk") as change:
        account = change.get(Account.at(name="a"))
        setattr(account, field, "z")
        change.save(account)


def _light(process: Process, *, on: bool) -> None:
    with process.store.change(by="clerk") as change:
        account = change.get(Account.at(name="a"))
        if account.light is Light.OFF:
            change.save(account.switch_on() if on else account.smash())


@invariant
def no_two_seats_have_one_label(world: World) -> None:
    """A unique value is one record's."""
    labels = [seat.label for seat in world.records(Seat)]
    assert len(set(labels)) == len(labels), f"two seats have one of {labels}"


@invariant
def quotas_add_up(world: World) -> None:
    """What is counted of a quota is what is held of it, and never more than its limit."""
    used = sum(use.used for use in world.records(QuotaUse))
    held = sum(line["amount"] for hold in world.records(QuotaHold) for line in hold.amounts)
    assert used == held <= 2, f"{used} are counted, {held} are held, and 2 are allowed"


@invariant
def numbers_stay_within_their_bounds(world: World) -> None:
    """No addition takes a number out of its bounds."""
    assert all(tally.count >= 0 for tally in world.records(Tally)), "a number is below zero"


@invariant
def states_move_as_declared(world: World) -> None:
    """A state is left by a move that begins there."""
    for touched in world.touched:
        if touched.shape is Account.__shape__ and touched.old is not None and touched.new is not None:
            was, is_now = touched.old.values["light"], touched.new.values["light"]
            assert was in (is_now, "off"), f"an account that was {was} is {is_now}"


def ledger() -> Scene:
    """Three clerks write to the same few records."""
    clerks = [
        doing(
            f"clerk {n}",
            partial(_book, seat=f"s{n}", label="front" if n < 3 else "back"),
            partial(_book, seat=f"t{n}", label=f"own {n}"),
            _take,
            partial(_light, on=n == 1),
            partial(_rename, field="kind" if n == 1 else "place"),
        )
        for n in (1, 2, 3)
    ]
    invariants = [
        no_two_seats_have_one_label,
        quotas_add_up,
        numbers_stay_within_their_bounds,
        states_move_as_declared,
    ]
    return scene_of(opened, actors=clerks, domains=[SHOP], invariants=invariants)


SCENES = {"letters": letters, "followed": followed, "watch": watch, "paid": paid, "ledger": ledger}
