"""Many at once: one winner, and never half an object."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from penstock.errors import Conflict
from penstock.files.object_reads import every
from penstock.ports.object_store import ObjectStore
from penstock.testing.object_promises.promise import ObjectPromise

RACERS = 12


class Races(ObjectPromise):
    """Writers of the same key."""

    @pytest.mark.parametrize("key", [f"race/{n}" for n in range(4)])
    def test_of_twelve_puts_where_none_may_stand_one_wins(self, objects: ObjectStore, key: str) -> None:
        together = Barrier(RACERS)

        def put(racer: int) -> int | None:
            together.wait()
            try:
                objects.put(key, b"racer %d" % racer, absent=True)
            except Conflict:
                return None
            return racer

        with ThreadPoolExecutor(RACERS) as pool:
            winners = [racer for racer in pool.map(put, range(RACERS)) if racer is not None]
        assert len(winners) == 1
        assert objects.get(key).read() == b"racer %d" % winners[0]

    def test_of_several_writers_one_whole_object_stays(self, objects: ObjectStore) -> None:
        together = Barrier(RACERS)

        def put(racer: int) -> None:
            together.wait()
            objects.put("same/key", bytes([racer]) * 100_000)

        with ThreadPoolExecutor(RACERS) as pool:
            list(pool.map(put, range(RACERS)))
        content = objects.get("same/key").read()
        assert len(content) == 100_000
        assert len(set(content)) == 1

    def test_writers_and_removers_of_one_folder_do_not_hinder_each_other(self, objects: ObjectStore) -> None:
        together = Barrier(4)

        def come_and_go(racer: int) -> None:
            together.wait()
            for turn in range(10):
                objects.put(f"shared/deep/{racer}", b"%d" % turn)
                objects.delete([f"shared/deep/{racer}"])
            objects.put(f"shared/deep/{racer}", b"last")

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(come_and_go, range(4)))
        assert sorted(found.key for found in every(objects)) == [f"shared/deep/{racer}" for racer in range(4)]
