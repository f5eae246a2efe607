"""All records of an entity are walked through, once each, in segments that anybody can go on with."""

from __future__ import annotations

from penstock import Store
from penstock.operations.scan_page import ScannedRecord
from penstock.operations.writes import Delete
from penstock.ports.engine import Engine
from penstock.ports.ids import commit_token
from penstock.schema.shape import EntityShape
from penstock.testing.differences import differs
from penstock.testing.entities import MOMENT, Specimen, Ticket, specimen
from penstock.testing.promises.promise import Promise

_NUMBER = 23


def _walked(engine: Engine, shape: EntityShape, *, segments: int, limit: int) -> list[ScannedRecord]:
    found: list[ScannedRecord] = []
    for segment in range(segments):
        place: str | None = None
        while True:
            page = engine.scan(shape, segment=segment, segments=segments, after=place, limit=limit)
            assert len(page.found) <= limit
            found += page.found
            place = page.place
            if place is None:
                break
    return found


class Scanning(Promise):
    """`scan`."""

    def test_every_record_is_walked_through_once_whatever_the_segments_and_pages(
        self, store: Store, engine: Engine
    ) -> None:
        labels = sorted(f"n{number:03d}" for number in range(_NUMBER))
        store.put_many([specimen(label=label) for label in labels])
        store.put(Ticket(ticket_id="another", queue="q", created_at=MOMENT))
        for segments, limit in ((1, 1000), (1, 5), (3, 4), (4, 1)):
            found = _walked(engine, Specimen.__shape__, segments=segments, limit=limit)
            assert sorted(f.record.label for f in found) == labels
            assert not any(f.stale for f in found)

    @differs("dynoxide", not_yet="its Scan ends where the item is gone behind which it is to go on")
    def test_a_walk_is_gone_on_with_when_records_behind_it_are_gone(self, store: Store, engine: Engine) -> None:
        store.put_many([specimen(label=f"n{number:03d}") for number in range(_NUMBER)])
        first = engine.scan(Specimen.__shape__, limit=5)
        for each in first.found:
            gone = Delete(Specimen.__shape__, each.record.ref.key)
            engine.commit([gone], now=store.clock.now(), token=commit_token())
        rest = []
        place = first.place
        while place is not None:
            page = engine.scan(Specimen.__shape__, after=place, limit=5)
            rest += page.found
            place = page.place
        assert len(rest) == _NUMBER - len(first.found)

    def test_of_nothing_there_is_nothing(self, store: Store, engine: Engine) -> None:
        assert _walked(engine, Specimen.__shape__, segments=2, limit=10) == []
