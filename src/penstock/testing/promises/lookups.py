"""What was put comes back equal, and nothing else does."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest

from penstock import Store
from penstock.errors import NotFound
from penstock.testing.entities import (
    MOMENT,
    Colour,
    Counter,
    Measure,
    Reading,
    Scene,
    SceneVersion,
    Specimen,
    Task,
    Ticket,
    full_values,
    specimen,
)
from penstock.testing.promises.promise import Promise

EDGES: list[tuple[str, Any]] = [
    ("text", ""),
    ("text", " "),
    ("text", "\x01\n\t\x7f"),
    ("text", "𝄞 \ud7ff \ue000 \uffff \U0010ffff"),
    ("text", "'; drop table specimen; --"),
    ("text", "%s {x} $1 ? :now"),
    ("text", "x" * 100_000),
    ("colour", Colour.RED),
    ("identifier", UUID(int=0)),
    ("count", 0),
    ("count", 2**63 - 1),
    ("count", -(2**63)),
    ("ratio", 0.0),
    ("ratio", 1.0),
    ("ratio", -1e-130),
    ("ratio", 1.7976931348623157e125),
    ("ratio", 1 / 3),
    ("price", Decimal(0)),
    ("price", Decimal("-0.00000000000000000000000000000000000001")),
    ("price", Decimal("12345678901234567890123456789012345678")),
    ("price", Decimal("1E-130")),
    ("price", Decimal("9.9999999999999999999999999999999999999E+125")),
    ("price", Decimal("1.50")),
    ("flag", True),
    ("flag", False),
    ("blob", b""),
    ("blob", b"\x00"),
    ("second", datetime(1, 1, 2, tzinfo=UTC)),
    ("second", datetime(9999, 12, 30, 23, 59, 59, tzinfo=UTC)),
    ("milli", datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=UTC)),
    ("micro", datetime(2037, 1, 1, 0, 0, 0, 1, tzinfo=UTC)),
    ("day", date(1, 1, 1)),
    ("day", date(9999, 12, 31)),
    ("labels", frozenset({"one"})),
    ("labels", frozenset({"", "a", "A", "\u00e9", "e\u0301", "\U0010ffff"})),
    ("notes", []),
    ("notes", [""] * 50),
    ("extra", {}),
    ("extra", {"n": None, "t": True, "f": False, "i": 2**62, "d": -0.5, "s": "", "l": [[], [[]]], "m": {"x": {}}}),
    ("extra", {"large": [1e19, -1e19, 2.0**63, {"larger": 1.5e125}]}),
    ("measure", Measure(width=-1, height=1e10, unit="", taken=MOMENT)),
    ("measure", Measure(width=-1, height=1e19)),
    ("measures", []),
]


class Lookups(Promise):
    """`get`, of one and of several."""

    def test_every_kind_of_value_comes_back_equal(self, store: Store) -> None:
        put = specimen(**full_values(), title="all", seen=7)
        store.put(put)
        got = store.get(put.ref)
        assert got == put
        assert {n: type(v) for n, v in got.__dict__.items()} == {n: type(v) for n, v in put.__dict__.items()}

    def test_what_has_no_value_comes_back_without(self, store: Store) -> None:
        store.put(specimen())
        assert store.get(specimen().ref) == specimen()

    @pytest.mark.parametrize(("name", "value"), EDGES)
    def test_values_at_the_edge_come_back_equal(self, store: Store, name: str, value: Any) -> None:
        put = specimen(**{name: value})
        store.put(put)
        assert getattr(store.get(put.ref), name) == getattr(put, name)

    def test_an_empty_text_list_or_map_is_a_value(self, store: Store) -> None:
        put = specimen(text="", blob=b"", notes=[], extra={})
        store.put(put)
        got = store.get(put.ref)
        assert (got.text, got.blob, got.notes, got.extra) == ("", b"", [], {})

    def test_moments_come_back_in_utc_and_cut_to_their_precision(self, store: Store) -> None:
        local = MOMENT.astimezone(timezone(timedelta(hours=5, minutes=30)))
        store.put(specimen(second=local, milli=local, micro=local))
        got = store.get(specimen().ref)
        assert got.second == MOMENT.replace(microsecond=0)
        assert got.milli == MOMENT.replace(microsecond=123000)
        assert got.micro == MOMENT
        assert all(m is not None and m.utcoffset() == timedelta(0) for m in (got.second, got.milli, got.micro))

    def test_a_record_that_came_back_can_be_changed_and_put_again(self, store: Store) -> None:
        store.put(specimen(**full_values()))
        got = store.get(specimen().ref)
        got.text, got.measure = "changed", None
        store.put(got)
        assert store.get(specimen().ref) == got

    def test_nothing_is_found_where_nothing_stands(self, store: Store) -> None:
        assert store.lookup(Specimen.at(shelf="top", label="none")) is None
        with pytest.raises(NotFound, match="label=none"):
            store.get(Specimen.at(shelf="top", label="none"))

    @pytest.mark.parametrize("other", ["One", "one ", "one#", "on", "ｏne", "one%23"])
    def test_keys_are_exact(self, store: Store, other: str) -> None:
        store.put(specimen(label="one"))
        assert store.lookup(Specimen.at(shelf="top", label=other)) is None

    def test_a_separator_within_a_part_makes_no_other_key(self, store: Store) -> None:
        first = Task(job="j", name="a#2026", at=MOMENT, note="first")
        second = Task(job="j", name="a%232026", at=MOMENT, note="second")
        third = Task(job="j", name="a", at=MOMENT, note="third")
        store.put_many([first, second, third])
        assert store.get_many([first.ref, second.ref, third.ref]) == [first, second, third]

    def test_composed_and_decomposed_letters_are_two_keys(self, store: Store) -> None:
        store.put_many([specimen(label="\u00e9", title="one letter"), specimen(label="e\u0301", title="two")])
        assert store.get(Specimen.at(shelf="top", label="\u00e9")).title == "one letter"

    def test_records_are_found_by_numbers(self, store: Store) -> None:
        put = [Reading(sensor="s", taken=n, text=str(n)) for n in (0, 9, 10, 999_999_999_999)]
        store.put_many(put)
        assert store.get_many([r.ref for r in put]) == put

    def test_records_are_found_without_a_sort_key(self, store: Store) -> None:
        store.put(Counter(name="visits", total=3))
        assert store.get(Counter.at(name="visits")).total == 3

    def test_a_field_that_lives_in_the_key_alone_comes_back(self, store: Store) -> None:
        scene = Scene(reel=uuid4(), sequence=7, title="x")
        store.put(scene)
        assert store.get(scene.ref) == scene

    def test_one_entity_is_not_found_as_another(self, store: Store) -> None:
        reel = uuid4()
        store.put(SceneVersion(reel=reel, sequence=1, version=1))
        assert store.lookup(Scene.at(reel=reel, sequence=1)) is None

    def test_many_come_back_in_the_order_asked_for(self, store: Store) -> None:
        put = [specimen(label=f"{n:03d}", count=n) for n in range(30)]
        store.put_many(put)
        wanted = [put[n] for n in (17, 3, 29, 3, 0)]
        assert store.get_many([s.ref for s in wanted]) == wanted

    def test_many_tell_which_are_missing(self, store: Store) -> None:
        store.put(specimen(label="there"))
        refs = [Specimen.at(shelf="top", label=x) for x in ("gone", "there", "lost")]
        assert store.get_many(refs) == [None, specimen(label="there"), None]

    def test_many_may_be_none(self, store: Store) -> None:
        assert store.get_many([]) == []

    def test_many_may_be_of_several_entities_and_tables(self, store: Store) -> None:
        put: list[Any] = [
            specimen(),
            Counter(name="c"),
            Ticket(queue="q", ticket_id="1", created_at=MOMENT),
            Reading(sensor="s", taken=1),
        ]
        store.put_many(put)
        assert store.get_many([r.ref for r in put]) == put
