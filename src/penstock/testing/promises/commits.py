"""What commits together becomes true together, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import FrozenClock, Store, the
from penstock.errors import Conflict, InvalidValue, TooLarge
from penstock.kernel.handle import patch, put
from penstock.operations.conditions import Missing, Present
from penstock.operations.writes import Check, Delete, Write
from penstock.ports.engine import Engine
from penstock.testing.differences import differs
from penstock.testing.entities import SUITE, Counter, Reading, Specimen, Watched, full_values, specimen
from penstock.testing.promises.promise import Promise


def _check(record: Specimen, condition: Any) -> Check:
    return Check(record.ref.shape, record.ref.key, condition)


def _delete(record: Specimen, condition: Any = None) -> Delete:
    return Delete(record.ref.shape, record.ref.key, condition)


class Commits(Promise):
    """`commit` of several writes."""

    def test_all_kinds_of_writes_commit_together(self, store: Store) -> None:
        old, gone, kept = specimen(label="old", count=1), specimen(label="gone"), specimen(label="kept")
        store.put_many([old, gone, kept])
        store.commit(
            [
                put(specimen(label="new", **full_values()), when=Missing()),
                patch(old.ref, the(Specimen.count).add(1)),
                _delete(gone, Present()),
                _check(kept, the(Specimen.count).absent()),
            ]
        )
        labels = [(s.label, s.count) for s in store.find(Specimen.by_shelf(shelf="top"))]
        assert labels == [("kept", None), ("new", -42), ("old", 2)]

    @pytest.mark.parametrize("refused", range(4))
    def test_one_refusal_undoes_the_whole_commit(self, store: Store, refused: int) -> None:
        a, b, c, d = (specimen(label=x, count=1) for x in "abcd")
        store.put_many([b, c, d])
        wrong = the(Specimen.count).equals(99)
        writes: list[Write] = [
            put(a, when=wrong if refused == 0 else Missing()),
            patch(b.ref, the(Specimen.count).set(7), when=wrong if refused == 1 else None),
            _delete(c, wrong if refused == 2 else None),
            _check(d, wrong if refused == 3 else Present()),
        ]
        with pytest.raises(Conflict) as conflict:
            store.commit(writes)
        assert conflict.value.position == refused
        found = conflict.value.found
        assert found is None if refused == 0 else found is not None and found["label"] == "abcd"[refused]
        assert store.get_many([x.ref for x in (a, b, c, d)]) == [None, b, c, d]

    def test_of_several_refusals_the_first_is_told(self, store: Store) -> None:
        a, b, c = (specimen(label=x) for x in "abc")
        store.put(c)
        with pytest.raises(Conflict) as conflict:
            store.commit([put(a), _check(b, Present()), put(c, when=Missing())])
        assert conflict.value.position == 1

    @pytest.mark.parametrize("count", [3, 12])
    def test_of_several_refusals_the_first_is_told_whatever_its_key(self, store: Store, count: int) -> None:
        """In which order an engine carries out the writes of a commit is its own affair."""
        names = [f"{n:02d}" for n in reversed(range(count))]
        store.put_many([Counter(name=name) for name in names if name != names[1] and name != names[-1]])
        with pytest.raises(Conflict) as conflict:
            store.commit([patch(Counter.at(name=name), the(Counter.total).add(1)) for name in names])
        assert (conflict.value.position, conflict.value.found) == (1, None)
        assert store.get(Counter.at(name=names[0])).total == 0

    def test_a_patch_of_nothing_undoes_the_whole_commit(self, store: Store) -> None:
        with pytest.raises(Conflict) as conflict:
            store.commit([put(specimen(label="a")), patch(specimen(label="b").ref, the(Specimen.seen).add(1))])
        assert (conflict.value.position, conflict.value.found) == (1, None)
        assert store.lookup(specimen(label="a").ref) is None

    def test_a_commit_may_only_check(self, store: Store) -> None:
        store.commit([_check(specimen(), Missing())])
        with pytest.raises(Conflict):
            store.commit([_check(specimen(), Present())])
        store.commit([_check(specimen(), Missing()), _check(specimen(label="two"), Missing())])

    def test_a_commit_may_span_entities_and_tables(self, store: Store) -> None:
        store.put(Counter(name="c", total=1))
        with pytest.raises(Conflict):
            store.commit(
                [
                    put(specimen()),
                    patch(Counter.at(name="c"), the(Counter.total).add(1)),
                    put(Reading(sensor="s", taken=1), when=Present()),
                ]
            )
        assert store.get(Counter.at(name="c")).total == 1
        store.commit(
            [
                put(specimen()),
                patch(Counter.at(name="c"), the(Counter.total).add(1)),
                put(Reading(sensor="s", taken=1), when=Missing()),
                put(Watched(shelf="s", label="w")),
            ]
        )
        assert store.get(Counter.at(name="c")).total == 2
        assert store.get(Reading.at(sensor="s", taken=1)).text == ""

    def test_a_hundred_writes_commit_together(self, store: Store) -> None:
        many = [specimen(label=f"{n:03d}") for n in range(100)]
        store.commit([put(s, when=Missing()) for s in many])
        assert len(list(store.find(Specimen.by_shelf(shelf="top")))) == 100
        with pytest.raises(Conflict) as conflict:
            store.commit([_delete(s, Present()) for s in many[:-1]] + [put(many[-1], when=Missing())])
        assert conflict.value.position == 99
        assert len(list(store.find(Specimen.by_shelf(shelf="top")))) == 100

    def test_more_than_a_hundred_writes_are_refused(self, store: Store) -> None:
        with pytest.raises(TooLarge, match="101 writes"):
            store.commit([put(specimen(label=f"{n:03d}")) for n in range(101)])
        assert list(store.find(Specimen.by_shelf(shelf="top"))) == []

    def test_a_record_is_touched_once_in_a_commit(self, store: Store) -> None:
        with pytest.raises(InvalidValue, match="twice"):
            store.commit([put(specimen()), _delete(specimen())])
        with pytest.raises(InvalidValue, match="no writes"):
            store.commit([])

    @differs("sqlite", never="there is no wire: no answer can be lost, so no token is remembered")
    def test_a_commit_repeated_with_its_token_is_applied_once(self, engine: Engine, clock: FrozenClock) -> None:
        """The answer was lost, and the sender cannot know whether the commit was made."""
        engine.ensure(SUITE.shapes)
        store = Store(engine, clock=clock)
        store.put(Counter(name="c"))
        writes: list[Write] = [
            patch(Counter.at(name="c"), the(Counter.total).add(1)),
            put(specimen(), when=Missing()),
        ]
        for _ in range(2):
            engine.commit(writes, now=clock.now(), token="0123456789abcdef0123456789abcdef")
        assert store.get(Counter.at(name="c")).total == 1
        with pytest.raises(Conflict):
            engine.commit(writes, now=clock.now(), token="fedcba9876543210fedcba9876543210")
