"""The same limits, with the same errors, on every engine: what works embedded works in production."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from penstock import Store, the
from penstock.errors import InvalidKey, InvalidValue, PenstockError, TooLarge
from penstock.testing.differences import differs
from penstock.testing.entities import MOMENT as _MOMENT
from penstock.testing.entities import Counter, Reading, Scene, Specimen, Task, Ticket, specimen
from penstock.testing.promises.promise import Promise

REFUSED: list[tuple[str, type[PenstockError], str, Callable[[], Any]]] = [
    ("a number beyond its digits", InvalidKey, "1000 does not fit", lambda: Scene(reel=uuid4(), sequence=1000)),
    ("an empty part", InvalidKey, "is empty", lambda: specimen(label="")),
    ("a NUL in a key", InvalidKey, "control character", lambda: specimen(label="a\x00b")),
    ("a newline in a key", InvalidKey, "control character", lambda: Task(job="j", name="a\nb", at=_MOMENT)),
    ("a lone surrogate in a key", InvalidValue, "surrogate", lambda: specimen(label="\ud800")),
    ("a NUL in a text", InvalidValue, "NUL", lambda: specimen(text="a\x00b")),
    ("a NUL in a document", InvalidValue, "NUL", lambda: specimen(extra={"a": ["\x00"]})),
    ("a lone surrogate", InvalidValue, "surrogate", lambda: specimen(text="\udfff")),
    ("a sort key of 1,025 bytes", TooLarge, "1025 bytes", lambda: specimen(label="x" * (1025 - len("SPECIMEN#")))),
    ("a sort key of wide letters", TooLarge, "at most 1024", lambda: specimen(label="🐟" * 254)),
    ("a partition key of 2,049 bytes", TooLarge, "2049 bytes", lambda: specimen(shelf="x" * (2049 - len("SHELF#")))),
    (
        "an index key of 2,049 bytes",
        TooLarge,
        "2049 bytes",
        lambda: Ticket(queue="q", ticket_id="1", created_at=_MOMENT, owner="x" * (2049 - len("OWNER#")), due=_MOMENT),
    ),
    ("a record of 401 KB", TooLarge, "400 KB", lambda: specimen(text="x" * 401 * 1024)),
    ("a record of 401 KB in a list", TooLarge, "400 KB", lambda: specimen(notes=["x" * 1024] * 401)),
    ("a record of 401 KB of bytes", TooLarge, "400 KB", lambda: specimen(blob=b"x" * 401 * 1024)),
    (
        "a set of 401 KB",
        TooLarge,
        "400 KB",
        lambda: specimen(labels=frozenset(f"{n:04d}" + "x" * 1020 for n in range(401))),
    ),
    ("a number of 39 digits", InvalidValue, "39 digits", lambda: specimen(price=Decimal("1" * 39))),
    (
        "a number of 39 digits behind the point",
        InvalidValue,
        "39 digits",
        lambda: specimen(price=Decimal("0." + "1" * 39)),
    ),
    ("a number too large", InvalidValue, "outside the range", lambda: specimen(price=Decimal("1E126"))),
    ("a number too small", InvalidValue, "outside the range", lambda: specimen(price=Decimal("1E-131"))),
    ("not a number", InvalidValue, "not a number", lambda: specimen(ratio=float("nan"))),
    ("an endless number", InvalidValue, "not a number", lambda: specimen(ratio=float("inf"))),
    ("a float too large", InvalidValue, "outside the range", lambda: specimen(ratio=1e126)),
    ("a whole number of 65 bits", InvalidValue, "64 bits", lambda: specimen(count=2**63)),
    ("a whole number of 65 bits in a document", InvalidValue, "64 bits", lambda: specimen(extra={"n": 2**63})),
    ("an empty set", InvalidValue, "no member", lambda: specimen(labels=frozenset())),
    ("a document too deep", InvalidValue, "deeper", lambda: specimen(extra=_nested(40))),
    ("a document with an empty name", InvalidValue, "non-empty", lambda: specimen(extra={"": 1})),
    ("a document with another thing", InvalidValue, "cannot hold", lambda: specimen(extra={"a": object()})),
]


def _nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


class LimitPromises(Promise):
    """What no engine may hold is refused before it is sent."""

    @pytest.mark.parametrize(("kind", "message", "make"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
    def test_what_no_engine_may_hold_is_refused(
        self, store: Store, kind: type[PenstockError], message: str, make: Callable[[], Any]
    ) -> None:
        with pytest.raises(kind, match=message):
            store.put(make())
        with pytest.raises(kind, match=message):
            store.put_many([make()])
        with pytest.raises(kind, match=message), store.change() as change:
            change.create(make())

    def test_a_key_of_exactly_the_limit_is_stored(self, store: Store) -> None:
        longest = specimen(shelf="x" * (2048 - len("SHELF#")), label="y" * (1024 - len("SPECIMEN#")))
        store.put(longest)
        assert store.get(longest.ref) == longest
        assert list(store.find(Specimen.by_shelf(shelf=longest.shelf))) == [longest]

    def test_an_index_key_of_exactly_the_limit_is_stored(self, store: Store) -> None:
        owner = "x" * (2048 - len("OWNER#"))
        ticket = Ticket(queue="q", ticket_id="1", created_at=_MOMENT, owner=owner, due=_MOMENT)
        store.put(ticket)
        assert list(store.find(Ticket.by_owner(owner=owner))) == [ticket]

    def test_a_record_of_nearly_400_kb_is_stored(self, store: Store) -> None:
        large = specimen(text="x" * (399 * 1024), flag=True)
        store.put(large)
        assert store.get(large.ref) == large

    def test_a_patch_is_held_to_the_same_limits(self, store: Store) -> None:
        store.put(specimen())
        with pytest.raises(InvalidValue, match="NUL"):
            store.patch(specimen().ref, the(Specimen.text).set("\x00"))
        with pytest.raises(InvalidValue, match="39 digits"):
            store.patch(specimen().ref, the(Specimen.price).set(Decimal("1" * 39)))
        with pytest.raises(InvalidValue, match="64 bits"):
            store.patch(specimen().ref, the(Specimen.count).set(2**63))
        with pytest.raises(InvalidValue, match="64 bits"):
            store.patch(specimen().ref, the(Specimen.count).add(2**63))
        long = "x" * 401 * 1024
        for large in (
            the(Specimen.text).set(long),
            the(Specimen.text).set_if_absent(long),
            the(Specimen.blob).set(long.encode()),
            the(Specimen.notes).set([long]),
            the(Specimen.notes).append(long),
            the(Specimen.labels).include(long),
        ):
            with pytest.raises(TooLarge, match="400 KB"):
                store.patch(specimen().ref, the(Specimen.seen).add(1), large)
        assert store.get(specimen().ref) == specimen()

    @differs("sqlite", not_done="what a patch adds to a record that stands is not counted")
    @differs("postgres", not_done="what a patch adds to a record that stands is not counted")
    def test_a_patch_may_not_make_a_record_too_large(self, store: Store) -> None:
        store.put(specimen(text="x" * (300 * 1024)))
        with pytest.raises(TooLarge):
            store.patch(specimen().ref, the(Specimen.notes).set(["y" * (200 * 1024)]))
        assert store.get(specimen().ref).notes is None

    @differs("dynamodb", never="a number has 38 digits there, and goes on growing beyond 64 bits")
    def test_a_number_may_not_grow_beyond_its_limit(self, store: Store) -> None:
        store.put(specimen(count=2**63 - 1))
        with pytest.raises(InvalidValue):
            store.patch(specimen().ref, the(Specimen.count).add(1))
        assert store.get(specimen().ref).count == 2**63 - 1

    @differs("postgres", not_done="a sum of more than 38 digits is stored")
    def test_a_decimal_may_not_grow_beyond_its_digits(self, store: Store) -> None:
        store.put(Counter(name="c", balance=Decimal("9" * 38)))
        with pytest.raises(InvalidValue):
            store.patch(Counter.at(name="c"), the(Counter.balance).add(Decimal("0.1")))
        assert store.get(Counter.at(name="c")).balance == Decimal("9" * 38)

    def test_a_lookup_by_a_key_that_cannot_be_is_refused(self, store: Store) -> None:
        wrong: list[Callable[[], Any]] = [
            lambda: Scene.at(reel=uuid4(), sequence=1000),
            lambda: Specimen.at(shelf="", label="a"),
            lambda: Specimen.at(shelf="a\x00", label="a"),
            lambda: Specimen.at(shelf="a", label="\ud800"),
            lambda: Reading.at(sensor="s", taken=-1),
        ]
        for make in wrong:
            with pytest.raises(InvalidKey):
                store.lookup(make())
