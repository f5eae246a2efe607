"""A write that meets another state than it was told of changes nothing, and tells what it met."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from penstock import Store, the
from penstock.errors import Conflict
from penstock.operations.conditions import Condition, Missing, Present, describe, holds
from penstock.operations.writes import Check
from penstock.testing.entities import MOMENT, Colour, Specimen, full_values, specimen
from penstock.testing.promises.promise import Promise

HERE = Specimen.at(shelf="top", label="one")


def _context(field: Any, low: Any, same: Any, high: Any) -> list[Condition]:
    """Every comparison of a field with a value below it, its own, and one above it."""
    attr: Any = the(field)
    out = [
        compare(value)
        for compare in (attr.equals, attr.differs, attr.before, attr.until, attr.after, attr.since)
        for value in (low, same, high)
    ]
    return [*out, attr.between(low, same), attr.between(same, high), attr.between(high, low), attr.between(high, high)]


def _comparisons() -> list[Condition]:
    values = full_values()
    day, second = timedelta(days=1), timedelta(seconds=1)
    return [
        *_context(Specimen.text, "naïve", values["text"], "naïve \U0010ffff"),
        *_context(Specimen.colour, Colour.BLUE, Colour.BLUE, Colour.GREEN),
        *_context(Specimen.count, -43, -42, 9),
        *_context(Specimen.ratio, 0.3, values["ratio"], 0.31),
        *_context(Specimen.price, Decimal("9.5"), values["price"], Decimal("12345678901234567890.121")),
        *_context(Specimen.blob, b"\x00\x01\x01", values["blob"], b"\x01"),
        *_context(Specimen.second, MOMENT - second, MOMENT, MOMENT + second),
        *_context(Specimen.micro, MOMENT - timedelta(microseconds=1), MOMENT, MOMENT + second),
        *_context(Specimen.day, date(2037, 2, 27), values["day"], values["day"] + day),
        the(Specimen.flag).equals(True),
        the(Specimen.flag).equals(False),
        the(Specimen.flag).differs(True),
        the(Specimen.identifier).equals(values["identifier"]),
        the(Specimen.identifier).differs(values["identifier"]),
        the(Specimen.colour).one_of(Colour.RED, Colour.BLUE),
        the(Specimen.colour).one_of(Colour.RED),
        the(Specimen.count).one_of(1, 2, -42),
        the(Specimen.price).one_of(Decimal("12345678901234567890.120")),
    ]


def _questions() -> list[Condition]:
    fields: list[Any] = [the(getattr(Specimen, n)) for n in full_values()]
    return [*(f.exists() for f in fields), *(f.absent() for f in fields), Present(), Missing()]


def _combinations() -> list[Condition]:
    yes, no = the(Specimen.count).equals(-42), the(Specimen.count).equals(1)
    unknown = the(Specimen.text).equals("x")
    return [
        yes & yes,
        yes & no,
        no | yes,
        no | no,
        ~yes,
        ~no,
        ~(yes & no),
        ~unknown,
        ~~unknown,
        (yes | unknown) & ~(no | unknown),
        Present() & ~the(Specimen.colour).exists(),
        Missing() | yes,
        Missing() | no,
        ~Missing(),
        ~Present(),
    ]


ALL = [*_comparisons(), *_questions(), *_combinations()]


class ConditionalWrites(Promise):
    """Puts, deletes and checks under a condition."""

    def test_a_record_is_created_where_none_stands(self, store: Store) -> None:
        store.create(specimen(title="first"))
        with pytest.raises(Conflict) as refused:
            store.create(specimen(title="second"))
        assert store.get(HERE).title == "first"
        assert refused.value.found is not None
        assert refused.value.found["title"] == "first"

    def test_a_put_replaces_the_whole_record(self, store: Store) -> None:
        store.put(specimen(**full_values()))
        store.put(specimen(count=1))
        assert store.get(HERE) == specimen(count=1)

    @pytest.mark.parametrize("stood", ["everything", "little", "nothing"])
    def test_conditions_mean_the_same_everywhere(self, store: Store, stood: str) -> None:
        """The meaning is the one `penstock.operations.conditions.holds` gives them."""
        record = {"everything": specimen(**full_values()), "little": specimen(), "nothing": None}[stood]
        if record is not None:
            store.put(record)
        before = store.lookup(HERE)
        wrong = []
        for condition in ALL:
            expected = holds(condition, before.__dict__ if before is not None else None)
            try:
                store.commit([Check(HERE.shape, HERE.key, condition)])
                held = True
            except Conflict:
                held = False
            if held != expected:
                wrong.append(f"{describe(condition)}: {held}, not {expected}")
        assert not wrong

    def test_a_put_is_made_only_if_its_condition_holds(self, store: Store) -> None:
        store.put(specimen(count=1))
        store.put(specimen(count=2), when=the(Specimen.count).equals(1))
        with pytest.raises(Conflict):
            store.put(specimen(count=3), when=the(Specimen.count).equals(1))
        assert store.get(HERE).count == 2

    def test_a_put_under_a_comparison_creates_nothing(self, store: Store) -> None:
        with pytest.raises(Conflict) as refused:
            store.put(specimen(), when=the(Specimen.count).equals(1))
        assert refused.value.found is None
        assert store.lookup(HERE) is None

    def test_a_put_may_accept_either_absence_or_a_state(self, store: Store) -> None:
        free = Missing() | the(Specimen.flag).equals(False)
        store.put(specimen(flag=False), when=free)
        store.put(specimen(flag=True), when=free)
        with pytest.raises(Conflict):
            store.put(specimen(), when=free)
        assert store.get(HERE).flag is True

    def test_a_difference_holds_of_a_missing_field_and_of_a_missing_record(self, store: Store) -> None:
        store.put(specimen(title="a"), when=the(Specimen.count).differs(1))
        store.put(specimen(title="b"), when=the(Specimen.count).differs(1))
        assert store.get(HERE).title == "b"

    def test_a_delete_is_made_only_if_its_condition_holds(self, store: Store) -> None:
        store.put(specimen(count=1))
        with pytest.raises(Conflict) as refused:
            store.delete(HERE, when=the(Specimen.count).equals(2))
        assert refused.value.found is not None
        assert refused.value.found["count"] == 1
        store.delete(HERE, when=the(Specimen.count).equals(1))
        assert store.lookup(HERE) is None

    def test_removing_what_is_not_there_succeeds(self, store: Store) -> None:
        store.delete(HERE)
        store.delete(HERE, when=Missing())
        with pytest.raises(Conflict):
            store.delete(HERE, when=Present())

    def test_a_refusal_tells_what_stood_there(self, store: Store) -> None:
        stood = specimen(**full_values())
        store.put(stood)
        with pytest.raises(Conflict) as refused:
            store.put(specimen(), when=the(Specimen.count).equals(0))
        assert refused.value.position == 0
        assert refused.value.found is not None
        assert dict(refused.value.found) == stood.__dict__

    def test_a_refusal_names_the_record_and_the_expectation_but_no_value(self, store: Store) -> None:
        store.put(specimen(text="secret"))
        with pytest.raises(Conflict) as refused:
            store.put(specimen(), when=the(Specimen.text).equals("guess"))
        assert str(refused.value) == (
            "Specimen(shelf=top, label=one): expected text = the value given; "
            "found a record for which that does not hold"
        )
        with pytest.raises(Conflict) as absent:
            store.put(specimen(label="two"), when=Present())
        assert str(absent.value) == "Specimen(shelf=top, label=two): expected a record there; found no record there"
