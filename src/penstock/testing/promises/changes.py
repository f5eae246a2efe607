"""Changes and moves, as the kernel makes them on top of an engine."""

from __future__ import annotations

import pytest

from penstock import Store, the
from penstock.errors import Conflict, IllegalMove, InvalidValue, NotFound
from penstock.operations.conditions import Missing, Present
from penstock.testing.entities import MOMENT, Counter, Measure, Specimen, Status, Ticket, specimen
from penstock.testing.promises.promise import Promise

HERE = Ticket.at(queue="q", ticket_id="1")


def _ticket(**values: object) -> Ticket:
    return Ticket.model_validate({"queue": "q", "ticket_id": "1", "created_at": MOMENT, **values})


class Changes(Promise):
    """`Store.change`."""

    def test_what_was_moved_is_saved_with_its_index_keys(self, store: Store) -> None:
        store.put(_ticket())
        with store.change() as change:
            change.save(change.get(HERE).start())
        assert store.get(HERE).status is Status.OPEN
        assert [t.status for t in store.find(Ticket.by_status(status=Status.OPEN))] == [Status.OPEN]
        assert list(store.find(Ticket.by_status(status=Status.NEW))) == []
        with store.change() as change:
            change.save(change.get(HERE).finish(outcome="fixed"))
        assert store.get(HERE).outcome == "fixed"
        assert list(store.find(Ticket.by_priority(queue="q"))) == []
        with store.change() as change:
            change.save(change.get(HERE).reopen())
        assert [t.outcome for t in store.find(Ticket.by_priority(queue="q"))] == ["fixed"]

    def test_an_illegal_move_is_refused_by_name_with_the_legal_ones(self, store: Store) -> None:
        store.put(_ticket(status=Status.DONE))
        with pytest.raises(IllegalMove, match=r"start needs new\. From done one may reopen"), store.change() as change:
            change.save(change.get(HERE).start())
        assert store.get(HERE).status is Status.DONE

    def test_a_lost_race_is_a_conflict_and_changes_nothing(self, store: Store) -> None:
        store.put_many([_ticket(), Counter(name="c")])
        with pytest.raises(Conflict) as lost, store.change() as change:  # noqa: PT012
            ticket = change.get(HERE)
            with store.change() as faster:
                faster.save(faster.get(HERE).finish(outcome="first"))
            change.patch(Counter.at(name="c"), the(Counter.total).add(1))
            change.save(ticket.start())
        assert lost.value.position == 1
        assert store.get(HERE).outcome == "first"
        assert store.get(Counter.at(name="c")).total == 0

    def test_two_may_save_different_fields_of_one_record(self, store: Store) -> None:
        store.put(specimen(text="a", count=1))
        with store.change() as change:
            record = change.get(Specimen.at(shelf="top", label="one"))
            store.patch(record.ref, the(Specimen.count).set(2))
            record.text = "b"
            change.save(record)
        assert store.get(specimen().ref) == specimen(text="b", count=2)

    def test_an_exception_commits_nothing(self, store: Store) -> None:
        with pytest.raises(RuntimeError), store.change() as change:  # noqa: PT012
            change.create(specimen())
            raise RuntimeError
        assert store.lookup(specimen().ref) is None

    def test_a_record_changed_in_place_is_saved(self, store: Store) -> None:
        store.put(specimen(notes=["a"], extra={"a": {"b": 1}}, measure=Measure(width=1, height=1.5)))
        with store.change() as change:
            record = change.get(specimen().ref)
            assert record.notes is not None
            assert record.extra is not None
            assert record.measure is not None
            record.notes.append("b")
            record.extra["a"]["b"] = 2
            record.measure.width = 2
            change.save(record)
        got = store.get(specimen().ref)
        assert (got.notes, got.extra, got.measure) == (["a", "b"], {"a": {"b": 2}}, Measure(width=2, height=1.5))

    def test_false_in_place_of_nought_is_a_change(self, store: Store) -> None:
        store.put(specimen(extra={"ready": 0, "deep": [1]}))
        with store.change() as change:
            record = change.get(specimen().ref)
            assert record.extra is not None
            record.extra["ready"], record.extra["deep"][0] = False, True
            change.save(record)
        got = store.get(specimen().ref).extra
        assert got is not None
        assert (got["ready"] is False, got["deep"][0] is True) == (True, True)

    def test_a_key_may_be_named_by_a_text_of_a_kind_of_its_own(self, store: Store) -> None:
        store.put(Counter(name=Status.OPEN.value))
        for _ in range(4):  # what is sent again is prepared, which must make no difference
            with store.change() as change:
                change.patch(Counter.at(name=Status.OPEN), the(Counter.total).add(1))
                change.check(Counter.at(name=Status.DONE), Missing())
        assert store.get(Counter.at(name=Status.OPEN.value)).total == 4

    def test_a_record_saved_as_it_was_read_must_still_stand(self, store: Store) -> None:
        store.put(_ticket())
        with store.change() as change:
            change.save(change.get(HERE))
        with pytest.raises(Conflict), store.change() as change:  # noqa: PT012
            record = change.get(HERE)
            store.delete(HERE)
            change.save(record)

    def test_a_value_taken_away_is_removed(self, store: Store) -> None:
        store.put(_ticket(owner="ann", due=MOMENT))
        with store.change() as change:
            record = change.get(HERE)
            record.owner = None
            change.save(record)
        assert store.get(HERE) == _ticket(due=MOMENT)
        assert list(store.find(Ticket.by_owner(owner="ann"))) == []

    def test_a_change_creates_checks_patches_and_deletes_together(self, store: Store) -> None:
        store.put_many([_ticket(), specimen(label="gone"), Counter(name="c")])
        with store.change() as change:
            change.create(specimen(label="new"))
            change.delete(Specimen.at(shelf="top", label="gone"), when=Present())
            change.patch(Counter.at(name="c"), the(Counter.total).add(1))
            change.check(HERE, the(Ticket.status).equals(Status.NEW))
        assert [s.label for s in store.find(Specimen.by_shelf(shelf="top"))] == ["new"]
        assert store.get(Counter.at(name="c")).total == 1

    def test_only_what_was_read_is_saved(self, store: Store) -> None:
        with pytest.raises(InvalidValue, match="not read"), store.change() as change:
            change.save(specimen())
        with pytest.raises(NotFound), store.change() as change:
            change.get(HERE)
