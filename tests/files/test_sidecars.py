"""Sidecars: made once, of these bytes and no others, and gone with their file."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import InvalidValue
from penstock.files import sidecars as module
from penstock.files.object_reads import every, lookup
from penstock.files.sidecars import Sidecar, Sidecars, settle_sidecars, sidecar_ref
from penstock.files.sweep import Sweep
from penstock.objects import LocalObjects
from penstock.ports.object_store import ObjectStore
from penstock.ports.stored_object import StoredObject
from tests.objects.faults import Fate, Mortal

KEY = "films/robot.txt"


class Maker:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.made: list[bytes] = []

    def bytes(self, path: Path) -> bytes:
        self.made.append(path.read_bytes())
        return self.made[-1].upper()

    def facts(self, path: Path) -> dict[str, Any]:
        self.made.append(path.read_bytes())
        return {"size": len(self.made[-1]), "rate": 23.976}


def put(objects: ObjectStore, text: bytes) -> StoredObject:
    objects.put(KEY, text)
    found = lookup(objects, KEY)
    assert found is not None
    return found


def places(objects: ObjectStore) -> list[str]:
    return [found.key for found in every(objects, "sidecars/")]


def test_it_is_made_once_of_the_bytes_that_are_there(anywhere: Store, objects: ObjectStore) -> None:
    sidecars, maker = Sidecars(anywhere, objects), Maker()
    found = put(objects, b"robot")
    assert [sidecars.contents(found, "loud", maker.bytes) for _ in range(3)] == [b"ROBOT"] * 3
    assert maker.made == [b"robot"]
    again = put(objects, b"other")
    assert sidecars.contents(again, "loud", maker.bytes) == b"OTHER"
    assert sidecars.contents(again, "loud", maker.bytes) == b"OTHER"
    assert maker.made == [b"robot", b"other"]
    assert len(places(objects)) == 1, "the former is replaced"


def test_facts_need_no_object_and_are_told_of_many_at_once(anywhere: Store, objects: ObjectStore) -> None:
    sidecars, maker = Sidecars(anywhere, objects), Maker()
    found = put(objects, b"robot")
    assert sidecars.known_facts([found], "film") == {}
    assert sidecars.facts(found, "film", maker.facts) == sidecars.facts(found, "film", maker.facts)
    assert sidecars.known_facts([found], "film") == {KEY: {"size": 5, "rate": 23.976}}
    assert (len(maker.made), places(objects)) == (1, [])
    sidecars.contents(found, "loud", maker.bytes)
    assert sidecars.known_facts([found], "loud") == sidecars.known_facts([], "film") == {}, "an object tells no facts"
    assert sidecars.known_facts([put(objects, b"another")], "film") == {}


def test_what_else_it_is_made_of_counts_too(anywhere: Store, objects: ObjectStore) -> None:
    sidecars, maker, found = Sidecars(anywhere, objects), Maker(), put(objects, b"robot")
    for also in ("a", "a", "b", "b"):
        sidecars.contents(found, "loud", maker.bytes, also=also)
    assert len(maker.made) == 2


def test_one_whose_object_is_lost_or_another_is_made_anew(anywhere: Store, objects: ObjectStore) -> None:
    sidecars, maker, found = Sidecars(anywhere, objects), Maker(), put(objects, b"robot")
    sidecars.contents(found, "loud", maker.bytes)
    (place,) = places(objects)
    objects.delete([place])
    assert sidecars.contents(found, "loud", maker.bytes) == b"ROBOT"
    objects.put(place, b"of other bytes, by somebody who was slower")
    assert sidecars.contents(found, "loud", maker.bytes) == b"ROBOT"
    assert len(maker.made) == 3


def test_it_goes_when_its_file_is_gone_or_is_another(
    anywhere: Store, objects: ObjectStore, present: FrozenClock
) -> None:
    sidecars, maker, found = Sidecars(anywhere, objects), Maker(), put(objects, b"robot")
    sidecars.contents(found, "loud", maker.bytes)
    sidecars.facts(found, "film", maker.facts)
    for kind in ("loud", "film"):
        assert anywhere.get(sidecar_ref(KEY, kind)).look_at == present.now() + timedelta(days=1), "not sooner"
    present.advance(timedelta(hours=23))
    assert settle_sidecars(anywhere, objects) == 0
    present.advance(timedelta(hours=2))
    assert settle_sidecars(anywhere, objects) == 0, "its file is there"
    assert anywhere.get(sidecar_ref(KEY, "loud")).look_at > present.now()
    objects.delete([KEY])
    present.advance(timedelta(hours=25))
    assert settle_sidecars(anywhere, objects) == 2
    assert (places(objects), list(anywhere.find(Sidecar.due()))) == ([], [])


def test_one_that_is_made_anew_while_it_is_settled_stays(
    anywhere: Store, local: LocalObjects, present: FrozenClock
) -> None:
    """It is of the bytes that are there now; the others, of the bytes before, go all the same."""
    sidecars, maker, found = Sidecars(anywhere, local), Maker(), put(local, b"robot")
    sidecars.contents(found, "loud", maker.bytes)
    present.advance(timedelta(minutes=1))
    sidecars.facts(found, "film", maker.facts)
    other = put(local, b"other")

    class Meanwhile(Mortal):
        def delete(self, keys: Iterable[str]) -> None:
            local.delete(keys)
            sidecars.contents(other, "loud", maker.bytes)

    present.advance(timedelta(days=2))
    assert settle_sidecars(anywhere, Meanwhile(local, Fate())) == 1
    assert [(left.kind, left.etag) for left in anywhere.find(Sidecar.due())] == [("loud", other.etag)]
    assert (sidecars.contents(other, "loud", maker.bytes), len(maker.made)) == (b"OTHER", 3)


def test_one_sweep_looks_at_so_many_and_the_next_at_the_rest(
    anywhere: Store, objects: ObjectStore, present: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", 2)
    sidecars, found = Sidecars(anywhere, objects), put(objects, b"robot")
    for kind in ("first", "second", "third"):
        sidecars.facts(found, kind, Maker().facts)
        present.advance(timedelta(hours=1))
    objects.delete([KEY])
    present.advance(timedelta(hours=25))
    assert settle_sidecars(anywhere, objects) == 2
    assert [left.kind for left in anywhere.find(Sidecar.due())] == ["third"], "the longest due are the first"
    assert settle_sidecars(anywhere, objects) == 1


def test_the_sweep_settles_them(anywhere: Store, objects: ObjectStore, present: FrozenClock) -> None:
    Sidecars(anywhere, objects).contents(put(objects, b"robot"), "loud", Maker().bytes)
    objects.delete([KEY])
    present.advance(timedelta(hours=25))
    swept = Sweep(anywhere, objects, [], owner="tests").run()
    assert swept is not None
    assert (swept.sidecars, places(objects)) == (1, [])


def test_too_large_a_file_is_not_looked_into(
    anywhere: Store, objects: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGEST", 4)
    maker = Maker()
    with pytest.raises(InvalidValue, match="5 bytes"):
        Sidecars(anywhere, objects).contents(put(objects, b"robot"), "loud", maker.bytes)
    monkeypatch.setattr(module, "LARGEST", 5)
    monkeypatch.setattr(module, "LARGEST_SIDECAR", 4)
    with pytest.raises(InvalidValue, match="5 bytes"):
        Sidecars(anywhere, objects).contents(put(objects, b"robot"), "loud", maker.bytes)
    assert places(objects) == []
    monkeypatch.setattr(module, "LARGEST_SIDECAR", 5)
    assert Sidecars(anywhere, objects).contents(put(objects, b"robot"), "loud", maker.bytes) == b"ROBOT"


def test_neither_a_local_file_nor_what_is_of_other_bytes_is_fetched(anywhere: Store, local: LocalObjects) -> None:
    """A file of this machine is looked at where it lies: it may have gigabytes."""
    fate, maker = Fate(), Maker()
    sidecars = Sidecars(anywhere, Mortal(local, fate, "get"))
    for text in (b"robot", b"other"):
        assert sidecars.contents(put(local, text), "loud", maker.bytes) == text.upper()
    assert fate.steps == []
    sidecars.contents(put(local, b"other"), "loud", maker.bytes)
    assert sidecars.contents(local.head(KEY), "loud", maker.bytes) == b"OTHER"
    assert (fate.steps, len(maker.made)) == (["get"], 3), "what is kept is fetched instead"


def test_facts_of_a_kind_are_no_object_of_it(anywhere: Store, local: LocalObjects) -> None:
    sidecars, maker, found = Sidecars(anywhere, local), Maker(), put(local, b"robot")
    sidecars.facts(found, "film", maker.facts)
    assert sidecars.contents(found, "film", maker.bytes) == b"ROBOT"
