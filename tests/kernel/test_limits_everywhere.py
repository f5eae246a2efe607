"""The same limits on every engine: the same error class, in the same words, before anything is sent."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

import pytest
from pydantic import Field

from penstock import Domain, Entity, Store, Table, key, the
from penstock.errors import InvalidKey, InvalidValue, OutOfBounds, PenstockError, TooLarge
from penstock.kernel.handle import put
from penstock.operations.additions import left_bounds
from penstock.operations.updates import Add, Append, Include, Remove, Set, SetIfAbsent, Update
from penstock.operations.validation import prepare, prepare_updates
from penstock.schema.shape import RECORD_BYTES
from penstock.testing.entities import MOMENT, SUITE, Gauge, Reading, Scene, Specimen, Task, Ticket, specimen

REEL = UUID(int=7)


@pytest.fixture
def furniture() -> tuple[Domain, ...]:
    return (SUITE,)


def _ticket(**values: Any) -> Ticket:
    return Ticket(**{"queue": "q", "ticket_id": "1", "created_at": MOMENT, **values})


REFUSED: dict[str, tuple[type[PenstockError], str, Callable[[Store], Any]]] = {
    "SCENE#1000 put": (
        InvalidKey,
        "Scene.sequence = 1000 does not fit the 3 digits its key has; the largest is 999",
        lambda s: s.put(Scene(reel=REEL, sequence=1000)),
    ),
    "SCENE#1000 looked up": (
        InvalidKey,
        "Scene.sequence = 1000 does not fit the 3 digits its key has; the largest is 999",
        lambda s: s.get(Scene.at(reel=REEL, sequence=1000)),
    ),
    "SCENE#1000 as a bound": (
        InvalidKey,
        "Scene.sequence = 1000 does not fit the 3 digits its key has; the largest is 999",
        lambda s: list(s.find(Scene.by_reel(reel=REEL, sequence=1000))),  # type: ignore[arg-type]
    ),
    "an empty part put": (
        InvalidKey,
        "Specimen.label is part of a key and is empty; give it a value",
        lambda s: s.put(specimen(label="")),
    ),
    "an empty part in a batch": (
        InvalidKey,
        "Task.name is part of a key and is empty; give it a value",
        lambda s: s.put_many([Task(job="j", name="", at=MOMENT)]),
    ),
    "an empty part asked for": (
        InvalidKey,
        "Specimen.shelf is part of a key and is empty; give it a value",
        lambda s: s.page(Specimen.by_shelf(shelf="")),
    ),
    "a NUL in a key put": (
        InvalidKey,
        "Specimen.label = 'a\\x00b' is part of a key and has a control character or a lone surrogate; remove it",
        lambda s: s.put(specimen(label="a\x00b")),
    ),
    "a NUL in a key looked up": (
        InvalidKey,
        "Specimen.label = 'a\\x00b' is part of a key and has a control character or a lone surrogate; remove it",
        lambda s: s.get(Specimen.at(shelf="top", label="a\x00b")),
    ),
    "a NUL in a text put": (
        InvalidValue,
        "Specimen.text: a text has a NUL character, which PostgreSQL cannot store; remove it",
        lambda s: s.put(specimen(text="\x00")),
    ),
    "a NUL in a text patched": (
        InvalidValue,
        "Specimen.text: a text has a NUL character, which PostgreSQL cannot store; remove it",
        lambda s: s.patch(specimen().ref, the(Specimen.text).set("\x00")),
    ),
    "a NUL in a condition": (
        InvalidValue,
        "Specimen.text: a text has a NUL character, which PostgreSQL cannot store; remove it",
        lambda s: s.put(specimen(), when=the(Specimen.text).equals("\x00")),
    ),
    "a sort key of 1,025 bytes": (
        TooLarge,
        "Specimen: the key made by 'SPECIMEN#{label}' has 1025 bytes; at most 1024 are allowed. Shorten label",
        lambda s: s.put(specimen(label="x" * 1016)),
    ),
    "a sort key of 1,025 bytes looked up": (
        TooLarge,
        "Specimen: the key made by 'SPECIMEN#{label}' has 1025 bytes; at most 1024 are allowed. Shorten label",
        lambda s: s.get(Specimen.at(shelf="top", label="x" * 1016)),
    ),
    "a partition key of 2,049 bytes": (
        TooLarge,
        "Specimen: the key made by 'SHELF#{shelf}' has 2049 bytes; at most 2048 are allowed. Shorten shelf",
        lambda s: s.put(specimen(shelf="x" * 2043)),
    ),
    "a record of 401 KB": (
        TooLarge,
        "Specimen has 410701 bytes; at most 409600 (400 KB) are allowed. Keep large content in an object",
        lambda s: s.put(specimen(text="x" * 401 * 1024)),
    ),
    "a record of 401 KB in a commit": (
        TooLarge,
        "Specimen has 410701 bytes; at most 409600 (400 KB) are allowed. Keep large content in an object",
        lambda s: s.commit([put(specimen(label="two")), put(specimen(text="x" * 401 * 1024))]),
    ),
    "a number of 39 digits": (
        InvalidValue,
        "Specimen.price: a number has 39 digits; at most 38 are exact on every engine",
        lambda s: s.put(specimen(price=Decimal("1" * 39))),
    ),
    "a number of 39 digits added": (
        InvalidValue,
        "Specimen.price: a number has 39 digits; at most 38 are exact on every engine",
        lambda s: s.patch(specimen().ref, the(Specimen.price).add(Decimal("1" * 39))),
    ),
    "a number of 39 digits in a condition": (
        InvalidValue,
        "Specimen.price: a number has 39 digits; at most 38 are exact on every engine",
        lambda s: s.put(specimen(), when=the(Specimen.price).equals(Decimal("1" * 39))),
    ),
    "an index key too long": (
        TooLarge,
        "Ticket: the key made by 'OWNER#{owner}' has 2049 bytes; at most 2048 are allowed. Shorten owner",
        lambda s: s.put(_ticket(owner="x" * 2043, due=MOMENT)),
    ),
    "an index key too long by a patch": (
        TooLarge,
        "Ticket: the key made by 'OWNER#{owner}' has 2049 bytes; at most 2048 are allowed. Shorten owner",
        lambda s: s.patch(_ticket().ref, the(Ticket.owner).set("x" * 2043), the(Ticket.due).set(MOMENT)),
    ),
    "an empty index key": (
        InvalidKey,
        "Ticket.owner is part of a key and is empty; give it a value",
        lambda s: s.put(_ticket(owner="", due=MOMENT)),
    ),
    "a commit of 101 writes": (
        TooLarge,
        "a commit has 101 writes; at most 100 commit together. Split it",
        lambda s: s.commit([put(specimen(label=str(n))) for n in range(101)]),
    ),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_what_no_engine_may_hold_is_refused_in_the_same_words(store: Store, case: str) -> None:
    kind, message, action = REFUSED[case]
    with pytest.raises(PenstockError) as refused:
        action(store)
    assert type(refused.value) is kind
    assert str(refused.value) == message


@pytest.mark.parametrize(
    "bringing",
    [
        lambda size: Set("text", "x" * size),
        lambda size: Set("blob", b"x" * size),
        lambda size: SetIfAbsent("text", "x" * size),
        lambda size: Append("notes", ("x" * (size - 4),)),  # a list has three bytes, and a member one more
        lambda size: Include("labels", frozenset({"x" * size})),
    ],
    ids=["set", "bytes", "set if absent", "append", "include"],
)
def test_a_patch_is_measured_by_what_it_brings_not_by_how_much_it_changes(bringing: Callable[[int], Update]) -> None:
    others = [Remove("extra"), Remove("measure"), Set("flag", True), Add("seen", 1)]
    most = bringing(RECORD_BYTES)
    assert prepare_updates(Specimen.__shape__, [most, *others]) == (most, *others)
    with pytest.raises(TooLarge, match="a patch of Specimen alone is over 409600 bytes"):
        prepare_updates(Specimen.__shape__, [bringing(RECORD_BYTES + 1)])


@pytest.mark.parametrize(
    "given", [{"text": "é"}, {"blob": b"x"}, {"extra": {"a": "x" * 60_000}}], ids=["text", "bytes", "document"]
)
def test_what_has_no_value_is_held_to_no_limit(given: dict[str, Any]) -> None:
    """Each of these has the whole record looked at closely."""
    record = Specimen(shelf="top", label="one", **given)
    assert prepare(Specimen.__shape__, record.__dict__) == record.__dict__


def test_an_absent_part_keeps_a_record_out_of_the_index(store: Store) -> None:
    """Never NULL, never an empty text: the record is simply not there."""
    store.put_many([_ticket(ticket_id="1", owner="ann"), _ticket(ticket_id="2", due=MOMENT), _ticket(ticket_id="3")])
    store.put_many([Reading(sensor="s", taken=1, meter="m"), Reading(sensor="s", taken=2, value=1)])
    assert list(store.find(Ticket.by_owner(owner="ann"))) == []
    assert list(store.find(Reading.by_meter(meter="m"))) == []
    store.patch(_ticket(ticket_id="1").ref, the(Ticket.owner).set("ann"), the(Ticket.due).set(MOMENT))
    store.patch(Reading.at(sensor="s", taken=1), the(Reading.value).set(5))
    assert [t.ticket_id for t in store.find(Ticket.by_owner(owner="ann"))] == ["1"]
    assert [r.taken for r in store.find(Reading.by_meter(meter="m"))] == [1]
    store.patch(_ticket(ticket_id="1").ref, the(Ticket.owner).set(None), the(Ticket.due).set(MOMENT))
    store.patch(Reading.at(sensor="s", taken=1), the(Reading.meter).set(None))
    assert list(store.find(Ticket.by_owner(owner="ann"))) == []
    assert list(store.find(Reading.by_meter(meter="m"))) == []


@pytest.mark.parametrize(
    ("addition", "words"),
    [
        (the(Gauge.level).add(6), "level out of its bounds; it must be at most 5"),
        (the(Gauge.level).add(-6), "level out of its bounds; it must be at least -5"),
        (the(Gauge.flow).add(Decimal(-2)), "flow out of its bounds; it must be more than 0"),
    ],
)
def test_an_addition_that_is_refused_tells_the_bound_that_it_would_leave(
    store: Store, addition: Any, words: str
) -> None:
    store.put(Gauge(name="g"))
    with pytest.raises(OutOfBounds, match=words):
        store.patch(Gauge.at(name="g"), addition)


class Tank(Entity, table=Table("penstock-test-tanks", partition="PK")):
    name: str
    load: Annotated[Decimal, Field(ge=0, lt=2)] = Decimal(0)

    @key("{name}")
    def at(self, *, name: str) -> None: ...


def test_a_bound_that_itself_is_not_allowed_is_told_as_such() -> None:
    addition = Add("load", Decimal(1))
    assert left_bounds(Tank.__shape__, [addition], {"load": Decimal("0.9")}) is None
    told = left_bounds(Tank.__shape__, [addition], {"load": Decimal(1)})
    assert told == "an addition would take load out of its bounds; it must be less than 2"
