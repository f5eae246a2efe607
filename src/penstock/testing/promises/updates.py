"""A patch changes the fields it names, in one write, and nothing else."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from penstock import Store, the
from penstock.errors import Conflict, InvalidValue, OutOfBounds, StaleIndex
from penstock.operations.updates import Add
from penstock.testing.entities import (
    MOMENT,
    Colour,
    Counter,
    Gauge,
    Measure,
    Reading,
    Specimen,
    Ticket,
    full_values,
    specimen,
)
from penstock.testing.promises.promise import Promise

HERE = Specimen.at(shelf="top", label="one")


def ticket(number: str = "1", **values: Any) -> Ticket:
    return Ticket(**{"queue": "q", "ticket_id": number, "created_at": MOMENT, **values})


class Updates(Promise):
    """`patch`, with each kind of update."""

    def test_a_whole_number_is_added_to_a_decimal(self, store: Store) -> None:
        store.put(Counter(name="a", balance=Decimal("0.5")))
        assert store.patch(Counter.at(name="a"), Add("balance", 2)).balance == Decimal("2.5")
        assert store.get(Counter.at(name="a")).balance == Decimal("2.5")

    def test_a_patch_returns_the_whole_record_as_it_stands(self, store: Store) -> None:
        store.put(specimen(**full_values()))
        after = store.patch(HERE, the(Specimen.title).set("new"))
        assert after == specimen(**full_values(), title="new")
        assert store.get(HERE) == after

    def test_a_patch_creates_nothing(self, store: Store) -> None:
        with pytest.raises(Conflict) as refused:
            store.patch(HERE, the(Specimen.title).set("new"))
        assert refused.value.found is None
        assert store.lookup(HERE) is None

    def test_a_patch_is_made_only_if_its_condition_holds(self, store: Store) -> None:
        store.put(specimen(count=1))
        store.patch(HERE, the(Specimen.count).set(2), when=the(Specimen.count).equals(1))
        with pytest.raises(Conflict) as refused:
            store.patch(HERE, the(Specimen.count).set(3), when=the(Specimen.count).equals(1))
        assert refused.value.found is not None
        assert refused.value.found["count"] == 2

    @pytest.mark.parametrize("name", list(full_values()))
    def test_every_kind_of_field_can_be_set_and_removed(self, store: Store, name: str) -> None:
        value = full_values()[name]
        attr: Any = the(getattr(Specimen, name))
        store.put(specimen())
        expected = getattr(specimen(**{name: value}), name)
        assert getattr(store.patch(HERE, attr.set(value)), name) == expected
        assert getattr(store.get(HERE), name) == expected
        assert getattr(store.patch(HERE, attr.remove()), name) is None
        assert store.get(HERE) == specimen()

    @pytest.mark.parametrize("name", list(full_values()))
    def test_every_kind_of_field_can_be_set_if_absent(self, store: Store, name: str) -> None:
        value = full_values()[name]
        attr: Any = the(getattr(Specimen, name))
        store.put(specimen())
        expected = getattr(specimen(**{name: value}), name)
        assert getattr(store.patch(HERE, attr.set_if_absent(value)), name) == expected
        store.patch(HERE, attr.set_if_absent(value))
        assert getattr(store.get(HERE), name) == expected

    def test_what_has_a_value_is_not_set_if_absent(self, store: Store) -> None:
        store.put(specimen(text="first", count=0, notes=[], blob=b""))
        after = store.patch(
            HERE,
            the(Specimen.text).set_if_absent("second"),
            the(Specimen.count).set_if_absent(5),
            the(Specimen.notes).set_if_absent(["x"]),
            the(Specimen.blob).set_if_absent(b"x"),
        )
        assert (after.text, after.count, after.notes, after.blob) == ("first", 0, [], b"")

    def test_a_number_grows_and_shrinks(self, store: Store) -> None:
        store.put(specimen(seen=1))
        assert store.patch(HERE, the(Specimen.seen).add(5)).seen == 6
        assert store.patch(HERE, the(Specimen.seen).add(-2)).seen == 4

    def test_a_whole_number_grows_by_whole_numbers(self, store: Store) -> None:
        wrong: Any = Decimal("0.5")
        with pytest.raises(InvalidValue, match="give an int"):
            the(Specimen.seen).add(wrong)
        store.put(specimen(price=Decimal("0.5")))
        assert store.patch(HERE, the(Specimen.price).add(1)).price == Decimal("1.5")

    def test_a_missing_number_counts_from_zero(self, store: Store) -> None:
        store.put(specimen())
        after = store.patch(HERE, the(Specimen.count).add(-3), the(Specimen.price).add(Decimal("0.1")))
        assert (after.count, after.price) == (-3, Decimal("0.1"))

    def test_a_count_does_not_fall_below_zero(self, store: Store) -> None:
        store.put(specimen(seen=2))
        with pytest.raises(OutOfBounds, match="seen out of its bounds; it must be at least 0") as refused:
            store.patch(HERE, the(Specimen.seen).add(-3))
        assert refused.value.found is not None
        assert refused.value.found["seen"] == 2
        with pytest.raises(OutOfBounds) as refused, store.change() as change:  # noqa: PT012
            change.put(specimen(label="two"))
            change.patch(HERE, the(Specimen.seen).add(-3))
        assert refused.value.position == 1
        assert store.patch(HERE, the(Specimen.seen).add(-2)).seen == 0
        with pytest.raises(OutOfBounds):
            store.patch(HERE, the(Specimen.seen).add(-(2**63)))
        assert store.lookup(specimen(label="two").ref) is None

    def test_a_number_grows_within_its_bounds(self, store: Store) -> None:
        store.put(Gauge(name="g"))
        there = Gauge.at(name="g")
        for update in (the(Gauge.level).add(6), the(Gauge.level).add(-6), the(Gauge.flow).add(Decimal("0.51"))):
            with pytest.raises(OutOfBounds):
                store.patch(there, update)
        for update in (the(Gauge.depth).add(1), the(Gauge.depth).add(9), the(Gauge.flow).add(Decimal("-1.5"))):
            with pytest.raises(OutOfBounds):
                store.patch(there, update)
        assert store.get(there) == Gauge(name="g")
        after = store.patch(
            there, the(Gauge.level).add(5), the(Gauge.depth).add(4), the(Gauge.flow).add(Decimal("-1.499"))
        )
        assert (after.level, after.depth, after.flow) == (5, 4, Decimal("0.001"))
        assert store.patch(there, the(Gauge.level).add(-10), the(Gauge.depth).add(-2)).level == -5
        with pytest.raises(OutOfBounds, match="depth out of its bounds; it must be at least 2"):
            store.patch(there, the(Gauge.depth).add(-1))

    def test_who_may_not_change_a_number_is_not_told_of_its_bounds(self, store: Store) -> None:
        store.put(specimen(seen=2))
        with pytest.raises(Conflict) as refused:
            store.patch(HERE, the(Specimen.seen).add(-3), when=the(Specimen.title).equals("other"))
        assert type(refused.value) is Conflict

    def test_a_decimal_grows_exactly(self, store: Store) -> None:
        store.put(Counter(name="c", balance=Decimal("12345678901234567890123456789.99999999")))
        after = store.patch(Counter.at(name="c"), the(Counter.balance).add(Decimal("0.00000001")))
        assert after.balance == Decimal("12345678901234567890123456790")
        after = store.patch(Counter.at(name="c"), the(Counter.balance).add(Decimal("0.000000001")))
        assert after.balance == Decimal("12345678901234567890123456790.000000001")

    def test_a_decimal_comes_back_in_one_form(self, store: Store) -> None:
        forms = {"1.10": "1.1", "100": "100", "1E+2": "100", "-0.00": "0", "0.50": "0.5", "1E+100": "1E+100"}
        for given, told in forms.items():
            store.put(Counter(name="c", balance=Decimal(given)))
            assert str(store.get(Counter.at(name="c")).balance) == told
            assert [str(c.balance) for c in store.get_many([Counter.at(name="c")]) if c] == [told]
        store.put(Counter(name="c", balance=Decimal("1.10")))
        assert str(store.patch(Counter.at(name="c"), the(Counter.balance).add(Decimal("0.90"))).balance) == "2"

    def test_a_list_grows_at_its_end(self, store: Store) -> None:
        store.put(specimen())
        store.patch(HERE, the(Specimen.notes).append("a"))
        store.patch(HERE, the(Specimen.notes).append("b", "a"))
        assert store.get(HERE).notes == ["a", "b", "a"]

    def test_a_list_of_models_grows(self, store: Store) -> None:
        store.put(specimen())
        store.patch(HERE, the(Specimen.measures).append(Measure(width=1, height=2.5)))
        store.patch(HERE, the(Specimen.measures).append(Measure(width=2, height=3.0, taken=MOMENT)))
        assert store.get(HERE).measures == [Measure(width=1, height=2.5), Measure(width=2, height=3.0, taken=MOMENT)]

    def test_a_set_gains_and_loses_members(self, store: Store) -> None:
        store.put(specimen())
        store.patch(HERE, the(Specimen.labels).include("a", "b"))
        store.patch(HERE, the(Specimen.labels).include("b", "ü"))
        assert store.get(HERE).labels == frozenset({"a", "b", "ü"})
        store.patch(HERE, the(Specimen.labels).exclude("a", "never there"))
        assert store.get(HERE).labels == frozenset({"b", "ü"})

    def test_a_set_that_becomes_empty_is_no_value(self, store: Store) -> None:
        store.put(specimen(labels=frozenset({"a"})))
        store.patch(HERE, the(Specimen.labels).exclude("a"))
        assert store.get(HERE).labels is None
        store.patch(HERE, the(Specimen.labels).exclude("a"))
        store.put(specimen(title="t"), when=the(Specimen.labels).absent())
        assert store.get(HERE).title == "t"

    def test_several_updates_are_made_at_once(self, store: Store) -> None:
        store.put(specimen(text="old", count=1, labels=frozenset({"a"}), notes=["x"]))
        after = store.patch(
            HERE,
            the(Specimen.text).remove(),
            the(Specimen.count).add(1),
            the(Specimen.labels).include("b"),
            the(Specimen.notes).append("y"),
            the(Specimen.colour).set(Colour.RED),
            the(Specimen.flag).set_if_absent(True),
        )
        assert after == specimen(count=2, labels=frozenset({"a", "b"}), notes=["x", "y"], colour=Colour.RED, flag=True)

    def test_a_field_is_changed_once_in_a_patch(self, store: Store) -> None:
        store.put(specimen())
        with pytest.raises(InvalidValue, match="twice"):
            store.patch(HERE, the(Specimen.count).set(1), the(Specimen.count).add(1))
        with pytest.raises(InvalidValue, match="changes nothing"):
            store.patch(HERE)

    # Index keys

    def test_a_patch_moves_the_record_in_its_index(self, store: Store) -> None:
        store.put(ticket(owner="ann", due=MOMENT))
        store.patch(ticket().ref, the(Ticket.owner).set("bob"), the(Ticket.due).set(MOMENT))
        assert [t.ticket_id for t in store.find(Ticket.by_owner(owner="bob"))] == ["1"]
        assert list(store.find(Ticket.by_owner(owner="ann"))) == []

    def test_a_patch_that_removes_a_part_of_an_index_key_takes_the_record_out(self, store: Store) -> None:
        store.put(ticket(owner="ann", due=MOMENT))
        store.patch(ticket().ref, the(Ticket.owner).remove(), the(Ticket.due).set(MOMENT))
        assert list(store.find(Ticket.by_owner(owner="ann"))) == []
        assert store.get(ticket().ref).due == MOMENT.replace(microsecond=0)

    def test_a_patch_that_completes_an_index_key_brings_the_record_in(self, store: Store) -> None:
        store.put(ticket(owner="ann"))
        store.patch(ticket().ref, the(Ticket.due).set(MOMENT), the(Ticket.owner).set("ann"))
        assert [t.ticket_id for t in store.find(Ticket.by_owner(owner="ann"))] == ["1"]

    def test_a_patch_that_cannot_tell_the_index_key_is_refused(self, store: Store) -> None:
        store.put(ticket(owner="ann", due=MOMENT))
        with pytest.raises(StaleIndex, match="owner"):
            store.patch(ticket().ref, the(Ticket.due).set(MOMENT))
        with pytest.raises(StaleIndex, match="set the value instead"):
            store.patch(ticket().ref, the(Ticket.priority).add(1))
        assert [t.due for t in store.find(Ticket.by_owner(owner="ann"))] == [MOMENT.replace(microsecond=0)]

    def test_a_patch_may_rest_on_the_record_that_was_read(self, store: Store) -> None:
        store.put(ticket(owner="ann", due=MOMENT))
        read = store.get(ticket().ref)
        later = MOMENT.replace(microsecond=0) + timedelta(days=1)
        store.patch(ticket().ref, the(Ticket.due).set(later), given=read)
        assert [t.due for t in store.find(Ticket.by_owner(owner="ann"))] == [later]

    def test_a_patch_that_rests_on_what_has_changed_meanwhile_is_refused(self, store: Store) -> None:
        store.put(ticket(owner="ann", due=MOMENT))
        read = store.get(ticket().ref)
        store.patch(ticket().ref, the(Ticket.owner).set("bob"), the(Ticket.due).set(MOMENT))
        with pytest.raises(Conflict):
            store.patch(ticket().ref, the(Ticket.due).set(MOMENT + timedelta(days=1)), given=read)
        assert [t.ticket_id for t in store.find(Ticket.by_owner(owner="bob"))] == ["1"]

    def test_fields_that_are_the_index_key_themselves_may_be_patched_one_by_one(self, store: Store) -> None:
        store.put(Reading(sensor="s", taken=1, meter="m"))
        assert list(store.find(Reading.by_meter(meter="m"))) == []
        store.patch(Reading.at(sensor="s", taken=1), the(Reading.value).set(5))
        store.patch(Reading.at(sensor="s", taken=1), the(Reading.value).add(2))
        assert [r.value for r in store.find(Reading.by_meter(meter="m"))] == [7]
        store.patch(Reading.at(sensor="s", taken=1), the(Reading.meter).remove())
        assert list(store.find(Reading.by_meter(meter="m"))) == []
