"""Any number of records, in as many requests as it takes."""

from __future__ import annotations

from penstock import Store
from penstock.kernel.handle import put
from penstock.operations.writes import Delete, Write
from penstock.testing.entities import MOMENT, Counter, Reading, Specimen, Ticket, full_values, specimen
from penstock.testing.promises.promise import Promise


class Batches(Promise):
    """`load`, and `get` of many."""

    def test_more_are_written_and_read_than_one_request_holds(self, store: Store) -> None:
        many = [specimen(shelf=f"s{n % 7}", label=f"{n:04d}", count=n) for n in range(260)]
        store.put_many(many)
        assert store.get_many([s.ref for s in many]) == many

    def test_more_are_removed_than_one_request_holds(self, store: Store) -> None:
        many = [specimen(label=f"{n:04d}") for n in range(60)]
        store.put_many(many)
        store.delete_many(s.ref for s in many[:-1])
        assert list(store.find(Specimen.by_shelf(shelf="top"))) == many[-1:]

    def test_a_batch_replaces_whole_records(self, store: Store) -> None:
        store.put(specimen(**full_values()))
        store.put_many([specimen(count=1), specimen(label="two")])
        assert store.get(specimen().ref) == specimen(count=1)

    def test_a_batch_may_be_empty(self, store: Store) -> None:
        store.put_many([])
        store.delete_many([])

    def test_a_batch_may_mix_entities_puts_and_deletes(self, store: Store) -> None:
        gone = specimen(label="gone")
        store.put(gone)
        writes: list[Write] = [
            put(Counter(name="c", total=1)),
            Delete(gone.ref.shape, gone.ref.key),
            put(Reading(sensor="s", taken=1, meter="m", value=2)),
            put(specimen(label="new")),
        ]
        store.engine.load(writes, now=store.clock.now())
        assert [s.label for s in store.find(Specimen.by_shelf(shelf="top"))] == ["new"]
        assert [r.value for r in store.find(Reading.by_meter(meter="m"))] == [2]
        assert store.get(Counter.at(name="c")).total == 1

    def test_a_batch_may_name_a_record_twice(self, store: Store) -> None:
        """The last word counts, as when they are put one by one."""
        store.put_many([specimen(count=1), specimen(label="other"), specimen(count=2)])
        assert store.get(specimen().ref).count == 2

    def test_a_batch_keeps_index_keys(self, store: Store) -> None:
        tickets = [
            Ticket(queue="q", ticket_id=f"{n:03d}", created_at=MOMENT, owner=f"o{n % 3}", due=MOMENT if n % 2 else None)
            for n in range(30)
        ]
        store.put_many(tickets)
        assert len(list(store.find(Ticket.by_owner(owner="o1")))) == 5
        store.put_many([t.model_copy(update={"owner": "me"}) for t in tickets])
        assert len(list(store.find(Ticket.by_owner(owner="me")))) == 15
        assert list(store.find(Ticket.by_owner(owner="o1"))) == []

    def test_many_records_of_many_bytes_come_back(self, store: Store) -> None:
        """More than one request may carry: 16 MB are written, 16 MB are read."""
        many = [specimen(label=f"{n:03d}", text=chr(97 + n % 26) * 350_000) for n in range(50)]
        store.put_many(many)
        got = store.get_many([s.ref for s in many])
        assert [s.text[:1] if s and s.text else None for s in got] == [chr(97 + n % 26) for n in range(50)]
