"""Saves: what another has written between a read and a save is not lost, unless that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from penstock import Store, the
from penstock.errors import Conflict, NotFound
from penstock.operations.updates import Remove, Set
from penstock.testing.entities import MOMENT, Colour, Counter, Measure, Specimen, Status, Ticket, full_values, specimen
from penstock.testing.promises.concurrency import THREADS, at_once
from penstock.testing.promises.promise import Promise

HERE = Specimen.at(shelf="top", label="one")


def _others() -> dict[str, Any]:
    """A value for each field of `Everything` that is close to that of `full_values`, and not the same."""
    full = full_values()
    others = {
        "text": full["text"].lower() + " ",
        "colour": Colour.GREEN,
        "identifier": UUID(int=full["identifier"].int + 1),
        "count": -43,
        "ratio": 0.3,
        "price": Decimal("12345678901234567890.13"),
        "flag": True,
        "blob": full["blob"][:-1],
        "second": MOMENT + timedelta(seconds=1),
        "milli": MOMENT + timedelta(milliseconds=1),
        "micro": MOMENT + timedelta(microseconds=1),
        "day": date(2037, 3, 1),
        "labels": frozenset({"b", "a"}),
        "notes": ["first", "second", ""],
        "extra": {**full["extra"], "e": [False]},
        "measure": Measure(width=3, height=4.5, taken=MOMENT + timedelta(microseconds=1)),
        "measures": full["measures"][::-1],
    }
    made = specimen(**others)  # which cuts moments to the digits that their fields have
    return {name: getattr(made, name) for name in others}


class GuardedSaves(Promise):
    """`Change.save`, `Change.overwrite` and `Store.modify`."""

    def test_what_another_has_written_to_a_field_meanwhile_is_not_lost(self, store: Store) -> None:
        full, others = specimen(**full_values()), _others()
        for name, other in others.items():
            for theirs in (Set(name, other), Remove(name)):
                store.put(full)
                with pytest.raises(Conflict), store.change() as change:  # noqa: PT012
                    record = change.get(HERE)
                    store.patch(HERE, theirs)
                    setattr(record, name, None if isinstance(theirs, Set) else other)
                    change.save(record)
                assert getattr(store.get(HERE), name) == (other if isinstance(theirs, Set) else None), name

    def test_a_field_that_nobody_else_has_written_to_is_saved(self, store: Store) -> None:
        for before, after in ((full_values(), _others()), (dict.fromkeys(_others()), _others()), (_others(), {})):
            store.put(specimen(**before))
            for name in before:  # one by one, so that each is compared while the others change
                with store.change() as change:
                    record = change.get(HERE)
                    setattr(record, name, after.get(name))
                    change.save(record)
            wanted: dict[str, Any] = {name: after.get(name) for name in before}
            assert store.get(HERE) == specimen(**wanted)

    def test_a_value_that_comes_where_none_was_read_is_not_lost(self, store: Store) -> None:
        store.put(specimen())
        for name, value in full_values().items():
            with pytest.raises(Conflict), store.change() as change:  # noqa: PT012
                record = change.get(HERE)
                store.patch(HERE, Set(name, value))
                setattr(record, name, _others()[name])
                change.save(record)

    def test_false_that_came_in_place_of_nought_is_not_lost(self, store: Store) -> None:
        store.put(specimen(extra={"ready": 0}))
        with pytest.raises(Conflict), store.change() as change:  # noqa: PT012
            record = change.get(HERE)
            store.patch(HERE, Set("extra", {"ready": False}))
            record.extra = {"ready": 1}
            change.save(record)

    def test_two_who_save_two_fields_of_one_record_both_win(self, store: Store) -> None:
        store.put(specimen(text="a", notes=["a"]))
        with store.change() as slow:
            mine = slow.get(HERE)
            with store.change() as fast:
                theirs = fast.get(HERE)
                theirs.notes = ["b"]
                fast.save(theirs)
            mine.text = "b"
            slow.save(mine)
        assert store.get(HERE) == specimen(text="b", notes=["b"])

    def test_what_is_overwritten_on_purpose_is_overwritten(self, store: Store) -> None:
        store.put(specimen(text="a", notes=["a"]))
        with store.change() as change:
            record = change.get(HERE)
            store.patch(HERE, the(Specimen.text).set("theirs"), the(Specimen.notes).append("theirs"))
            record.text, record.notes = "mine", ["mine"]
            change.overwrite(record)
        assert store.get(HERE) == specimen(text="mine", notes=["mine"])

    def test_states_are_guarded_also_where_the_rest_is_overwritten(self, store: Store) -> None:
        ref = Ticket.at(queue="q", ticket_id="1")
        store.put(Ticket(queue="q", ticket_id="1", created_at=MOMENT))
        with pytest.raises(Conflict), store.change() as change:  # noqa: PT012
            ticket = change.get(ref)
            with store.change() as faster:
                faster.save(faster.get(ref).finish(outcome="first"))
            ticket.outcome = "second"
            change.overwrite(ticket)
        assert (store.get(ref).status, store.get(ref).outcome) == (Status.DONE, "first")

    def test_what_is_modified_by_many_loses_nothing(self, store: Store) -> None:
        store.put(specimen(count=0))

        def grow(number: int) -> Callable[[Specimen], None]:
            def change(record: Specimen) -> None:
                record.count = (record.count or 0) + 1
                record.notes = [*(record.notes or ()), str(number)]
                record.labels = (record.labels or frozenset()) | {str(number)}

            return change

        def modify(number: int) -> None:
            for _ in range(3):
                store.modify(HERE, grow(number))

        at_once(modify)
        found = store.get(HERE)
        assert found.count == 3 * THREADS
        assert sorted(found.notes or ()) == sorted(str(n) for n in range(THREADS) for _ in range(3))
        assert found.labels == frozenset(str(n) for n in range(THREADS))

    def test_who_is_never_quick_enough_is_told_so(self, store: Store) -> None:
        store.put(specimen(count=0))

        def too_slow(record: Specimen) -> None:
            store.patch(HERE, the(Specimen.count).add(1))
            record.count = -1

        with pytest.raises(Conflict):
            store.modify(HERE, too_slow, tries=3)
        assert store.get(HERE).count == 3
        with pytest.raises(NotFound):
            store.modify(Specimen.at(shelf="top", label="nowhere"), too_slow)

    def test_a_change_of_several_records_is_made_anew_while_others_are_quicker(self, store: Store) -> None:
        store.put_many([Counter(name="left", total=THREADS), Counter(name="right")])

        def move_one() -> None:
            with store.change() as change:
                left, right = change.get(Counter.at(name="left")), change.get(Counter.at(name="right"))
                left.total, right.total = left.total - 1, right.total + 1
                change.save(left)
                change.save(right)

        at_once(lambda _: store.retried(move_one))
        assert [store.get(Counter.at(name=name)).total for name in ("left", "right")] == [0, THREADS]
